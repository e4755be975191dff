"""The object graph: the outsides of all scripts come to the driver, which holds names and no columns."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
import pyarrow as pa

from lineage_pipeline.engine.graph.build import File, build_plan
from lineage_pipeline.engine.link.memory import named
from lineage_pipeline.engine.link.rows import finding_rows
from lineage_pipeline.spark.compile import compile_new, is_compiled, scripts
from lineage_pipeline.spark.work import Work
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.plan import Known, Plan, ScriptFace
from lineage_pipeline.vocabulary.sets import ObjectKind, Role, Stage
from lineage_pipeline.vocabulary.tables import Diagnostic

OBJECTS_A_BUNDLE = 500
"""Objects that are small together are worked out together: a group costs more than a schema."""

FILE = "plan.msgpack"

BOUNDS = pa.schema(
    [("path", pa.string()), ("bounds", pa.binary()), ("shapings", pa.binary()), ("names", pa.list_(pa.string()))]
)
"""For each file: what its names stand for, which of its statements shape which objects, and all objects it names."""

KNOWN = pa.schema([("bundle", pa.int64()), ("rank", pa.int64()), ("object", pa.string()), ("known", pa.binary())])
"""For each object: the bundle it is worked out in, and its place in the order of need."""

SHAPERS = pa.schema([("bundle", pa.int64()), ("path", pa.string()), ("ordinals", pa.list_(pa.int64()))])
"""For each bundle: the statements that shape its objects."""


class Shaping(msgspec.Struct, frozen=True, array_like=True):
    """A statement that shapes an object, by the object's place in the order of need."""

    ordinal: int
    role: Role
    rank: int


class Planned(msgspec.Struct, frozen=True):
    """The plan, and what parsing found."""

    plan: Plan
    findings: tuple[Diagnostic, ...]


def planned(work: Work) -> Planned:
    """Give the plan of a snapshot; it is made once for the same files."""
    content = work.kept(FILE)
    if content is not None and is_compiled(work):
        return msgspec.msgpack.decode(content, type=Planned)
    compile_new(work)
    made = _plan(work)
    _hand_on(work, made.plan)
    work.keep(FILE, msgspec.msgpack.encode(made))
    return made


def ranks(plan: Plan) -> dict[str, int]:
    """Number the objects, and states of objects, in the order of need."""
    return {name: rank for rank, name in enumerate(name for group in plan.order for name in group)}


def _plan(work: Work) -> Planned:
    entries = {entry.path: entry for entry in work.entries}
    files: list[File] = []
    findings: list[Diagnostic] = []
    for row in scripts(work, "face", "findings").drop("dialect").toArrow().to_pylist():
        face = msgspec.msgpack.decode(row["face"], type=ScriptFace)
        entry = entries[row["path"]]
        files.append(File(entry.path, face, entry.options, entry.owners, entry.position))
        text = face.text(row["path"])
        for placed in msgspec.msgpack.decode(row["findings"], type=list[ir.Placed]):
            findings.extend(finding_rows(text, placed, placed.statement.findings, Stage.PARSING))
    distinct = {finding.id: finding for finding in findings}
    return Planned(build_plan(files, work.imported), tuple(distinct[key] for key in sorted(distinct)))


def _hand_on(work: Work, plan: Plan) -> None:
    """Write what tasks need of the plan, cut into rows."""
    order = ranks(plan)
    bundle = bundles(plan)
    work.put("bounds", pa.Table.from_pylist(list(_bounds(plan, order)), schema=BOUNDS))
    known = [
        {"bundle": bundle[name], "rank": order[name], "object": name, "known": msgspec.msgpack.encode(known)}
        for name, known in _nodes(plan)
    ]
    work.put("known", pa.Table.from_pylist(known, schema=KNOWN))
    wanted: dict[tuple[int, str], set[int]] = {}
    for name, item in _nodes(plan):
        for event in item.shapers:
            wanted.setdefault((bundle[name], event.path), set()).add(event.ordinal)
    shapers = [
        {"bundle": number, "path": path, "ordinals": sorted(ordinals)} for (number, path), ordinals in wanted.items()
    ]
    work.put("shapers", pa.Table.from_pylist(shapers, schema=SHAPERS))


def _bounds(plan: Plan, order: dict[str, int]) -> Iterator[dict[str, object]]:
    shapings: dict[str, list[Shaping]] = {}
    for name, known in _nodes(plan):
        if known.kind not in (ObjectKind.PROCEDURE, ObjectKind.TRIGGER):
            for event in known.shapers:
                shapings.setdefault(event.path, []).append(Shaping(event.ordinal, event.role, order[name]))
    for path, bound in plan.bound.items():
        yield {
            "path": path,
            "bounds": msgspec.msgpack.encode(bound),
            "shapings": msgspec.msgpack.encode(shapings.get(path, [])),
            "names": sorted({name for one in bound for name in named(one)} & order.keys()),
        }


def _nodes(plan: Plan) -> Iterator[tuple[str, Known]]:
    """The objects of a plan, and the states of objects."""
    yield from plan.objects.items()
    yield from plan.states.items()


def bundles(plan: Plan) -> dict[str, int]:
    """Number the objects so that those that need each other, at any distance, have the same number."""
    parent = {name: name for name, _ in _nodes(plan)}

    def find(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for name, known in _nodes(plan):
        statements = (plan.bound[event.path][event.ordinal] for event in known.shapers)
        for other in (known.row.object, *known.needs, *(other for bound in statements for other in named(bound))):
            if other in parent:
                parent[find(other)] = find(name)
    groups: dict[str, list[str]] = {}
    for name in sorted(parent):
        groups.setdefault(find(name), []).append(name)
    return _packed(groups.values())


def _packed(groups: Iterable[Sequence[str]]) -> dict[str, int]:
    """Fill bundle after bundle."""
    numbers: dict[str, int] = {}
    number = size = 0
    for group in groups:
        numbers |= dict.fromkeys(group, number)
        size += len(group)
        if size >= OBJECTS_A_BUNDLE:
            number, size = number + 1, 0
    return numbers
