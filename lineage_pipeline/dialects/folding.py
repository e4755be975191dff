"""How two spellings of one name are compared."""

from enum import StrEnum
from fnmatch import fnmatchcase


class Folding(StrEnum):
    """How names are compared: which unquoted ones are folded, and whether quotes keep the case.

    `INSENSITIVE` and `CAPITAL` fold quoted ones too, to lower and to upper case.
    """

    LOWER = "lower"
    UPPER = "upper"
    INSENSITIVE = "insensitive"
    CAPITAL = "capital"
    EXACT = "exact"


def fold(text: str, quoted: bool, folding: Folding) -> str:
    """The form in which two spellings of one name are equal."""
    if folding is Folding.EXACT:
        return text
    if folding is Folding.INSENSITIVE or (folding is Folding.LOWER and not quoted):
        return text.lower()
    return text.upper() if folding is Folding.CAPITAL or (folding is Folding.UPPER and not quoted) else text


def spoken(parts: tuple[str, ...], aliases: Folding | None) -> tuple[str, ...]:
    """The parts of a table's name in the form in which a query that gives it no other name calls it."""
    return parts if aliases is None else tuple([fold(part, False, aliases) for part in parts])


def fits(name: str, pattern: str) -> bool:
    """Whether a name fits a pattern of the settings, which nobody writes as a dialect folds names."""
    return fnmatchcase(name.lower(), pattern.lower())
