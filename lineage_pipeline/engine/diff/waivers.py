"""Waivers over changes: what is covered stays visible and does not count; what ran out or covers nothing is told."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256

import msgspec

from lineage_pipeline.engine.diff.table import RULES
from lineage_pipeline.vocabulary.codes import CODES
from lineage_pipeline.vocabulary.sets import Stage
from lineage_pipeline.vocabulary.tables import Change, Diagnostic
from lineage_pipeline.vocabulary.waivers import Waiver


class Waived(msgspec.Struct, frozen=True):
    """Changes with their waivers, waivers with their use, and what is to be said about them."""

    changes: tuple[Change, ...]
    waivers: tuple[Waiver, ...] = ()
    findings: tuple[Diagnostic, ...] = ()


def waive(changes: Sequence[Change], waivers: Sequence[Waiver], today: str) -> Waived:
    """Put waivers on the changes that they cover; `today` is an ISO date, and a waiver holds to the end of its last."""
    if not waivers:
        return Waived(tuple(changes))
    told = [msgspec.structs.replace(waiver, expired=waiver.expires < today) for waiver in waivers]
    own = {change.id: [waiver for waiver in told if covers(waiver, change)] for change in changes}
    valid = {key: next((one.id for one in covering if not one.expired), None) for key, covering in own.items()}
    met = {waiver.id for covering in own.values() for waiver in covering}
    marked = [msgspec.structs.replace(waiver, used=waiver.id in met and not waiver.expired) for waiver in told]
    return Waived(
        # What follows from a waived cause is waived with it.
        tuple(
            msgspec.structs.replace(change, waiver=valid[change.id] or valid.get(change.root_id)) for change in changes
        ),
        tuple(marked),
        tuple(one for waiver in marked for one in _complaints(waiver, waiver.id in met)),
    )


def covers(waiver: Waiver, change: Change) -> bool:
    """Say whether a waiver is about a change, whatever the day."""
    if not fnmatchcase(change.rule, waiver.rule):
        return False
    if waiver.fingerprint is not None and change.fingerprint != waiver.fingerprint:
        return False
    if waiver.column is not None and not fnmatchcase(change.column or "", waiver.column):
        return False
    if waiver.first_line is None:
        return fnmatchcase(change.object, waiver.object)
    here = change.path == waiver.path and waiver.first_line <= (change.line or 0) <= (waiver.last_line or 0)
    return here or (bool(waiver.object) and change.object == waiver.object)


def numbered(waivers: Iterable[Waiver]) -> tuple[Waiver, ...]:
    """Give each waiver an id by what it covers; equal ones are told apart by their order."""
    seen: Counter[str] = Counter()
    found = []
    for waiver in waivers:
        inline = waiver.path if waiver.first_line is not None else None
        parts = (waiver.rule, waiver.object, waiver.column, waiver.fingerprint, inline)
        key = "\x1f".join("\x00" if part is None else part for part in parts)
        seen[key] += 1
        text = key if seen[key] == 1 else f"{key}\x1f{seen[key]}"
        found.append(msgspec.structs.replace(waiver, id=sha256(text.encode()).hexdigest()[:16]))
    return tuple(found)


def is_rule(pattern: str) -> bool:
    """Say whether a pattern fits any rule."""
    return any(fnmatchcase(rule.id, pattern) for rule in RULES)


def subject(waiver: Waiver) -> str:
    """Name what a waiver covers."""
    name = waiver.object or waiver.path
    return f"{name}.{waiver.column}" if waiver.column else name


def faults(waivers: Iterable[Waiver]) -> list[Diagnostic]:
    """Tell of waivers that ran out, whether anything needs them or not."""
    return [
        complain("WAIVER_EXPIRED", waiver.path, waiver.line, _values(waiver)) for waiver in waivers if waiver.expired
    ]


def _complaints(waiver: Waiver, met: bool) -> list[Diagnostic]:
    """Tell of a waiver that ran out and of one that nothing needs."""
    values = _values(waiver)
    if waiver.expired and met:
        return [complain("WAIVER_EXPIRED", waiver.path, waiver.line, values)]
    return [] if met else [complain("WAIVER_UNUSED", waiver.path, waiver.line, values)]


def _values(waiver: Waiver) -> dict[str, str]:
    return {"rule": waiver.rule, "object": subject(waiver), "date": waiver.expires}


def complain(code: str, path: str, line: int | None, values: Mapping[str, str]) -> Diagnostic:
    """Make a finding about a waiver at the line on which it stands."""
    row = CODES[code]
    message = row.message.format_map(values)
    identity = sha256("\0".join((code, path, str(line), message)).encode()).hexdigest()[:16]
    return Diagnostic(identity, code, row.severity, message, path, line, None, None, Stage.DIFF)
