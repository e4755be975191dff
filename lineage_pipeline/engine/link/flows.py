"""Flows: the way of one input column into a value, and how ways compose."""

from collections.abc import Iterable, Sequence
from operator import attrgetter

import msgspec

from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.sets import EdgeType, Subtype
from lineage_pipeline.vocabulary.tables import Hop

DIRECT, INDIRECT, IDENTITY = EdgeType.DIRECT, EdgeType.INDIRECT, Subtype.IDENTITY
_RANK = {Subtype.IDENTITY: 0, Subtype.TRANSFORMATION: 1, Subtype.AGGREGATION: 2}


class Flow(msgspec.Struct, frozen=True, gc=False):
    """One input column on its way into a value; `start` and `end` are where the statement names it.

    As long as it `keeps` the shape of the column, a path into the value is a path into the column.
    """

    object: str
    column: str
    path: str = ""
    type: EdgeType = DIRECT
    subtype: Subtype = Subtype.IDENTITY
    masking: bool = False
    approximate: bool = False
    start: int = ir.NOWHERE
    end: int = ir.NOWHERE
    hops: tuple[Hop, ...] = ()
    keeps: bool = True


_IDENTITY = attrgetter("object", "column", "path", "type", "subtype", "masking", "approximate", "start")
"""What tells two flows into one value apart."""

Flows = tuple[Flow, ...]
NONE: Flows = ()


def changed(flows: Flows, subtype: Subtype, masking: bool = False, keeping: bool = False) -> Flows:
    """The flows after the value has been transformed or aggregated, its shape kept or not."""
    rank = _RANK[subtype]
    result: list[Flow] = []
    for flow in flows:
        settled = _RANK.get(flow.subtype, 0) >= rank and (flow.masking or not masking)
        if flow.type is INDIRECT or (settled and (keeping or not flow.keeps)):
            result.append(flow)
        else:
            higher = subtype if rank > _RANK[flow.subtype] else flow.subtype
            result.append(_with(flow, flow.type, higher, flow.masking or masking, flow.keeps and keeping))
    return tuple(result)


def influence(flows: Flows, subtype: Subtype) -> Flows:
    """The flows of a value that only decides about another one."""
    return tuple(
        [flow if flow.subtype is subtype else _with(flow, INDIRECT, subtype, flow.masking, False) for flow in flows]
    )


def deciding(flows: Flows) -> Flows:
    """The flows of a value that a condition asks for; what decided about it decides here."""
    return tuple(
        [flow if flow.type is INDIRECT else _with(flow, INDIRECT, Subtype.FILTER, False, False) for flow in flows]
    )


def _with(flow: Flow, kind: EdgeType, subtype: Subtype, masking: bool, keeps: bool) -> Flow:
    return Flow(
        flow.object,
        flow.column,
        flow.path,
        kind,
        subtype,
        masking,
        flow.approximate,
        flow.start,
        flow.end,
        flow.hops,
        keeps,
    )


def approximated(flows: Flows) -> Flows:
    """The flows, marked as not certain."""
    return tuple(msgspec.structs.replace(flow, approximate=True) for flow in flows)


def through(flows: Flows, hop: Hop) -> Flows:
    """The flows after passing a column of a relation inside the statement."""
    return tuple(
        [
            Flow(
                flow.object,
                flow.column,
                flow.path,
                flow.type,
                flow.subtype,
                flow.masking,
                flow.approximate,
                flow.start,
                flow.end,
                (*flow.hops, hop),
                flow.keeps,
            )
            for flow in flows
        ]
    )


def entering(flows: Flows, start: int, end: int, hop: Hop) -> Flows:
    """The flows of a temporary column, seen from a statement that reads it."""
    return tuple(msgspec.structs.replace(flow, start=start, end=end, hops=(*flow.hops, hop)) for flow in flows)


def placeless(flows: Flows) -> Flows:
    """The flows of another statement: what they name does not stand in this one."""
    return tuple(msgspec.structs.replace(flow, start=ir.NOWHERE, end=ir.NOWHERE) for flow in flows)


def into_path(flows: Flows, path: Sequence[str]) -> Flows:
    """The flows of a member of a struct."""
    if not path:
        return flows
    return tuple(_deeper(flow, path) if flow.keeps and flow.type is DIRECT else flow for flow in flows)


ROW = "*"
"""The column of a flow that is a whole row of an object whose columns are not known."""


def _deeper(flow: Flow, path: Sequence[str]) -> Flow:
    if flow.column == ROW:
        return msgspec.structs.replace(flow, column=path[0], path=".".join(path[1:]), approximate=False)
    suffix = ".".join(path)
    return msgspec.structs.replace(flow, path=f"{flow.path}.{suffix}" if flow.path else suffix)


def united(parts: Iterable[Flows]) -> Flows:
    """All flows, each once, in order."""
    parts = [part for part in parts if part]
    if len(parts) < 2:  # most values have one input, or none
        return parts[0] if parts else NONE
    found = {}
    for part in parts:
        for flow in part:
            found[_IDENTITY(flow)] = flow
    return tuple(found.values())
