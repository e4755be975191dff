"""The one exception of the house, and the one kind of it that is an answer."""


class LineageError(Exception):
    """Unusable input or a broken store, said in one sentence; findings of the analysis are data, never this."""


class NotThere(LineageError):
    """A question about an object or a column that is not there: an answer, so that commands exit with 1, not 2."""


class Misread(LineageError):
    """A file that cannot be read at a place: the sentence begins with it, and `shown` is the line with a mark below."""

    def __init__(self, place: str, reason: str, shown: str = "") -> None:
        """Take the place as compilers write it, what is wrong, and what to show of the file."""
        super().__init__(f"{place}: {reason}")
        self.shown = shown
