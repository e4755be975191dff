"""Two lineages side by side: what is gone, what is new, what was rewritten, and what was left alone."""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from lineage_pipeline.engine.diff.alike import same_filter, same_value
from lineage_pipeline.engine.diff.described import described
from lineage_pipeline.engine.diff.index import NAMED, Body, Index, Place, index
from lineage_pipeline.engine.diff.joins import FILTER, JOIN, same_conditions, spelled_out
from lineage_pipeline.engine.diff.names import Names, replace_words, same_words, translate
from lineage_pipeline.engine.diff.renames import PROJECTION, SOURCE, Renames, covered, renames
from lineage_pipeline.engine.diff.unions import same_branches
from lineage_pipeline.engine.graph.drops import dropped
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.tables import Column

Texts = dict[tuple[str, str], str]
"""The canonical text of each facet, by name and column, in the names of the head."""


class Rewrite(msgspec.Struct, frozen=True):
    """One edited statement of an object, before and after; `swap` is a source that stands where another stood."""

    object: str
    base: Body
    head: Body
    before: Texts
    after: Texts
    swap: tuple[str, str] | None

    def text(self, name: str, column: str = "*") -> tuple[str, str]:
        """Give a facet before and after, empty where there is none, a swapped source already put right."""
        before = self.before.get((name, column), "")
        after = self.after.get((name, column), "")
        swapped = _swapped(before, self.swap)
        return (after if swapped != before and same_words(swapped, after) else swapped), after


class Writers(msgspec.Struct, frozen=True):
    """The statements that fill one object: rewritten ones, and those that only one side has."""

    rewrites: tuple[Rewrite, ...] = ()
    gone: tuple[Body, ...] = ()
    new: tuple[Body, ...] = ()


class Pair(msgspec.Struct, frozen=True):
    """Base and head, each by its keys, and how the objects of one are found in the other.

    `kept` gives, by fingerprint, the places at base and head of a statement that stands on both sides. `covered` are
    objects with another name that a view still gives under the old one.
    """

    base: Index
    head: Index
    removed: tuple[str, ...]
    added: tuple[str, ...]
    common: tuple[str, ...]
    renames: Renames
    writers: dict[str, Writers]
    kept: dict[str, tuple[Place, Place]]
    covered: dict[str, str] = {}
    sensitive: tuple[str, ...] = ()

    def columns(self, name: str) -> Iterator[tuple[Column, Column]]:
        """Give the columns that an object has on both sides, under whatever name."""
        after = self.head.columns.get(name, {})
        for column in self.base.columns.get(name, {}).values():
            new = self.renames.names.columns.get((name, column.name), column.name)
            if new in after:
                yield column, after[new]

    def is_kept(self, place: Place, *, at_base: bool = False) -> bool:
        """Say whether a statement stands on the other side too, wherever it was moved."""
        mine = self.base if at_base else self.head
        return mine.fingerprint(place) in self.kept

    def is_unedited(self, name: str) -> bool:
        """Say whether an object is made by the same statements on both sides."""
        before = sorted(self.base.fingerprint(place) for place in self.base.makers.get(name, ()))
        after = sorted(self.head.fingerprint(place) for place in self.head.makers.get(name, ()))
        return bool(after) and "" not in after and before == after


def pair_of(base: Lineage, head: Lineage, sensitive: tuple[str, ...] = ()) -> Pair:
    """Put two lineages side by side; `sensitive` are patterns of tags."""
    old, new = described(index(base), index(head))
    names = sorted(set(old.objects) | set(new.objects))
    ranks = {name: (old.definedness(name), new.definedness(name)) for name in names}
    # What both sides drop in the end is compared: a script that takes everything down may lie beside the others.
    gone, before = dropped(head.object_statements), dropped(base.object_statements)
    ranks |= {name: (ranks[name][0], NAMED) for name in gone - before if name in ranks}
    ranks |= {name: (NAMED, ranks[name][1]) for name in before - gone if name in ranks}
    removed = tuple(name for name in names if ranks[name][0] > ranks[name][1])
    added = tuple(name for name in names if ranks[name][0] < ranks[name][1])
    common = tuple(name for name in names if ranks[name][0] == ranks[name][1] != NAMED)
    stand_ins = covered(old, new, added, common)
    added = tuple(name for name in added if name not in stand_ins.values())
    common = tuple(name for name in common if name not in stand_ins)
    found = renames(old, new, removed, added, common)
    return Pair(
        base=old,
        head=new,
        removed=removed,
        added=added,
        common=common,
        renames=found,
        writers={name: _writers(old, new, name, found.names) for name in common},
        kept=_kept(old, new),
        covered=stand_ins,
        sensitive=sensitive,
    )


def _kept(base: Index, head: Index) -> dict[str, tuple[Place, Place]]:
    old, new = (
        {side.fingerprint(place): place for place in sorted(side.statements, reverse=True)} for side in (base, head)
    )
    return {key: (old[key], new[key]) for key in old if key and key in new}


def _writers(base: Index, head: Index, name: str, names: Names) -> Writers:
    """Pair the statements that fill an object: equal ones drop out, then untouched ones, the rest by likeness."""
    before = [(body, _texts(body, names)) for body in base.bodies.get(name, ())]
    after = [(body, _texts(body, Names())) for body in head.bodies.get(name, ())]
    before, after = _without_common(before, after, [_said(*x) for x in before], [_said(*x) for x in after])
    before, after = _without_common(
        before, after, [x[0].fingerprint for x in before], [x[0].fingerprint for x in after]
    )
    rewrites = []
    while before and after:
        old, new = min(((b, a) for b in before for a in after), key=lambda two: _unlikeness(two[0], two[1]))
        before.remove(old)
        after.remove(new)
        swap = _swap(base, head, name, old, new)
        before_texts = _reunited(_rejoined(_reordered(old, new[1]), new[1]), new[1])
        rewrites.append(Rewrite(name, old[0], new[0], spelled_out(before_texts), spelled_out(new[1]), swap))
    return Writers(tuple(rewrites), tuple(body for body, _ in before), tuple(body for body, _ in after))


Side = list[tuple[Body, Texts]]


def _without_common(before: Side, after: Side, old: Sequence[str], new: Sequence[str]) -> tuple[Side, Side]:
    """Leave out what stands on both sides, as often as it stands on both; an empty key is equal to nothing."""
    shared = Counter(old) & Counter(new)
    shared[""] = 0
    return _rest(before, old, Counter(shared)), _rest(after, new, Counter(shared))


def _rest(side: Side, keys: Sequence[str], shared: Counter[str]) -> Side:
    rest = []
    for one, key in zip(side, keys, strict=True):
        shared[key] -= 1
        if shared[key] < 0:
            rest.append(one)
    return rest


def _texts(body: Body, names: Names) -> Texts:
    texts = {}
    for (name, column), facet in body.facets.items():
        new = names.column(facet.object, column)[1] if name == PROJECTION else column
        texts[name, new] = _alike(name, translate(names, facet.text))
    return texts


def _alike(name: str, text: str) -> str:
    """Give a text in the one form of those that say the same."""
    if name == PROJECTION:
        return same_value(text)
    return same_filter(text) if name == FILTER else text


def _said(body: Body, texts: Texts) -> str:
    return f"{body.kind}\x1d{_key(texts)}" if texts else ""


def _key(texts: Texts) -> str:
    return "\x1f".join(f"{name}\x1e{column}\x1e{text}" for (name, column), text in sorted(texts.items()))


def _unlikeness(old: tuple[Body, Texts], new: tuple[Body, Texts]) -> tuple[int, bool, str, str]:
    """Order pairs by how little they share, then by what they say, so that files' order does not matter."""
    shared = len(old[1].items() & new[1].items())
    return -shared, old[0].place[0] != new[0].place[0], _key(old[1]), _key(new[1])


def _reordered(old: tuple[Body, Texts], after: Texts) -> Texts:
    """Take over the head's text where renamed words alone put terms into another order."""
    unchanged = {facet.text for facet in old[0].facets.values()}
    return {
        key: after[key] if key in after and text not in unchanged and same_words(text, after[key]) else text
        for key, text in old[1].items()
    }


def _rejoined(before: Texts, after: Texts) -> Texts:
    """Take over the head's joins and filters where they say the same in another place."""
    if not same_conditions(before, after):
        return before
    keys = ((JOIN, "*"), (FILTER, "*"), (SOURCE, "*"))
    kept = {key: text for key, text in before.items() if key not in keys}
    return kept | {key: after[key] for key in keys if key in after}


def _reunited(before: Texts, after: Texts) -> Texts:
    """Take over the head's expressions where the branches of a set operation only changed places."""
    if not same_branches(before, after):
        return before
    return {key: after[key] if key[0] == PROJECTION else text for key, text in before.items()}


def _swap(
    base: Index, head: Index, name: str, old: tuple[Body, Texts], new: tuple[Body, Texts]
) -> tuple[str, str] | None:
    """Give the one source that left and the one that came, when no other columns are taken from it than before."""
    before, after = sources(old[1]), sources(new[1])
    gone, came = [one for one in before if one not in after], [one for one in after if one not in before]
    if len(gone) != 1 or len(came) != 1:
        return None
    taken, now = _taken(base, old[0], name, gone[0]), _taken(head, new[0], name, came[0])
    return (gone[0], came[0]) if now == taken or (now and now < taken) else None


def _taken(side: Index, body: Body, name: str, source: str) -> set[str]:
    """List the columns that a statement takes from one source."""
    edges = side.edges_at.get(body.place, ())
    return {edge.from_column for edge in edges if edge.from_object == source and edge.to_object == name}


def sources(texts: Texts) -> tuple[str, ...]:
    """List the objects that a statement reads, as its source facet names them."""
    return tuple(line.strip() for line in texts.get((SOURCE, "*"), "").splitlines() if line.strip())


def _swapped(text: str, swap: tuple[str, str] | None) -> str:
    return replace_words(text, {swap[0]: swap[1]}) if swap else text
