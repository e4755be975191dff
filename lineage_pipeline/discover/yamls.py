"""YAML of a stranger: how deep it is and what its aliases come to is known before anything is made of it."""

import re
from typing import Any

import yaml

from lineage_pipeline.discover.bounded import DEEP

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
WRONG = (ValueError, KeyError, IndexError, AttributeError, TypeError, OverflowError)
"""What the loader raises where a value is not what its tag or its looks say, as `2001-99-99` or `!!bool x`."""

SPARE = 100_000
"""How many values aliases may add to a document; without them, it has no more than characters."""


DEEPEST = 200
BRACKETS = re.compile(r"[\[\]{}]")
INDENTED = re.compile(rf"(?m)^(?: |[-?:] ){{{DEEPEST}}}")


def load_yaml(text: str) -> Any:
    """Give a document, with plain values only; one that holds itself or comes to too much is a `YAMLError`.

    One that is too deep is a `RecursionError`, as with a loader in Python; that in C would end the process.
    """
    if _may_be_deep(text):
        _refuse_depth(text)
    loader = _LOADER(text)
    try:
        top = loader.get_single_node()
        if top is None:
            return None
        if "*" in text and _values(top) > len(text) + SPARE:
            raise yaml.YAMLError("its aliases come to too many values")
        return loader.construct_document(top)
    except WRONG as error:
        raise yaml.YAMLError(f"a value is not of its kind: {error}") from None
    finally:
        loader.dispose()


def _may_be_deep(text: str) -> bool:
    """Say whether brackets or the beginnings of lines can be nested too deeply, texts in quotes included."""
    depth = 0
    for sign in BRACKETS.findall(text):
        depth = max(depth + (1 if sign in "[{" else -1), 0)
        if depth > DEEPEST:
            return True
    return INDENTED.search(text) is not None


def _refuse_depth(text: str) -> None:
    """Raise where a document is too deep; its events come one by one."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise RecursionError(DEEP)


def _values(top: yaml.Node) -> int:
    """Count the values of a document as if each alias were written out, without writing them out."""
    sizes: dict[int, int] = {}
    begun: set[int] = set()
    waiting = [(top, False)]
    while waiting:
        node, counted = waiting.pop()
        inside = _inside(node)
        if counted:
            sizes[id(node)] = 1 + sum(sizes[id(inner)] for inner in inside)
        elif id(node) not in sizes:
            if id(node) in begun:
                raise yaml.YAMLError("an alias stands for what it is a part of")
            begun.add(id(node))
            waiting += [(node, True), *((inner, False) for inner in inside)]
    return sizes[id(top)]


def _inside(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [item for pair in node.value for item in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
