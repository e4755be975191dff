"""Loads YAML from strangers: nesting depth and the size of aliases are checked before anything is built."""

import re
from typing import Any

import yaml

from lineage_pipeline.files.bounded_files import TOO_DEEP

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
CONSTRUCTOR_ERRORS = (ValueError, KeyError, IndexError, AttributeError, TypeError, OverflowError)
"""What the loader raises for values that contradict their tag or form, such as `2001-99-99` or `!!bool x`."""

MAX_ALIAS_VALUES = 100_000
"""How many values aliases may add to a document; without aliases it has at most as many as characters."""


MAX_YAML_DEPTH = 200
YAML_BRACKETS = re.compile(r"[\[\]{}]")
DEEP_INDENTATION = re.compile(rf"(?m)^(?: |[-?:] ){{{MAX_YAML_DEPTH}}}")


class _LenientLoader(_LOADER):  # type: ignore[misc,valid-type]
    """A loader for which a value with a tag of some program is null."""


_LenientLoader.add_constructor(None, lambda _loader, _node: None)


def load_yaml(text: str, *, lenient: bool = False) -> Any:
    """Load a document of plain values; one that contains itself or grows too large raises `YAMLError`.

    One that is nested too deeply raises `RecursionError`, as the Python loader does; the C loader would crash. A
    `lenient` one may have tags of its program (`!include file`), whose values are null.
    """
    if _may_be_deep(text):
        _refuse_depth(text)
    loader = (_LenientLoader if lenient else _LOADER)(text)
    try:
        top = loader.get_single_node()
        if top is None:
            return None
        if "*" in text and _count_values(top) > len(text) + MAX_ALIAS_VALUES:
            raise yaml.YAMLError("its aliases come to too many values")
        return loader.construct_document(top)
    except CONSTRUCTOR_ERRORS as error:
        raise yaml.YAMLError(f"a value is not of its kind: {error}") from None
    finally:
        loader.dispose()


def _may_be_deep(text: str) -> bool:
    """Return whether brackets or indentation may be nested too deeply, counting those in quoted texts."""
    depth = 0
    for sign in YAML_BRACKETS.findall(text):
        depth = max(depth + (1 if sign in "[{" else -1), 0)
        if depth > MAX_YAML_DEPTH:
            return True
    return DEEP_INDENTATION.search(text) is not None


def _refuse_depth(text: str) -> None:
    """Raise where a document is nested too deeply, by its stream of events."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_YAML_DEPTH:
            raise RecursionError(TOO_DEEP)


def _count_values(top: yaml.Node) -> int:
    """Count the values of a document as if each alias were written out."""
    sizes: dict[int, int] = {}
    begun: set[int] = set()
    waiting = [(top, False)]
    while waiting:
        node, counted = waiting.pop()
        inside = _child_nodes(node)
        if counted:
            sizes[id(node)] = 1 + sum(sizes[id(inner)] for inner in inside)
        elif id(node) not in sizes:
            if id(node) in begun:
                raise yaml.YAMLError("an alias stands for what it is a part of")
            begun.add(id(node))
            waiting += [(node, True), *((inner, False) for inner in inside)]
    return sizes[id(top)]


def _child_nodes(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [item for pair in node.value for item in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
