"""The object graph: the interfaces of all scripts come to the driver, which holds names and no columns."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
import pyarrow as pa

from lineage_pipeline.engine.graph.plan_builder import PlanFile, build_plan
from lineage_pipeline.engine.link.link_cache import list_bound_objects
from lineage_pipeline.engine.link.rows import build_finding_rows
from lineage_pipeline.model import ir
from lineage_pipeline.model.enums import ObjectKind, Role, Stage
from lineage_pipeline.model.plan import ObjectEntry, Plan, ScriptInterface
from lineage_pipeline.model.tables import Diagnostic
from lineage_pipeline.spark.compilation import compile_missing, is_compiled, read_scripts
from lineage_pipeline.spark.workspace import Workspace

OBJECTS_A_BUNDLE = 500
"""Small objects are resolved together: a group costs more than a schema."""

PLAN_FILE = "plan.msgpack"

BINDINGS_SCHEMA = pa.schema(
    [("path", pa.string()), ("bounds", pa.binary()), ("shapings", pa.binary()), ("names", pa.list_(pa.string()))]
)
"""For each file: its name bindings, the statements that shape objects, and all objects it names."""

OBJECTS_SCHEMA = pa.schema(
    [("bundle", pa.int64()), ("rank", pa.int64()), ("object", pa.string()), ("known", pa.binary())]
)
"""For each object: its bundle, and its rank in dependency order."""

SHAPERS_SCHEMA = pa.schema([("bundle", pa.int64()), ("path", pa.string()), ("ordinals", pa.list_(pa.int64()))])
"""For each bundle: the statements that shape its objects."""


class ShapingStatement(msgspec.Struct, frozen=True, array_like=True):
    """A statement that shapes an object, with the rank of the object in dependency order."""

    ordinal: int
    role: Role
    rank: int


class PlanResult(msgspec.Struct, frozen=True):
    """The plan, and the findings of parsing."""

    plan: Plan
    findings: tuple[Diagnostic, ...]


def get_plan(work: Workspace) -> PlanResult:
    """Return the plan of a snapshot; it is built once for the same files."""
    content = work.get_bytes(PLAN_FILE)
    if content is not None and is_compiled(work):
        return msgspec.msgpack.decode(content, type=PlanResult)
    compile_missing(work)
    made = _build_plan_result(work)
    _write_task_tables(work, made.plan)
    work.put_bytes(PLAN_FILE, msgspec.msgpack.encode(made))
    return made


def rank_objects(plan: Plan) -> dict[str, int]:
    """Number the objects and object states in dependency order."""
    return {name: rank for rank, name in enumerate(name for group in plan.order for name in group)}


def _build_plan_result(work: Workspace) -> PlanResult:
    entries = {entry.path: entry for entry in work.entries}
    files: list[PlanFile] = []
    findings: list[Diagnostic] = []
    for row in read_scripts(work, "face", "findings").drop("dialect").toArrow().to_pylist():
        face = msgspec.msgpack.decode(row["face"], type=ScriptInterface)
        entry = entries[row["path"]]
        files.append(
            PlanFile(path=entry.path, face=face, options=entry.options, owners=entry.owners, position=entry.position)
        )
        text = face.text(row["path"])
        for placed in msgspec.msgpack.decode(row["findings"], type=list[ir.Placed]):
            findings.extend(build_finding_rows(text, placed, placed.statement.findings, Stage.PARSING))
    distinct = {finding.id: finding for finding in findings}
    return PlanResult(build_plan(files, work.imported), tuple(distinct[key] for key in sorted(distinct)))


def _write_task_tables(work: Workspace, plan: Plan) -> None:
    """Write what tasks need of the plan as tables."""
    order = rank_objects(plan)
    bundle = assign_bundles(plan)
    work.put_table("bounds", pa.Table.from_pylist(list(_binding_rows(plan, order)), schema=BINDINGS_SCHEMA))
    known = [
        {"bundle": bundle[name], "rank": order[name], "object": name, "known": msgspec.msgpack.encode(known)}
        for name, known in _iterate_objects(plan)
    ]
    work.put_table("known", pa.Table.from_pylist(known, schema=OBJECTS_SCHEMA))
    wanted: dict[tuple[int, str], set[int]] = {}
    for name, item in _iterate_objects(plan):
        for event in item.shapers:
            wanted.setdefault((bundle[name], event.path), set()).add(event.ordinal)
    shapers = [
        {"bundle": number, "path": path, "ordinals": sorted(ordinals)} for (number, path), ordinals in wanted.items()
    ]
    work.put_table("shapers", pa.Table.from_pylist(shapers, schema=SHAPERS_SCHEMA))


def _binding_rows(plan: Plan, order: dict[str, int]) -> Iterator[dict[str, object]]:
    shapings: dict[str, list[ShapingStatement]] = {}
    for name, known in _iterate_objects(plan):
        if known.kind not in (ObjectKind.PROCEDURE, ObjectKind.TRIGGER):
            for event in known.shapers:
                shapings.setdefault(event.path, []).append(ShapingStatement(event.ordinal, event.role, order[name]))
    for path, bound in plan.bound.items():
        yield {
            "path": path,
            "bounds": msgspec.msgpack.encode(bound),
            "shapings": msgspec.msgpack.encode(shapings.get(path, [])),
            "names": sorted({name for one in bound for name in list_bound_objects(one)} & order.keys()),
        }


def _iterate_objects(plan: Plan) -> Iterator[tuple[str, ObjectEntry]]:
    """Yield the objects of a plan, and the states of objects."""
    yield from plan.objects.items()
    yield from plan.states.items()


def assign_bundles(plan: Plan) -> dict[str, int]:
    """Number the objects so that those that depend on each other, also indirectly, have the same number."""
    parent = {name: name for name, _ in _iterate_objects(plan)}

    def find(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for name, known in _iterate_objects(plan):
        statements = (plan.bound[event.path][event.ordinal] for event in known.shapers)
        for other in (
            known.row.object,
            *known.needs,
            *(other for bound in statements for other in list_bound_objects(bound)),
        ):
            if other in parent:
                parent[find(other)] = find(name)
    groups: dict[str, list[str]] = {}
    for name in sorted(parent):
        groups.setdefault(find(name), []).append(name)
    return _pack_bundles(groups.values())


def _pack_bundles(groups: Iterable[Sequence[str]]) -> dict[str, int]:
    """Fill one bundle after the other."""
    numbers: dict[str, int] = {}
    number = size = 0
    for group in groups:
        numbers |= dict.fromkeys(group, number)
        size += len(group)
        if size >= OBJECTS_A_BUNDLE:
            number, size = number + 1, 0
    return numbers
