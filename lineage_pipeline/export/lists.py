"""Flows, tables, columns and parts of statements as text, JSON and CSV."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec

from lineage_pipeline.engine.trace.flows import Flow
from lineage_pipeline.engine.trace.usage import Used
from lineage_pipeline.export.answers import Answer, Row, named
from lineage_pipeline.export.json import pick
from lineage_pipeline.export.report import one_line, place
from lineage_pipeline.vocabulary.components import Component, Dissection
from lineage_pipeline.vocabulary.tables import Column, ObjectRow

COLUMN_LIST_KEYS = ("name", "ordinal", "type", "nullable", "origin", "approximate")
WIDTH = 100


def flows_answer(level: str, found: Sequence[Flow]) -> Answer:
    """Give what flows within statements."""
    rows = [_plain(flow) for flow in found]
    return Answer(
        lambda: {"level": level, "flows": rows}, lambda: rows, lambda: _flow_lines(found), Flow.__struct_fields__
    )


def _plain(row: msgspec.Struct) -> Row:
    plain: Row = msgspec.to_builtins(row)
    return plain


def _flow_lines(found: Sequence[Flow]) -> Iterator[str]:
    for (path, statement), flows in groupby(found, key=lambda flow: (flow.path, flow.statement)):
        yield f"{path}, statement {statement}"
        for flow in flows:
            how = "" if flow.subtype in (None, "IDENTITY") else f"  {flow.subtype}"
            source, target = named(flow.from_object, flow.from_column), named(flow.to_object, flow.to_column)
            yield f"  {target} <- {source}{how}"
    if not found:
        yield "nothing flows"


def usage_answer(found: Sequence[Used]) -> Answer:
    """Give how tables are used."""
    rows = [_plain(used) for used in found]
    return Answer(
        lambda: {"tables": rows},
        lambda: rows,
        lambda: (f"{used.usage:<6}  {used.type:<7}  {used.object}" for used in found),
        Used.__struct_fields__,
    )


def schemas_answer(objects: Sequence[ObjectRow], columns: Sequence[Column]) -> Answer:
    """Give the columns of tables, and how they are known, so that they can be imported again."""
    rows = {row.object: row for row in objects}
    return Answer(
        lambda: {"tables": [_table(rows[name], list(own)) for name, own in groupby(columns, key=_owner)]},
        lambda: (_column(rows[column.object], column) for column in columns),
        lambda: _column_lines(columns),
        ("catalog", "schema", "table", "column", *COLUMN_LIST_KEYS[1:]),
    )


def _owner(column: Column) -> str:
    return column.object


def _table(row: ObjectRow, columns: Sequence[Column]) -> Row:
    about = {"catalog": row.catalog, "schema": row.schema, "name": row.name}
    return about | {
        "object": row.object,
        "kind": row.kind.value,
        "origin": row.origin.value,
        "partial": row.open,
        "columns": pick(columns, COLUMN_LIST_KEYS),
    }


def _column(row: ObjectRow, column: Column) -> Row:
    (about,) = pick([column], COLUMN_LIST_KEYS)
    name = about.pop("name")
    return {"catalog": row.catalog, "schema": row.schema, "table": row.name, "column": name} | about


def _column_lines(found: Sequence[Column]) -> Iterator[str]:
    for name, columns in groupby(found, key=_owner):
        yield name
        for column in columns:
            nullable = "" if column.nullable else " not null"
            yield f"  {column.name}  {column.type or '?'}{nullable}  ({column.origin})"


def dissections_answer(found: Sequence[Dissection]) -> Answer:
    """Give the parts of statements."""
    return Answer(
        lambda: {"statements": [_plain(one) for one in found]},
        lambda: (_component(one, part) for one in found for part in one.components),
        lambda: (line for one in found for line in _dissection_lines(one)),
        COMPONENT_HEADER,
    )


COMPONENT_HEADER = (
    *("path", "statement", "statement_kind", "index", "kind", "name", "parent", "depth", "executable"),
    *("dependencies", "location", "line", "column", "sql", "runnable"),
)


def _component(one: Dissection, part: Component) -> Row:
    span = part.span
    values = (
        *(one.path, one.statement, one.kind, part.index, part.kind.value, part.name, part.parent, part.depth),
        *(part.executable, list(part.dependencies), part.location),
        *((span.line, span.column) if span else (None, None)),
        *(part.sql, part.runnable),
    )
    return dict(zip(COMPONENT_HEADER, values, strict=True))


def _dissection_lines(one: Dissection) -> Iterator[str]:
    yield f"{one.path}, statement {one.statement}  {one.kind}: {one.preview}"
    for part in one.components:
        name = "" if part.name is None else f" {part.name}"
        needs = f", needs {', '.join(part.dependencies)}" if part.dependencies else ""
        runs = "" if part.executable else ", not to be run"
        where = "" if part.span is None else f"  {place(one.path, part.span.line)}:{part.span.column}"
        indent = "  " * (part.depth + 1)
        yield f"{indent}[{part.index}] {part.kind}{name}  ({part.location}{needs}{runs}){where}"
        yield f"{indent}    {one_line(part.sql)[:WIDTH]}"
