"""Objects that live somewhere else than before, and edits that mean nothing."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.diff.finding import Finding, Rule
from lineage_pipeline.engine.diff.index import Body, Index
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.engine.diff.rules.parameters import parameters
from lineage_pipeline.vocabulary.sets import Scope, Severity


class Relocation(msgspec.Struct, frozen=True):
    """An object under its old name, where it is now, and what changed about that."""

    name: str
    to: str
    before: str
    after: str


def target_changed(pair: Pair) -> Iterator[Finding]:
    """Whoever goes by the old place finds nothing there, or something that ends with the session."""
    for one in relocations(pair).values():
        lasting = one.before.startswith("temporary")
        severity = Severity.POTENTIALLY_BREAKING if lasting else Severity.BREAKING
        yield Finding("OBJ008", one.name, None, severity, before=one.before, after=one.after)
    for one in retargeted(pair):
        yield Finding("OBJ008", one.name, None, Severity.POTENTIALLY_BREAKING, before=one.before, after=one.after)


def relocations(pair: Pair) -> dict[str, Relocation]:
    """Find the objects that became temporary, or no longer are, or moved to another schema with an edit."""
    renamed = {*pair.renames.names.objects, *pair.renames.names.objects.values()}
    gone = [name for name in pair.removed if name not in renamed]
    came = [name for name in pair.added if name not in renamed]
    found = {}
    ends, starts = (_temporary(side) if gone or came else {} for side in (pair.head, pair.base))
    for name in gone:
        to = _alike(pair.base, name, pair.head, ends) or _elsewhere(pair, name, gone, came)
        if to:
            temporary = pair.head.objects[to].temporary
            found[name] = Relocation(name, to, name, f"temporary {to}" if temporary else to)
    for name in came:
        was = _alike(pair.head, name, pair.base, starts)
        if was:
            found[name] = Relocation(name, name, f"temporary {was}", name)
    return found


def _temporary(side: Index) -> dict[str, list[str]]:
    """List the temporary objects by their last names, whatever marks them."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in side.objects.values():
        if row.temporary:
            found[row.name.lstrip("#")].append(row.object)
    return found


def _alike(side: Index, name: str, other: Index, temporary: Mapping[str, Sequence[str]]) -> str:
    """Give the temporary object of the other side that a lasting one became, or was."""
    columns = _columns(side, name)
    candidates = temporary.get(side.objects[name].name, ())
    return next((one for one in sorted(candidates) if _columns(other, one) == columns), "")


def _elsewhere(pair: Pair, name: str, gone: Sequence[str], came: Sequence[str]) -> str:
    """Give the one new object of the same last name and the same columns."""
    last = pair.base.objects[name].name
    targets = [one for one in came if pair.head.objects[one].name == last]
    rivals = [one for one in gone if pair.base.objects[one].name == last]
    if len(targets) != 1 or len(rivals) != 1:
        return ""
    return targets[0] if _columns(pair.head, targets[0]) == _columns(pair.base, name) else ""


def _columns(side: Index, name: str) -> list[str]:
    return list(side.columns.get(name, ()))


def retargeted(pair: Pair) -> list[Relocation]:
    """Find the statements that put the same rows into an object of the same name in another place."""
    fresh: dict[tuple[str, object], list[str]] = defaultdict(list)
    for name, writers in pair.writers.items():
        for body in writers.new:
            fresh[pair.head.objects[name].name, _said(body)].append(name)
    found = []
    for name, writers in sorted(pair.writers.items()):
        for body in writers.gone:
            targets = [one for one in fresh.get((pair.base.objects[name].name, _said(body)), ()) if one != name]
            if len(targets) == 1:
                found.append(Relocation(name, targets[0], f"written into {name}", f"written into {targets[0]}"))
    return found


def _said(body: Body) -> tuple[tuple[str, str, str], ...]:
    return tuple(sorted((*key, facet.text) for key, facet in body.facets.items()))


def only_reworded(pair: Pair) -> Iterator[Finding]:
    """A statement reads differently and means the same."""
    for name in pair.common:
        before, after = _wording(pair.base, name), _wording(pair.head, name)
        writers = pair.writers[name]
        if before != after and not (writers.rewrites or writers.gone or writers.new) and _is_same(pair, name):
            yield Finding("OBJ007", name, None, Severity.INFO)


def _wording(side: Index, name: str) -> Counter[tuple[str, str, int]]:
    """Say how the statements that make an object are written, as far as their beginning and length show it."""
    rows = [side.statements[place] for place in side.makers.get(name, ()) if place in side.statements]
    return Counter((row.fingerprint, row.preview, row.span.end - row.span.start if row.span else 0) for row in rows)


def _is_same(pair: Pair, name: str) -> bool:
    base, head = pair.base, pair.head
    columns = [
        [(one.name, one.written, one.type, one.nullable) for one in side.columns.get(name, {}).values()]
        for side in (base, head)
    ]
    constraints = [{one.id for one in side.constraints.get(name, ())} for side in (base, head)]
    kinds = base.objects[name].kind is head.objects[name].kind
    same = parameters(base, name) == parameters(head, name)
    return columns[0] == columns[1] and constraints[0] == constraints[1] and kinds and same


RULES: tuple[Rule, ...] = (
    Rule(
        "OBJ007",
        "only reworded",
        Scope.ANALYSIS,
        only_reworded,
        "Layout, comments or aliases changed, and nothing else. It is told where its level is turned on.",
        "Nothing.",
    ),
    Rule(
        "OBJ008",
        "lives somewhere else",
        Scope.INTERFACE,
        target_changed,
        "A table became temporary or lasting, or its schema or database is another: names no longer lead to it.",
        "Change those who read and fill it under the old name, or keep a view there.",
    ),
)
