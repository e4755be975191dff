"""Generated queries over the space of rules: a table of rows says what an engine has, a seed says what is written."""
