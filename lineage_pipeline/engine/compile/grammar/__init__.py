"""Extends sqlglot: rewrites the tokens of SQL that sqlglot does not read, parses, and records source spans."""
