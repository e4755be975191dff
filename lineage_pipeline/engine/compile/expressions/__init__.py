"""Expression compilers: from sqlglot's expression trees to IR expressions."""
