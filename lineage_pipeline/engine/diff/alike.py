"""Two ways to say one thing: canonical texts that differ and mean the same, brought to one of them."""

import re
from collections.abc import Iterator

_MEMBER = re.compile(r"(?P<op>in|exists)\((?P<given>.*), source (?P<source>[^ ()]+)(?P<filters>(?: filter \(.*\))?)\)")
"""A condition that asks whether a source has a row: its filters alone follow."""

_PLAIN = re.compile(r'[\w.", ]+')
"""What EXISTS may select without deciding anything: constants and columns, no aggregates."""

FILTERED = "filter("

AGGREGATES = frozenset("sum avg min max count".split())
"""Aggregates that pass over null, so that a CASE without ELSE keeps a row away from them."""


def same_filter(text: str) -> str:
    """Give a filter, one condition a line, with every IN over a query as the EXISTS that it is."""
    if "in(" not in text and "exists(" not in text:
        return text
    return "\n".join(sorted(map(_member, text.splitlines())))


def _member(line: str) -> str:
    if line.startswith("not(exists("):
        return f"not({_member(line[4:-1])})"
    found = _MEMBER.fullmatch(line)
    if found is None:
        return line
    filters = [part for part in parts_of(found["filters"].strip(), " filter ") if part]
    filters = [part.removeprefix("filter ") for part in filters]
    given = list(parts_of(found["given"], ", "))
    if found["op"] == "in" and len(given) == 2:
        filters.append(f"({' = '.join(sorted(given))})")
    elif found["op"] == "in" or not _PLAIN.fullmatch(found["given"]):
        return line
    return f"exists(1, source {found['source']}{''.join(f' filter {one}' for one in sorted(filters))})"


def same_value(text: str) -> str:
    """Give an expression with every FILTER of an aggregate as the CASE that it is."""
    if FILTERED not in text:
        return text
    at = text.index(FILTERED)
    begin = at + len(FILTERED)
    end = _closing(text, begin)
    parts = list(parts_of(text[begin:end], ", "))
    condition = parts[-1].removeprefix("where(").removesuffix(")")
    made = _cased(parts[0], condition) if len(parts) == 2 and parts[1].startswith("where(") else ""
    whole = (at == 0 or not (text[at - 1].isalnum() or text[at - 1] in "_.")) and made
    if not whole:
        return text[:begin] + same_value(text[begin:])
    return text[:at] + made + same_value(text[end + 1 :])


def _cased(aggregate: str, condition: str) -> str:
    """Give an aggregate of what a condition lets through, or nothing where it takes more than one value."""
    name, _, rest = aggregate.partition("(")
    value = rest.removesuffix(")")
    if name.partition(":")[0] not in AGGREGATES or not rest.endswith(")") or len(list(parts_of(value, ", "))) > 1:
        return ""
    inner = value.removeprefix("distinct(").removesuffix(")") if value.startswith("distinct(") else value
    case = f"case when {condition} then {inner or 1} end"
    return f"{name}(distinct({case}))" if inner != value else f"{name}({case})"


def _closing(text: str, begin: int) -> int:
    """Give where the bracket closes that opened before a place."""
    depth = 1
    for at in range(begin, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
    return len(text)


def parts_of(text: str, mark: str) -> Iterator[str]:
    """Give what stands between marks outside of brackets."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and text.startswith(mark, at):
            yield text[start:at]
            start = at + len(mark)
    yield text[start:]
