"""Calls of Python's own functions and methods whose result is known where what they are given is."""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from lineage_pipeline.discover.hosts.known import NOTHING, Known, Names
from lineage_pipeline.discover.hosts.values import (
    MOST,
    UNKNOWN,
    UNKNOWN_PART,
    Part,
    Texts,
    Value,
    cut,
    either,
    filled,
    is_unknown,
    joined,
    text_of,
)

FORMAT_FIELD = re.compile(r"\{\{|\}\}|\{(\w*)[^{}]*\}")
PERCENT_FIELD = re.compile(r"%(?:\((\w+)\))?[#0\- +]*(?:\*|\d+)?(?:\.\d+)?[diouxXeEfFgGcrsa%]")
DOLLAR_FIELD = re.compile(r"\$\$|\$\{(\w+)\}|\$([A-Za-z_]\w*)")


class Evaluating(Protocol):
    """Whoever knows what expressions come to."""

    names: Names

    def known(self, node: ast.expr | None) -> Known:
        """Give what is known of an expression."""

    def texts(self, node: ast.expr | None) -> Texts:
        """Give the texts that an expression may come to."""

    def items(self, node: ast.expr | None) -> tuple[Known, ...] | None:
        """Give what one meets when going through a value."""


def percent(value: Value, right: ast.expr, evaluator: Evaluating) -> Texts:
    """Give a text with its `%s` filled from what stands behind it."""
    known = evaluator.known(right)
    listed = known.items if isinstance(right, ast.Tuple) and known.items is not None else (known,)
    positions, named = iter(listed), known.entries or {}

    def filler(match: re.Match[str]) -> Texts | None:
        if match[0].endswith("%"):
            return ((Part("%"),),)
        found = named.get(match[1]) if match[1] else next(positions, None)
        return found.texts if found is not None else UNKNOWN

    return filled(value, PERCENT_FIELD, filler)


def formatted(value: Value, positional: Sequence[Texts], named: Mapping[str, Texts]) -> Texts:
    """Give a text with its `{x}` filled; what nobody knows is a hole."""
    count = iter(range(len(positional)))

    def filler(match: re.Match[str]) -> Texts | None:
        if match[0] in ("{{", "}}"):
            return ((Part(match[0][0]),),)
        if match[1] and not match[1].isdecimal():
            return named.get(match[1], UNKNOWN)
        index = int(match[1][:9]) if match[1] else next(count, len(positional))
        return positional[index] if index < len(positional) else UNKNOWN

    return filled(value, FORMAT_FIELD, filler)


def named_texts(evaluator: Evaluating, node: ast.Call) -> dict[str, Texts]:
    """Give the texts that a call names, those of a dictionary that is spread included."""
    found: dict[str, Texts] = {}
    for item in node.keywords:
        if item.arg:
            found[item.arg] = evaluator.texts(item.value)
        else:
            found |= {key: entry.texts for key, entry in (evaluator.known(item.value).entries or {}).items()}
    return found


def _format(evaluator: Evaluating, target: ast.expr, node: ast.Call) -> Texts:
    positional = [evaluator.texts(item) for item in node.args]
    named = named_texts(evaluator, node)
    return either(*(formatted(value, positional, named) for value in evaluator.texts(target)))


def _format_map(evaluator: Evaluating, target: ast.expr, node: ast.Call) -> Texts:
    entries = (evaluator.known(node.args[0]).entries if node.args else None) or {}
    named = {key: entry.texts for key, entry in entries.items()}
    return either(*(formatted(value, (), named) for value in evaluator.texts(target)))


def _substitute(evaluator: Evaluating, target: ast.expr, node: ast.Call) -> Texts:
    entries = (evaluator.known(node.args[0]).entries if node.args else None) or {}
    named = {key: entry.texts for key, entry in entries.items()} | named_texts(evaluator, node)

    def filler(match: re.Match[str]) -> Texts | None:
        return ((Part("$"),),) if match[0] == "$$" else named.get(match[1] or match[2], UNKNOWN)

    return either(*(filled(value, DOLLAR_FIELD, filler) for value in evaluator.texts(target)))


def _replace(evaluator: Evaluating, target: ast.expr, node: ast.Call) -> Texts:
    old = evaluator.texts(node.args[0])[0] if len(node.args) > 1 else (UNKNOWN_PART,)
    if UNKNOWN_PART in old or not text_of(old):
        return UNKNOWN
    new = evaluator.texts(node.args[1])
    pattern = re.compile(re.escape(text_of(old)))
    return either(*(filled(value, pattern, lambda match: new) for value in evaluator.texts(target)))


def _join(evaluator: Evaluating, target: ast.expr, node: ast.Call) -> Texts:
    items = evaluator.items(node.args[0]) if node.args else None
    between = evaluator.texts(target)
    if items is None:
        return UNKNOWN
    texts = [item.texts for item in items]
    return joined(part for number, item in enumerate(texts) for part in ((between, item) if number else (item,)))


def _path_join(evaluator: Evaluating, node: ast.Call) -> Texts:
    slash: Texts = ((Part("/"),),)
    texts = [evaluator.texts(item) for item in node.args]
    return joined(part for number, item in enumerate(texts) for part in ((slash, item) if number else (item,)))


def _joined(evaluator: Evaluating, target: ast.expr, node: ast.Call) -> Texts:
    """Give a list put together, or a path: `os.path.join` has the same name."""
    if isinstance(target, ast.Attribute | ast.Name) and (getattr(target, "attr", "") or target.id) == "path":  # type: ignore[union-attr]
        return _path_join(evaluator, node)
    return _join(evaluator, target, node)


def _split(evaluator: Evaluating, target: ast.expr, node: ast.Call) -> Known:
    """Give the words of a text that is written out."""
    value, *others = evaluator.texts(target)
    if others or len(value) != 1 or is_unknown((value,)) or len(node.args) > 1:
        return NOTHING
    between = text_of(evaluator.texts(node.args[0])[0]) if node.args else ""
    pattern = re.compile(rf"(?:(?!{re.escape(between)}).)+" if between else r"\S+", re.DOTALL)
    words = [cut(value[0], match.start(), match.end()) for match in pattern.finditer(value[0].text)]
    return Known(items=tuple(Known(((word,),)) for word in words))


def _entries(evaluator: Evaluating, target: ast.expr, node: ast.Call) -> Known:
    entries = evaluator.known(target).entries
    if entries is None:
        return NOTHING
    return Known(items=tuple(Known(items=(_key(key), entry)) for key, entry in entries.items()))


def _keys(evaluator: Evaluating, target: ast.expr, node: ast.Call) -> Known:
    entries = evaluator.known(target).entries
    return NOTHING if entries is None else Known(items=tuple(_key(key) for key in entries))


def _values(evaluator: Evaluating, target: ast.expr, node: ast.Call) -> Known:
    entries = evaluator.known(target).entries
    return NOTHING if entries is None else Known(items=tuple(entries.values()))


def _key(key: str) -> Known:
    return Known(((Part(key),),))


def _get(evaluator: Evaluating, target: ast.expr, node: ast.Call) -> Known:
    """Give an entry, or what the call names in its place."""
    entries = evaluator.known(target).entries
    if entries is None or not node.args:
        return NOTHING
    keys = evaluator.texts(node.args[0])
    otherwise = evaluator.known(node.args[1]) if len(node.args) > 1 else NOTHING
    found = [entries.get(text_of(key), otherwise) for key in keys]
    return found[0] if len(found) == 1 else Known(either(*(entry.texts for entry in found)))


def _same(evaluator: Evaluating, node: ast.Call) -> Known:
    """Give the items of what a list is made of."""
    items = evaluator.items(node.args[0]) if len(node.args) == 1 else None
    return NOTHING if items is None else Known(items=items)


def _numbered(evaluator: Evaluating, node: ast.Call) -> Known:
    items = evaluator.items(node.args[0]) if len(node.args) == 1 else None
    if items is None:
        return NOTHING
    return Known(items=tuple(Known(items=(_key(str(number)), item)) for number, item in enumerate(items)))


def _zipped(evaluator: Evaluating, node: ast.Call) -> Known:
    lists = [evaluator.items(item) for item in node.args]
    if not lists or any(items is None for items in lists):
        return NOTHING
    rows = zip(*(items for items in lists if items is not None), strict=False)
    return Known(items=tuple(Known(items=row) for row in rows))


def _numbers(evaluator: Evaluating, node: ast.Call) -> Known:
    bounds = [item.value for item in node.args if isinstance(item, ast.Constant) and isinstance(item.value, int)]
    if len(bounds) != len(node.args) or not 1 <= len(bounds) <= 3 or (len(bounds) == 3 and not bounds[2]):
        return NOTHING
    numbers = range(*bounds)
    return Known(items=tuple(_key(str(number)) for number in numbers)) if len(numbers) <= MOST else NOTHING


def _made_table(evaluator: Evaluating, node: ast.Call) -> Known:
    before = (evaluator.known(node.args[0]).entries or {}) if node.args else {}
    return Known(entries={**before, **{item.arg: evaluator.known(item.value) for item in node.keywords if item.arg}})


def _locals(evaluator: Evaluating, node: ast.Call) -> Known:
    return Known(entries=dict(evaluator.names.known))


TRANSPARENT = frozenset("text SQL DDL dedent cleandoc str literal_text Template Path PurePath open".split())
"""Functions that give the text they are given, as far as SQL goes; a file is known by its path."""

UNCHANGED = frozenset(
    "strip lstrip rstrip lower upper encode bindparams columns as_string render read read_text resolve".split()
)
"""Methods that leave a text as it is, as far as SQL goes."""

FUNCTIONS: Mapping[str, Callable[[Evaluating, ast.Call], Known]] = {
    **dict.fromkeys(("list", "tuple", "set", "sorted", "reversed", "iter", "frozenset"), _same),
    "enumerate": _numbered,
    "zip": _zipped,
    "range": _numbers,
    "dict": _made_table,
    "locals": _locals,
}
"""Functions that give lists and tables of what they are given."""

METHODS: Mapping[str, Callable[[Evaluating, ast.expr, ast.Call], Known | Texts]] = {
    "format": _format,
    "format_map": _format_map,
    "substitute": _substitute,
    "safe_substitute": _substitute,
    "replace": _replace,
    "join": _joined,
    "joinpath": lambda evaluator, target, node: joined(
        (evaluator.texts(target), ((Part("/"),),), _path_join(evaluator, node))
    ),
    "split": _split,
    "items": _entries,
    "keys": _keys,
    "values": _values,
    "get": _get,
}
"""Methods of texts, lists and tables that make others of them."""
