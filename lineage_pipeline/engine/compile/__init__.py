"""Text in, IR out: the only room that knows sqlglot, and no tree of its leaves it."""
