"""Struct fields that were removed, added or retyped."""

from collections.abc import Iterator, Mapping

from lineage_pipeline.engine.diff.finding import ChangeFinding, Rule
from lineage_pipeline.engine.diff.index import LineageIndex
from lineage_pipeline.engine.diff.match import LineagePair
from lineage_pipeline.engine.diff.type_comparison import compare_types, is_missing_field, list_fields
from lineage_pipeline.model.enums import Scope, Severity
from lineage_pipeline.model.tables import Column, ColumnEdge


def fields_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """A struct is an interface of its own: its fields are removed, added and retyped like columns."""
    for name in pair.common:
        for old, new in pair.columns(name):
            both = compare_fields(old, new)
            if both:
                for severity, before, after in _iter_field_differences(new.name, *both):
                    yield ChangeFinding(
                        rule="COL007", object=name, column=new.name, severity=severity, before=before, after=after
                    )


def find_missing_fields(pair: LineagePair) -> Iterator[ChangeFinding]:
    """A statement names a field that its column never had; a removed one is reported with its readers."""
    known = {(edge.to_object, edge.from_object, edge.from_column, edge.from_path) for edge in _field_edges(pair.base)}
    for edge in _field_edges(pair.head):
        columns = [side.columns.get(edge.from_object, {}).get(edge.from_column) for side in (pair.base, pair.head)]
        types = [column.type for column in columns if column is not None and column.type]
        use = (edge.to_object, edge.from_object, edge.from_column, edge.from_path)
        if types and use not in known and all(is_missing_field(type_, edge.from_path or "") for type_ in types):
            problem = f"{edge.from_column}.{edge.from_path} is not a field of {edge.from_object}.{edge.from_column}"
            span = edge.from_span or edge.span
            place = edge.path, span.line if span else pair.head.line((edge.path, edge.statement))
            yield ChangeFinding(
                rule="SRC002",
                object=edge.to_object,
                column=None,
                severity=Severity.BREAKING,
                before=None,
                after=problem,
                path=place[0],
                line=place[1],
            )


def _field_edges(side: LineageIndex) -> list[ColumnEdge]:
    return [edge for edge in side.lineage.column_edges if edge.from_path]


def compare_fields(old: Column, new: Column) -> tuple[dict[str, str], dict[str, str]] | None:
    """The fields of a column before and after, where both types have some and differ."""
    if old.type == new.type or not old.type or not new.type:
        return None
    before, after = list_fields(old.type), list_fields(new.type)
    return (before, after) if before is not None and after is not None else None


def _iter_field_differences(
    column: str, before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[tuple[Severity, str | None, str | None]]:
    """The differences of two structs path by path; a parent stands for the fields below it."""
    for path, type_ in before.items():
        if path not in after and not _has_changed_parent(path, before, after):
            yield Severity.BREAKING, f"{column}.{path} {type_}", None
    for path, type_ in after.items():
        if path not in before and not _has_changed_parent(path, after, before):
            yield Severity.NON_BREAKING, None, f"{column}.{path} {type_}"
    for path in (path for path in before if path in after):
        verdict = compare_types(before[path], after[path])
        if verdict:
            yield verdict[1], f"{column}.{path} {before[path]}", f"{column}.{path} {after[path]}"
    shared = [path for path in before if path in after]
    order = [path for path in after if path in before]
    if shared != order:
        yield Severity.POTENTIALLY_BREAKING, ", ".join(shared), ", ".join(order)


def _has_changed_parent(path: str, mine: Mapping[str, str], others: Mapping[str, str]) -> bool:
    parent = path.rpartition(".")[0]
    return bool(parent) and parent in mine and parent not in others


RULES: tuple[Rule, ...] = (
    Rule(
        id="COL007",
        title="field of a column changed",
        scope=Scope.INTERFACE,
        find=fields_changed,
        meaning="A field inside a struct went, came or has another type. Whoever names its path feels it as "
        "that of a column.",
        remedy="Change the readers of the path that are listed, or keep the field until they are.",
    ),
)
