"""Splits the tokens of a script into raw statements: semicolons, T-SQL batches and procedural languages."""
