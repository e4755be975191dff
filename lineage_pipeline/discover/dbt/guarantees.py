"""What a dbt project promises of rows: keys by which a model grows, constraints, and tests that fail a build."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from lineage_pipeline.discover.dbt.documents import entries, listed, mapping, words
from lineage_pipeline.discover.dbt.properties import Entry
from lineage_pipeline.vocabulary.tables import Constraint

GROWING = frozenset({"incremental", "snapshot"})
"""Materialisations that look for a row by its key before they add one."""

TESTS = ("tests", "data_tests")

COMBINATIONS = frozenset({"dbt_utils.unique_combination_of_columns", "unique_combination_of_columns"})

KINDS = {"primary_key": "primary key", "unique": "unique"}


def guarantees(entry: Entry, config: Mapping[str, Any], kind: str = "") -> tuple[Constraint, ...]:
    """Give the keys of a table; they name no object yet."""
    found = {item.id: item for item in (*_said(entry), *_grown(config, kind))}
    return tuple(found[key] for key in sorted(found))


def _grown(config: Mapping[str, Any], kind: str) -> Iterator[Constraint]:
    """Give the key by which rows are replaced; one that is worked out is none of columns."""
    key = config.get("unique_key")
    columns = [str(item) for item in key] if isinstance(key, list) else [str(key)] if key else []
    if {kind, str(config.get("materialized"))} & GROWING and columns and all(name.isidentifier() for name in columns):
        yield _constraint("unique", columns)


def _said(entry: Entry) -> Iterator[Constraint]:
    """Give the keys that YAML lists as constraints or as tests of all rows."""
    for column in entries(entry, "columns"):
        yield from _keys(column, [str(column["name"])])
    yield from _keys(entry, [])


def _keys(entry: Entry, own: list[str]) -> Iterator[Constraint]:
    for item in listed(entry.get("constraints")):
        columns = own or words(mapping(item).get("columns"))
        if (kind := KINDS.get(str(mapping(item).get("type")))) and columns:
            yield _constraint(kind, columns)
    for test in (test for key in TESTS for test in listed(entry.get(key))):
        name, settings = (test, {}) if isinstance(test, str) else next(iter(mapping(test).items()), ("", {}))
        given = {**mapping(settings), **mapping(mapping(settings).get("arguments"))}
        combined = words(given.get("combination_of_columns")) if name in COMBINATIONS else []
        columns = own if name == "unique" else combined
        if columns and not given.get("where") and not mapping(given.get("config")).get("where"):
            yield _constraint("unique", columns)


def _constraint(kind: str, columns: list[str]) -> Constraint:
    identity = hashlib.sha256("\0".join((kind, *columns)).encode()).hexdigest()[:12]
    return Constraint("", identity, kind, None, tuple(columns), None)
