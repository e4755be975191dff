"""Waivers in comments: `-- lineage: ignore COL001 until=2026-12-31 reason=...`, above a statement or at a line of it.

Above a statement it covers all of it; at the end of a line it covers that line, on a line of its own the next one.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lineage_pipeline.engine.diff.waivers import complain, is_rule
from lineage_pipeline.vocabulary.tables import Diagnostic, StatementRow
from lineage_pipeline.vocabulary.waivers import Waiver

MARK = r"(?i)lineage\s*+:?\s*+ignore\b"
"""What a comment has that may be a waiver, as a regular expression of Python's and of Spark's."""

_MARK = re.compile(MARK)

_COMMENT = re.compile(
    r"(?P<code>.*?)(?:--|/\*|#)\s*+lineage\s*+(?P<colon>:?)\s*+ignore\b(?P<rest>.*?)(?:\*/.*)?$", re.IGNORECASE
)

_ONLY_COMMENT = re.compile(r"\s*(?:--|/\*|#|\*/|$)")

_WORDS = re.compile(
    r"""(?<![a-z])(?P<key>[a-z]++)=(?:"(?P<quoted>[^"]*)"|(?P<plain>\S*+(?:\s++(?![a-z]+=|$)\S++)*+))(?=\s++[a-z]+=|\s*+$)"""
)

_DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")

KEYS = frozenset({"until", "reason", "owner", "column", "ticket"})


def inline_waivers(
    texts: Mapping[str, str], statements: Iterable[StatementRow], owners: Mapping[str, Sequence[str]]
) -> tuple[list[Waiver], list[Diagnostic]]:
    """Read the waivers in the comments of files, and what is wrong with them; owners of a file sign by default."""
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
            found = _COMMENT.match(line) if _is_marked(line) else None
            for rule, values, problem in _read(found) if found else ():
                if problem:
                    problems.append(complain("WAIVER_INVALID", path, number, {"reason": problem}))
                else:
                    place = _covered(rows[path], lines, number, alone=bool(_ONLY_COMMENT.match(line)))
                    owner = values.get("owner") or ", ".join(owners.get(path, ()))
                    waivers.append(_waiver(rule, values | {"owner": owner}, (path, number), place))
    return waivers, problems


def _is_marked(text: str) -> bool:
    """Say whether a text may hold a waiver; most hold no such word, which is quick to see."""
    return ("ignore" in text or "IGNORE" in text or "Ignore" in text) and _MARK.search(text) is not None


def _read(comment: re.Match[str]) -> Iterator[tuple[str, dict[str, str], str]]:
    """Read a comment; one without a colon is a waiver that somebody meant where it names a rule, else it is prose."""
    for rule, values, problem in _readings(comment["rest"]):
        if comment["colon"]:
            yield rule, values, problem
        elif is_rule(rule):
            yield rule, values, "it needs a colon, `lineage: ignore`"


def _readings(rest: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """Give each rule that a comment names, with its words, or what is wrong with it."""
    named, _, _ = rest.partition("=")
    rules = [word for word in re.split(r"[\s,]+", named) if word and not re.fullmatch("[a-z]+", word)]
    values = {match["key"]: (match["quoted"] or match["plain"] or "").strip() for match in _WORDS.finditer(rest)}
    problem = _problem(values)
    if not rules:
        yield "", values, "it names no rule"
    for rule in rules:
        yield rule, values, problem if is_rule(rule) else f"there is no rule {rule}"


def _problem(values: Mapping[str, str]) -> str:
    strange = sorted(values.keys() - KEYS)
    if strange:
        return f"{strange[0]} is not one of {', '.join(sorted(KEYS))}"
    if not _DATE.fullmatch(values.get("until", "")):
        return "it needs until=YYYY-MM-DD"
    return "" if values.get("reason") else "it needs reason=..."


def _covered(rows: Sequence[StatementRow], lines: Sequence[str], number: int, *, alone: bool) -> tuple[str, int, int]:
    """Give the object and the lines that a comment is about: its line, the next one, or a whole statement below it."""
    spans = [(row.span.line, row.span.end_line, row) for row in rows if row.span is not None]
    if any(first <= number <= last for first, last, _ in spans):
        line = number if not alone else _next_code(lines, number)
        return "", line, line
    below = sorted(((first, -last, row) for first, last, row in spans if first > number), key=lambda one: one[:2])
    if not below or not alone:
        return "", number, number
    first, last, row = below[0]
    return row.target or "", first, -last


def _next_code(lines: Sequence[str], number: int) -> int:
    """Give the next line that holds more than a comment, else the last one."""
    rest = (line for line in range(number + 1, len(lines) + 1) if not _ONLY_COMMENT.match(lines[line - 1]))
    return next(rest, len(lines))


def _waiver(rule: str, values: Mapping[str, str], written: tuple[str, int], covered: tuple[str, int, int]) -> Waiver:
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
