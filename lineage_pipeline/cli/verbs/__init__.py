"""The verbs of `lineage`, a module each; `cli.app.VERBS` is the table, and imports one when it is called."""
