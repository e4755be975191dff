"""What must hold for the rows of each table, as data.

Keys, nulls and closed sets follow from the table definitions; `PROPERTIES` adds what only a table itself knows.
"""

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import inspect

from lineage_pipeline.model.enums import Level
from lineage_pipeline.model.findings import CODES
from lineage_pipeline.model.tables import TABLES, Table

NAME_COLUMNS = ("name", "written", "rule", "code")


class TableCheck(msgspec.Struct, frozen=True):
    """A property: its name, the expectation that tests it, and the severity of its failure.

    Only a blocking check stops the run. A column that starts with `_` is added by the table's preparation.
    """

    name: str
    expectation: str
    arguments: dict[str, Any]
    severity: Level = Level.ERROR
    blocking: bool = True


def expect_true(name: str, column: str, severity: Level = Level.ERROR, blocking: bool = True) -> TableCheck:
    """Build the check that a prepared column is true in every row."""
    return TableCheck(
        name=name,
        expectation="ColumnValuesToBeInSet",
        arguments={"column": column, "value_set": [True]},
        severity=severity,
        blocking=blocking,
    )


def expect_minimum(column: str, minimum: int) -> TableCheck:
    """Build the check that a number is not below `minimum`."""
    return TableCheck(
        f"{column}_is_at_least_{minimum}", "ColumnValuesToBeBetween", {"column": column, "min_value": minimum}
    )


def expect_member(column: str, words: list[str]) -> TableCheck:
    """Build the check that a value belongs to its closed set."""
    return TableCheck(f"{column}_is_a_known_word", "ColumnValuesToBeInSet", {"column": column, "value_set": words})


def expect_not_null(column: str) -> TableCheck:
    """Build the check that a column always has a value."""
    return TableCheck(f"{column}_is_never_null", "ColumnValuesToNotBeNull", {"column": column})


REACH_COLUMNS = tuple(
    field for field in TABLES["column_reach"].row.__struct_fields__ if field.startswith(("direct_", "all_"))
)

PROPERTIES: dict[str, tuple[TableCheck, ...]] = {
    "sql_files": (expect_minimum("bytes", 0),),
    "statements": (
        expect_true("ordinals_are_contiguous_from_0", "_contiguous"),
        expect_true("parents_are_statements", "_parent_known"),
        expect_minimum("bytes", 0),
        expect_minimum("complexity", 0),
    ),
    "objects": (expect_minimum("level", 0),),
    "object_edges": (
        expect_true("from_ends_in_a_known_object", "_from_known"),
        expect_true("to_ends_in_a_known_object", "_to_known"),
    ),
    "columns": (
        expect_true("ordinals_are_contiguous_from_1", "_contiguous"),
        expect_true("objects_are_known", "_object_known"),
    ),
    "column_edges": (
        expect_true("from_ends_in_a_known_column", "_from_known"),
        expect_true("to_ends_in_a_known_column", "_to_known"),
    ),
    "column_reach": (
        expect_true("columns_are_known", "_column_known"),
        *(expect_minimum(column, 0) for column in REACH_COLUMNS),
    ),
    "diagnostics": (expect_member("code", sorted(CODES)),),
    "changes": (expect_true("roots_are_changes", "_root_known"),),
    "waivers": (
        TableCheck(
            "expires_is_a_day", "ColumnValuesToMatchRegex", {"column": "expires", "regex": r"^\d{4}-\d\d-\d\d$"}
        ),
    ),
}


def build_suite(table: Table) -> tuple[TableCheck, ...]:
    """Return the checks of a table: its key, its names, its closed sets, and its own properties."""
    info = inspect.type_info(table.row)
    assert isinstance(info, inspect.StructType)
    enums = {field.name: field.type.cls for field in info.fields if isinstance(field.type, inspect.EnumType)}
    optional = {field.name for field in info.fields if isinstance(field.type, inspect.UnionType)}
    named = [field.name for field in info.fields if field.name in (*table.key, *NAME_COLUMNS, *enums)]
    return (
        _expect_unique(table.key),
        *(expect_not_null(name) for name in named if name not in optional),
        *(expect_member(name, _enum_values(words)) for name, words in enums.items()),
        *PROPERTIES.get(table.name, ()),
    )


def _expect_unique(key: tuple[str, ...]) -> TableCheck:
    if len(key) == 1:
        return TableCheck("key_is_unique", "ColumnValuesToBeUnique", {"column": key[0]})
    columns = {"column_list": list(key), "ignore_row_if": "never"}
    return TableCheck("key_is_unique", "CompoundColumnsToBeUnique", columns)


def _enum_values(closed: type[Any]) -> list[str]:
    assert issubclass(closed, StrEnum)
    return [word.value for word in closed]


SUITES: dict[str, tuple[TableCheck, ...]] = {table.name: build_suite(table) for table in TABLES.values()}


def suite_columns(table: str) -> list[str]:
    """Return the columns that the suite of a table reads, without those that are prepared."""
    used = [name for check in SUITES[table] for name in _check_columns(check)]
    return [name for name in dict.fromkeys((*TABLES[table].key, *used)) if not name.startswith("_")]


def _check_columns(check: TableCheck) -> list[str]:
    listed: list[str] = check.arguments.get("column_list", [])
    return listed or [check.arguments["column"]]
