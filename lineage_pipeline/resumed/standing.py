"""The plan that stays: an edit seldom touches what a file reads, writes and defines, and then only places move."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from lineage_pipeline.resumed.before import Before
from lineage_pipeline.vocabulary.codes import finding_id
from lineage_pipeline.vocabulary.ir import Name
from lineage_pipeline.vocabulary.places import Text
from lineage_pipeline.vocabulary.plan import Face, Known, Plan, ScriptFace
from lineage_pipeline.vocabulary.tables import Diagnostic

MOVABLE = frozenset({"UNKNOWN_TABLE", "SYSTEM_TABLE"})
"""Findings of a plan that stand at a name and tell of no other place."""

PLACES = frozenset({"start", "end"})
"""What a statement looks like does not depend on where it stands."""


class Moves(msgspec.Struct, frozen=True):
    """Where the statements and names of one file stand now, by where they stood."""

    text: Text
    lines: dict[int, int]
    offsets: dict[tuple[int, int], int]


def standing(before: Before, fresh: Mapping[str, ScriptFace]) -> Plan | None:
    """The plan of before with the places of now; None where a file looks otherwise from outside."""
    moves: dict[str, Moves] = {}
    for path, face in fresh.items():
        made = _moves(path, before.files[path].face, face)
        if made is None:
            return None
        moves[path] = made
    findings: list[Diagnostic] = []
    for finding in before.planned:
        found = _moved(finding, moves)
        if found is None:
            return None
        findings.append(found)
    known = {name: _known(one, moves) for name, one in before.known.items()}
    return Plan(
        objects={name: one for name, one in known.items() if one.row.object == name},
        bound=before.bound,
        order=before.order,
        object_statements=(),
        object_edges=(),
        diagnostics=tuple(findings),
        states={name: one for name, one in known.items() if one.row.object != name},
    )


def _moves(path: str, old: ScriptFace, new: ScriptFace) -> Moves | None:
    """How the places of a file moved; None where it looks otherwise, or one place of it went to two."""
    if old.copies or new.copies or _outside(old.statements) != _outside(new.statements):
        return None
    was, now = old.text(path), new.text(path)
    lines: dict[int, int] = {}
    offsets: dict[tuple[int, int], int] = {}
    for one, two in zip(old.statements, new.statements, strict=True):
        line = now.position(two.start)[0]
        if lines.setdefault(was.position(one.start)[0], line) != line:
            return None
        for before, after in zip(_offsets(one), _offsets(two), strict=True):
            if offsets.setdefault(was.position(before), after) != after:
                return None
    return Moves(now, lines, offsets)


def _outside(value: Any) -> Any:
    """Statements and names without their places."""
    if isinstance(value, Name):
        return value.parts, value.written, value.start < 0
    if isinstance(value, Face):
        return [_outside(getattr(value, field)) for field in value.__struct_fields__ if field not in PLACES]
    return [_outside(item) for item in value] if isinstance(value, tuple) else value


def _offsets(face: Face) -> Iterator[int]:
    """Where a statement and its names begin."""
    yield face.start
    for field in face.__struct_fields__:
        yield from (face.start + max(name.start, 0) for name in _names(getattr(face, field)))


def _names(value: object) -> Iterator[Name]:
    if isinstance(value, Name):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _names(item)


def _moved(finding: Diagnostic, moves: Mapping[str, Moves]) -> Diagnostic | None:
    """A finding where it stands now; None where that is not known, or it tells of other places."""
    move = moves.get(finding.path or "")
    if move is None:
        return finding
    place = move.offsets.get((finding.line or 0, finding.column or 0))
    if place is None or finding.code not in MOVABLE:
        return None
    line, column = move.text.position(place)
    found = msgspec.structs.replace(finding, line=line, column=column)
    return msgspec.structs.replace(found, id=finding_id(found))


def _known(known: Known, moves: Mapping[str, Moves]) -> Known:
    """An object with the line where it is defined now."""
    row = known.row
    move = moves.get(row.path or "") if row.line is not None else None
    line = move.lines[row.line] if move is not None and row.line is not None else row.line
    return known if line == row.line else msgspec.structs.replace(known, row=msgspec.structs.replace(row, line=line))
