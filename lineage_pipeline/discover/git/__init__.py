"""Git: reads revisions, refs and mirrors from the object database, without checkout, hooks, filters or network."""
