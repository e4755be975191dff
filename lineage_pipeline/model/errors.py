"""Exceptions for unusable input."""


class LineageError(Exception):
    """Unusable input or a broken store, in one sentence; findings of the analysis are data, never exceptions."""


class NotThere(LineageError):
    """A query names an object or column that does not exist: an answer, so that commands exit with 1, not 2."""


class FileSyntaxError(LineageError):
    """A file that cannot be read at a position; `shown` is the line with a mark below it."""

    def __init__(self, place: str, reason: str, shown: str = "") -> None:
        """Take the position in compiler notation, the reason, and the excerpt to show."""
        super().__init__(f"{place}: {reason}")
        self.shown = shown
