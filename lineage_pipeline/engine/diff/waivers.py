"""Waivers over changes, from files and from comments; expired and unused ones are reported."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256

import msgspec

from lineage_pipeline.engine.diff.rules.registry import RULES
from lineage_pipeline.model.enums import Stage
from lineage_pipeline.model.findings import CODES
from lineage_pipeline.model.tables import Change, Diagnostic, StatementRow, Waiver


class WaivedChanges(msgspec.Struct, frozen=True):
    """Changes with their waivers, waivers with their use, and findings about them."""

    changes: tuple[Change, ...]
    waivers: tuple[Waiver, ...] = ()
    findings: tuple[Diagnostic, ...] = ()


def apply_waivers(changes: Sequence[Change], waivers: Sequence[Waiver], today: str) -> WaivedChanges:
    """Apply waivers to the changes that they cover; `today` is an ISO date, and a waiver holds through its last day."""
    if not waivers:
        return WaivedChanges(tuple(changes))
    dated = [msgspec.structs.replace(waiver, expired=waiver.expires < today) for waiver in waivers]
    own = {change.id: [waiver for waiver in dated if covers_change(waiver, change)] for change in changes}
    valid = {key: next((one.id for one in covering if not one.expired), None) for key, covering in own.items()}
    met = {waiver.id for covering in own.values() for waiver in covering}
    marked = [msgspec.structs.replace(waiver, used=waiver.id in met and not waiver.expired) for waiver in dated]
    return WaivedChanges(
        # What follows from a waived cause is waived with it.
        tuple(
            msgspec.structs.replace(change, waiver=valid[change.id] or valid.get(change.root_id)) for change in changes
        ),
        tuple(marked),
        tuple(one for waiver in marked for one in _report_waiver(waiver, waiver.id in met)),
    )


def covers_change(waiver: Waiver, change: Change) -> bool:
    """Say whether a waiver covers a change, regardless of its date."""
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


def assign_waiver_ids(waivers: Iterable[Waiver]) -> tuple[Waiver, ...]:
    """Give each waiver an id by what it covers; equal ones are numbered."""
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


def matches_any_rule(pattern: str) -> bool:
    """Say whether a pattern matches any rule."""
    return any(fnmatchcase(rule.id, pattern) for rule in RULES)


def waiver_subject(waiver: Waiver) -> str:
    """What a waiver covers."""
    name = waiver.object or waiver.path
    return f"{name}.{waiver.column}" if waiver.column else name


def report_expired_waivers(waivers: Iterable[Waiver]) -> list[Diagnostic]:
    """Findings for expired waivers, whether needed or not."""
    return [
        report_waiver_problem("WAIVER_EXPIRED", waiver.path, waiver.line, _waiver_values(waiver))
        for waiver in waivers
        if waiver.expired
    ]


def _report_waiver(waiver: Waiver, met: bool) -> list[Diagnostic]:
    """Findings for a waiver that expired or is unused."""
    values = _waiver_values(waiver)
    if waiver.expired and met:
        return [report_waiver_problem("WAIVER_EXPIRED", waiver.path, waiver.line, values)]
    return [] if met else [report_waiver_problem("WAIVER_UNUSED", waiver.path, waiver.line, values)]


def _waiver_values(waiver: Waiver) -> dict[str, str]:
    return {"rule": waiver.rule, "object": waiver_subject(waiver), "date": waiver.expires}


def report_waiver_problem(code: str, path: str, line: int | None, values: Mapping[str, str]) -> Diagnostic:
    """A finding about a waiver at its own line."""
    row = CODES[code]
    message = row.message.format_map(values)
    identity = sha256("\0".join((code, path, str(line), message)).encode()).hexdigest()[:16]
    return Diagnostic(
        id=identity,
        code=code,
        severity=row.severity,
        message=message,
        path=path,
        line=line,
        column=None,
        object=None,
        stage=Stage.DIFF,
    )


INLINE_MARK = r"(?i)lineage\s*+:?\s*+ignore\b"
"""A regular expression, for Python and Spark, that matches comments which may hold a waiver."""

_INLINE_MARK = re.compile(INLINE_MARK)

_WAIVER_COMMENT = re.compile(
    r"(?P<code>.*?)(?:--|/\*|#)\s*+lineage\s*+(?P<colon>:?)\s*+ignore\b(?P<rest>.*?)(?:\*/.*)?$", re.IGNORECASE
)

_ONLY_COMMENT = re.compile(r"\s*(?:--|/\*|#|\*/|$)")

_WAIVER_FIELDS = re.compile(
    r"""(?<![a-z])(?P<key>[a-z]++)=(?:"(?P<quoted>[^"]*)"|(?P<plain>\S*+(?:\s++(?![a-z]+=|$)\S++)*+))(?=\s++[a-z]+=|\s*+$)"""
)

_ISO_DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")

WAIVER_KEYS = frozenset({"until", "reason", "owner", "column", "ticket"})


def read_inline_waivers(
    texts: Mapping[str, str], statements: Iterable[StatementRow], owners: Mapping[str, Sequence[str]]
) -> tuple[list[Waiver], list[Diagnostic]]:
    """The waivers in the comments of files, and problems with them; file owners are the default owners."""
    marked = {path: text for path, text in sorted(texts.items()) if _is_marked(text)}
    rows: dict[str, list[StatementRow]] = defaultdict(list)
    for row in statements if marked else ():
        if row.path in marked and row.span is not None:
            rows[row.path].append(row)
    waivers: list[Waiver] = []
    problems: list[Diagnostic] = []
    for path, text in marked.items():
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            found = _WAIVER_COMMENT.match(line) if _is_marked(line) else None
            for rule, values, problem in _read_comment(found) if found else ():
                if problem:
                    problems.append(report_waiver_problem("WAIVER_INVALID", path, number, {"reason": problem}))
                else:
                    place = _covered_lines(rows[path], lines, number, alone=bool(_ONLY_COMMENT.match(line)))
                    owner = values.get("owner") or ", ".join(owners.get(path, ()))
                    waivers.append(_build_waiver(rule, values | {"owner": owner}, (path, number), place))
    return waivers, problems


def _is_marked(text: str) -> bool:
    """Say whether a text may hold a waiver; checked quickly, since most do not."""
    return ("ignore" in text or "IGNORE" in text or "Ignore" in text) and _INLINE_MARK.search(text) is not None


def _read_comment(comment: re.Match[str]) -> Iterator[tuple[str, dict[str, str], str]]:
    """Read a comment; one without a colon is a mistyped waiver where it names a rule, else prose."""
    for rule, values, problem in _parse_waivers(comment["rest"]):
        if comment["colon"]:
            yield rule, values, problem
        elif matches_any_rule(rule):
            yield rule, values, "it needs a colon, `lineage: ignore`"


def _parse_waivers(rest: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """Each rule that a comment names, with its fields, or its problem."""
    named, _, _ = rest.partition("=")
    rules = [word for word in re.split(r"[\s,]+", named) if word and not re.fullmatch("[a-z]+", word)]
    values = {
        match["key"]: (match["quoted"] or match["plain"] or "").strip() for match in _WAIVER_FIELDS.finditer(rest)
    }
    problem = _find_problem(values)
    if not rules:
        yield "", values, "it names no rule"
    for rule in rules:
        yield rule, values, problem if matches_any_rule(rule) else f"there is no rule {rule}"


def _find_problem(values: Mapping[str, str]) -> str:
    strange = sorted(values.keys() - WAIVER_KEYS)
    if strange:
        return f"{strange[0]} is not one of {', '.join(sorted(WAIVER_KEYS))}"
    if not _ISO_DATE.fullmatch(values.get("until", "")):
        return "it needs until=YYYY-MM-DD"
    return "" if values.get("reason") else "it needs reason=..."


def _covered_lines(
    rows: Sequence[StatementRow], lines: Sequence[str], number: int, *, alone: bool
) -> tuple[str, int, int]:
    """The object and the lines that a comment covers: its line, the next one, or the whole statement below it."""
    spans = [(row.span.line, row.span.end_line, row) for row in rows if row.span is not None]
    if any(first <= number <= last for first, last, _ in spans):
        line = number if not alone else _next_code_line(lines, number)
        return "", line, line
    below = sorted(((first, -last, row) for first, last, row in spans if first > number), key=lambda one: one[:2])
    if not below or not alone:
        return "", number, number
    first, last, row = below[0]
    return row.target or "", first, -last


def _next_code_line(lines: Sequence[str], number: int) -> int:
    """The next line that holds more than a comment, else the last one."""
    rest = (line for line in range(number + 1, len(lines) + 1) if not _ONLY_COMMENT.match(lines[line - 1]))
    return next(rest, len(lines))


def _build_waiver(
    rule: str, values: Mapping[str, str], written: tuple[str, int], covered: tuple[str, int, int]
) -> Waiver:
    return Waiver(
        id="",
        rule=rule,
        object=covered[0],
        column=values.get("column"),
        reason=values["reason"],
        owner=values["owner"],
        expires=values["until"],
        ticket=values.get("ticket"),
        path=written[0],
        line=written[1],
        first_line=covered[1],
        last_line=covered[2],
    )
