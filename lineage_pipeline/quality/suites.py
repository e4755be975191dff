"""What must hold for the rows of each table, as rows themselves.

Keys, nulls and closed sets follow from the vocabulary; `PROPERTIES` adds what only a table itself can say.
"""

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import inspect

from lineage_pipeline.vocabulary.codes import CODES
from lineage_pipeline.vocabulary.sets import Level
from lineage_pipeline.vocabulary.tables import TABLES, Table

NAMES = ("name", "written", "rule", "code")


class Check(msgspec.Struct, frozen=True):
    """A property: its name, the expectation that tests it, and what its failure means.

    Only a blocking check stops the run. A column that starts with `_` is made by the table's preparation.
    """

    name: str
    expectation: str
    arguments: dict[str, Any]
    severity: Level = Level.ERROR
    blocking: bool = True


def holds(name: str, column: str, severity: Level = Level.ERROR, blocking: bool = True) -> Check:
    """Make the check that a prepared column is true in every row."""
    return Check(name, "ColumnValuesToBeInSet", {"column": column, "value_set": [True]}, severity, blocking)


def at_least(column: str, minimum: int) -> Check:
    """Make the check that a number is not below `minimum`."""
    return Check(f"{column}_is_at_least_{minimum}", "ColumnValuesToBeBetween", {"column": column, "min_value": minimum})


def one_of(column: str, words: list[str]) -> Check:
    """Make the check that a word belongs to its closed set."""
    return Check(f"{column}_is_a_known_word", "ColumnValuesToBeInSet", {"column": column, "value_set": words})


def never_null(column: str) -> Check:
    """Make the check that a column always has a value."""
    return Check(f"{column}_is_never_null", "ColumnValuesToNotBeNull", {"column": column})


REACH = tuple(field for field in TABLES["column_reach"].row.__struct_fields__ if field.startswith(("direct_", "all_")))

PROPERTIES: dict[str, tuple[Check, ...]] = {
    "sql_files": (at_least("bytes", 0),),
    "statements": (
        holds("ordinals_are_contiguous_from_0", "_contiguous"),
        holds("parents_are_statements", "_parent_known"),
        at_least("bytes", 0),
        at_least("complexity", 0),
    ),
    "objects": (at_least("level", 0),),
    "object_edges": (
        holds("from_ends_in_a_known_object", "_from_known"),
        holds("to_ends_in_a_known_object", "_to_known"),
    ),
    "columns": (
        holds("ordinals_are_contiguous_from_1", "_contiguous"),
        holds("objects_are_known", "_object_known"),
    ),
    "column_edges": (
        holds("from_ends_in_a_known_column", "_from_known"),
        holds("to_ends_in_a_known_column", "_to_known"),
    ),
    "column_reach": (
        holds("columns_are_known", "_column_known"),
        *(at_least(column, 0) for column in REACH),
    ),
    "diagnostics": (one_of("code", sorted(CODES)),),
    "changes": (holds("roots_are_changes", "_root_known"),),
    "waivers": (
        Check("expires_is_a_day", "ColumnValuesToMatchRegex", {"column": "expires", "regex": r"^\d{4}-\d\d-\d\d$"}),
    ),
}


def suite(table: Table) -> tuple[Check, ...]:
    """Collect the checks of a table: its key, its names, its closed sets, and its own properties."""
    info = inspect.type_info(table.row)
    assert isinstance(info, inspect.StructType)
    enums = {field.name: field.type.cls for field in info.fields if isinstance(field.type, inspect.EnumType)}
    optional = {field.name for field in info.fields if isinstance(field.type, inspect.UnionType)}
    named = [field.name for field in info.fields if field.name in (*table.key, *NAMES, *enums)]
    return (
        _unique(table.key),
        *(never_null(name) for name in named if name not in optional),
        *(one_of(name, _words(words)) for name, words in enums.items()),
        *PROPERTIES.get(table.name, ()),
    )


def _unique(key: tuple[str, ...]) -> Check:
    if len(key) == 1:
        return Check("key_is_unique", "ColumnValuesToBeUnique", {"column": key[0]})
    columns = {"column_list": list(key), "ignore_row_if": "never"}
    return Check("key_is_unique", "CompoundColumnsToBeUnique", columns)


def _words(closed: type[Any]) -> list[str]:
    assert issubclass(closed, StrEnum)
    return [word.value for word in closed]


SUITES: dict[str, tuple[Check, ...]] = {table.name: suite(table) for table in TABLES.values()}


def columns(table: str) -> list[str]:
    """List the columns that the suite of a table looks at, without those that are prepared."""
    used = [name for check in SUITES[table] for name in _arguments(check)]
    return [name for name in dict.fromkeys((*TABLES[table].key, *used)) if not name.startswith("_")]


def _arguments(check: Check) -> list[str]:
    listed: list[str] = check.arguments.get("column_list", [])
    return listed or [check.arguments["column"]]
