"""Identifier folding: how two spellings of one name are compared."""

from enum import StrEnum
from fnmatch import fnmatchcase


class IdentifierFolding(StrEnum):
    """How identifiers are compared: which unquoted ones are folded, and whether quotes keep the case.

    `INSENSITIVE` and `CAPITAL` fold quoted ones too, to lower and to upper case.
    """

    LOWER = "lower"
    UPPER = "upper"
    INSENSITIVE = "insensitive"
    CAPITAL = "capital"
    EXACT = "exact"


def fold_identifier(text: str, quoted: bool, folding: IdentifierFolding) -> str:
    """Return the form in which two spellings of one identifier are equal."""
    if folding is IdentifierFolding.EXACT:
        return text
    if folding is IdentifierFolding.INSENSITIVE or (folding is IdentifierFolding.LOWER and not quoted):
        return text.lower()
    return (
        text.upper()
        if folding is IdentifierFolding.CAPITAL or (folding is IdentifierFolding.UPPER and not quoted)
        else text
    )


def fold_for_alias(parts: tuple[str, ...], aliases: IdentifierFolding | None) -> tuple[str, ...]:
    """Return the parts of a table name as a query without an alias refers to them."""
    return parts if aliases is None else tuple([fold_identifier(part, False, aliases) for part in parts])


def matches_name_pattern(name: str, pattern: str) -> bool:
    """Return whether a name matches a pattern of the settings, ignoring case."""
    return fnmatchcase(name.lower(), pattern.lower())
