"""Names that PostgreSQL gives to unaliased columns."""

UNNAMED_COLUMN = "?column?"
"""The name that PostgreSQL gives to a column without a name."""

INTERNAL_TYPE_NAMES = {
    "int": "int4",
    "bigint": "int8",
    "smallint": "int2",
    "decimal": "numeric",
    "double": "float8",
    "float": "float4",
    "boolean": "bool",
    "char": "bpchar",
    "varbinary": "bytea",
}
"""PostgreSQL's internal type names; columns of a cast are named after them."""

MAX_REAL_DIGITS = 24
"""A FLOAT of no more binary digits is a REAL."""
