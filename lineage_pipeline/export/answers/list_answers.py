"""Lists of flows, tables, columns and statement parts as text, JSON and CSV."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec

from lineage_pipeline.engine.trace.statement_flows import StatementFlow
from lineage_pipeline.engine.trace.usage import TableUse
from lineage_pipeline.export.answers.answer import Answer, Row, format_column
from lineage_pipeline.export.documents.lineage_json import pick_fields
from lineage_pipeline.export.escaping import collapse_whitespace, format_location
from lineage_pipeline.model.components import Component, Dissection
from lineage_pipeline.model.tables import Column, ObjectRow

COLUMN_LIST_KEYS = ("name", "ordinal", "type", "nullable", "origin", "approximate")
SQL_WIDTH = 100


def answer_flows(level: str, found: Sequence[StatementFlow]) -> Answer:
    """Return the flows within statements."""
    rows = [_to_plain_row(flow) for flow in found]
    return Answer(
        lambda: {"level": level, "flows": rows},
        lambda: rows,
        lambda: _flow_lines(found),
        StatementFlow.__struct_fields__,
    )


def _to_plain_row(row: msgspec.Struct) -> Row:
    plain: Row = msgspec.to_builtins(row)
    return plain


def _flow_lines(found: Sequence[StatementFlow]) -> Iterator[str]:
    for (path, statement), flows in groupby(found, key=lambda flow: (flow.path, flow.statement)):
        yield f"{path}, statement {statement}"
        for flow in flows:
            how = "" if flow.subtype in (None, "IDENTITY") else f"  {flow.subtype}"
            source, target = (
                format_column(flow.from_object, flow.from_column),
                format_column(flow.to_object, flow.to_column),
            )
            yield f"  {target} <- {source}{how}"
    if not found:
        yield "nothing flows"


def answer_usage(found: Sequence[TableUse]) -> Answer:
    """Return how tables are used."""
    rows = [_to_plain_row(used) for used in found]
    return Answer(
        lambda: {"tables": rows},
        lambda: rows,
        lambda: (f"{used.usage:<6}  {used.type:<7}  {used.object}" for used in found),
        TableUse.__struct_fields__,
    )


def answer_schemas(objects: Sequence[ObjectRow], columns: Sequence[Column]) -> Answer:
    """Return the columns of tables and how they are known, in a form that can be imported again."""
    rows = {row.object: row for row in objects}
    return Answer(
        lambda: {
            "tables": [_table_document(rows[name], list(own)) for name, own in groupby(columns, key=_column_owner)]
        },
        lambda: (_column_row(rows[column.object], column) for column in columns),
        lambda: _column_lines(columns),
        ("catalog", "schema", "table", "column", *COLUMN_LIST_KEYS[1:]),
    )


def _column_owner(column: Column) -> str:
    return column.object


def _table_document(row: ObjectRow, columns: Sequence[Column]) -> Row:
    about = {"catalog": row.catalog, "schema": row.schema, "name": row.name}
    return about | {
        "object": row.object,
        "kind": row.kind.value,
        "origin": row.origin.value,
        "partial": row.open,
        "columns": pick_fields(columns, COLUMN_LIST_KEYS),
    }


def _column_row(row: ObjectRow, column: Column) -> Row:
    (about,) = pick_fields([column], COLUMN_LIST_KEYS)
    name = about.pop("name")
    return {"catalog": row.catalog, "schema": row.schema, "table": row.name, "column": name} | about


def _column_lines(found: Sequence[Column]) -> Iterator[str]:
    for name, columns in groupby(found, key=_column_owner):
        yield name
        for column in columns:
            nullable = "" if column.nullable else " not null"
            yield f"  {column.name}  {column.type or '?'}{nullable}  ({column.origin})"


def answer_dissections(found: Sequence[Dissection]) -> Answer:
    """Return the parts of statements."""
    return Answer(
        lambda: {"statements": [_to_plain_row(one) for one in found]},
        lambda: (_component_row(one, part) for one in found for part in one.components),
        lambda: (line for one in found for line in _dissection_lines(one)),
        COMPONENT_HEADER,
    )


COMPONENT_HEADER = (
    *("path", "statement", "statement_kind", "index", "kind", "name", "parent", "depth", "executable"),
    *("dependencies", "location", "line", "column", "sql", "runnable"),
)


def _component_row(one: Dissection, part: Component) -> Row:
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
        where = "" if part.span is None else f"  {format_location(one.path, part.span.line)}:{part.span.column}"
        indent = "  " * (part.depth + 1)
        yield f"{indent}[{part.index}] {part.kind}{name}  ({part.location}{needs}{runs}){where}"
        yield f"{indent}    {collapse_whitespace(part.sql)[:SQL_WIDTH]}"
