"""What must stay when a query is written in another way: the names, types and lineage of its columns, and findings."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lineage_pipeline.model.analysis import LineageTables, SchemaColumn, TableSchema
from lineage_pipeline.model.enums import EdgeType, ObjectKind, Origin
from lineage_pipeline_tests.oracles import engine

Sources = frozenset[str]

VIEW = "asked"
"""The view that a query is told as."""


@dataclass(frozen=True)
class Portrait:
    """The columns of a view, each by its name, its type, and where its values come from and what decides about them."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    direct: tuple[Sources, ...]
    indirect: tuple[Sources, ...]
    findings: tuple[str, ...]

    def differences(self, other: "Portrait", aspects: Sequence[str]) -> list[str]:
        """The aspects in which two views differ."""
        return [aspect for aspect in aspects if getattr(self, aspect) != getattr(other, aspect)]


def portray(
    statement: str, dialect: str, given: Mapping[str, TableSchema], view: str = VIEW, *, schema: str = ""
) -> Portrait:
    """The portrait of the view that a statement makes."""
    return portray_view(engine.lineage(statement, dialect, given), view, schema)


def read_tables(lineage: LineageTables, names: Sequence[str], schema: str) -> dict[str, TableSchema]:
    """The schemas of some tables as a script defines them, where `schema` is one that names may omit."""
    found: dict[str, list[SchemaColumn]] = defaultdict(list)
    for row in lineage.columns:
        found[_plain(row.object, schema)].append(SchemaColumn(row.name, row.written, row.type, row.nullable))
    return {
        name: TableSchema(name, ObjectKind.TABLE, Origin.IMPORTED, tuple(found[_plain(name, schema)])) for name in names
    }


def portray_view(lineage: LineageTables, view: str, schema: str) -> Portrait:
    """The portrait of one of the views of a script, where `schema` is one that names may omit."""
    direct: dict[str, set[str]] = defaultdict(set)
    indirect: dict[str, set[str]] = defaultdict(set)
    for edge in lineage.column_edges:
        if _is_view(edge.to_object, view, schema):
            kept = direct if edge.type is EdgeType.DIRECT else indirect
            path = f"[{edge.from_path}]" if edge.from_path else ""
            kept[edge.to_column].add(f"{_plain(edge.from_object, schema)}.{edge.from_column}{path}")
    columns = [row for row in lineage.columns if _is_view(row.object, view, schema)]
    return Portrait(
        names=tuple(row.name for row in columns),
        types=tuple(row.type or "" for row in columns),
        direct=tuple(frozenset(direct[row.name]) for row in columns),
        indirect=tuple(frozenset(indirect[row.name] | indirect["*"]) for row in columns),
        findings=tuple(sorted(row.code for row in lineage.diagnostics)) if not schema else (),
    )


def _is_view(identity: str, view: str, schema: str) -> bool:
    """Whether an object is the view, in whatever letters the dialect has its name."""
    return _plain(identity, schema).lower() == view.lower()


def _plain(identity: str, schema: str) -> str:
    return identity.removeprefix(f"{schema}.") if schema else identity
