"""What decides whether a statement runs: the branches and loops around it."""

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from lineage_pipeline.engine.diff.index import Index, Place, maker
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.vocabulary.ir import BRANCHES
from lineage_pipeline.vocabulary.tables import StatementRow

_DEFINING = ("CREATE", "ALTER")
"""How the kinds of statements begin that run under a condition only lest they fail: what they make is the same."""

_ELSE = "ELSE"

_TOLD = 30
"""How many characters of a statement tell where the condition in front of it ends."""

Keys = tuple[tuple[str, str], ...]


class Condition(msgspec.Struct, frozen=True, order=True):
    """A branch or loop around a statement: what it is compared by, how it reads, and its line."""

    key: tuple[str, str]
    text: str
    line: int


class Guarded(msgspec.Struct, frozen=True):
    """A statement that fills an object under other conditions than before, and its place at the head."""

    object: str
    before: str | None
    after: str | None
    path: str
    line: int | None


def reguarded(pair: Pair) -> Iterator[Guarded]:
    """Give the statements of which another condition decides whether they run."""
    branched = _branched(pair.base) | _branched(pair.head)
    for name in pair.common if branched else ():
        for old, new in _matched(pair, name, branched):
            before, after = _differing(_guards(pair.base, old), _guards(pair.head, new))
            if before or after:
                line = after[-1].line if after else pair.head.line(new)
                yield Guarded(name, _spelled(before), _spelled(after), new[0], line)


def _differing(old: list[Condition], new: list[Condition]) -> tuple[list[Condition], list[Condition]]:
    """Leave out the conditions that both sides begin with, then those that both end with."""
    shared = next((at for at, (one, two) in enumerate(zip(old, new, strict=False)) if one.key != two.key), None)
    shared = min(len(old), len(new)) if shared is None else shared
    old, new = old[shared:], new[shared:]
    while old and new and old[-1].key == new[-1].key:
        old, new = old[:-1], new[:-1]
    return old, new


def _spelled(conditions: list[Condition]) -> str | None:
    return " and ".join(one.text for one in conditions) or None


def _branched(side: Index) -> set[str]:
    """List the files with a condition in them."""
    return {path for (path, _), row in side.statements.items() if row.kind in BRANCHES}


def _matched(pair: Pair, name: str, branched: set[str]) -> Iterator[tuple[Place, Place]]:
    """Pair the statements that fill an object: the rewritten ones, and those that only stand elsewhere."""
    edited = pair.writers[name].rewrites
    for rewrite in edited:
        if _is_run(pair.base, rewrite.base.place) and _is_run(pair.head, rewrite.head.place):
            yield rewrite.base.place, rewrite.head.place
    before = _unedited(pair.base, name, branched, {rewrite.base.place for rewrite in edited})
    after = _unedited(pair.head, name, branched, {rewrite.head.place for rewrite in edited})
    for said in sorted(before.keys() & after.keys()):
        old, new = before[said], after[said]
        gone = [place for keys, place in sorted(old.items()) if keys not in new]
        came = [place for keys, place in sorted(new.items()) if keys not in old]
        yield from zip(gone, came, strict=False)


def _unedited(side: Index, name: str, branched: set[str], edited: set[Place]) -> dict[str, dict[Keys, Place]]:
    """Give the places of the other statements that fill an object, by what they say and under which conditions."""
    found: dict[str, dict[Keys, Place]] = defaultdict(dict)
    for body in side.bodies.get(name, ()):
        if body.place[0] in branched and body.place not in edited and body.fingerprint and _is_run(side, body.place):
            found[body.fingerprint][tuple(one.key for one in _guards(side, body.place))] = body.place
    return found


def _is_run(side: Index, place: Place) -> bool:
    """Say whether a statement brings rows or gives them to a caller, and is no condition itself."""
    kind = side.kind(place)
    return kind not in BRANCHES and not kind.startswith(_DEFINING)


def _guards(side: Index, place: Place) -> list[Condition]:
    """List the conditions between a statement and the module or script that it stands in, the outermost first."""
    found: list[Condition] = []
    row = side.statements.get(place)
    while row is not None and row.parent is not None:
        row = side.statements.get((row.path, row.parent))
        if row is not None and row.kind in BRANCHES and not _is_told(side, row):
            found.append(Condition((row.kind, row.fingerprint), _read(side, row), row.span.line if row.span else 0))
    return found[::-1]


def _is_told(side: Index, row: StatementRow) -> bool:
    """Say whether a condition with a query is compared as a part of the module that it decides in."""
    place = row.path, row.ordinal
    bodies = side.bodies.get(maker(side.statements, place), ()) if row.reads else ()
    return any(body.place == place for body in bodies)


def _read(side: Index, row: StatementRow) -> str:
    """Give what stands in front of the first statement that a condition guards; ELSE says what it is the other of."""
    first = side.statements.get((row.path, row.ordinal + 1))
    text = row.preview.partition(f" {first.preview[:_TOLD]}")[0] if first else row.preview
    above = side.statements.get((row.path, row.parent)) if row.kind == _ELSE and row.parent is not None else None
    return f"{text} of {_read(side, above)}" if above else text
