"""Objects that are read instead of others, or from further away."""

from collections.abc import Iterator

from lineage_pipeline.engine.diff.finding import Finding, Rule, at
from lineage_pipeline.engine.diff.index import NAMED, Index
from lineage_pipeline.engine.diff.joins import JOIN
from lineage_pipeline.engine.diff.pair import Pair, Rewrite, sources
from lineage_pipeline.engine.diff.rules.analysis import name_missing
from lineage_pipeline.engine.diff.rules.rows import rewrites
from lineage_pipeline.engine.diff.unions import SET_OPERATION
from lineage_pipeline.vocabulary.sets import Scope, Severity


def source_changed(pair: Pair) -> Iterator[Finding]:
    """Another object stands where one stood; what joins and set operations tell is not told twice."""
    for rewrite in rewrites(pair):
        before, after = sources(rewrite.before), sources(rewrite.after)
        gone = [name for name in before if name not in after]
        came = [name for name in after if name not in before]
        unresolved = [name for name in came if pair.head.definedness(name) == NAMED]
        resolved = any(pair.base.definedness(name) != NAMED for name in gone)
        texts = ", ".join(gone) or None, ", ".join(came) or None
        if unresolved and resolved:
            yield at(Finding("SRC002", rewrite.object, None, Severity.BREAKING, *texts), pair, rewrite)
        elif rewrite.swap or (gone and came and not _is_told(rewrite)):
            yield at(Finding("SRC001", rewrite.object, None, Severity.POTENTIALLY_BREAKING, *texts), pair, rewrite)


def _is_told(rewrite: Rewrite) -> bool:
    """Say whether another rule reports that the sources differ."""
    return any(before != after for before, after in (rewrite.text(JOIN), rewrite.text(SET_OPERATION)))


def reads_further_away(pair: Pair) -> Iterator[Finding]:
    """An object reads another database than its own, which it did not before."""
    for name in pair.common:
        before, after = _abroad(pair.base, name), _abroad(pair.head, name)
        for place in sorted(after.keys() - before.keys()):
            known = all(pair.head.definedness(source) != NAMED for source in after[place])
            severity = Severity.INFO if known else Severity.POTENTIALLY_BREAKING
            yield Finding("SRC003", name, None, severity, after=", ".join(after[place]))


def _abroad(side: Index, name: str) -> dict[str, list[str]]:
    """Give the sources of an object that live in another system or database, by that."""
    home = side.objects[name]
    found: dict[str, list[str]] = {}
    for source in side.sources(name):
        row = side.objects.get(source)
        if row and (row.system, row.catalog) != (home.system, home.catalog):
            found.setdefault(".".join(filter(None, (row.system, row.catalog))), []).append(source)
    return found


RULES: tuple[Rule, ...] = (
    Rule(
        "SRC001",
        "source swapped",
        Scope.ROW_SET,
        source_changed,
        "The same columns come from another object.",
        "Check that both hold the same rows.",
    ),
    Rule(
        "SRC002",
        "source missing",
        Scope.INTERFACE,
        name_missing,
        "The object reads a source that nothing defines, where it read a known one, or a column that no source has.",
        "Correct the name, or add the definition or its schema.",
    ),
    Rule(
        "SRC003",
        "reads another database",
        Scope.INTERFACE,
        reads_further_away,
        "The object now reads across databases: it needs rights there, and another server may refuse it.",
        "Check the rights and the place; copy the table where it has to be near.",
    ),
)
