"""Names that engines give to columns without an alias."""
