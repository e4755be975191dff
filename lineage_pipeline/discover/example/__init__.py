"""The example repository: built as a throw-away git repository from the assets, the same on every machine."""
