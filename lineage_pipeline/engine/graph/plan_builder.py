"""Plan builder: the object graph of a snapshot, its dependency order, levels and cycles."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.graph.namespace import (
    DefaultSchemaUse,
    Namespace,
    build_namespace,
    collect_default_schemas,
    has_implicit_schema,
    with_default_schema,
)
from lineage_pipeline.engine.graph.object_builder import MAX_RESULT_SETS, ObjectBuilder, has_column_tags
from lineage_pipeline.engine.graph.query_names import collect_name_uses, list_query_files, name_queries
from lineage_pipeline.engine.graph.references import ReferenceResolver, ScopedStatement
from lineage_pipeline.engine.graph.script_scopes import StatementScope, natural_path_key
from lineage_pipeline.engine.graph.temp_table_sharing import find_shared_tables
from lineage_pipeline.model.analysis import Limits, Options, TableSchema
from lineage_pipeline.model.enums import ObjectKind, Origin, Stage
from lineage_pipeline.model.findings import build_diagnostic
from lineage_pipeline.model.plan import NameBindings, ObjectEntry, Plan, ScriptInterface, StatementInterface
from lineage_pipeline.model.source_map import SourceText
from lineage_pipeline.model.tables import Diagnostic, ObjectEdge, ObjectRow


class PlanFile(msgspec.Struct, frozen=True):
    """One script interface with the settings of its system."""

    path: str
    face: ScriptInterface
    options: Options
    owners: tuple[str, ...] = ()
    position: int = 0


ScopedFile = tuple[PlanFile, list[ScopedStatement]]


def build_plan(files: Iterable[PlanFile], imported: Mapping[str, TableSchema] | None = None) -> Plan:
    """The objects of a snapshot, what every name refers to, and the order in which schemas are resolved."""
    ordered = sorted(files, key=lambda file: (file.position, natural_path_key(file.path)))
    drafts = ObjectBuilder(imported or {})
    walks = _scope_files(ordered)
    for _, steps in walks:
        for _, face, space, scopes in steps:
            if face.calls or face.defines is not None:
                drafts.prepare_statement(face, space, scopes)
    for file, steps in walks:
        for ordinal, face, space, scopes in steps:
            drafts.add_statement(file.path, ordinal, face, space, scopes)
    _add_queries(walks, drafts)
    references = ReferenceResolver(drafts)
    references.owners = {file.path: file.owners for file in ordered if file.owners}
    for file, steps in walks:
        references.resolve(file.path, file.face, steps)
    faces = {file.path: file.face for file in ordered}
    lent = (
        find_shared_tables([(file.path, steps) for file, steps in walks], references.bound, drafts, faces)
        if drafts.has_session_tables()
        else ()
    )
    excess = (*references.states.report_excess(faces), *_report_skipped_results(drafts, faces))
    objects = drafts.build_entries(references)
    edges = references.build_object_edges()
    ranks = compute_levels(objects, edges)
    every = {**objects, **references.states.build_entries(objects, references.inputs)}
    groups = strongly_connected_groups(
        {name: [need for need in known.needs if need != name] for name, known in every.items()}
    )
    opened = _find_open(groups, every, references.stars, {*drafts.find_columnless(objects), *references.states.cut})
    finished = {
        name: msgspec.structs.replace(known, row=_finish_row(known.row, ranks[known.row.object], name in opened))
        for name, known in sorted(every.items())
    }
    return Plan(
        objects={name: known for name, known in finished.items() if name in objects},
        bound=references.bound | dict(_with_edge_limits(ordered, references.bound)),
        order=groups,
        object_statements=references.build_object_statements(),
        object_edges=edges,
        diagnostics=(*references.findings, *drafts.report_duplicates(faces), *excess, *_report_cycles(groups, every)),
        tagged=has_column_tags(((file.face.statements, file.options.labels) for file in ordered), imported or {}),
        states={name: known for name, known in finished.items() if name not in objects},
        lent=lent,
    )


def _add_queries(walks: Sequence[ScopedFile], drafts: ObjectBuilder) -> None:
    """Add the objects of queries that no statement names."""
    files = list_query_files([(file.path, file.options.query_names, steps) for file, steps in walks], drafts)
    if not files:
        return
    uses = collect_name_uses((file.path, steps) for file, steps in walks)
    spaces = {file.path: file.space for file in files}
    for place, name in name_queries(files, uses, {*drafts.drafts, *uses.ids}).items():
        drafts.add_query(place, name.parts, spaces[place[0]], fills=name.fills)


def _report_skipped_results(drafts: ObjectBuilder, faces: Mapping[str, ScriptInterface]) -> Iterator[Diagnostic]:
    """A finding at the first result set of a procedure that is not analyzed."""
    for name, draft in drafts.drafts.items():
        if len(draft.results) > MAX_RESULT_SETS and draft.kind is ObjectKind.PROCEDURE:
            event = draft.results[MAX_RESULT_SETS]
            values = {"what": f"the number of result sets of {name}", "limit": str(MAX_RESULT_SETS)}
            text, start = faces[event.path].text(event.path), faces[event.path].statements[event.ordinal].start
            yield build_diagnostic("LIMIT_EXCEEDED", values, text, start, Stage.OBJECT_GRAPH, name)


def _with_edge_limits(
    files: Iterable[PlanFile], bound: Mapping[str, tuple[NameBindings, ...]]
) -> Iterator[tuple[str, tuple[NameBindings, ...]]]:
    """The bindings of files whose edge limit differs from the default."""
    for file in files:
        edges = file.options.limits.edges
        if edges != Limits().edges:
            yield file.path, tuple(msgspec.structs.replace(one, edges=edges) for one in bound[file.path])


def _scope_files(files: Sequence[PlanFile]) -> list[ScopedFile]:
    """The statements of all files; names with and without the default schema mean the same object."""
    usual = collect_default_schemas(
        step for file in files if has_implicit_schema(build_namespace(file.options)) for step in scope_statements(file)
    )
    return [(file, list(scope_statements(file, usual))) for file in files]


def scope_statements(
    file: PlanFile, usual: dict[str, DefaultSchemaUse] | None = None
) -> Iterable[tuple[int, StatementInterface, Namespace, StatementScope]]:
    """The statements of a file, each with its namespace and scope."""
    space = with_default_schema(build_namespace(file.options), usual or {})
    statements = file.face.statements
    for ordinal, face in enumerate(statements):
        if face.context:
            space = space.after(face.context)
        yield ordinal, face, space, StatementScope(file.path, ordinal, statements)


def _finish_row(row: ObjectRow, level: int, opened: bool) -> ObjectRow:
    return msgspec.structs.replace(row, level=level, open=opened)


def _find_open(
    groups: Sequence[Sequence[str]],
    objects: Mapping[str, ObjectEntry],
    stars: Mapping[tuple[str, int], Sequence[str]],
    empty: Collection[str],
) -> set[str]:
    """The objects that may have more columns than are known: unknown ones, and those with a star over an open one."""
    opened = set(empty)
    for group in groups:
        for name in group:
            strange = objects[name].origin in (Origin.UNKNOWN, Origin.INFERRED)
            module = objects[name].kind in (ObjectKind.PROCEDURE, ObjectKind.TRIGGER)
            taken = [source for event in objects[name].shapers for source in stars.get((event.path, event.ordinal), ())]
            if (strange and not module) or not opened.isdisjoint(taken):
                opened.add(name)
    return opened


def _report_cycles(groups: Sequence[Sequence[str]], objects: Mapping[str, ObjectEntry]) -> Iterable[Diagnostic]:
    """A finding for each cycle of definitions; tables that load each other and mutual calls are none."""
    for group in groups:
        rows = (objects[name].row for name in group if objects[name].kind is not ObjectKind.PROCEDURE)
        defined = [*dict.fromkeys(row.object for row in rows if row.origin is Origin.IMPLIED)]
        itself = len(group) == 1 and objects[group[0]].kind is ObjectKind.VIEW and group[0] in objects[group[0]].needs
        if itself or len(defined) > 1:
            row = objects[defined[0]].row
            values = {"cycle": " → ".join([*defined, defined[0]])}
            finding = build_diagnostic(
                "DEPENDENCY_CYCLE", values, SourceText(row.path or ""), -1, Stage.OBJECT_GRAPH, defined[0]
            )
            yield msgspec.structs.replace(finding, line=row.line, column=1 if row.line else None)


def strongly_connected_groups(needs: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """The strongly connected groups of objects, dependencies first."""
    search = _TarjanSearch(needs)
    for root in sorted(needs):
        if root not in search.index:
            search.visit(root)
    return tuple(search.groups)


class _TarjanSearch:
    """Tarjan's algorithm without recursion: chains of views can be long."""

    def __init__(self, needs: Mapping[str, Sequence[str]]) -> None:
        self.needs = needs
        self.index: dict[str, int] = {}
        self.low: dict[str, int] = {}
        self.stack: list[str] = []
        self.waiting: set[str] = set()
        self.groups: list[tuple[str, ...]] = []

    def visit(self, root: str) -> None:
        work = [(root, self._enter(root))]
        while work:
            node, following = work[-1]
            need = next(following, None)
            if need is None:
                work.pop()
                if work:
                    self.low[work[-1][0]] = min(self.low[work[-1][0]], self.low[node])
                if self.low[node] == self.index[node]:
                    self.groups.append(self._leave(node))
            elif need not in self.index:
                work.append((need, self._enter(need)))
            elif need in self.waiting:
                self.low[node] = min(self.low[node], self.index[need])

    def _enter(self, node: str) -> Iterator[str]:
        self.index[node] = self.low[node] = len(self.index)
        self.stack.append(node)
        self.waiting.add(node)
        return iter(sorted(need for need in self.needs[node] if need in self.needs))

    def _leave(self, node: str) -> tuple[str, ...]:
        start = self.stack.index(node)
        group = self.stack[start:]
        del self.stack[start:]
        self.waiting.difference_update(group)
        return tuple(sorted(group))


def compute_levels(objects: Collection[str] | Mapping[str, ObjectEntry], edges: Sequence[ObjectEdge]) -> dict[str, int]:
    """The longest path from a source to each object; a cycle is one level."""
    inputs: dict[str, list[str]] = {name: [] for name in objects}
    for edge in edges:
        if edge.to_object in inputs and edge.from_object != edge.to_object:
            inputs[edge.to_object].append(edge.from_object)
    ranks: dict[str, int] = {}
    for group in strongly_connected_groups(inputs):
        outside = [
            ranks[source] + 1 for name in group for source in inputs[name] if source not in group and source in ranks
        ]
        for name in group:
            ranks[name] = max(outside, default=0)
    return ranks
