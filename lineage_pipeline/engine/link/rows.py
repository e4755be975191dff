"""Table rows: edges, facets, findings, constraints and columns, also those inferred from statements that read them."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

import msgspec

from lineage_pipeline.dialects.identifier_folding import matches_name_pattern
from lineage_pipeline.dialects.statement_words import CONSTRAINT_SUFFIXES
from lineage_pipeline.engine.link.canonical import fingerprint_text
from lineage_pipeline.engine.link.model import ColumnFlow, Members, OutputColumn, UnexpandedStar
from lineage_pipeline.engine.link.statement import LinkedStatement, WriteResult
from lineage_pipeline.engine.link.table_schema import list_declared_constraints
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import TableSchema
from lineage_pipeline.model.enums import EdgeType, Origin, Stage, Subtype
from lineage_pipeline.model.findings import build_diagnostic
from lineage_pipeline.model.plan import NameBindings, ObjectEntry
from lineage_pipeline.model.source_map import SourceText
from lineage_pipeline.model.tables import DECLARATION, Column, ColumnEdge, Constraint, Diagnostic, Facet, Span, Use


class StarEdge(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An unexpanded star through which columns of an open object pass into another one."""

    target: str
    source: str
    exclude: tuple[str, ...]
    path: str
    statement: int
    span: Span | None
    approximate: bool
    conditional: bool = False
    expression: str = ""


class StatementSpans:
    """The spans of one statement in its file, each computed once: many inputs share one expression."""

    def __init__(self, text: SourceText, origin: int) -> None:
        """Start at the offset of a statement."""
        self.text = text
        self.origin = origin
        self.known: dict[tuple[int, int], Span | None] = {}
        self.said: dict[tuple[int, int], str] = {}

    def span(self, start: int, end: int) -> Span | None:
        """A span of the statement in its file, or None where it is unknown."""
        if start < 0:
            return None
        key = (start, end)
        found = self.known.get(key, _UNSEEN)
        if found is _UNSEEN:
            found = self.known[key] = self.text.span(self.origin + start, self.origin + end)
        return found

    def describe_use(self, flow: ColumnFlow, out: OutputColumn | None) -> tuple[str, Span | None, Span | None]:
        """One use of an input: the expression it goes into, or itself where it only decides about rows.

        A value that comes through a temporary table unchanged goes into the expression that fills the table.
        """
        from_span = self.span(flow.start, flow.end)
        if out is None:
            return self.text_at(flow.start, flow.end), None, from_span
        if flow.made is not None:
            start, end = flow.made
            return self.text.text[start:end], self.text.span(start, end), from_span
        return self.text_at(out.start, out.end), self.span(out.start, out.end), from_span

    def text_at(self, start: int, end: int) -> str:
        """The text at a position."""
        if start < 0:
            return ""
        found = self.said.get((start, end))
        if found is None:
            found = self.said[start, end] = self.text.text[self.origin + start : self.origin + end]
        return found


_UNSEEN = Span(line=0, column=0, end_line=0, end_column=0, start=0, end=0)


def build_edge_rows(text: SourceText, placed: ir.Placed, ordinal: int, linked: LinkedStatement) -> list[ColumnEdge]:
    """The column edges of one statement; several uses of one input are one row."""
    grouped: dict[tuple[str, ...], list[tuple[ColumnFlow, OutputColumn | None, bool]]] = {}
    key: tuple[str, ...]
    for written in linked.writes:
        target, conditional = written.target, written.conditional
        for name, out in written.columns:
            for flow in out.value.flows:
                key = (flow.object, flow.column, flow.path, target, name, flow.type, flow.subtype)
                grouped.setdefault(key, []).append((flow, out, conditional))
        for flow in written.indirect:
            key = (flow.object, flow.column, flow.path, target, "*", flow.type, flow.subtype)
            grouped.setdefault(key, []).append((flow, None, conditional))
        for opening in written.unexpanded:  # the columns that nobody lists
            flow = ColumnFlow(opening.object, "*", approximate=True, start=opening.start, end=opening.end)
            key = (flow.object, "*", "", target, "*", flow.type, flow.subtype)
            grouped.setdefault(key, []).append((flow, None, conditional))
    places = StatementSpans(text, placed.start)
    return [_build_edge(places, ordinal, key, uses) for key, uses in sorted(grouped.items(), key=_FIRST)]


_FIRST = itemgetter(0)


def _build_edge(
    places: StatementSpans, ordinal: int, key: tuple[str, ...], uses: list[tuple[ColumnFlow, OutputColumn | None, bool]]
) -> ColumnEdge:
    if len(uses) > 1:
        uses = sorted(uses, key=lambda use: (use[0].start < 0, use[0].start, use[1].start if use[1] else 0))
    first, out, conditional = uses[0]
    expression, span, from_span = places.describe_use(first, out)
    masking, approximate, others = first.masking, first.approximate, tuple[Use, ...]()
    if len(uses) > 1:  # few inputs are used twice, and there are many edges
        masking = all(flow.masking for flow, _, _ in uses)
        approximate = any(flow.approximate for flow, _, _ in uses)
        conditional = all(guarded for _, _, guarded in uses)
        others = tuple(
            [Use(*use) for use in dict.fromkeys(places.describe_use(flow, out) for flow, out, _ in uses)][1:]
        )
    from_object, from_column, path, to_object, to_column, _, _ = key
    return ColumnEdge(  # in the order of its fields: names take twice as long
        places.text.path,
        ordinal,
        from_object,
        from_column,
        path or None,
        to_object,
        to_column,
        first.type,
        first.subtype,
        masking,
        approximate,
        conditional,
        expression,
        span,
        from_span,
        first.hops,
        others,
    )


def build_facet_rows(text: SourceText, placed: ir.Placed, ordinal: int, linked: LinkedStatement) -> Iterator[Facet]:
    """The facets of what a statement does to each object, in canonical form."""
    places = StatementSpans(text, placed.start)
    for written in _merge_writes(linked.writes):
        for name, out in written.columns:
            span = places.span(out.start, out.end)
            canonical = out.value.text
            words = places.text_at(out.start, out.end)
            mark = fingerprint_text(canonical)
            yield Facet(
                object=written.target,
                column=name,
                name="projection",
                path=text.path,
                statement=ordinal,
                fingerprint=mark,
                text=canonical,
                expression=words,
                span=span,
            )
            for path, value in _iter_fields(name, out.value.members):
                mark = fingerprint_text(value)
                yield Facet(written.target, path, "field", text.path, ordinal, mark, value, "", None)
        for facet, lines in written.facets:
            yield Facet(
                object=written.target,
                column="*",
                name=facet,
                path=text.path,
                statement=ordinal,
                fingerprint=fingerprint_text(lines),
                text=lines,
                expression="",
                span=None,
            )


MAX_FIELDS = 200
"""Fields of a column with facets of their own."""


def _iter_fields(column: str, members: Members | None) -> Iterator[tuple[str, str]]:
    """The canonical texts of the fields of a struct that a statement builds, by their paths."""
    pending, left = [(column, members or ())], MAX_FIELDS
    while pending:
        prefix, inner = pending.pop()
        left -= len(inner)
        if left < 0:
            return
        for name, value in inner:
            yield f"{prefix}.{name}", value.text
            pending.append((f"{prefix}.{name}", value.members or ()))


def build_declaration_rows(text: SourceText, placed: ir.Placed, names: NameBindings) -> Iterator[Facet]:
    """Facets with the positions of the columns that a CREATE TABLE lists."""
    definition = placed.statement.definition
    if definition is None or definition.relation != ir.NOWHERE or not definition.columns:
        return
    target, places = dict(names.names).get(definition.name.parts, ""), StatementSpans(text, placed.start)
    first = {column.name: column for column in reversed(definition.columns)}
    for column in first.values() if target else ():
        span = places.span(column.start, column.end)
        if span is not None:
            place = (text.path, names.ordinal)
            words = places.text_at(column.start, column.end)
            yield Facet(target, column.name, DECLARATION, *place, "", "", words, span)


def _merge_writes(writes: Sequence[WriteResult]) -> Iterator[WriteResult]:
    """The writes to one object as one, each column once: the arms of a MERGE belong together."""
    grouped: dict[str, list[WriteResult]] = {}
    for written in writes:
        grouped.setdefault(written.target, []).append(written)
    for group in grouped.values():
        if len(group) == 1 and len({name for name, _ in group[0].columns}) == len(group[0].columns):
            yield group[0]
            continue
        columns: dict[str, OutputColumn] = {}
        facets: dict[str, str] = {}
        for written in group:
            for name, out in written.columns:
                known = columns.get(name)
                text = out.value.text if known is None else f"{known.value.text} | {out.value.text}"
                value = msgspec.structs.replace(out.value, text=text)
                columns[name] = msgspec.structs.replace(known or out, value=value)
            for facet, lines in written.facets:
                facets[facet] = "\n".join(
                    dict.fromkeys([*facets.get(facet, "").split("\n"), *lines.split("\n")])
                ).strip("\n")
        yield msgspec.structs.replace(group[0], columns=tuple(columns.items()), facets=tuple(facets.items()))


def build_finding_rows(
    text: SourceText, placed: ir.Placed, findings: Sequence[ir.Finding], stage: Stage
) -> Iterator[Diagnostic]:
    """Findings at their positions in the file."""
    for finding in findings:
        offset = placed.start + max(finding.start, 0)
        yield build_diagnostic(finding.code, dict(finding.values), text, offset, stage)


def build_star_edges(text: SourceText, placed: ir.Placed, ordinal: int, linked: LinkedStatement) -> Iterator[StarEdge]:
    """The unexpanded stars of a statement."""
    for written in linked.writes:
        for opening in written.unexpanded:
            yield _build_star_edge(text, placed.start, ordinal, written, opening)


def _build_star_edge(
    text: SourceText, origin: int, ordinal: int, written: WriteResult, opening: UnexpandedStar
) -> StarEdge:
    span = text.span(origin + opening.start, origin + opening.end) if opening.start >= 0 else None
    expression = text.text[origin + opening.start : origin + opening.end] if opening.start >= 0 else ""
    listed = (*opening.exclude, *(name for name, _ in written.columns))  # these have edges of their own
    uncertain = len(written.unexpanded) > 1 or written.lists
    guarded = written.conditional
    return StarEdge(
        target=written.target,
        source=opening.object,
        exclude=listed,
        path=text.path,
        statement=ordinal,
        span=span,
        approximate=uncertain,
        conditional=guarded,
        expression=expression,
    )


def build_column_rows(schemas: Mapping[str, TableSchema], objects: Mapping[str, ObjectEntry]) -> Iterator[Column]:
    """The columns of definitions and imports."""
    for name, schema in sorted(schemas.items()):
        shapers = objects[name].shapers
        first = (shapers[0].path, shapers[0].ordinal) if shapers else (None, None)
        labels = objects[name].labels
        usual = Origin.INFERRED if schema.origin is Origin.UNKNOWN else schema.origin
        for ordinal, column in enumerate((*schema.columns, *schema.parameters), 1):
            origin = column.origin or usual
            source = (column.path, column.statement) if column.path is not None else first
            yield Column(
                object=name,
                ordinal=ordinal,
                name=column.name,
                written=column.written,
                type=column.type,
                nullable=column.nullable,
                origin=origin,
                approximate=column.approximate,
                path=source[0] if origin is not Origin.IMPORTED else None,
                statement=source[1] if origin is not Origin.IMPORTED else None,
                tags=match_column_tags(column.name, column.tags, labels) if labels else column.tags,
                description=column.description,
            )


def match_column_tags(name: str, own: Sequence[str], labels: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[str, ...]:
    """The tags of a column: its own, and those of the patterns that its name matches."""
    return tuple(
        sorted({*own, *(tag for pattern, tags in labels if matches_name_pattern(name, pattern) for tag in tags)})
    )


def build_inferred_rows(
    requests: set[tuple[str, str]], schemas: Mapping[str, TableSchema], objects: Mapping[str, ObjectEntry]
) -> Iterator[Column]:
    """The columns that are known only because a statement reads them, numbered after the known ones."""
    grouped: dict[str, list[str]] = {}
    for name, column in sorted(requests):
        grouped.setdefault(name, []).append(column)
    for name, columns in grouped.items():
        known = schemas[name]
        for ordinal, column in enumerate(columns, len(known.columns) + len(known.parameters) + 1):
            tags = match_column_tags(column, (), objects[name].labels) if objects[name].labels else ()
            yield Column(
                object=name,
                ordinal=ordinal,
                name=column,
                written=column,
                type=None,
                nullable=True,
                origin=Origin.INFERRED,
                approximate=True,
                path=None,
                statement=None,
                tags=tags,
                description=None,
            )


def build_constraint_rows(
    objects: Mapping[str, ObjectEntry],
    scripts: Mapping[str, ir.Script],
    imported: Mapping[str, TableSchema] | None = None,
) -> Iterator[Constraint]:
    """The constraints of definitions, alterations and imports."""
    rows = {}
    for name, known in objects.items():
        for given in imported[known.imported].constraints if imported and known.imported in imported else ():
            rows[name, given.id] = msgspec.structs.replace(given, object=name)
        for event in known.shapers:
            statement = scripts[event.path].statements[event.ordinal].statement
            for item in list_declared_constraints(statement.definition) if statement.definition is not None else ():
                row = _build_constraint(name, item)
                rows[row.object, row.id] = row
            for change in statement.alterations:
                _apply_constraint_change(rows, name, change)
    yield from (row for _, row in sorted(rows.items()))


def _apply_constraint_change(rows: dict[tuple[str, str], Constraint], name: str, change: ir.Alteration) -> None:
    """Add the constraint that an alteration declares, and remove the one it drops or replaces."""
    added = change.constraint
    if change.action.startswith("release") or (added is not None and added.kind == "default"):
        for key in [key for key, row in rows.items() if key[0] == name and _is_dropped_constraint(row, change)]:
            del rows[key]
    if added is not None:
        row = _build_constraint(name, added)
        rows[name, row.id] = row


def _is_dropped_constraint(row: Constraint, change: ir.Alteration) -> bool:
    if change.constraint is not None:  # a column has one default
        return row.kind == "default" and row.columns == change.constraint.columns
    if change.action == "release default":
        return row.kind == "default" and row.columns == (change.column,)
    if row.name is not None:
        return row.name.casefold() == change.column.casefold()
    columns = () if row.kind == "primary key" else row.columns
    given = "_".join(["", *columns, CONSTRAINT_SUFFIXES.get(row.kind, row.kind)])
    return row.kind == change.column or (row.kind in CONSTRAINT_SUFFIXES and change.column.endswith(given))


def _build_constraint(name: str, item: ir.ConstraintDef) -> Constraint:
    expression = ".".join(item.references.parts) if item.references is not None else item.expression
    text = "\0".join((item.kind, item.name, *item.columns, expression))
    identity = hashlib.sha256(text.encode()).hexdigest()[:12]
    return Constraint(
        object=name,
        id=identity,
        kind=item.kind,
        name=item.name or None,
        columns=item.columns,
        expression=expression or None,
    )


ColumnRequest = tuple[str, str]


class ListedColumns:
    """The column names that schemas list, by object, built on demand."""

    def __init__(self, schemas: Mapping[str, TableSchema]) -> None:
        """Take the schemas."""
        self._schemas = schemas
        self._names: dict[str, set[str]] = {}

    def lacks(self, name: str, column: str) -> bool:
        """Say whether an object is known and does not list a column."""
        names = self._names.get(name)
        if names is None:
            schema = self._schemas.get(name)
            if schema is None:
                return False
            names = self._names[name] = _column_names(schema)
        return column not in names


def find_requested_columns(edges: Iterable[ColumnEdge], listed: ListedColumns) -> set[ColumnRequest]:
    """The columns that edges name and no schema lists."""
    found: set[ColumnRequest] = set()
    for edge in edges:
        for name, column in ((edge.from_object, edge.from_column), (edge.to_object, edge.to_column)):
            if column != "*" and listed.lacks(name, column):
                found.add((name, column))
    return found


def propagate_requests(
    requests: set[ColumnRequest], passings: Iterable[StarEdge], schemas: Mapping[str, TableSchema]
) -> tuple[set[ColumnRequest], list[ColumnEdge]]:
    """All columns requested through stars, and the edges that carry them."""
    stars: dict[str, list[StarEdge]] = {}
    for passing in passings:
        stars.setdefault(passing.target, []).append(passing)
    listed = ListedColumns(schemas)
    everything, pending = set(requests), sorted(requests)
    edges: dict[tuple[str, ...], ColumnEdge] = {}  # two arms of a MERGE may carry the same column
    while pending:
        target, column = pending.pop()
        for passing in stars.get(target, ()):
            if column in passing.exclude:
                continue
            edges.setdefault(
                (passing.path, str(passing.statement), passing.source, target, column),
                _build_request_edge(passing, column),
            )
            request = (passing.source, column)
            if request not in everything and (passing.source not in schemas or listed.lacks(*request)):
                everything.add(request)
                pending.append(request)
    return everything, list(edges.values())


def _column_names(schema: TableSchema) -> set[str]:
    return {column.name for column in (*schema.columns, *schema.parameters)}


def _build_request_edge(passing: StarEdge, column: str) -> ColumnEdge:
    return ColumnEdge(
        path=passing.path,
        statement=passing.statement,
        from_object=passing.source,
        from_column=column,
        from_path=None,
        to_object=passing.target,
        to_column=column,
        type=EdgeType.DIRECT,
        subtype=Subtype.IDENTITY,
        masking=False,
        approximate=passing.approximate,
        conditional=passing.conditional,
        expression=passing.expression,
        span=passing.span,
        from_span=passing.span,
        hops=(),
        uses=(),
    )
