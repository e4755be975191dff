"""Which objects and columns only changed their names: a rename beats remove and add where there is no doubt."""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher

import msgspec

from lineage_pipeline.engine.diff.index import Index
from lineage_pipeline.engine.diff.names import Names, sorted_words, translate
from lineage_pipeline.vocabulary.sets import ObjectKind, Origin
from lineage_pipeline.vocabulary.tables import Column

PROJECTION, SOURCE = "projection", "source"

ITSELF = "\x00"
"""What stands for an object in its own statements, whatever its name."""

SAME_EXPRESSION, SAME_LINEAGE, SAME_SHAPE = 3, 2, 1
"""How strongly two columns look like one: the stronger likeness wins, a tie is no rename."""


class Renames(msgspec.Struct, frozen=True):
    """The names that changed, and for columns in doubt the ones they might have become or come from."""

    names: Names
    candidates: dict[tuple[str, str], tuple[str, ...]]
    origins: dict[tuple[str, str], tuple[str, ...]]


def renames(base: Index, head: Index, removed: Sequence[str], added: Sequence[str], common: Sequence[str]) -> Renames:
    """Find renamed objects, then renamed columns from sources to consumers, so that a rename explains the next."""
    names = Names(objects=_renamed_objects(base, head, removed, added))
    found = Renames(names=names, candidates={}, origins={})
    for name in sorted(common, key=lambda name: (head.objects[name].level, name)):
        _match_columns(base, head, name, found)
    return found


def covered(base: Index, head: Index, added: Sequence[str], common: Sequence[str]) -> dict[str, str]:
    """Find objects that have another name, while a view gives them under the old one."""
    fresh = set(added)
    found = {}
    for name in common:
        target = _stands_for(head, name)
        if target in fresh and _signature(base, name, Names()) == _signature(head, target, Names()):
            found[name] = target
    return found


def _stands_for(head: Index, name: str) -> str:
    """Give the object that a view passes on as it is, or nothing where it does more."""
    bodies = head.bodies.get(name, ())
    if head.objects[name].kind is not ObjectKind.VIEW or len(bodies) != 1:
        return ""
    facets = bodies[0].facets
    source = facets.get((SOURCE, "*"))
    target = source.text if source and len(facets) == len(head.columns.get(name, ())) + 1 else ""
    columns = head.columns.get(name, ())
    texts = [facet.text if (facet := facets.get((PROJECTION, column))) else "" for column in columns]
    return target if texts == [f"{target}.{column}" for column in columns] else ""


def _renamed_objects(base: Index, head: Index, removed: Sequence[str], added: Sequence[str]) -> dict[str, str]:
    """Pair objects of equal schema and body; each pair may explain the bodies of the next."""
    renamed: dict[str, str] = {}
    while True:
        names = Names(objects=renamed)
        old = {name: _signature(base, name, names) for name in removed if name not in renamed}
        new = {name: _signature(head, name, Names()) for name in added if name not in renamed.values()}
        pairs = _unambiguous(old, new)
        if not pairs:
            return renamed
        renamed = renamed | pairs


def _signature(index: Index, name: str, names: Names) -> Hashable:
    """Give all that makes an object but its name, or nothing where it has no columns to tell it by."""
    columns = index.columns.get(name, {}).values()
    shape = tuple((column.name, column.type, column.nullable) for column in columns)
    own = Names({**names.objects, name: ITSELF}, names.columns)  # a statement may read what it fills
    bodies = sorted(
        tuple(sorted((*key, _alike(translate(own, facet.text))) for key, facet in body.facets.items()))
        for body in index.bodies.get(name, ())
    )
    row = index.objects[name]
    # What is described in part alone may be anything else that has such columns.
    told = shape and not (row.open and row.origin is Origin.IMPORTED)
    return (row.kind, shape, tuple(bodies)) if told else None


def _alike(text: str) -> str:
    """Give a text that is the same under another name of the object itself, which puts terms into another order."""
    return " ".join(sorted_words(text)) if ITSELF in text else text


def _unambiguous(old: Mapping[str, Hashable], new: Mapping[str, Hashable]) -> dict[str, str]:
    olds, news = _by_value(old), _by_value(new)
    return {names[0]: news[value][0] for value, names in olds.items() if len(names) == 1 == len(news.get(value, ()))}


def _by_value(signatures: Mapping[str, Hashable]) -> dict[Hashable, list[str]]:
    found: dict[Hashable, list[str]] = defaultdict(list)
    for name, value in sorted(signatures.items()):
        if value is not None:
            found[value].append(name)
    return found


def _match_columns(base: Index, head: Index, name: str, found: Renames) -> None:
    """Match the columns that one object lost with those that it gained."""
    before, after = base.columns.get(name, {}), head.columns.get(name, {})
    lost = [column for column in before.values() if column.name not in after]
    gained = [column for column in after.values() if column.name not in before]
    if not (lost and gained):
        return
    for one, other in _respelled(lost, gained):
        found.names.columns[name, one.name] = other.name
        lost.remove(one)
        gained.remove(other)
    old = {column.name: _likeness(base, column, found.names) for column in lost}
    new = {column.name: _likeness(head, column, Names()) for column in gained}
    for level in (SAME_EXPRESSION, SAME_LINEAGE, SAME_SHAPE):
        pairs = [
            (a, b)
            for a in old
            for b in new
            if (old[a].get(level) is not None) and old[a].get(level) == new[b].get(level)
        ]
        _settle(name, pairs, found)
        old = {a: likeness for a, likeness in old.items() if a not in {pair[0] for pair in pairs}}
        new = {b: likeness for b, likeness in new.items() if b not in {pair[1] for pair in pairs}}


def alike(old: str, new: str) -> bool:
    """Say whether a name looks like another one: it has a word of it, or most of its letters in their order."""
    one, two = (name.casefold() for name in (old, new))
    shared = set(_WORDS.findall(one)) & set(_WORDS.findall(two))
    return bool(shared) or one in two or two in one or SequenceMatcher(None, one, two).ratio() >= LIKENESS


LIKENESS = 0.6
_WORDS = re.compile(r"[^\W_]{3,}")


def _respelled(lost: Sequence[Column], gained: Sequence[Column]) -> list[tuple[Column, Column]]:
    """Pair the columns whose names differ in letter case alone."""
    new = {column.name.casefold(): column for column in gained}
    pairs = [(column, new[column.name.casefold()]) for column in lost if column.name.casefold() in new]
    return pairs if len({one.name.casefold() for one, _ in pairs}) == len(pairs) else []


def _settle(name: str, pairs: Iterable[tuple[str, str]], found: Renames) -> None:
    """Keep the pairs without rivals as renames, the others as candidates of each other."""
    pairs = list(pairs)
    lost, gained = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    for a, b in pairs:
        if lost[a] == 1 == gained[b]:
            found.names.columns[name, a] = b
        else:
            found.candidates[name, a] = (*found.candidates.get((name, a), ()), b)
            found.origins[name, b] = (*found.origins.get((name, b), ()), a)


def _likeness(index: Index, column: Column, names: Names) -> dict[int, Hashable]:
    """Give what a column can be recognised by, the strongest first; a level that says nothing is absent."""
    bodies = index.bodies.get(column.object, ())
    texts = [facet.text for body in bodies if (facet := body.facets.get((PROJECTION, column.name)))]
    edges = index.inputs(column.object, column.name)
    inputs = {(*names.column(edge.from_object, edge.from_column), edge.subtype) for edge in edges}
    likeness: dict[int, Hashable] = {}
    if any(texts):
        likeness[SAME_EXPRESSION] = tuple(sorted(translate(names, text) for text in texts))
    if inputs:
        likeness[SAME_LINEAGE] = (column.type, tuple(sorted(inputs)))
    elif column.type and not texts:
        likeness[SAME_SHAPE] = (column.type, column.nullable, column.ordinal)
    return likeness
