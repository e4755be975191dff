"""The one exception of the house, and the one kind of it that is an answer."""


class LineageError(Exception):
    """Unusable input or a broken store, said in one sentence; findings of the analysis are data, never this."""


class NotThere(LineageError):
    """A question about an object or a column that is not there: an answer, so that commands exit with 1, not 2."""
