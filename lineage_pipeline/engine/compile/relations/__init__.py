"""Relation compilers: queries, FROM clauses, table functions, pivots and select lists."""
