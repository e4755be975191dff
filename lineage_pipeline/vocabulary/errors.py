"""The one exception of the house."""


class LineageError(Exception):
    """Unusable input or a broken store, said in one sentence; findings of the analysis are data, never this."""
