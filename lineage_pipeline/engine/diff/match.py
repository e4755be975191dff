"""Matching two lineages: what was removed, added, renamed, edited, and left unchanged."""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from difflib import SequenceMatcher

import msgspec

from lineage_pipeline.engine.diff.equivalence import (
    FILTER_FACET,
    JOIN_FACET,
    drop_national_prefixes,
    has_existence_join,
    has_same_branches,
    has_same_conditions,
    join_comma_sources,
    normalize_filter,
    normalize_projection,
)
from lineage_pipeline.engine.diff.index import (
    NAMED,
    PROJECTION_FACET,
    SOURCE_FACET,
    LineageIndex,
    StatementBody,
    StatementKey,
    build_index,
)
from lineage_pipeline.engine.diff.normal_form import normalize_plan
from lineage_pipeline.engine.diff.query_alignment import align_queries
from lineage_pipeline.engine.graph.script_scopes import find_dropped
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import ObjectKind, Origin
from lineage_pipeline.model.tables import Column

StatementTexts = dict[tuple[str, str], str]
"""The canonical text of each facet, by name and column, in the names of the head."""


class StatementEdit(msgspec.Struct, frozen=True):
    """One edited statement of an object, before and after; `swap` is a source that replaced another one.

    A `rearranged` one has the same texts, and its query is put together in another way.
    """

    object: str
    base: StatementBody
    head: StatementBody
    before: StatementTexts
    after: StatementTexts
    swap: tuple[str, str] | None
    rearranged: bool = False

    def text(self, name: str, column: str = "*") -> tuple[str, str]:
        """A facet before and after, empty where there is none, with a swapped source already replaced."""
        before = self.before.get((name, column), "")
        after = self.after.get((name, column), "")
        swapped = _apply_swap(before, self.swap)
        return (after if swapped != before and has_same_words(swapped, after) else swapped), after


class WriterChanges(msgspec.Struct, frozen=True):
    """The statements that fill one object: edited ones, those of one side, and those `refactored`.

    Where every edit is `proven` to change no row, the values are the same.
    """

    rewrites: tuple[StatementEdit, ...] = ()
    gone: tuple[StatementBody, ...] = ()
    new: tuple[StatementBody, ...] = ()
    refactored: tuple[StatementEdit, ...] = ()
    proven: bool = False


class RenamedNames(msgspec.Struct, frozen=True):
    """Renamed objects, and renamed columns by the object's name at base."""

    objects: dict[str, str] = {}
    columns: dict[tuple[str, str], str] = {}

    def head_object(self, name: str) -> str:
        """An object's name at head."""
        return self.objects.get(name, name)

    def head_column(self, name: str, column: str) -> tuple[str, str]:
        """A column's object and name at head."""
        return self.head_object(name), self.columns.get((name, column), column)


class Renames(msgspec.Struct, frozen=True):
    """The names that changed, and for ambiguous columns the ones they might have become or come from."""

    names: RenamedNames
    candidates: dict[tuple[str, str], tuple[str, ...]]
    origins: dict[tuple[str, str], tuple[str, ...]]


class LineagePair(msgspec.Struct, frozen=True):
    """Base and head, indexed, and how the objects of one map to those of the other.

    `unchanged` maps a fingerprint to the base and head positions of a statement that both sides have. `covered` are
    renamed objects that a view still provides under the old name.
    """

    base: LineageIndex
    head: LineageIndex
    removed: tuple[str, ...]
    added: tuple[str, ...]
    common: tuple[str, ...]
    renames: Renames
    writers: dict[str, WriterChanges]
    unchanged: dict[str, tuple[StatementKey, StatementKey]]
    covered: dict[str, str] = {}
    sensitive: tuple[str, ...] = ()

    def columns(self, name: str) -> Iterator[tuple[Column, Column]]:
        """The columns that an object has on both sides, under either name."""
        after = self.head.columns.get(name, {})
        for column in self.base.columns.get(name, {}).values():
            new = self.renames.names.columns.get((name, column.name), column.name)
            if new in after:
                yield column, after[new]

    def is_unchanged(self, place: StatementKey, *, at_base: bool = False) -> bool:
        """Say whether a statement exists on the other side too, wherever it was moved."""
        mine = self.base if at_base else self.head
        return mine.fingerprint(place) in self.unchanged

    def is_described_in_part(self, name: str) -> bool:
        """Say whether an import lists only some of an object's columns, on both sides."""
        return all(_is_partly_imported(side, name) for side in (self.base, self.head))

    def is_unedited(self, name: str) -> bool:
        """Say whether an object is made by the same statements on both sides."""
        before = sorted(self.base.fingerprint(place) for place in self.base.makers.get(name, ()))
        after = sorted(self.head.fingerprint(place) for place in self.head.makers.get(name, ()))
        return bool(after) and "" not in after and before == after


def pair_lineages(base: LineageTables, head: LineageTables, sensitive: tuple[str, ...] = ()) -> LineagePair:
    """Match two lineages; `sensitive` are patterns of tags."""
    old, new = drop_one_sided_columns(build_index(align_queries(base, head)), build_index(head))
    names = sorted(set(old.objects) | set(new.objects))
    ranks = {name: (old.definition_level(name), new.definition_level(name)) for name in names}
    # What both sides drop in the end is compared: a script that takes everything down may lie beside the others.
    gone, before = find_dropped(head.object_statements), find_dropped(base.object_statements)
    ranks |= {name: (ranks[name][0], NAMED) for name in gone - before if name in ranks}
    ranks |= {name: (NAMED, ranks[name][1]) for name in before - gone if name in ranks}
    removed = tuple(name for name in names if ranks[name][0] > ranks[name][1])
    added = tuple(name for name in names if ranks[name][0] < ranks[name][1])
    common = tuple(name for name in names if ranks[name][0] == ranks[name][1] != NAMED)
    stand_ins = find_covered_renames(old, new, added, common)
    added = tuple(name for name in added if name not in stand_ins.values())
    common = tuple(name for name in common if name not in stand_ins)
    found = find_renames(old, new, removed, added, common)
    gone_plans = _find_definitions(old, set(removed) - set(found.names.objects))
    new_plans = _find_definitions(new, set(added) - set(found.names.objects.values()))
    return LineagePair(
        base=old,
        head=new,
        removed=removed,
        added=added,
        common=common,
        renames=found,
        writers={
            name: _match_writers(old, new, QueryForms(name, found.names, gone_plans, new_plans)) for name in common
        },
        unchanged=_find_unchanged(old, new),
        covered=stand_ins,
        sensitive=sensitive,
    )


def _find_unchanged(base: LineageIndex, head: LineageIndex) -> dict[str, tuple[StatementKey, StatementKey]]:
    old, new = (
        {side.fingerprint(place): place for place in sorted(side.statements, reverse=True)} for side in (base, head)
    )
    return {key: (old[key], new[key]) for key in old if key and key in new}


class QueryForms(msgspec.Struct, frozen=True):
    """What the normal forms of one object's queries need: its name, the renamed names, and objects of one side alone.

    A query that moved into an object of its own, or back from one, is looked through.
    """

    object: str
    names: RenamedNames
    gone: Mapping[str, str]
    new: Mapping[str, str]

    def find(self, body: StatementBody, *, at_base: bool, loose: bool = False) -> str | None:
        """The normal form of the rows that a statement writes, in the names of the head; None where there is none."""
        if not body.query:
            return None
        names = self.names if at_base else RenamedNames()
        definitions = self.gone if at_base else self.new
        forms = [
            normalize_plan(
                plan,
                names.head_object,
                lambda name, column: names.head_column(name, column)[1],
                lambda column: names.head_column(self.object, column)[1],
                {name: text for name, text in definitions.items() if name != self.object},
                loose=loose,
            )
            for plan in body.query.splitlines()
        ]
        return None if None in forms else "\n".join(sorted(filter(None, forms)))


def _find_definitions(side: LineageIndex, names: Iterable[str]) -> dict[str, str]:
    """The plans of objects that one statement alone fills."""
    bodies = {name: side.bodies.get(name, ()) for name in names}
    return {name: found[0].query for name, found in bodies.items() if len(found) == 1 and found[0].query}


def _match_writers(base: LineageIndex, head: LineageIndex, forms: QueryForms) -> WriterChanges:
    """Pair the statements that fill an object: unedited ones drop out, then equal ones, the rest by likeness."""
    name, names = forms.object, forms.names
    before = [(body, _normalized_texts(body, names)) for body in base.bodies.get(name, ())]
    after = [(body, _normalized_texts(body, RenamedNames())) for body in head.bodies.get(name, ())]
    before, after = _drop_common(before, after, [x[0].fingerprint for x in before], [x[0].fingerprint for x in after])
    if not (before and after):
        return WriterChanges((), tuple(body for body, _ in before), tuple(body for body, _ in after))
    old_forms = {id(body): forms.find(body, at_base=True) for body, _ in before}
    new_forms = {id(body): forms.find(body, at_base=False) for body, _ in after}
    proven, before, after = _pair_proven(before, after, old_forms, new_forms)
    edits = [_build_edit(base, head, name, old, new) for old, new in proven]
    refactored = tuple(edit for edit in edits if edit.before != edit.after)
    known = {id(body) for body, _ in (*before, *after) if (old_forms | new_forms)[id(body)] is not None}
    keys = [[("" if id(x[0]) in known else _body_key(*x)) for x in side] for side in (before, after)]
    before, after = _drop_common(before, after, *keys)
    before, after = _drop_unknown(before, after, known)
    rewrites = []
    while before and after:
        old, new = min(((b, a) for b in before for a in after), key=lambda two: _unlikeness(two[0], two[1]))
        before.remove(old)
        after.remove(new)
        edit = _build_edit(base, head, name, old, new)
        # A semi join is told as an EXISTS by the texts, and stands elsewhere in a form.
        asked = any(has_existence_join(side[1]) for side in (old, new))
        alike = {id(old[0]), id(new[0])} <= known and old[0].kind == new[0].kind and edit.before == edit.after
        alike = alike and not asked
        moved = alike and forms.find(old[0], at_base=True, loose=True) != forms.find(new[0], at_base=False, loose=True)
        rewrites.append(msgspec.structs.replace(edit, rearranged=moved))
    return WriterChanges(
        rewrites=tuple(rewrites),
        gone=tuple(body for body, _ in before),
        new=tuple(body for body, _ in after),
        refactored=refactored,
        proven=bool(proven) and not (rewrites or before or after),
    )


def _pair_proven(
    before: "BodyTexts", after: "BodyTexts", old_forms: Mapping[int, str | None], new_forms: Mapping[int, str | None]
) -> tuple[list[tuple["BodyText", "BodyText"]], "BodyTexts", "BodyTexts"]:
    """The statements whose rows are proven the same, and the others of both sides."""
    found = []
    left, rest = list(after), []
    for old in before:
        form = old_forms[id(old[0])]
        twin = next(
            (
                new
                for new in left
                if form is not None
                and new_forms[id(new[0])] == form
                and old[0].kind == new[0].kind
                and _facets_beside_query(old[1]) == _facets_beside_query(new[1])
            ),
            None,
        )
        if twin is None:
            rest.append(old)
        else:
            left.remove(twin)
            found.append((old, twin))
    return found, rest, left


QUERY_FACETS = frozenset({"projection", "source", "join", "filter", "grouping", "set operation", "limit"})
"""Facets that say what a plan says as well."""


def _facets_beside_query(texts: StatementTexts) -> StatementTexts:
    """What a statement does apart from its query, such as how it writes, and in which order."""
    return {key: text for key, text in texts.items() if key[0] not in QUERY_FACETS}


def _drop_unknown(before: "BodyTexts", after: "BodyTexts", known: Set[int]) -> tuple["BodyTexts", "BodyTexts"]:
    """Drop pairs with equal texts of which one has no normal form: the texts are all that can be compared."""
    left, rest = list(after), []
    for old in before:
        key = _body_key(*old)
        doubtful = (new for new in left if not (id(old[0]) in known and id(new[0]) in known))
        twin = next((new for new in doubtful if key and _body_key(*new) == key), None)
        if twin is None:
            rest.append(old)
        else:
            left.remove(twin)
    return rest, left


def _build_edit(base: LineageIndex, head: LineageIndex, name: str, old: "BodyText", new: "BodyText") -> StatementEdit:
    """An edit of a statement; texts that are known to be equivalent are those of the head."""
    before_texts = _adopt_branches(_adopt_joins(_adopt_reordered(old, new[1]), new[1]), new[1])
    return StatementEdit(
        object=name,
        base=old[0],
        head=new[0],
        before=join_comma_sources(before_texts),
        after=join_comma_sources(new[1]),
        swap=_find_swap(base, head, name, old, new),
    )


BodyText = tuple[StatementBody, StatementTexts]

BodyTexts = list[BodyText]


def _drop_common(
    before: BodyTexts, after: BodyTexts, old: Sequence[str], new: Sequence[str]
) -> tuple[BodyTexts, BodyTexts]:
    """Drop what both sides have, as often as both have it; an empty key equals nothing."""
    shared = Counter(old) & Counter(new)
    shared[""] = 0
    return _drop_shared(before, old, Counter(shared)), _drop_shared(after, new, Counter(shared))


def _drop_shared(side: BodyTexts, keys: Sequence[str], shared: Counter[str]) -> BodyTexts:
    rest = []
    for one, key in zip(side, keys, strict=True):
        shared[key] -= 1
        if shared[key] < 0:
            rest.append(one)
    return rest


def _normalized_texts(body: StatementBody, names: RenamedNames) -> StatementTexts:
    texts = {}
    for (name, column), facet in body.facets.items():
        new = names.head_column(facet.object, column)[1] if name == PROJECTION_FACET else column
        texts[name, new] = _normalize_facet(name, translate_names(names, facet.text))
    return texts


def _normalize_facet(name: str, text: str) -> str:
    """A facet text in a single form for equivalent ones."""
    text = drop_national_prefixes(text)
    if name == PROJECTION_FACET:
        return normalize_projection(text)
    return normalize_filter(text) if name == FILTER_FACET else text


def _body_key(body: StatementBody, texts: StatementTexts) -> str:
    return f"{body.kind}\x1d{_texts_key(texts)}" if texts else ""


def _texts_key(texts: StatementTexts) -> str:
    return "\x1f".join(f"{name}\x1e{column}\x1e{text}" for (name, column), text in sorted(texts.items()))


def _unlikeness(
    old: tuple[StatementBody, StatementTexts], new: tuple[StatementBody, StatementTexts]
) -> tuple[bool, int, bool, str, str]:
    """Sort key of pairs: one kind first, least shared texts last, then content: file order does not matter."""
    shared = len(old[1].items() & new[1].items())
    return (
        old[0].kind != new[0].kind,
        -shared,
        old[0].place[0] != new[0].place[0],
        _texts_key(old[1]),
        _texts_key(new[1]),
    )


def _adopt_reordered(old: tuple[StatementBody, StatementTexts], after: StatementTexts) -> StatementTexts:
    """The base texts, with the head's where only the order of renamed terms differs."""
    unchanged = {facet.text for facet in old[0].facets.values()}
    return {
        key: after[key] if key in after and text not in unchanged and has_same_words(text, after[key]) else text
        for key, text in old[1].items()
    }


def _adopt_joins(before: StatementTexts, after: StatementTexts) -> StatementTexts:
    """The base texts, with the head's joins and filters where they are equivalent."""
    if not has_same_conditions(before, after):
        return before
    keys = ((JOIN_FACET, "*"), (FILTER_FACET, "*"), (SOURCE_FACET, "*"))
    kept = {key: text for key, text in before.items() if key not in keys}
    return kept | {key: after[key] for key in keys if key in after}


def _adopt_branches(before: StatementTexts, after: StatementTexts) -> StatementTexts:
    """The base texts, with the head's expressions where only the order of branches differs."""
    if not has_same_branches(before, after):
        return before
    return {key: after[key] if key[0] == PROJECTION_FACET else text for key, text in before.items()}


def _find_swap(
    base: LineageIndex,
    head: LineageIndex,
    name: str,
    old: tuple[StatementBody, StatementTexts],
    new: tuple[StatementBody, StatementTexts],
) -> tuple[str, str] | None:
    """The only source that left and the only one that came, when most of its columns are taken under the same names.

    Columns that one side alone puts out do not count.
    """
    before, after = list_sources(old[1]), list_sources(new[1])
    gone, came = [one for one in before if one not in after], [one for one in after if one not in before]
    if len(gone) != 1 or len(came) != 1:
        return None
    if base.last_name(gone[0]) == head.last_name(came[0]):  # the same table under another schema or database
        return gone[0], came[0]
    shared = {*base.columns.get(name, ()), *head.columns.get(name, ())}
    if base.columns.get(name) and head.columns.get(name):
        shared = base.columns[name].keys() & head.columns[name].keys()
    taken, now = (
        _taken_columns(side, body[0], name, source, shared)
        for side, body, source in ((base, old, gone[0]), (head, new, came[0]))
    )
    if not now and taken:
        return None
    return (gone[0], came[0]) if now <= taken or 2 * len(taken & now) > len(taken) else None


def _taken_columns(side: LineageIndex, body: StatementBody, name: str, source: str, into: Set[str]) -> set[str]:
    """The columns that a statement takes from one source into some columns of an object."""
    edges = side.edges_at.get(body.place, ())
    return {
        edge.from_column
        for edge in edges
        if edge.from_object == source and edge.to_object == name and edge.to_column in into
    }


def list_sources(texts: StatementTexts) -> tuple[str, ...]:
    """The objects that a statement reads, from its source facet."""
    return tuple(line.strip() for line in texts.get((SOURCE_FACET, "*"), "").splitlines() if line.strip())


def _apply_swap(text: str, swap: tuple[str, str] | None) -> str:
    return replace_names(text, {swap[0]: swap[1]}) if swap else text


SELF_NAME = "\x00"
"""Placeholder for an object's own name in its statements."""

SAME_EXPRESSION, SAME_LINEAGE, SAME_SHAPE = 3, 2, 1
"""Levels of likeness between two columns: the strongest wins, a tie is no rename."""


def find_renames(
    base: LineageIndex, head: LineageIndex, removed: Sequence[str], added: Sequence[str], common: Sequence[str]
) -> Renames:
    """Find renamed objects, then renamed columns from sources to consumers, so that one rename explains the next."""
    names = RenamedNames(objects=_find_renamed_objects(base, head, removed, added))
    found = Renames(names=names, candidates={}, origins={})
    for name in sorted(common, key=lambda name: (head.objects[name].level, name)):
        _match_columns(base, head, name, found)
    return found


def find_covered_renames(
    base: LineageIndex, head: LineageIndex, added: Sequence[str], common: Sequence[str]
) -> dict[str, str]:
    """Renamed objects that a view still provides under the old name."""
    fresh = set(added)
    found = {}
    for name in common:
        target = _passthrough_target(head, name)
        if target in fresh and _object_signature(base, name, RenamedNames()) == _object_signature(
            head, target, RenamedNames()
        ):
            found[name] = target
    return found


def _passthrough_target(head: LineageIndex, name: str) -> str:
    """The object that a view passes through unchanged, or an empty text where it does more."""
    bodies = head.bodies.get(name, ())
    if head.objects[name].kind is not ObjectKind.VIEW or len(bodies) != 1:
        return ""
    facets = bodies[0].facets
    source = facets.get((SOURCE_FACET, "*"))
    target = source.text if source and len(facets) == len(head.columns.get(name, ())) + 1 else ""
    columns = head.columns.get(name, ())
    texts = [facet.text if (facet := facets.get((PROJECTION_FACET, column))) else "" for column in columns]
    return target if texts == [f"{target}.{column}" for column in columns] else ""


def _find_renamed_objects(
    base: LineageIndex, head: LineageIndex, removed: Sequence[str], added: Sequence[str]
) -> dict[str, str]:
    """Pair objects with equal schemas and bodies; each pair may explain the bodies of the next."""
    renamed: dict[str, str] = {}
    while True:
        names = RenamedNames(objects=renamed)
        old = {name: _object_signature(base, name, names) for name in removed if name not in renamed}
        new = {name: _object_signature(head, name, RenamedNames()) for name in added if name not in renamed.values()}
        pairs = _pair_unambiguous(old, new)
        if not pairs:
            return renamed
        renamed = renamed | pairs


def _object_signature(index: LineageIndex, name: str, names: RenamedNames) -> Hashable:
    """Everything that makes an object except its name, or None where it has no known columns."""
    columns = index.columns.get(name, {}).values()
    shape = tuple((column.name, column.type, column.nullable) for column in columns)
    own = RenamedNames({**names.objects, name: SELF_NAME}, names.columns)  # a statement may read what it fills
    bodies = sorted(
        tuple(
            sorted((*key, _normalize_own_name(translate_names(own, facet.text))) for key, facet in body.facets.items())
        )
        for body in index.bodies.get(name, ())
    )
    row = index.objects[name]
    # What is described in part alone may be anything else that has such columns.
    told = shape and not (row.open and row.origin is Origin.IMPORTED)
    return (row.kind, shape, tuple(bodies)) if told else None


def _normalize_own_name(text: str) -> str:
    """A text that is the same under another name of the object itself, which may reorder terms."""
    return " ".join(sort_words(text)) if SELF_NAME in text else text


def _pair_unambiguous(old: Mapping[str, Hashable], new: Mapping[str, Hashable]) -> dict[str, str]:
    olds, news = _group_by_value(old), _group_by_value(new)
    return {names[0]: news[value][0] for value, names in olds.items() if len(names) == 1 == len(news.get(value, ()))}


def _group_by_value(signatures: Mapping[str, Hashable]) -> dict[Hashable, list[str]]:
    found: dict[Hashable, list[str]] = defaultdict(list)
    for name, value in sorted(signatures.items()):
        if value is not None:
            found[value].append(name)
    return found


def _match_columns(base: LineageIndex, head: LineageIndex, name: str, found: Renames) -> None:
    """Match the columns that an object lost with those that it gained."""
    before, after = base.columns.get(name, {}), head.columns.get(name, {})
    lost = [column for column in before.values() if column.name not in after]
    gained = [column for column in after.values() if column.name not in before]
    if not (lost and gained):
        return
    for one, other in _match_ignoring_case(lost, gained):
        found.names.columns[name, one.name] = other.name
        lost.remove(one)
        gained.remove(other)
    old = {column.name: _column_likeness(base, column, found.names) for column in lost}
    new = {column.name: _column_likeness(head, column, RenamedNames()) for column in gained}
    for level in (SAME_EXPRESSION, SAME_LINEAGE, SAME_SHAPE):
        pairs = [
            (a, b)
            for a in old
            for b in new
            if (old[a].get(level) is not None) and old[a].get(level) == new[b].get(level)
        ]
        _settle_pairs(name, pairs, found)
        old = {a: likeness for a, likeness in old.items() if a not in {pair[0] for pair in pairs}}
        new = {b: likeness for b, likeness in new.items() if b not in {pair[1] for pair in pairs}}


def is_similar_name(old: str, new: str) -> bool:
    """Say whether a name resembles another one: by a common word, or by most of its letters."""
    one, two = (name.casefold() for name in (old, new))
    shared = set(_NAME_WORDS.findall(one)) & set(_NAME_WORDS.findall(two))
    return bool(shared) or one in two or two in one or SequenceMatcher(None, one, two).ratio() >= MIN_NAME_SIMILARITY


MIN_NAME_SIMILARITY = 0.6
_NAME_WORDS = re.compile(r"[^\W_]{3,}")


def _match_ignoring_case(lost: Sequence[Column], gained: Sequence[Column]) -> list[tuple[Column, Column]]:
    """Pair the columns whose names differ in letter case alone."""
    new = {column.name.casefold(): column for column in gained}
    pairs = [(column, new[column.name.casefold()]) for column in lost if column.name.casefold() in new]
    return pairs if len({one.name.casefold() for one, _ in pairs}) == len(pairs) else []


def _settle_pairs(name: str, pairs: Iterable[tuple[str, str]], found: Renames) -> None:
    """Keep pairs without rivals as renames, and the others as candidates of each other."""
    pairs = list(pairs)
    lost, gained = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    for a, b in pairs:
        if lost[a] == 1 == gained[b]:
            found.names.columns[name, a] = b
        else:
            found.candidates[name, a] = (*found.candidates.get((name, a), ()), b)
            found.origins[name, b] = (*found.origins.get((name, b), ()), a)


def _column_likeness(index: LineageIndex, column: Column, names: RenamedNames) -> dict[int, Hashable]:
    """What identifies a column, by level of likeness; a level without information is absent."""
    bodies = index.bodies.get(column.object, ())
    texts = [facet.text for body in bodies if (facet := body.facets.get((PROJECTION_FACET, column.name)))]
    edges = index.inputs(column.object, column.name)
    inputs = {(*names.head_column(edge.from_object, edge.from_column), edge.subtype) for edge in edges}
    likeness: dict[int, Hashable] = {}
    if any(texts):
        likeness[SAME_EXPRESSION] = tuple(sorted(translate_names(names, text) for text in texts))
    if inputs:
        likeness[SAME_LINEAGE] = (column.type, tuple(sorted(inputs)))
    elif column.type and not texts:
        likeness[SAME_SHAPE] = (column.type, column.nullable, column.ordinal)
    return likeness


# A quoted string stays as it is; a dotted name is looked up as a whole, then without its last parts.
_NAME_OR_STRING = re.compile(r"""'(?:[^']|'')*'|(?:"[^"]*"|[\w$#@]+)(?:\.(?:"[^"]*"|[\w$#@]+))*""")


def translate_names(names: RenamedNames, text: str) -> str:
    """Canonical text of the base in the names of the head."""
    if not (names.objects or names.columns):
        return text
    words = dict(names.objects)
    for (name, column), new in names.columns.items():
        words[f"{name}.{column}"] = f"{names.head_object(name)}.{new}"
    return replace_names(text, words)


def has_same_words(one: str, other: str) -> bool:
    """Say whether two texts have the same words: a rename may reorder terms that are sorted by name."""
    return sort_words(one) == sort_words(other)


def sort_words(text: str) -> list[str]:
    """The names, numbers and strings of a text, sorted."""
    return sorted(_NAME_OR_STRING.findall(text))


def replace_names(text: str, words: Mapping[str, str]) -> str:
    """Replace dotted names, the longest known prefix of each."""
    return _NAME_OR_STRING.sub(lambda match: _replace_name(match.group(), words), text)


def _replace_name(word: str, words: Mapping[str, str]) -> str:
    head, tail = word, ""
    while head and not word.startswith("'"):
        if head in words:
            return words[head] + tail
        head, dot, last = head.rpartition(".")
        tail = dot + last + tail
    return word


def drop_one_sided_columns(base: LineageIndex, head: LineageIndex) -> tuple[LineageIndex, LineageIndex]:
    """Both indexes without columns that are only inferred from use where the other side's import lists them."""
    shared = [
        name
        for name, row in head.objects.items()
        if row.open and row.origin is Origin.IMPORTED and _is_partly_imported(base, name)
    ]
    gone = [(name, column) for name in shared for column in _one_sided_columns(base, head, name)]
    new = [(name, column) for name in shared for column in _one_sided_columns(head, base, name)]
    return _drop_columns(base, new), _drop_columns(head, gone)


def _is_partly_imported(side: LineageIndex, name: str) -> bool:
    row = side.objects.get(name)
    return row is not None and row.open and row.origin is Origin.IMPORTED


def _one_sided_columns(side: LineageIndex, other: LineageIndex, name: str) -> list[str]:
    """The columns that an import lists on one side and that are only used on the other."""
    used = [one for one in other.columns.get(name, {}).values() if one.origin is Origin.INFERRED]
    listed = side.columns.get(name, {})
    return [one.name for one in used if one.name in listed and listed[one.name].origin is Origin.IMPORTED]


def _drop_columns(side: LineageIndex, columns: list[tuple[str, str]]) -> LineageIndex:
    if not columns:
        return side
    kept = dict(side.columns)
    for name, column in columns:
        kept[name] = {one: row for one, row in kept[name].items() if one != column}
    return msgspec.structs.replace(side, columns=kept)
