"""Computed columns: which ones a statement declares, and what the other columns of their table feed to them."""

from collections.abc import Callable, Iterator

import msgspec

from lineage_pipeline.dialects.folding import spoken
from lineage_pipeline.engine.link.links import Links
from lineage_pipeline.engine.link.model import Input, Out
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.engine.link.source import Source, Sources
from lineage_pipeline.engine.link.values import value_of
from lineage_pipeline.vocabulary import ir

Listed = tuple[ir.Name, list[ir.ColumnDef]]
"""A table and computed columns of it."""


def listed(statement: ir.Statement) -> list[Listed]:
    """The computed columns that a CREATE TABLE lists, and those that an ALTER TABLE adds."""
    found: list[Listed] = []
    definition = statement.definition
    if definition is not None and definition.relation == ir.NOWHERE:
        found.append((definition.name, [column for column in definition.columns if column.computed is not None]))
    added: dict[tuple[str, ...], Listed] = {}
    for item in statement.alterations:
        if item.action == "add" and item.definition is not None and item.definition.computed is not None:
            added.setdefault(item.name.parts, (item.name, []))[1].append(item.definition)
    return [(name, columns) for name, columns in (*found, *added.values()) if columns]


def untyped(statement: ir.Statement) -> frozenset[str]:
    """The computed columns that declare no type."""
    return frozenset(column.name for _, columns in listed(statement) for column in columns if not column.type)


def fed(
    statement: ir.Statement, input_of: Callable[[tuple[str, ...]], Input | None], scope: Scope, links: Links
) -> Iterator[tuple[ir.Name, tuple[tuple[str, Out], ...]]]:
    """The computed columns of each table with their values; `input_of` knows the tables by their names."""
    definition = statement.definition
    for name, columns in listed(statement):
        own = input_of(name.parts)
        if own is None:
            continue
        if definition is not None and definition.kind == "external":  # its columns are cut out of undeclared ones
            own = msgspec.structs.replace(own, open=True)
        parts = spoken(name.parts, links.traits.aliases)
        scope.sources = Sources([Source(parts[-1], parts, input=own)])
        yield name, tuple(_pair(column, scope, links) for column in columns)


def _pair(column: ir.ColumnDef, scope: Scope, links: Links) -> tuple[str, Out]:
    assert column.computed is not None
    value = value_of(column.computed, scope, links)
    return column.name, Out(column.name, column.written, value, column.start, column.end)
