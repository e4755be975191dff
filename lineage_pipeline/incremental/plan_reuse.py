"""Plan reuse: an edit seldom changes what a file reads, writes and defines; then only positions move."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from lineage_pipeline.incremental.state import AnalysisState
from lineage_pipeline.model.findings import diagnostic_id
from lineage_pipeline.model.ir import Name
from lineage_pipeline.model.plan import ObjectEntry, Plan, ScriptInterface, StatementInterface
from lineage_pipeline.model.source_map import SourceText
from lineage_pipeline.model.tables import Diagnostic

MOVABLE_CODES = frozenset({"UNKNOWN_TABLE", "SYSTEM_TABLE"})
"""Findings of a plan that have one position and mention no other."""

POSITION_FIELDS = frozenset({"start", "end"})
"""The fields of a statement interface that depend on its position."""


class PositionMoves(msgspec.Struct, frozen=True):
    """The new positions of the statements and names of one file, by their old ones."""

    text: SourceText
    lines: dict[int, int]
    offsets: dict[tuple[int, int], int]


def reuse_plan(before: AnalysisState, fresh: Mapping[str, ScriptInterface]) -> Plan | None:
    """The earlier plan with current positions; None where the interface of a file changed."""
    moves: dict[str, PositionMoves] = {}
    for path, face in fresh.items():
        made = _compare_positions(path, before.files[path].face, face)
        if made is None:
            return None
        moves[path] = made
    findings: list[Diagnostic] = []
    for finding in before.planned:
        found = _move_finding(finding, moves)
        if found is None:
            return None
        findings.append(found)
    known = {name: _move_entry(one, moves) for name, one in before.known.items()}
    return Plan(
        objects={name: one for name, one in known.items() if one.row.object == name},
        bound=before.bound,
        order=before.order,
        object_statements=(),
        object_edges=(),
        diagnostics=tuple(findings),
        states={name: one for name, one in known.items() if one.row.object != name},
    )


def _compare_positions(path: str, old: ScriptInterface, new: ScriptInterface) -> PositionMoves | None:
    """How the positions of a file moved; None where its interface changed, or a position is ambiguous."""
    if old.copies or new.copies or _without_positions(old.statements) != _without_positions(new.statements):
        return None
    was, now = old.text(path), new.text(path)
    lines: dict[int, int] = {}
    offsets: dict[tuple[int, int], int] = {}
    for one, two in zip(old.statements, new.statements, strict=True):
        line = now.position(two.start)[0]
        if lines.setdefault(was.position(one.start)[0], line) != line:
            return None
        for before, after in zip(_iter_offsets(one), _iter_offsets(two), strict=True):
            if offsets.setdefault(was.position(before), after) != after:
                return None
    return PositionMoves(now, lines, offsets)


def _without_positions(value: Any) -> Any:
    """Statement interfaces and names without their positions."""
    if isinstance(value, Name):
        return value.parts, value.written, value.start < 0
    if isinstance(value, StatementInterface):
        return [
            _without_positions(getattr(value, field))
            for field in value.__struct_fields__
            if field not in POSITION_FIELDS
        ]
    return [_without_positions(item) for item in value] if isinstance(value, tuple) else value


def _iter_offsets(face: StatementInterface) -> Iterator[int]:
    """The offsets of a statement and its names."""
    yield face.start
    for field in face.__struct_fields__:
        yield from (face.start + max(name.start, 0) for name in _iter_names(getattr(face, field)))


def _iter_names(value: object) -> Iterator[Name]:
    if isinstance(value, Name):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _iter_names(item)


def _move_finding(finding: Diagnostic, moves: Mapping[str, PositionMoves]) -> Diagnostic | None:
    """A finding at its new position; None where that is unknown, or the finding mentions others."""
    move = moves.get(finding.path or "")
    if move is None:
        return finding
    place = move.offsets.get((finding.line or 0, finding.column or 0))
    if place is None or finding.code not in MOVABLE_CODES:
        return None
    line, column = move.text.position(place)
    found = msgspec.structs.replace(finding, line=line, column=column)
    return msgspec.structs.replace(found, id=diagnostic_id(found))


def _move_entry(known: ObjectEntry, moves: Mapping[str, PositionMoves]) -> ObjectEntry:
    """An object with the current line of its definition."""
    row = known.row
    move = moves.get(row.path or "") if row.line is not None else None
    line = move.lines[row.line] if move is not None and row.line is not None else row.line
    return known if line == row.line else msgspec.structs.replace(known, row=msgspec.structs.replace(row, line=line))
