"""What Dataform's files look like: the blocks of `.sqlx` files, and calls such as `publish("x").query(ctx => …)`."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lineage_pipeline.discover.hosts.braces import BRACED, TOKENS

BLOCK = re.compile(r"^[ \t]*(config|js|pre_operations|post_operations|input\s+\"[^\"]*\")\s*\{", re.MULTILINE)
ACTION = re.compile(r"(?<![\w.$])(publish|operate|assert|declare)\s*\(")
METHOD = re.compile(r"\s*\.\s*(\w+)\s*\(")
CONSTANT = re.compile(r"\b(?:const|let|var)\s+([\w$]+)\s*=\s*(?=['\"`])")
TAKEN = re.compile(r"(?:=>|\breturn)[\s(]*\Z")
"""What stands in front of the text that a function gives."""

OPENING, CLOSING = "([{", ")]}"
QUERIES = {"query": "query", "queries": "query", "preOps": "pre_operations", "postOps": "post_operations"}
SAYING = ("config", "type", "schema", "database")
"""The methods that say something of an action, besides its second argument."""


class Span(NamedTuple):
    """A slice of a file."""

    start: int
    end: int


class Called(NamedTuple):
    """A call that makes an action: its word, its arguments, what its methods say, and the texts of its queries."""

    word: str
    at: int
    arguments: tuple[Span, ...]
    said: tuple[tuple[str, Span], ...]
    queries: tuple[tuple[str, tuple[Span, ...]], ...]


def makes_actions(text: str) -> bool:
    """Say whether a program makes actions of Dataform."""
    return ACTION.search(text) is not None and any(True for _ in calls_in(text))


def calls_in(text: str) -> Iterator[Called]:
    """Give the calls that make actions, in order."""
    masked, at = masked_text(text), 0
    while (match := ACTION.search(masked, at)) is not None:  # none is inside of another
        end = behind(masked, match.end())
        said: list[tuple[str, Span]] = []
        queries: list[tuple[str, tuple[Span, ...]]] = []
        at = end
        while (method := METHOD.match(masked, at)) is not None:
            at = behind(masked, method.end())
            inside = Span(method.end(), at - 1)
            if method[1] in QUERIES:
                queries.append((QUERIES[method[1]], tuple(_texts(text, masked, inside))))
            elif method[1] in SAYING:
                said.append((method[1], inside))
        yield Called(match[1], match.start(), tuple(split(masked, match.end(), end - 1)), tuple(said), tuple(queries))


def masked_text(text: str) -> str:
    """Give a program with blanks in the place of what its comments and literals say, quotes apart."""

    def blank(match: re.Match[str]) -> str:
        if match.lastgroup is None:
            return re.sub(r"[^\n]", " ", match[0])
        return match[0][0] + re.sub(r"[^\n]", " ", match[0][1:-1]) + match[0][-1]

    return TOKENS["javascript"].sub(blank, text)


def behind(masked: str, at: int) -> int:
    """Give the offset behind the bracket that closes one that is open."""
    depth = 1
    while at < len(masked) and depth:
        depth += (masked[at] in OPENING) - (masked[at] in CLOSING)
        at += 1
    return at


def split(masked: str, start: int, end: int) -> Iterator[Span]:
    """Give the arguments between two brackets."""
    depth, first = 0, start
    for at in range(start, end):
        depth += (masked[at] in OPENING) - (masked[at] in CLOSING)
        if masked[at] == "," and not depth:
            yield Span(first, at)
            first = at + 1
    if masked[first:end].strip():
        yield Span(first, end)


def _texts(text: str, masked: str, inside: Span) -> Iterator[Span]:
    """Give the texts that a method is handed: each alone or in a list, or what a function of its own gives."""
    for token in TOKENS["javascript"].finditer(text, *inside):
        if token.lastgroup is None:
            continue
        before = masked[inside.start : token.start()]
        opened = [sign for sign in before if sign in OPENING + CLOSING]
        listed = opened == ["["] or _depth(before) == 0
        if TAKEN.search(before) or (listed and "=>" not in before.rpartition(",")[2]):
            yield Span(*token.span(token.lastgroup))


def _depth(before: str) -> int:
    return sum((sign in OPENING) - (sign in CLOSING) for sign in before)


def entries_of(written: str) -> Iterator[tuple[str, str]]:
    """Give the entries of an object that is written out; a name alone is its own value."""
    masked = masked_text(written)
    for start, end in split(masked, 1, max(len(masked) - 1, 1)):
        key, colon, _ = masked[start:end].partition(":")
        yield key.strip(), written[start + len(key) + 1 : end].strip() if colon else key.strip()


def constants_of(text: str) -> Mapping[str, str]:
    """Give the constants of a program that are written out."""
    found: dict[str, str] = {}
    for match in CONSTANT.finditer(text):
        token = TOKENS["javascript"].match(text, match.end())
        if token is None or token.lastgroup is None or "${" in token[0]:
            continue
        if text[token.end() : token.end() + 40].lstrip()[:1] not in ("+", "."):
            found[match[1]] = token[token.lastgroup]
    return found


def blocks(text: str) -> Iterator[tuple[str, int, int, int]]:
    """Give the blocks of a file: word, where it begins, where its inside begins, and where it ends."""
    at = 0
    while (match := BLOCK.search(text, at)) is not None:
        end = closing(text, match.end(), len(text))
        yield match.group(1).split()[0], match.start(), match.end(), end
        at = end


def behind_hole(text: str, at: int, end: int) -> int:
    """Give the offset behind a `${…}` that begins here."""
    match = BRACED.match(text, at, end)
    return match.end() if match else closing(text, at + 2, end)


def closing(text: str, at: int, end: int) -> int:
    """Give the offset behind the brace that closes one that is open; strings may hold braces."""
    depth, quote = 1, ""
    while at < end and depth:
        sign = text[at]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        else:
            depth += (sign == "{") - (sign == "}")
        at += 1
    return at
