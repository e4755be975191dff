"""Dialect detection: the dialect whose signs in a text weigh most."""

import msgspec

from lineage_pipeline.dialects.registry import DIALECTS
from lineage_pipeline.dialects.signs import DialectSign

PROJECT_DIALECTS = {suffix: traits.name for traits in DIALECTS.values() for suffix in traits.project_suffixes}
"""Project files whose SQL is all of one dialect, by file suffix."""

MIN_WEIGHT = 3
"""Total weight from which a dialect is detected."""

MAX_TEXT_LENGTH = 200_000
"""How many characters of a text are searched."""


class NameSign(msgspec.Struct, frozen=True):
    """A sign of a dialect in the name or the first line of a file, and not in its text."""

    dialect: str
    name: str
    """What it is called in the reasons for a detected dialect."""
    worth: int


class DialectGuess(msgspec.Struct, frozen=True):
    """A detected dialect and the signs found."""

    dialect: str
    signs: tuple[str, ...]


def guess_dialect(text: str, host: str = "", named: NameSign | None = None) -> DialectGuess | None:
    """Return the dialect with the highest total weight, or None where it is low or tied.

    `host` is the program or notebook that the text was extracted from, `named` a sign in the name of the file. Where
    both weigh the same, the text is right: names are given by habit.
    """
    found: dict[str, list[DialectSign | NameSign]] = {}
    text, host = text[:MAX_TEXT_LENGTH], host[:MAX_TEXT_LENGTH]
    lowered, lowered_host = text.lower(), host.lower()
    for traits in DIALECTS.values():
        signs: list[DialectSign | NameSign] = []
        if text:
            signs.extend(sign for sign in traits.signs if sign.matches(text, lowered))
        if host:
            signs.extend(sign for sign in traits.host_signs if sign.matches(host, lowered_host))
        if signs:
            found[traits.name] = signs
    if named is not None:
        found.setdefault(named.dialect, []).append(named)
    worth = sorted(
        ((sum(sign.worth for sign in signs), named not in signs, dialect) for dialect, signs in found.items()),
        reverse=True,
    )
    if not worth or worth[0][0] < MIN_WEIGHT or (len(worth) > 1 and worth[1][:2] == worth[0][:2]):
        return None
    dialect = worth[0][2]
    return DialectGuess(dialect, tuple(sign.name for sign in found[dialect]))
