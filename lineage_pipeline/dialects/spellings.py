"""Spellings that the parser does not know, and what stands for them where a statement could not be read."""

import msgspec


class Spelling(msgspec.Struct, frozen=True):
    """Words, and the words that mean the same to the parser; none where they have no bearing on lineage.

    `brackets` or a number of `values` behind the words go with them; `leading` ones begin the statement; `within` are
    the first words of the statements they stand in (none listed: any).
    """

    words: tuple[str, ...]
    instead: tuple[str, ...] = ()
    brackets: bool = False
    values: int = 0
    leading: bool = False
    within: frozenset[str] = frozenset()


_STRICTNESS = ("ANY", "ALL", "ASOF", "SEMI", "ANTI")

SPELLINGS: dict[str, tuple[Spelling, ...]] = {
    "": (
        Spelling(("TABLE",), ("SELECT", "*", "FROM"), leading=True),
        Spelling(("TABLESAMPLE",), brackets=True),
        Spelling(("OVERRIDING", "SYSTEM", "VALUE")),
        Spelling(("OVERRIDING", "USER", "VALUE")),
        Spelling(("USING", "KEY"), brackets=True),
    ),
    "clickhouse": tuple(Spelling((word, "OUTER"), (word,)) for word in _STRICTNESS),
    "duckdb": (Spelling(("BY", "POSITION")),),
    "mysql": (Spelling(("SQL_CACHE",)), Spelling(("SQL_NO_CACHE",))),
    "teradata": (
        Spelling(("NORMALIZE", "ON", "MEETS", "OR", "OVERLAPS")),
        Spelling(("NORMALIZE", "ON", "OVERLAPS", "OR", "MEETS")),
        Spelling(("NORMALIZE", "ON", "MEETS")),
        Spelling(("NORMALIZE", "ON", "OVERLAPS")),
    ),
}
"""The spellings of each family of dialects; those of the empty family are tried for all."""
