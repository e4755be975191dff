"""Python's built-in functions and methods whose result follows from known arguments."""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from lineage_pipeline.discover.embedded_sql.known_values import UNKNOWN_VALUE, KnownValue, ProgramScope
from lineage_pipeline.discover.embedded_sql.text_parts import (
    MAX_TEXTS,
    UNKNOWN,
    UNKNOWN_PART,
    PossibleTexts,
    TextPart,
    TextValue,
    concat_texts,
    fill_placeholders,
    is_unknown_text,
    join_parts,
    slice_part,
    union_texts,
)

FORMAT_FIELD = re.compile(r"\{\{|\}\}|\{(\w*)[^{}]*\}")
PERCENT_FIELD = re.compile(r"%(?:\((\w+)\))?[#0\- +]*(?:\*|\d+)?(?:\.\d+)?[diouxXeEfFgGcrsa%]")
DOLLAR_FIELD = re.compile(r"\$\$|\$\{(\w+)\}|\$([A-Za-z_]\w*)")


class ValueEvaluator(Protocol):
    """Evaluates expressions to known values."""

    names: ProgramScope

    def known(self, node: ast.expr | None) -> KnownValue:
        """Return the known value of an expression."""

    def texts(self, node: ast.expr | None) -> PossibleTexts:
        """Return the texts that an expression may evaluate to."""

    def items(self, node: ast.expr | None) -> tuple[KnownValue, ...] | None:
        """Return the items that iterating over a value yields."""


def format_percent(value: TextValue, right: ast.expr, evaluator: ValueEvaluator) -> PossibleTexts:
    """Evaluate `text % values`."""
    known = evaluator.known(right)
    listed = known.items if isinstance(right, ast.Tuple) and known.items is not None else (known,)
    positions, named = iter(listed), known.entries or {}

    def filler(match: re.Match[str]) -> PossibleTexts | None:
        if match[0].endswith("%"):
            return ((TextPart("%"),),)
        found = named.get(match[1]) if match[1] else next(positions, None)
        return found.texts if found is not None else UNKNOWN

    return fill_placeholders(value, PERCENT_FIELD, filler)


def format_fields(
    value: TextValue, positional: Sequence[PossibleTexts], named: Mapping[str, PossibleTexts]
) -> PossibleTexts:
    """Fill the `{x}` fields of a text; unknown ones become a placeholder."""
    count = iter(range(len(positional)))

    def filler(match: re.Match[str]) -> PossibleTexts | None:
        if match[0] in ("{{", "}}"):
            return ((TextPart(match[0][0]),),)
        if match[1] and not match[1].isdecimal():
            return named.get(match[1], UNKNOWN)
        index = int(match[1][:9]) if match[1] else next(count, len(positional))
        return positional[index] if index < len(positional) else UNKNOWN

    return fill_placeholders(value, FORMAT_FIELD, filler)


def keyword_texts(evaluator: ValueEvaluator, node: ast.Call) -> dict[str, PossibleTexts]:
    """Return the texts of keyword arguments, those of a `**` dictionary included."""
    found: dict[str, PossibleTexts] = {}
    for item in node.keywords:
        if item.arg:
            found[item.arg] = evaluator.texts(item.value)
        else:
            found |= {key: entry.texts for key, entry in (evaluator.known(item.value).entries or {}).items()}
    return found


def _call_format(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> PossibleTexts:
    positional = [evaluator.texts(item) for item in node.args]
    named = keyword_texts(evaluator, node)
    return union_texts(*(format_fields(value, positional, named) for value in evaluator.texts(target)))


def _call_format_map(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> PossibleTexts:
    entries = (evaluator.known(node.args[0]).entries if node.args else None) or {}
    named = {key: entry.texts for key, entry in entries.items()}
    return union_texts(*(format_fields(value, (), named) for value in evaluator.texts(target)))


def _call_substitute(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> PossibleTexts:
    entries = (evaluator.known(node.args[0]).entries if node.args else None) or {}
    named = {key: entry.texts for key, entry in entries.items()} | keyword_texts(evaluator, node)

    def filler(match: re.Match[str]) -> PossibleTexts | None:
        return ((TextPart("$"),),) if match[0] == "$$" else named.get(match[1] or match[2], UNKNOWN)

    return union_texts(*(fill_placeholders(value, DOLLAR_FIELD, filler) for value in evaluator.texts(target)))


def _call_replace(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> PossibleTexts:
    old = evaluator.texts(node.args[0])[0] if len(node.args) > 1 else (UNKNOWN_PART,)
    if UNKNOWN_PART in old or not join_parts(old):
        return UNKNOWN
    new = evaluator.texts(node.args[1])
    pattern = re.compile(re.escape(join_parts(old)))
    return union_texts(*(fill_placeholders(value, pattern, lambda match: new) for value in evaluator.texts(target)))


def _call_join(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> PossibleTexts:
    items = evaluator.items(node.args[0]) if node.args else None
    between = evaluator.texts(target)
    if items is None:
        return UNKNOWN
    texts = [item.texts for item in items]
    return concat_texts(part for number, item in enumerate(texts) for part in ((between, item) if number else (item,)))


def _call_path_join(evaluator: ValueEvaluator, node: ast.Call) -> PossibleTexts:
    slash: PossibleTexts = ((TextPart("/"),),)
    texts = [evaluator.texts(item) for item in node.args]
    return concat_texts(part for number, item in enumerate(texts) for part in ((slash, item) if number else (item,)))


def _call_join_or_path(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> PossibleTexts:
    """Evaluate `.join`: of a list of texts, or `os.path.join`, which has the same name."""
    if isinstance(target, ast.Attribute | ast.Name) and (getattr(target, "attr", "") or target.id) == "path":  # type: ignore[union-attr]
        return _call_path_join(evaluator, node)
    return _call_join(evaluator, target, node)


def _call_split(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> KnownValue:
    """Evaluate `.split` of a text literal."""
    value, *others = evaluator.texts(target)
    if others or len(value) != 1 or is_unknown_text((value,)) or len(node.args) > 1:
        return UNKNOWN_VALUE
    between = join_parts(evaluator.texts(node.args[0])[0]) if node.args else ""
    pattern = re.compile(rf"(?:(?!{re.escape(between)}).)+" if between else r"\S+", re.DOTALL)
    words = [slice_part(value[0], match.start(), match.end()) for match in pattern.finditer(value[0].text)]
    return KnownValue(items=tuple(KnownValue(((word,),)) for word in words))


def _call_items(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> KnownValue:
    entries = evaluator.known(target).entries
    if entries is None:
        return UNKNOWN_VALUE
    return KnownValue(items=tuple(KnownValue(items=(_text_value(key), entry)) for key, entry in entries.items()))


def _call_keys(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> KnownValue:
    entries = evaluator.known(target).entries
    return UNKNOWN_VALUE if entries is None else KnownValue(items=tuple(_text_value(key) for key in entries))


def _call_values(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> KnownValue:
    entries = evaluator.known(target).entries
    return UNKNOWN_VALUE if entries is None else KnownValue(items=tuple(entries.values()))


def _text_value(key: str) -> KnownValue:
    return KnownValue(((TextPart(key),),))


def _call_get(evaluator: ValueEvaluator, target: ast.expr, node: ast.Call) -> KnownValue:
    """Evaluate `.get`: an entry, or the default."""
    entries = evaluator.known(target).entries
    if entries is None or not node.args:
        return UNKNOWN_VALUE
    keys = evaluator.texts(node.args[0])
    otherwise = evaluator.known(node.args[1]) if len(node.args) > 1 else UNKNOWN_VALUE
    found = [entries.get(join_parts(key), otherwise) for key in keys]
    return found[0] if len(found) == 1 else KnownValue(union_texts(*(entry.texts for entry in found)))


def _call_list(evaluator: ValueEvaluator, node: ast.Call) -> KnownValue:
    """Evaluate `list`, `tuple` and the like: the items of the argument."""
    items = evaluator.items(node.args[0]) if len(node.args) == 1 else None
    return UNKNOWN_VALUE if items is None else KnownValue(items=items)


def _call_enumerate(evaluator: ValueEvaluator, node: ast.Call) -> KnownValue:
    items = evaluator.items(node.args[0]) if len(node.args) == 1 else None
    if items is None:
        return UNKNOWN_VALUE
    return KnownValue(
        items=tuple(KnownValue(items=(_text_value(str(number)), item)) for number, item in enumerate(items))
    )


def _call_zip(evaluator: ValueEvaluator, node: ast.Call) -> KnownValue:
    lists = [evaluator.items(item) for item in node.args]
    if not lists or any(items is None for items in lists):
        return UNKNOWN_VALUE
    rows = zip(*(items for items in lists if items is not None), strict=False)
    return KnownValue(items=tuple(KnownValue(items=row) for row in rows))


def _call_range(evaluator: ValueEvaluator, node: ast.Call) -> KnownValue:
    bounds = [item.value for item in node.args if isinstance(item, ast.Constant) and isinstance(item.value, int)]
    if len(bounds) != len(node.args) or not 1 <= len(bounds) <= 3 or (len(bounds) == 3 and not bounds[2]):
        return UNKNOWN_VALUE
    numbers = range(*bounds)
    return (
        KnownValue(items=tuple(_text_value(str(number)) for number in numbers))
        if len(numbers) <= MAX_TEXTS
        else UNKNOWN_VALUE
    )


def _call_dict(evaluator: ValueEvaluator, node: ast.Call) -> KnownValue:
    before = (evaluator.known(node.args[0]).entries or {}) if node.args else {}
    return KnownValue(
        entries={**before, **{item.arg: evaluator.known(item.value) for item in node.keywords if item.arg}}
    )


def _call_locals(evaluator: ValueEvaluator, node: ast.Call) -> KnownValue:
    return KnownValue(entries=dict(evaluator.names.known))


TRANSPARENT_FUNCTIONS = frozenset("text SQL DDL dedent cleandoc str literal_text Template Path PurePath open".split())
"""Functions that return their text argument, as far as SQL is concerned; a file is known by its path."""

TRANSPARENT_METHODS = frozenset(
    "strip lstrip rstrip lower upper encode bindparams columns as_string render read read_text resolve".split()
)
"""Methods that leave a text as it is, as far as SQL is concerned."""

BUILTIN_FUNCTIONS: Mapping[str, Callable[[ValueEvaluator, ast.Call], KnownValue]] = {
    **dict.fromkeys(("list", "tuple", "set", "sorted", "reversed", "iter", "frozenset"), _call_list),
    "enumerate": _call_enumerate,
    "zip": _call_zip,
    "range": _call_range,
    "dict": _call_dict,
    "locals": _call_locals,
}
"""Functions that build lists and dictionaries from their arguments."""

BUILTIN_METHODS: Mapping[str, Callable[[ValueEvaluator, ast.expr, ast.Call], KnownValue | PossibleTexts]] = {
    "format": _call_format,
    "format_map": _call_format_map,
    "substitute": _call_substitute,
    "safe_substitute": _call_substitute,
    "replace": _call_replace,
    "join": _call_join_or_path,
    "joinpath": lambda evaluator, target, node: concat_texts(
        (evaluator.texts(target), ((TextPart("/"),),), _call_path_join(evaluator, node))
    ),
    "split": _call_split,
    "items": _call_items,
    "keys": _call_keys,
    "values": _call_values,
    "get": _call_get,
}
"""Methods of texts, lists and dictionaries whose result is known."""
