"""Dates and moments of ClickHouse: what moves them, cuts them and makes them."""

from lineage_pipeline.dialects.typing.arithmetic import Rule, Texts, Types
from lineage_pipeline.dialects.typing.clickhouse_rules import bare, kept, whole
from lineage_pipeline.dialects.typing.family import Family
from lineage_pipeline.dialects.typing.results import words

_SHORT = words("HOUR MINUTE SECOND MILLISECOND MICROSECOND")
"""Units that make a moment of a date."""


def apart(op: str, types: Types) -> str | None:
    """A moment that is moved stays one; two of a kind lie a number of days or seconds apart."""
    names = [bare(kind) for kind in types]
    moments = [name for name in names if name.startswith("DATE")]
    if len(moments) == 2:
        return "INT32" if op == "SUB" and names[0] == names[1] and names[0] in ("DATE", "DATETIME") else None
    other = next((name for name in names if not name.startswith("DATE")), "")
    if len(moments) != 1 or not (whole(other) or other.startswith("INTERVAL")):
        return None
    return "DATETIME" if moments[0] == "DATE" and other.removeprefix("INTERVAL") in _SHORT else moments[0]


def started(family: Family, types: Types, texts: Texts) -> str | None:
    """TOSTARTOF…: a date for days that begin something, else a moment."""
    unit = next((text.strip("'").lower() for text in texts if text), "")
    long = any(bare(kind).startswith("DATETIME64") for kind in types)
    return None if long or not unit else "DATE" if unit in ("week", "month", "quarter", "year") else "DATETIME"


def moved(unit: str) -> Rule:
    """ADD… and SUBTRACT…: a moment stays one, and a date becomes one where hours or less are added."""

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        name = bare(types[0]) if types else ""
        return kept(types[:1], "DATETIME" if name == "DATE" and unit in _SHORT else name) if name else None

    return rule


def precise(family: Family, types: Types, texts: Texts) -> str | None:
    """NOW64 and TODATETIME64: as many digits of a second as are asked for."""
    said = next((text for text in texts if text.isdigit()), "3")
    return f"DATETIME64({said})" if len(texts) < 3 else None
