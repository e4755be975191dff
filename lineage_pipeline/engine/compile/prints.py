"""Pieces of DuckDB's captions: conditions that words join, and names in quotes."""

from collections.abc import Collection

from lineage_pipeline.dialects import duckdb as rows


class Joined(str):
    """Conditions that one word joins: more of them join without brackets of their own."""

    word: str
    parts: tuple[str, ...]


def joined(word: str, *sides: str) -> Joined:
    """Conditions joined by AND or OR."""
    parts: list[str] = []
    for side in sides:
        parts.extend(side.parts if isinstance(side, Joined) and side.word == word else [side])
    found = Joined(f"({f' {word} '.join(parts)})")
    found.word, found.parts = word, tuple(parts)
    return found


def quoted(name: str, keywords: Collection[str] = rows.KEYWORDS) -> str:
    """A name, in quotes where it is a keyword or no plain word."""
    plain = name.isidentifier() and name.isascii()
    return name if plain and name.lower() not in keywords else f'"{name}"'
