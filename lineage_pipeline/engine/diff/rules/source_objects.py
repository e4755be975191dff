"""Source objects: objects that are read instead of others, or from another database."""

from collections.abc import Iterator

from lineage_pipeline.engine.diff.equivalence import JOIN_FACET, SET_OPERATION_FACET
from lineage_pipeline.engine.diff.finding import ChangeFinding, Rule, at_edit
from lineage_pipeline.engine.diff.index import NAMED, LineageIndex
from lineage_pipeline.engine.diff.match import LineagePair, StatementEdit, list_sources
from lineage_pipeline.engine.diff.rules.analyzability import name_missing
from lineage_pipeline.engine.diff.rules.row_set import iter_edits
from lineage_pipeline.model.enums import Confidence, Scope, Severity
from lineage_pipeline.model.templating import PLACEHOLDER_PREFIX


def source_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Another object replaced a source; what joins and set operations report is not repeated."""
    for rewrite in iter_edits(pair):
        before, after = list_sources(rewrite.before), list_sources(rewrite.after)
        gone = [name for name in before if name not in after]
        came = [name for name in after if name not in before]
        unresolved = [name for name in came if pair.head.definition_level(name) == NAMED]
        resolved = any(pair.base.definition_level(name) != NAMED for name in gone)
        texts = ", ".join(gone) or None, ", ".join(came) or None
        if unresolved and resolved:
            sure = any(_is_in_known_schema(pair.head, name) for name in unresolved)
            severity = Severity.BREAKING if sure else Severity.POTENTIALLY_BREAKING
            confidence = Confidence.CERTAIN if sure else Confidence.UNKNOWN
            found = ChangeFinding("SRC002", rewrite.object, None, severity, *texts, confidence=confidence)
            yield at_edit(found, pair, rewrite)
        elif rewrite.swap or (gone and came and not _is_reported(rewrite)):
            unnamed = bool(gone) and all(_is_placeholder(pair.base, name) for name in gone)
            severity = Severity.INFO if unnamed else Severity.POTENTIALLY_BREAKING
            yield at_edit(ChangeFinding("SRC001", rewrite.object, None, severity, *texts), pair, rewrite)


def _is_placeholder(side: LineageIndex, name: str) -> bool:
    """Say whether a name stood for a variable without a value: nobody knows what was read."""
    return side.last_name(name).lower().startswith(PLACEHOLDER_PREFIX)


def _is_in_known_schema(side: LineageIndex, name: str) -> bool:
    """Say whether something defines or lists other objects of the schema, so that this one would be among them."""
    row = side.objects.get(name)
    place = (row.system, row.catalog, row.schema) if row is not None else None
    return any(
        (one.system, one.catalog, one.schema) == place and side.definition_level(other) != NAMED
        for other, one in side.objects.items()
    )


def _is_reported(rewrite: StatementEdit) -> bool:
    """Say whether another rule reports that the sources differ."""
    return any(before != after for before, after in (rewrite.text(JOIN_FACET), rewrite.text(SET_OPERATION_FACET)))


def reads_further_away(pair: LineagePair) -> Iterator[ChangeFinding]:
    """An object reads another database than its own, which it did not before."""
    for name in pair.common:
        before, after = _foreign_sources(pair.base, name), _foreign_sources(pair.head, name)
        for place in sorted(after.keys() - before.keys()):
            known = all(pair.head.definition_level(source) != NAMED for source in after[place])
            severity = Severity.INFO if known else Severity.POTENTIALLY_BREAKING
            yield ChangeFinding("SRC003", name, None, severity, after=", ".join(after[place]))


def _foreign_sources(side: LineageIndex, name: str) -> dict[str, list[str]]:
    """The sources of an object in another system or database, by location."""
    home = side.objects[name]
    found: dict[str, list[str]] = {}
    for source in side.sources(name):
        row = side.objects.get(source)
        if row and (row.system, row.catalog) != (home.system, home.catalog):
            found.setdefault(".".join(filter(None, (row.system, row.catalog))), []).append(source)
    return found


RULES: tuple[Rule, ...] = (
    Rule(
        id="SRC001",
        title="source swapped",
        scope=Scope.ROW_SET,
        find=source_changed,
        meaning="The same columns come from another object.",
        remedy="Check that both hold the same rows.",
    ),
    Rule(
        id="SRC002",
        title="source missing",
        scope=Scope.INTERFACE,
        find=name_missing,
        meaning="The object reads a source that nothing defines, where it read a known one, or a column that "
        "no source has.",
        remedy="Correct the name, or add the definition or its schema.",
    ),
    Rule(
        id="SRC003",
        title="reads another database",
        scope=Scope.INTERFACE,
        find=reads_further_away,
        meaning="The object now reads across databases: it needs rights there, and another server may refuse it.",
        remedy="Check the rights and the place; copy the table where it has to be near.",
    ),
)
