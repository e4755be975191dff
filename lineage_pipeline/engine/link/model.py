"""The linker's data: column flows, expression results, output columns, bound relations and table inputs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

import msgspec

from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import ResultSet
from lineage_pipeline.model.enums import EdgeType, Subtype
from lineage_pipeline.model.tables import Hop

DIRECT, INDIRECT, IDENTITY = EdgeType.DIRECT, EdgeType.INDIRECT, Subtype.IDENTITY
_SUBTYPE_RANKS = {Subtype.IDENTITY: 0, Subtype.TRANSFORMATION: 1, Subtype.AGGREGATION: 2}


class ColumnFlow(msgspec.Struct, frozen=True, gc=False):
    """One input column that flows into a value; `start` and `end` are where the statement names it.

    While it `keeps` the shape of the column, a path into the value is a path into the column. A value that an earlier
    statement computed for a temporary table was `made` there: at these offsets of the whole text.
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
    made: tuple[int, int] | None = None


_FLOW_KEY = attrgetter("object", "column", "path", "type", "subtype", "masking", "approximate", "start")
"""The fields that distinguish two flows into one value."""

Flows = tuple[ColumnFlow, ...]
NO_FLOWS: Flows = ()


def transform_flows(flows: Flows, subtype: Subtype, masking: bool = False, keeping: bool = False) -> Flows:
    """Flows after the value is transformed or aggregated; `keeping` says that its shape is kept."""
    rank = _SUBTYPE_RANKS[subtype]
    result: list[ColumnFlow] = []
    for flow in flows:
        settled = _SUBTYPE_RANKS.get(flow.subtype, 0) >= rank and (flow.masking or not masking)
        if flow.type is INDIRECT or (settled and (keeping or not flow.keeps)):
            result.append(flow if flow.made is None else msgspec.structs.replace(flow, made=None))
        else:
            higher = subtype if rank > _SUBTYPE_RANKS[flow.subtype] else flow.subtype
            result.append(_replace_effect(flow, flow.type, higher, flow.masking or masking, flow.keeps and keeping))
    return tuple(result)


def mark_indirect(flows: Flows, subtype: Subtype) -> Flows:
    """Flows as indirect ones of a subtype: the value only decides about another value or about rows."""
    return tuple(
        [
            flow if flow.subtype is subtype else _replace_effect(flow, INDIRECT, subtype, flow.masking, False)
            for flow in flows
        ]
    )


def mark_as_condition(flows: Flows) -> Flows:
    """Flows of a value that a condition tests, as indirect ones; those already indirect stay as they are."""
    return tuple(
        [
            flow if flow.type is INDIRECT else _replace_effect(flow, INDIRECT, Subtype.FILTER, False, False)
            for flow in flows
        ]
    )


def _replace_effect(flow: ColumnFlow, kind: EdgeType, subtype: Subtype, masking: bool, keeps: bool) -> ColumnFlow:
    return ColumnFlow(
        object=flow.object,
        column=flow.column,
        path=flow.path,
        type=kind,
        subtype=subtype,
        masking=masking,
        approximate=flow.approximate,
        start=flow.start,
        end=flow.end,
        hops=flow.hops,
        keeps=keeps,
    )


def mark_approximate(flows: Flows) -> Flows:
    """The flows, marked as approximate."""
    return tuple(msgspec.structs.replace(flow, approximate=True) for flow in flows)


def with_hop(flows: Flows, hop: Hop) -> Flows:
    """Flows that pass through a column of a relation inside the statement."""
    return tuple(
        [
            ColumnFlow(
                object=flow.object,
                column=flow.column,
                path=flow.path,
                type=flow.type,
                subtype=flow.subtype,
                masking=flow.masking,
                approximate=flow.approximate,
                start=flow.start,
                end=flow.end,
                hops=(*flow.hops, hop),
                keeps=flow.keeps,
                made=flow.made,
            )
            for flow in flows
        ]
    )


def enter_statement(flows: Flows, start: int, end: int, hop: Hop) -> Flows:
    """Flows of a temporary table's column, seen from a statement that reads it at a position."""
    return tuple(msgspec.structs.replace(flow, start=start, end=end, hops=(*flow.hops, hop)) for flow in flows)


def mark_as_made(flows: Flows, start: int, end: int) -> Flows:
    """Flows of a value that a statement computes at a position of the text, unless it only passes the value on."""
    return tuple(
        flow
        if flow.made is not None or flow.subtype is IDENTITY or flow.type is INDIRECT
        else msgspec.structs.replace(flow, made=(start, end))
        for flow in flows
    )


def drop_positions(flows: Flows) -> Flows:
    """Flows of another statement, without their positions, which lie in that statement's text."""
    return tuple(msgspec.structs.replace(flow, start=ir.NOWHERE, end=ir.NOWHERE) for flow in flows)


def extend_path(flows: Flows, path: Sequence[str]) -> Flows:
    """Flows of the struct member at a path."""
    if not path:
        return flows
    return tuple(_extend_flow_path(flow, path) if flow.keeps and flow.type is DIRECT else flow for flow in flows)


WHOLE_ROW = "*"
"""The column of a flow that is a whole row of an object whose columns are unknown."""


def _extend_flow_path(flow: ColumnFlow, path: Sequence[str]) -> ColumnFlow:
    if flow.column == WHOLE_ROW:
        return msgspec.structs.replace(flow, column=path[0], path=".".join(path[1:]), approximate=False)
    suffix = ".".join(path)
    return msgspec.structs.replace(flow, path=f"{flow.path}.{suffix}" if flow.path else suffix)


def union_flows(parts: Iterable[Flows]) -> Flows:
    """All flows, each once, in order."""
    parts = [part for part in parts if part]
    if len(parts) < 2:  # most values have one input, or none
        return parts[0] if parts else NO_FLOWS
    found = {}
    for part in parts:
        for flow in part:
            found[_FLOW_KEY(flow)] = flow
    return tuple(found.values())


_STRUCT_PREFIXES = ("STRUCT<", "STRUCT(", "ROW(", "RECORD(", "TUPLE(", "OBJECT(")


_SCALAR_TYPES = frozenset(
    "VARCHAR CHAR NVARCHAR NCHAR TEXT STRING VARCHAR2 NVARCHAR2 CLOB INT INTEGER BIGINT SMALLINT TINYINT INT64 DECIMAL"
    " NUMERIC NUMBER FLOAT FLOAT64 DOUBLE REAL BOOLEAN BOOL BIT DATE TIME TIMESTAMP DATETIME UUID".split()
)


def is_scalar_type(kind: str | None) -> bool:
    """Say whether a type is known to have no members."""
    return kind is not None and kind.partition("(")[0].upper() in _SCALAR_TYPES


def parse_struct_members(text: str, *, lower: bool = False) -> list[tuple[str, str]]:
    """The members of a struct type with their types, empty for any other type."""
    if not text.upper().startswith(_STRUCT_PREFIXES) or text[-1] not in ">)":
        return []
    members = []
    for part in _split_type_arguments(text):
        name, kind = _split_member(part.strip())
        members.append((name.lower() if lower else name, kind.strip()))
    return [(name, kind) for name, kind in members if kind]


def _split_member(part: str) -> tuple[str, str]:
    """The name and the type of a member; the name may be quoted."""
    quote = part[:1]
    if quote in ('"', "`") and part.count(quote) > 1:
        name, _, kind = part[1:].partition(quote)
        return name, kind.lstrip(": ")
    name, _, kind = part.replace(":", " ", 1).partition(" ")
    return name, kind


def parse_element_type(text: str) -> str | None:
    """The element type of an array type, or None for any other type."""
    if text.endswith("]"):
        return text[: text.rindex("[")]
    if not text.upper().startswith(("ARRAY<", "ARRAY(", "LIST<", "LIST(")) or text[-1] not in ">)":
        return None
    parts = _split_type_arguments(text)
    return parts[0].strip() if len(parts) == 1 else None


def parse_map_types(text: str) -> tuple[str, str] | None:
    """The key and value types of a map type, or None for any other type."""
    parts = _split_type_arguments(text) if text.upper().startswith(("MAP<", "MAP(")) and text[-1] in ">)" else []
    return (parts[0].strip(), parts[1].strip()) if len(parts) == 2 else None


def _split_type_arguments(text: str) -> list[str]:
    """The comma-separated parts inside the outermost brackets of a type."""
    parts, depth = [""], 0
    for character in text[text.index("<" if "<" in text.split("(", 1)[0] else "(") + 1 : -1]:
        depth += (character in "<([") - (character in ">)]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


class ExprResult(msgspec.Struct, frozen=True, gc=False):
    """What an expression evaluates to: its column flows, its type, its nullability and its canonical text.

    A struct that the statement builds, and a row taken as a value, know their `members`.
    """

    flows: Flows = NO_FLOWS
    type: str | None = None
    nullable: bool = True
    text: str = ""
    members: "Members | None" = None


Members = tuple[tuple[str, ExprResult], ...]
"""The members of a struct by name, in order."""


class OutputColumn(msgspec.Struct, frozen=True, gc=False):
    """One column of a bound relation; `start` and `end` are the position of its expression."""

    name: str
    written: str
    value: ExprResult
    start: int = ir.NOWHERE
    end: int = ir.NOWHERE
    approximate: bool = False


class UnexpandedStar(msgspec.Struct, frozen=True, gc=False):
    """An object whose columns all pass through a star although not all of them are known."""

    object: str
    start: int
    end: int
    exclude: tuple[str, ...] = ()


UnknownRange = tuple[int, int] | None
"""How many known columns stand before and behind the unknown ones; None where all are known."""


class PlanNode:
    """The plan of one query; plans hold the queries inside by their nodes, so that each is there once."""

    __slots__ = ("body",)

    def __init__(self, body: tuple[Any, ...]) -> None:
        """Keep the parts of the plan."""
        self.body = body


class BoundRelation(msgspec.Struct, frozen=True, gc=False):
    """A relation after linking: its columns, its unexpanded stars, and the flows that decide about its rows.

    Where it may have further columns that all come from the same value, `catch_all` is that value. A `single` relation
    has exactly one row. Unexpanded stars lie in the `unknown_range`: so many columns before it, and so many behind.
    """

    columns: tuple[OutputColumn, ...]
    unexpanded: tuple[UnexpandedStar, ...] = ()
    indirect: Flows = NO_FLOWS
    facets: tuple[tuple[str, str], ...] = ()
    catch_all: ExprResult | None = None
    single: bool = False
    unknown_range: UnknownRange = None
    plan: PlanNode | None = None


class InputColumn(msgspec.Struct, frozen=True, gc=False):
    """A column of an object that a statement reads; one of a temporary table carries its flows and its text.

    An `added` one was added by an ALTER statement after the object was created. A `key` is unique, alone or with
    others.
    """

    name: str
    written: str
    type: str | None
    nullable: bool
    flows: Flows | None = None
    approximate: bool = False
    generated: bool = False
    text: str = ""
    added: bool = False
    members: Members | None = None
    key: bool = False


def index_names(names: Sequence[str]) -> dict[str, int]:
    """The position of each name; of equal names the first counts."""
    return dict(zip(reversed(names), range(len(names) - 1, -1, -1), strict=True))


class TableInput(msgspec.Struct, frozen=True, dict=True):
    """An object that a statement reads; an open temporary table `passes` requests on to the stars behind it.

    Where it is `disputed` which columns it has, a star over it is approximate. `renamed` are the final names of
    columns. A temporary table carries the `facets` of the statements that filled it. The columns of an object that
    nobody defines are `guessed` from its writers, in no particular order; `imported` ones are a catalog's, which may
    be behind. A module `receives` values in some of its
    parameters and returns others as `outputs`; a procedure has `results`.
    """

    object: str
    columns: tuple[InputColumn, ...]
    open: bool
    temporary: bool = False
    indirect: Flows = NO_FLOWS
    passes: tuple[UnexpandedStar, ...] = ()
    parameters: tuple[str, ...] = ()
    disputed: bool = False
    renamed: tuple[tuple[str, str], ...] = ()
    facets: tuple[tuple[str, str], ...] = ()
    guessed: bool = False
    imported: bool = False
    outputs: tuple[str, ...] = ()
    receives: tuple[str, ...] = ()
    results: tuple[ResultSet, ...] = ()
    plan: PlanNode | None = None

    def final_name(self, name: str) -> str:
        """The final name of a column."""
        return dict(self.renamed).get(name, name) if self.renamed else name

    @cached_property
    def dropped_columns(self) -> frozenset[str]:
        """The columns that a later statement drops: they exist here, with an unknown type."""
        return frozenset(before for before, after in self.renamed if before == after)

    @cached_property
    def positions(self) -> dict[str, int]:
        """The position of each column; cached, since many statements read the same object."""
        return index_names([column.name for column in self.columns])

    @cached_property
    def names_by_lowercase(self) -> dict[str, list[str]]:
        """The column names by their lowercase form."""
        found: dict[str, list[str]] = {}
        for name in self.positions:
            found.setdefault(name.lower(), []).append(name)
        return found


class VariableValues(msgspec.Struct):
    """What variables hold at one point of a script: scalars one value each, records and cursors all their columns.

    The name of the enclosing `module` may qualify a variable; where queries must mark variables, those of a function
    are `plain` anyway.
    """

    scalars: dict[str, ExprResult] = {}
    records: dict[str, BoundRelation] = {}
    module: str = ""
    plain: bool = False


DOCUMENT_TYPES = frozenset({"JSON", "JSONB", "VARIANT", "SUPER"})
"""Types whose parts have the same type."""

UNTYPED_CONTAINERS = {"ARRAY": "VARIANT", "OBJECT": "VARIANT"}
"""Container types without a declared element type, and the type of their parts."""


def resolve_member(value: ExprResult, path: Sequence[str], fold: Callable[[str], str] = str) -> ExprResult:
    """The value at a path inside a value; inside an array of structs, an array."""
    inner = parse_element_type(value.type or "")
    if path and inner is not None and inner.startswith("STRUCT"):
        single = resolve_member(msgspec.structs.replace(value, type=inner), path, fold)
        kind = f"ARRAY<{single.type}>" if single.type is not None and "<" in (value.type or "") else None
        return msgspec.structs.replace(single, type=kind, nullable=value.nullable)
    for position, name in enumerate(path):
        if value.members is None:
            return _resolve_untracked_member(value, path[position:])
        found = next((item for key, item in value.members if key == name), None)
        if found is None:
            found = next((item for key, item in value.members if fold(key) == fold(name)), None)
        if found is None and name.isdecimal() and 0 < int(name) <= len(value.members):  # an element of a tuple
            found = value.members[int(name) - 1][1]
        if found is None:
            return _resolve_untracked_member(msgspec.structs.replace(value, members=None), path[position:])
        value = found
    return value


_MAP_SUBCOLUMNS = ("keys", "values")
"""ClickHouse: the subcolumns of a map, `m.keys` and `m.values`."""


def _resolve_untracked_member(value: ExprResult, path: Sequence[str]) -> ExprResult:
    kind = value.type
    for name in path:
        if (entry := parse_map_types(kind or "")) is not None:
            kind = (
                f"ARRAY({entry[name == 'values']})" if name in _MAP_SUBCOLUMNS and (kind or "")[3] == "(" else entry[1]
            )
        elif kind in UNTYPED_CONTAINERS:
            kind = UNTYPED_CONTAINERS[kind]
        elif name.isdecimal() and (kind or "").upper().startswith("TUPLE("):
            parts = [part.strip() for part in _split_type_arguments(kind or "")]
            kind = _element_type(parts[int(name) - 1]) if 0 < int(name) <= len(parts) else None
        elif kind not in DOCUMENT_TYPES:
            kind = dict(parse_struct_members(kind or "", lower=True)).get(name.lower())
    text = f"{value.text}.{'.'.join(path)}"
    return ExprResult(extend_path(value.flows, path), kind or None, True, text)


def _element_type(part: str) -> str:
    """The type of an element of a tuple, which may have a name."""
    name, kind = _split_member(part)
    return kind if kind and "(" not in name else part


def resolve_element(value: ExprResult) -> ExprResult:
    """An element of an array, or a value of a map."""
    entry = parse_map_types(value.type or "")
    kind = (
        entry[1]
        if entry is not None
        else UNTYPED_CONTAINERS.get(value.type or "") or parse_element_type(value.type or "")
    )
    return msgspec.structs.replace(value, type=kind, nullable=True)


def expand_struct(value: ExprResult) -> Members:
    """The members of a struct where they are known, otherwise nothing."""
    if value.members is not None:
        return value.members
    return tuple(
        (name, resolve_member(value, (name,))) for name, _ in parse_struct_members(value.type or "", lower=True)
    )


def expand_written_struct(value: ExprResult) -> Iterator[tuple[str, str, ExprResult]]:
    """The known members of a struct: name as compared, name as written, and value."""
    members = expand_struct(value)
    written = [name for name, _ in parse_struct_members(value.type or "")]
    if [name.lower() for name in written] != [name.lower() for name, _ in members]:
        written = [name for name, _ in members]
    return ((name, shown, item) for (name, item), shown in zip(members, written, strict=True))


def expand_map(value: ExprResult) -> Members:
    """Key and value of a map type, or nothing for other types."""
    kinds = parse_map_types(value.type or "")
    if kinds is None:
        return ()
    key, item = (msgspec.structs.replace(value, type=kind, members=None) for kind in kinds)
    return (("key", key), ("value", item))


MAX_MEMBERS = 5_000
"""A struct with more members, nested ones included, is only tracked as a whole."""


def is_within_member_limit(members: Members) -> bool:
    """Say whether members are few enough to track: structs of structs can double at each step."""
    pending, found = [members], 0
    while pending and found <= MAX_MEMBERS:
        inner = pending.pop()
        found += len(inner)
        pending.extend(value.members for _, value in inner if value.members is not None)
    return found <= MAX_MEMBERS


def map_member_flows(members: Members | None, change: Callable[[Flows], Flows]) -> Members | None:
    """The members with a function applied to their flows."""
    if members is None:
        return None
    return tuple(
        (
            name,
            ExprResult(
                flows=change(item.flows),
                type=item.type,
                nullable=item.nullable,
                text=item.text,
                members=map_member_flows(item.members, change),
            ),
        )
        for name, item in members
    )


def merge_members(values: Sequence[ExprResult]) -> Members | None:
    """The members of a value that is one of several; None where one of those has other members."""
    known = [value.members for value in values if value.members is not None]
    if not known or len(known) < sum(1 for value in values if value.flows or value.members is not None):
        return None
    width = min(len(members) for members in known)
    return tuple((known[0][at][0], _merge_member_values([members[at][1] for members in known])) for at in range(width))


def _merge_member_values(values: Sequence[ExprResult]) -> ExprResult:
    """A member that is one of several values."""
    first = values[0]
    return ExprResult(
        flows=union_flows(value.flows for value in values),
        type=first.type,
        nullable=True,
        text=first.text,
        members=merge_members(values),
    )


FindingReporter = Callable[..., None]
"""Reports a finding: code, start and end in the statement, and the values of its message."""
