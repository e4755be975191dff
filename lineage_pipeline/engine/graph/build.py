"""The object graph of a snapshot: definitions first, then every reference, then order and levels."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.graph.draft import MOST_RESULTS, Drafts
from lineage_pipeline.engine.graph.labels import may_tag
from lineage_pipeline.engine.graph.lending import lend
from lineage_pipeline.engine.graph.names import Namespace, Usual, namespace
from lineage_pipeline.engine.graph.order import components, levels
from lineage_pipeline.engine.graph.references import References
from lineage_pipeline.engine.graph.scopes import Scopes, natural
from lineage_pipeline.engine.graph.usual import has_usual, placed, usual_of
from lineage_pipeline.vocabulary.analysis import Limits, Options, TableSchema
from lineage_pipeline.vocabulary.codes import diagnose
from lineage_pipeline.vocabulary.places import Text
from lineage_pipeline.vocabulary.plan import Bound, Face, Known, Plan, ScriptFace
from lineage_pipeline.vocabulary.sets import ObjectKind, Origin, Stage
from lineage_pipeline.vocabulary.tables import Diagnostic, ObjectRow


class File(msgspec.Struct, frozen=True):
    """One script seen from outside, with the settings of its system."""

    path: str
    face: ScriptFace
    options: Options
    owners: tuple[str, ...] = ()
    position: int = 0


def build_plan(files: Iterable[File], imported: Mapping[str, TableSchema] | None = None) -> Plan:
    """The objects of a snapshot, what every name stands for, and in which order schemas can be worked out."""
    ordered = sorted(files, key=lambda file: (file.position, natural(file.path)))
    drafts = Drafts(imported or {})
    walks = _walks(ordered)
    for _, steps in walks:
        for _, face, space, scopes in steps:
            if face.calls or face.defines is not None:
                drafts.prepare(face, space, scopes)
    for file, steps in walks:
        for ordinal, face, space, scopes in steps:
            drafts.define(file.path, ordinal, face, space, scopes)
    references = References(drafts)
    references.owners = {file.path: file.owners for file in ordered if file.owners}
    for file, steps in walks:
        references.resolve(file.path, file.face, steps)
    lent = lend([(file.path, steps) for file, steps in walks], references.bound, drafts)
    faces = {file.path: file.face for file in ordered}
    excess = (*references.states.excess(faces), *_unlooked(drafts, faces))
    objects = drafts.known(references)
    edges = references.edges()
    ranks = levels(objects, edges)
    every = {**objects, **references.states.known(objects, references.inputs)}
    groups = components({name: [need for need in known.needs if need != name] for name, known in every.items()})
    opened = _open(groups, every, references.stars, {*drafts.empty(objects), *references.states.cut})
    finished = {
        name: msgspec.structs.replace(known, row=_finished(known.row, ranks[known.row.object], name in opened))
        for name, known in sorted(every.items())
    }
    return Plan(
        objects={name: known for name, known in finished.items() if name in objects},
        bound=references.bound | dict(_limited(ordered, references.bound)),
        order=groups,
        object_statements=references.parts(),
        object_edges=edges,
        diagnostics=(*references.findings, *drafts.duplicates(faces), *excess, *_cycles(groups, every)),
        tagged=may_tag(((file.face.statements, file.options.labels) for file in ordered), imported or {}),
        states={name: known for name, known in finished.items() if name not in objects},
        lent=lent,
    )


def _unlooked(drafts: Drafts, faces: Mapping[str, ScriptFace]) -> Iterator[Diagnostic]:
    """A finding at the first result set of a procedure that is not looked at."""
    for name, draft in drafts.drafts.items():
        if len(draft.results) > MOST_RESULTS and draft.kind is ObjectKind.PROCEDURE:
            event = draft.results[MOST_RESULTS]
            values = {"what": f"the number of result sets of {name}", "limit": str(MOST_RESULTS)}
            text, start = faces[event.path].text(event.path), faces[event.path].statements[event.ordinal].start
            yield diagnose("LIMIT_EXCEEDED", values, text, start, Stage.OBJECT_GRAPH, name)


def _limited(files: Iterable[File], bound: Mapping[str, tuple[Bound, ...]]) -> Iterator[tuple[str, tuple[Bound, ...]]]:
    """The statements of files that may have another number of edges than the usual one."""
    for file in files:
        edges = file.options.limits.edges
        if edges != Limits().edges:
            yield file.path, tuple(msgspec.structs.replace(one, edges=edges) for one in bound[file.path])


def _walks(files: Sequence[File]) -> list[tuple[File, list[tuple[int, Face, Namespace, Scopes]]]]:
    """The statements of all files; names mean the same object with the usual schema and without it."""
    usual = usual_of(step for file in files if has_usual(namespace(file.options)) for step in walk(file))
    return [(file, list(walk(file, usual))) for file in files]


def walk(file: File, usual: dict[str, Usual] | None = None) -> Iterable[tuple[int, Face, Namespace, Scopes]]:
    """The statements of a file, each with what completes its names and the scopes it stands in."""
    space = placed(namespace(file.options), usual or {})
    statements = file.face.statements
    for ordinal, face in enumerate(statements):
        if face.context:
            space = space.after(face.context)
        yield ordinal, face, space, Scopes(file.path, ordinal, statements)


def _finished(row: ObjectRow, level: int, opened: bool) -> ObjectRow:
    return msgspec.structs.replace(row, level=level, open=opened)


def _open(
    groups: Sequence[Sequence[str]],
    objects: Mapping[str, Known],
    stars: Mapping[tuple[str, int], Sequence[str]],
    empty: Collection[str],
) -> set[str]:
    """The objects that may have more columns than are known: strangers, and whatever takes all of an open one."""
    opened = set(empty)
    for group in groups:
        for name in group:
            strange = objects[name].origin in (Origin.UNKNOWN, Origin.INFERRED)
            module = objects[name].kind in (ObjectKind.PROCEDURE, ObjectKind.TRIGGER)
            taken = [source for event in objects[name].shapers for source in stars.get((event.path, event.ordinal), ())]
            if (strange and not module) or not opened.isdisjoint(taken):
                opened.add(name)
    return opened


def _cycles(groups: Sequence[Sequence[str]], objects: Mapping[str, Known]) -> Iterable[Diagnostic]:
    """A finding for each circle of definitions; tables that load and procedures that call each other are none."""
    for group in groups:
        rows = (objects[name].row for name in group if objects[name].kind is not ObjectKind.PROCEDURE)
        defined = [*dict.fromkeys(row.object for row in rows if row.origin is Origin.IMPLIED)]
        itself = len(group) == 1 and objects[group[0]].kind is ObjectKind.VIEW and group[0] in objects[group[0]].needs
        if itself or len(defined) > 1:
            row = objects[defined[0]].row
            values = {"cycle": " → ".join([*defined, defined[0]])}
            finding = diagnose("DEPENDENCY_CYCLE", values, Text(row.path or ""), -1, Stage.OBJECT_GRAPH, defined[0])
            yield msgspec.structs.replace(finding, line=row.line, column=1 if row.line else None)
