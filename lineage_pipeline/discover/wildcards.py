"""Stars of path patterns as regular expressions that take no text apart in more than one way.

A star takes as little as it can, and what was found behind it stays: the next star takes what is left over. Only behind
the last one more than one place is tried, as the text has to end there.
"""

from collections.abc import Iterator, Sequence

STAR, ACROSS, ALL = "*", "**/", "**"
"""What stays in a folder, what stands for any folders, and what stands for anything."""

WAYS = {"": "", STAR: "[^/]*?", ACROSS: "(?:[^/]*/)*?", ALL: ".*?"}


def joined(pieces: Sequence[str]) -> str:
    """Give the expression of pieces, each of which is a star or the expression of one character."""
    parts = list(_parted(pieces, (ACROSS, ALL)))
    inner = [_joined(lead, _within(part, last=number == len(parts))) for number, (lead, part) in enumerate(parts, 1)]
    return "".join([*(f"(?>{text})" for text in inner[:-1]), inner[-1]])


def _within(pieces: Sequence[str], *, last: bool) -> str:
    """Join what stands between two stars that cross folders."""
    runs = [_joined(lead, "".join(run)) for lead, run in _parted(pieces, (STAR,))]
    closed = runs[:-1] if last else runs
    return "".join([*(f"(?>{text})" for text in closed), *runs[len(closed) :]])


def _joined(lead: str, text: str) -> str:
    return WAYS[lead] + text


def _parted(pieces: Sequence[str], stars: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Cut before each star: the star, and what stands behind it."""
    places = [place for place, piece in enumerate(pieces) if piece in stars]
    yield "", pieces[: places[0]] if places else pieces
    for number, place in enumerate(places, 1):
        yield pieces[place], pieces[place + 1 : places[number] if number < len(places) else len(pieces)]
