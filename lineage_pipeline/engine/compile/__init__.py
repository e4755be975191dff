"""Compiles SQL text to IR. Only this package knows sqlglot; none of sqlglot's trees leave it."""
