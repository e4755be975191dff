"""What people were promised: contracts, owners, and that sensitive values stay where they are."""

from collections.abc import Iterator

from lineage_pipeline.engine.diff.finding import Finding, Rule
from lineage_pipeline.engine.diff.index import Index
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.engine.diff.policy import fits, is_public
from lineage_pipeline.vocabulary.sets import Scope, Severity
from lineage_pipeline.vocabulary.tables import ColumnEdge


def promise_removed(pair: Pair) -> Iterator[Finding]:
    """An object that was promised to others no longer is, or nobody answers for it any more."""
    for name in pair.common:
        before, after = pair.base.objects[name], pair.head.objects[name]
        lost = [tag for tag in before.tags if is_public([tag]) and tag not in after.tags]
        if lost:
            yield _promise(name, ", ".join(lost), ", ".join(tag for tag in after.tags if is_public([tag])))
        if before.owners and not after.owners:
            yield _promise(name, f"owned by {', '.join(before.owners)}", "")


def _promise(name: str, before: str, after: str) -> Finding:
    return Finding("CON002", name, None, Severity.POTENTIALLY_BREAKING, before=before, after=after or None)


def sensitive_spreads(pair: Pair) -> Iterator[Finding]:
    """A sensitive value arrives in a column of an object where there was none."""
    for name, columns in sorted(pair.head.columns.items()):
        if pair.head.objects[name].temporary:
            continue
        known = {tag for column in pair.base.columns.get(name, {}).values() for tag in column.tags}
        for column in columns.values():
            tags = [tag for tag in column.tags if fits(tag, pair.sensitive) and tag not in known]
            sources = _sources(pair.head, name, column.name, tags)
            if sources:
                yield Finding(
                    "PII001",
                    name,
                    column.name,
                    Severity.POTENTIALLY_BREAKING,
                    after=f"{', '.join(tags)} of {', '.join(sources)}",
                )


def _sources(side: Index, name: str, column: str, tags: list[str]) -> list[str]:
    """List the columns that some tags came from; one that was only labelled has none."""
    edges = side.inputs(name, column) if tags else []
    return sorted({f"{edge.from_object}.{edge.from_column}" for edge in edges if _carries(side, edge, tags)})


def _carries(side: Index, edge: ColumnEdge, tags: list[str]) -> bool:
    source = side.columns.get(edge.from_object, {}).get(edge.from_column)
    return source is not None and not edge.masking and bool(set(source.tags) & set(tags))


RULES: tuple[Rule, ...] = (
    Rule(
        "CON002",
        "contract, public flag or owner removed",
        Scope.INTERFACE,
        promise_removed,
        "The object was promised to others, or somebody answered for it, and no longer.",
        "Agree with its readers first; name an owner.",
    ),
    Rule(
        "PII001",
        "sensitive value reaches a new object",
        Scope.COLUMN_SEMANTICS,
        sensitive_spreads,
        "A value with a sensitive tag arrives in an object that had none of the kind.",
        "Mask it, leave it out, or make sure that whoever reads the object may see it.",
    ),
)
