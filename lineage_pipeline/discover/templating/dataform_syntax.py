"""Dataform syntax: the blocks of `.sqlx` files, and JavaScript calls such as `publish("x").query(ctx => …)`."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lineage_pipeline.discover.embedded_sql.curly_languages import BRACED_FIELD, LITERAL_TOKENS

SQLX_BLOCK = re.compile(r"^[ \t]*(config|js|pre_operations|post_operations|input\s+\"[^\"]*\")\s*\{", re.MULTILINE)
ACTION_CALL = re.compile(r"(?<![\w.$])(publish|operate|assert|declare)\s*\(")
METHOD_CALL = re.compile(r"\s*\.\s*(\w+)\s*\(")
CONSTANT_DECLARATION = re.compile(r"\b(?:const|let|var)\s+([\w$]+)\s*=\s*(?=['\"`])")
RETURN_START = re.compile(r"(?:=>|\breturn)[\s(]*\Z")
"""What precedes the text that a function returns."""

OPENING, CLOSING = "([{", ")]}"
QUERY_METHODS = {"query": "query", "queries": "query", "preOps": "pre_operations", "postOps": "post_operations"}
CONFIG_METHODS = ("config", "type", "schema", "database")
"""Methods that configure an action, besides its second argument."""


class TextSpan(NamedTuple):
    """A slice of a file."""

    start: int
    end: int


class ActionCall(NamedTuple):
    """A call that defines an action: its function, arguments, configuring methods, and query texts."""

    word: str
    at: int
    arguments: tuple[TextSpan, ...]
    said: tuple[tuple[str, TextSpan], ...]
    queries: tuple[tuple[str, tuple[TextSpan, ...]], ...]


def defines_actions(text: str) -> bool:
    """Return whether a program defines Dataform actions."""
    return ACTION_CALL.search(text) is not None and any(True for _ in find_action_calls(text))


def find_action_calls(text: str) -> Iterator[ActionCall]:
    """Yield the calls that define actions, in order."""
    masked, at = mask_literals(text), 0
    while (match := ACTION_CALL.search(masked, at)) is not None:  # none is inside of another
        end = find_closing_bracket(masked, match.end())
        said: list[tuple[str, TextSpan]] = []
        queries: list[tuple[str, tuple[TextSpan, ...]]] = []
        at = end
        while (method := METHOD_CALL.match(masked, at)) is not None:
            at = find_closing_bracket(masked, method.end())
            inside = TextSpan(method.end(), at - 1)
            if method[1] in QUERY_METHODS:
                queries.append((QUERY_METHODS[method[1]], tuple(_query_texts(text, masked, inside))))
            elif method[1] in CONFIG_METHODS:
                said.append((method[1], inside))
        yield ActionCall(
            word=match[1],
            at=match.start(),
            arguments=tuple(split_arguments(masked, match.end(), end - 1)),
            said=tuple(said),
            queries=tuple(queries),
        )


def mask_literals(text: str) -> str:
    """Return a program with comments and the contents of literals blanked."""

    def blank(match: re.Match[str]) -> str:
        if match.lastgroup is None:
            return re.sub(r"[^\n]", " ", match[0])
        return match[0][0] + re.sub(r"[^\n]", " ", match[0][1:-1]) + match[0][-1]

    return LITERAL_TOKENS["javascript"].sub(blank, text)


def find_closing_bracket(masked: str, at: int) -> int:
    """Return the offset behind the bracket that closes an open one."""
    depth = 1
    while at < len(masked) and depth:
        depth += (masked[at] in OPENING) - (masked[at] in CLOSING)
        at += 1
    return at


def split_arguments(masked: str, start: int, end: int) -> Iterator[TextSpan]:
    """Yield the arguments between two brackets."""
    depth, first = 0, start
    for at in range(start, end):
        depth += (masked[at] in OPENING) - (masked[at] in CLOSING)
        if masked[at] == "," and not depth:
            yield TextSpan(first, at)
            first = at + 1
    if masked[first:end].strip():
        yield TextSpan(first, end)


def _query_texts(text: str, masked: str, inside: TextSpan) -> Iterator[TextSpan]:
    """Yield the texts passed to a method: alone, in a list, or returned by an inline function."""
    for token in LITERAL_TOKENS["javascript"].finditer(text, *inside):
        if token.lastgroup is None:
            continue
        before = masked[inside.start : token.start()]
        opened = [sign for sign in before if sign in OPENING + CLOSING]
        listed = opened == ["["] or _bracket_depth(before) == 0
        if RETURN_START.search(before) or (listed and "=>" not in before.rpartition(",")[2]):
            yield TextSpan(*token.span(token.lastgroup))


def _bracket_depth(before: str) -> int:
    return sum((sign in OPENING) - (sign in CLOSING) for sign in before)


def object_entries(written: str) -> Iterator[tuple[str, str]]:
    """Yield the entries of an object literal; a name alone is its own value."""
    masked = mask_literals(written)
    for start, end in split_arguments(masked, 1, max(len(masked) - 1, 1)):
        key, colon, _ = masked[start:end].partition(":")
        yield key.strip(), written[start + len(key) + 1 : end].strip() if colon else key.strip()


def find_constants(text: str) -> Mapping[str, str]:
    """Return the constants of a program that are plain literals."""
    found: dict[str, str] = {}
    for match in CONSTANT_DECLARATION.finditer(text):
        token = LITERAL_TOKENS["javascript"].match(text, match.end())
        if token is None or token.lastgroup is None or "${" in token[0]:
            continue
        if text[token.end() : token.end() + 40].lstrip()[:1] not in ("+", "."):
            found[match[1]] = token[token.lastgroup]
    return found


def find_blocks(text: str) -> Iterator[tuple[str, int, int, int]]:
    """Yield the blocks of a file: keyword, start, start of its body, and end."""
    at = 0
    while (match := SQLX_BLOCK.search(text, at)) is not None:
        end = find_closing_brace(text, match.end(), len(text))
        yield match.group(1).split()[0], match.start(), match.end(), end
        at = end


def skip_placeholder(text: str, at: int, end: int) -> int:
    """Return the offset behind a `${…}` that begins here."""
    match = BRACED_FIELD.match(text, at, end)
    return match.end() if match else find_closing_brace(text, at + 2, end)


def find_closing_brace(text: str, at: int, end: int) -> int:
    """Return the offset behind the brace that closes an open one; strings may hold braces."""
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
