"""Objects that were relocated, and edits without effect."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.diff.finding import ChangeFinding, Rule
from lineage_pipeline.engine.diff.index import LineageIndex, StatementBody
from lineage_pipeline.engine.diff.match import LineagePair
from lineage_pipeline.engine.diff.rules.parameters import list_parameters
from lineage_pipeline.model.enums import Scope, Severity


class Relocation(msgspec.Struct, frozen=True):
    """An object under its old name, its new location, and what changed about it."""

    name: str
    to: str
    before: str
    after: str


def target_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Readers of the old location find nothing there, or a temporary table."""
    for one in find_relocations(pair).values():
        lasting = one.before.startswith("temporary")
        severity = Severity.POTENTIALLY_BREAKING if lasting else Severity.BREAKING
        yield ChangeFinding("OBJ008", one.name, None, severity, before=one.before, after=one.after)
    for one in find_retargeted_writes(pair):
        yield ChangeFinding("OBJ008", one.name, None, Severity.POTENTIALLY_BREAKING, before=one.before, after=one.after)


def find_relocations(pair: LineagePair) -> dict[str, Relocation]:
    """The objects that became temporary or persistent, or moved to another schema with an edit."""
    renamed = {*pair.renames.names.objects, *pair.renames.names.objects.values()}
    gone = [name for name in pair.removed if name not in renamed]
    came = [name for name in pair.added if name not in renamed]
    found = {}
    ends, starts = (_temporary_by_name(side) if gone or came else {} for side in (pair.head, pair.base))
    for name in gone:
        to = _find_temporary_twin(pair.base, name, pair.head, ends) or _find_moved_object(pair, name, gone, came)
        if to:
            temporary = pair.head.objects[to].temporary
            found[name] = Relocation(name, to, name, f"temporary {to}" if temporary else to)
    for name in came:
        was = _find_temporary_twin(pair.head, name, pair.base, starts)
        if was:
            found[name] = Relocation(name, name, f"temporary {was}", name)
    return found


def _temporary_by_name(side: LineageIndex) -> dict[str, list[str]]:
    """The temporary tables by their last names, without the `#`."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in side.objects.values():
        if row.temporary:
            found[row.name.lstrip("#")].append(row.object)
    return found


def _find_temporary_twin(
    side: LineageIndex, name: str, other: LineageIndex, temporary: Mapping[str, Sequence[str]]
) -> str:
    """The temporary table on the other side that a persistent table became, or was."""
    columns = _column_names(side, name)
    candidates = temporary.get(side.objects[name].name, ())
    return next((one for one in sorted(candidates) if _column_names(other, one) == columns), "")


def _find_moved_object(pair: LineagePair, name: str, gone: Sequence[str], came: Sequence[str]) -> str:
    """The only new object with the same last name and the same columns."""
    last = pair.base.objects[name].name
    targets = [one for one in came if pair.head.objects[one].name == last]
    rivals = [one for one in gone if pair.base.objects[one].name == last]
    if len(targets) != 1 or len(rivals) != 1:
        return ""
    return targets[0] if _column_names(pair.head, targets[0]) == _column_names(pair.base, name) else ""


def _column_names(side: LineageIndex, name: str) -> list[str]:
    return list(side.columns.get(name, ()))


def find_retargeted_writes(pair: LineagePair) -> list[Relocation]:
    """The statements that write the same rows to an object of the same name elsewhere."""
    fresh: dict[tuple[str, object], list[str]] = defaultdict(list)
    for name, writers in pair.writers.items():
        for body in writers.new:
            fresh[pair.head.objects[name].name, _body_texts(body)].append(name)
    found = []
    for name, writers in sorted(pair.writers.items()):
        for body in writers.gone:
            targets = [one for one in fresh.get((pair.base.objects[name].name, _body_texts(body)), ()) if one != name]
            if len(targets) == 1:
                found.append(Relocation(name, targets[0], f"written into {name}", f"written into {targets[0]}"))
    return found


def _body_texts(body: StatementBody) -> tuple[tuple[str, str, str], ...]:
    return tuple(sorted((*key, facet.text) for key, facet in body.facets.items()))


def only_reworded(pair: LineagePair) -> Iterator[ChangeFinding]:
    """A statement is written differently and means the same."""
    for name in pair.common:
        before, after = _count_wordings(pair.base, name), _count_wordings(pair.head, name)
        writers = pair.writers[name]
        if (
            before != after
            and not (writers.rewrites or writers.gone or writers.new)
            and _has_same_interface(pair, name)
        ):
            yield ChangeFinding("OBJ007", name, None, Severity.INFO)


def _count_wordings(side: LineageIndex, name: str) -> Counter[tuple[str, str, int]]:
    """The statements that make an object, by fingerprint, preview and length."""
    rows = [side.statements[place] for place in side.makers.get(name, ()) if place in side.statements]
    return Counter((row.fingerprint, row.preview, row.span.end - row.span.start if row.span else 0) for row in rows)


def _has_same_interface(pair: LineagePair, name: str) -> bool:
    base, head = pair.base, pair.head
    columns = [
        [(one.name, one.written, one.type, one.nullable) for one in side.columns.get(name, {}).values()]
        for side in (base, head)
    ]
    constraints = [{one.id for one in side.constraints.get(name, ())} for side in (base, head)]
    kinds = base.objects[name].kind is head.objects[name].kind
    same = list_parameters(base, name) == list_parameters(head, name)
    return columns[0] == columns[1] and constraints[0] == constraints[1] and kinds and same


RULES: tuple[Rule, ...] = (
    Rule(
        id="OBJ007",
        title="only reworded",
        scope=Scope.ANALYSIS,
        find=only_reworded,
        meaning="Layout, comments or aliases changed, and nothing else. It is told where its level is turned on.",
        remedy="Nothing.",
    ),
    Rule(
        id="OBJ008",
        title="lives somewhere else",
        scope=Scope.INTERFACE,
        find=target_changed,
        meaning="A table became temporary or lasting, or its schema or database is another: names no longer "
        "lead to it.",
        remedy="Change those who read and fill it under the old name, or keep a view there.",
    ),
)
