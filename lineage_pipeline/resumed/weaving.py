"""The tables of a resumed analysis: rows that stay are taken over as Arrow has them, new ones put between them."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from lineage_pipeline.engine.graph.statements import statement_rows
from lineage_pipeline.engine.link.columns import column_rows, constraint_rows, inferred_rows
from lineage_pipeline.pipeline import edge_key, finding_key
from lineage_pipeline.resumed.going_on import Resumed
from lineage_pipeline.store.arrays import own_arrow
from lineage_pipeline.store.building import array_of
from lineage_pipeline.vocabulary.analysis import TableSchema
from lineage_pipeline.vocabulary.tables import ColumnEdge, Diagnostic

Tables = dict[str, pa.Table]
Rows = Sequence[msgspec.Struct]

SCRIPTS = pa.schema([("path", pa.string()), ("script", pa.binary())])
"""What files were compiled to."""

BY_FILE: dict[str, tuple[str, ...]] = {
    "statements": ("path", "ordinal"),
    "column_edges": ("path", "statement"),
    "facets": ("object", "column", "name", "path", "statement"),
}
"""Tables whose rows come and go with a file, and the order they are in; edges of a statement have one already."""

BY_OBJECT: dict[str, tuple[str, ...]] = {"columns": ("object", "ordinal"), "constraints": ("object", "id")}
"""Tables whose rows come and go with an object, and the order they are in."""

UNPLACED = ("object_statements", "object_edges")
"""Tables of the plan in which no place is told."""

ORDERS = {**BY_FILE, **BY_OBJECT, "sources": ("source_hash",)}


def woven(done: Resumed, kept: Mapping[str, pa.Table], imported: Mapping[str, TableSchema]) -> Tables:
    """Give the tables that analysing makes, without the findings of discovery."""
    files = [*done.made, *done.gone]
    tables = {name: weave(name, kept.get(name), "path", files, rows) for name, rows in _of_files(done)}
    for name, objects, rows in _of_objects(done, imported):
        tables[name] = weave(name, kept.get(name), "object", objects, rows)
    tables["scripts"] = _scripts(done, kept.get("scripts"), files)
    stays = {name: kept[name] for name in UNPLACED} if done.stood else {}
    return tables | {name: own_arrow(name, rows) for name, rows in _planned(done)} | stays


def weave(name: str, kept: pa.Table | None, column: str, leaving: Collection[str], rows: Rows) -> pa.Table:
    """Put new rows between those that stay: all whose `column` is none of those that leave."""
    if kept is None:
        return _ordered(name, own_arrow(name, rows))
    if not leaving and not rows:
        return kept
    stays = pc.invert(pc.is_in(kept[column], value_set=array_of(list(leaving), pa.string())))
    return _ordered(name, pa.concat_tables([kept.filter(stays), own_arrow(name, rows)]))


def _ordered(name: str, content: pa.Table) -> pa.Table:
    keys = [(column, "ascending") for column in ORDERS[name]]
    return content.take(pc.sort_indices(content, sort_keys=keys))


def _of_files(done: Resumed) -> Iterator[tuple[str, Rows]]:
    made, bound = done.made.values(), done.plan.bound
    carried: dict[str, list[ColumnEdge]] = {}
    for edge in done.before.carried:
        carried.setdefault(edge.path, []).append(edge)
    edges: list[ColumnEdge] = []
    for path, (_, linked) in done.made.items():
        more = carried.get(path)
        edges.extend(sorted([*linked.edges, *more], key=edge_key) if more else linked.edges)
    yield "statements", [row for one, _ in made for row in statement_rows(one.text, one.script, bound[one.file.path])]
    yield "column_edges", edges
    yield "facets", [row for _, linked in made for row in linked.facets]


def _of_objects(done: Resumed, imported: Mapping[str, TableSchema]) -> Iterator[tuple[str, Collection[str], Rows]]:
    """The tables of objects, each with the objects whose rows are to be had anew."""
    every = done.objects | done.asked
    objects = {name: known for name, known in done.plan.objects.items() if name in every}
    schemas = {name: done.shapes.schema(name) for name in objects}
    wanted = {(name, column) for name, column in done.before.wanted if name in objects}
    yield "columns", every, [*column_rows(schemas, objects), *inferred_rows(wanted, schemas, objects)]
    scripts = {path: item.script for path, (item, _) in done.made.items()}
    dirty = {name: known for name, known in objects.items() if name in done.objects}
    yield "constraints", done.objects, list(constraint_rows(dirty, scripts, imported))


def _scripts(done: Resumed, kept: pa.Table | None, leaving: Sequence[str]) -> pa.Table:
    packed = [(path, msgspec.msgpack.encode(item.script)) for path, (item, _) in done.made.items()]
    columns = list(zip(*packed, strict=True)) or [(), ()]
    fresh = pa.Table.from_arrays(
        [array_of(values, field.type) for values, field in zip(columns, SCRIPTS, strict=True)], schema=SCRIPTS
    )
    if kept is None:
        return fresh
    stays = pc.invert(pc.is_in(kept["path"], value_set=array_of(list(leaving), pa.string())))
    return pa.concat_tables([kept.filter(stays), fresh])


def _planned(done: Resumed) -> Iterator[tuple[str, Rows]]:
    """The tables that the plan has, and the findings."""
    plan = done.plan
    yield "objects", [known.row for _, known in sorted(plan.objects.items())]
    yield "object_statements", plan.object_statements
    yield "object_edges", plan.object_edges
    yield "column_reach", ()


def findings(done: Resumed) -> list[Diagnostic]:
    """The findings of all files and of the plan, each once."""
    told = [row for one in done.before.files.values() for row in one.findings]
    return sorted({row.id: row for row in (*done.plan.diagnostics, *told)}.values(), key=finding_key)
