-- One schema per layer; grants are given per schema, never per table.
CREATE SCHEMA raw;
GO
CREATE SCHEMA staging;
GO
CREATE SCHEMA core;
GO
CREATE SCHEMA mart;
GO
