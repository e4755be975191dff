create schema if not exists raw;
create schema if not exists staging;
create schema if not exists core;
create schema if not exists mart;
