"""Rows of the source tables, and the same rows with other values in one column.

Values are few, so that keys meet, rows repeat and filters divide them. A *marked* value occurs in no other column:
where it appears in a result, or in something computed from it, the value itself has flowed there.
"""

import datetime
import decimal
import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

Value = Any
Row = tuple[Value, ...]
Rows = dict[str, tuple[Row, ...]]

INT, TEXT, DATE, DECIMAL, LIST, STRUCT = "int", "text", "date", "decimal", "list", "struct"

LEDGER, JOURNAL = "ledger", "journal"
"""What statements update, delete and merge into, and what they insert into."""

TABLES: Mapping[str, Mapping[str, str]] = {
    "orders": {"id": INT, "k": INT, "n": INT, "s": TEXT, "d": DATE},
    "items": {"id": INT, "k": INT, "m": INT, "r": TEXT, "p": DECIMAL},
    "people": {"id": INT, "n": INT, "s": TEXT, "born": DATE, "p": DECIMAL},
    "notes": {"id": INT, "k": INT, "u": TEXT},
    LEDGER: {"id": INT, "k": INT, "n": INT, "s": TEXT, "d": DATE},
    JOURNAL: {"id": INT, "k": INT, "n": INT, "s": TEXT, "d": DATE},
}
"""The source tables. Each has a unique, not null `id`, but for the journal: rows of any query can be inserted there."""

NESTED_TABLE = "docs"
NESTED_COLUMNS: Mapping[str, str] = {"id": INT, "tags": LIST, "info": STRUCT}

NUMBERS = range(5)
WORDS = ("a", "b", "c", "ab", "bc")
FIRST_DAY = datetime.date(2024, 1, 1)

MARK_NUMBER, LEAST_MARK = 10**8, 10**7
MARK_SIGN = "§"
MARK_DAY, LOW_DAY = datetime.date(2999, 1, 1), datetime.date(1500, 1, 1)
_MARKED_TEXT = re.compile(rf"{MARK_SIGN}|\d{{8,}}|2999")

PERTURBATIONS = ("mark", "mark some", "shuffle", "empty", "one", "level", "low", "mark one")
"""Ways to change a column: values that occur nowhere else in all rows, in some or in one, those of other rows, NULLs,
one other value, the same value in all rows, or values below all others."""


def draw_value(kind: str, chance: Random) -> Value:
    """A value of a kind; there are few of each."""
    number = chance.choice(NUMBERS)
    match kind:
        case "int":
            return number
        case "text":
            return chance.choice(WORDS)
        case "date":
            return FIRST_DAY + datetime.timedelta(days=number * 9)
        case "decimal":
            return decimal.Decimal(number) + decimal.Decimal("0.25") * chance.randrange(3)
        case "list":
            return [chance.choice(WORDS) for _ in range(chance.randrange(3))]
        case _:
            return {"a": number, "b": chance.choice(WORDS)}


def draw_table(columns: Mapping[str, str], chance: Random, least: int) -> tuple[Row, ...]:
    """Rows of a table: unique ids, a few nulls, values that repeat."""
    count = chance.randint(least, least + 3)
    ids = chance.sample(range(count + 2), count)
    return tuple(
        tuple(
            own if name == "id" else None if chance.random() < 0.12 else draw_value(kind, chance)
            for name, kind in columns.items()
        )
        for own in ids
    )


def draw_rows(tables: Mapping[str, Mapping[str, str]], seed: int) -> Rows:
    """Rows of all tables, the same for the same seed; every fourth seed gives more of them."""
    chance, least = Random(f"rows {seed}"), 6 if seed % 4 else 14
    return {name: draw_table(columns, chance, least) for name, columns in tables.items()}


def mark_value(kind: str, number: int) -> Value:
    """A value that occurs nowhere else."""
    match kind:
        case "int" | "decimal":
            return MARK_NUMBER + number
        case "text":
            return f"{MARK_SIGN}{number}{MARK_SIGN}"
        case "date":
            return MARK_DAY + datetime.timedelta(days=number)
        case "list":
            return [f"{MARK_SIGN}{number}"]
        case _:
            return {"a": MARK_NUMBER + number, "b": f"{MARK_SIGN}{number}{MARK_SIGN}"}


def draw_low_value(kind: str, number: int) -> Value:
    """A value that is smaller than all others."""
    match kind:
        case "int" | "decimal":
            return number - 50
        case "text":
            return f" {number}"
        case "date":
            return LOW_DAY + datetime.timedelta(days=number)
        case "list":
            return []
        case _:
            return {"a": number - 50, "b": f" {number}"}


def is_marked(value: Value) -> bool:
    """Whether something was computed from a marked value, as far as one can see."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float | decimal.Decimal):
        return not -LEAST_MARK < value < LEAST_MARK
    if isinstance(value, datetime.date):
        return value.year >= MARK_DAY.year - 100
    if isinstance(value, str):
        return _MARKED_TEXT.search(value) is not None
    if isinstance(value, Mapping):
        return any(map(is_marked, value.values()))
    if isinstance(value, Sequence):
        return any(map(is_marked, value))
    return False


def perturb(rows: Sequence[Row], column: int, kind: str, name: str, way: str, chance: Random) -> tuple[Row, ...]:
    """The rows with other values in one column; `id` stays unique and not null."""
    old = [row[column] for row in rows]
    new = _perturb_key(old, way, chance) if name == "id" else _perturb_values(old, kind, way, chance)
    return tuple((*row[:column], value, *row[column + 1 :]) for row, value in zip(rows, new, strict=True))


def _perturb_key(old: list[Value], way: str, chance: Random) -> list[Value]:
    match way:
        case "mark":
            return [MARK_NUMBER + value for value in old]
        case "shuffle" | "one":
            return old[1:] + old[:1]
        case "mark some":
            return [value if chance.random() < 0.5 else MARK_NUMBER + value for value in old]
        case "mark one":
            at = chance.randrange(len(old))
            return [MARK_NUMBER if row == at else value for row, value in enumerate(old)]
        case "low":
            return [value - 50 for value in old]
        case _:
            return [value + 3 for value in old]


def _perturb_values(old: list[Value], kind: str, way: str, chance: Random) -> list[Value]:
    match way:
        case "mark":  # equal values stay equal, so that groups and ties stay as they are
            seen: dict[str, int] = {}
            return [
                None if value is None else mark_value(kind, seen.setdefault(repr(value), len(seen))) for value in old
            ]
        case "mark some":
            return [mark_value(kind, at) if chance.random() < 0.5 else value for at, value in enumerate(old)]
        case "shuffle":
            return old[1:] + old[:1]
        case "empty":
            return [None if chance.random() < 0.6 else value for value in old]
        case "one" | "mark one":
            at = chance.randrange(len(old))
            value = draw_value(kind, chance) if way == "one" else mark_value(kind, 0)
            return [*old[:at], value, *old[at + 1 :]]
        case "low":
            return [draw_low_value(kind, at) for at, _ in enumerate(old)]
        case _:
            return [draw_value(kind, chance)] * len(old)


def list_perturbations(chance: Random, ways: Sequence[str] = PERTURBATIONS) -> Iterator[str]:
    """The ways to change a column, in some order that begins with marked values."""
    first, *others = ways
    yield first
    yield from chance.sample(others, len(others))
