"""Governance: contracts, owners, and where sensitive values go."""

from collections.abc import Iterator

from lineage_pipeline.engine.diff.finding import ChangeFinding, Rule
from lineage_pipeline.engine.diff.index import LineageIndex
from lineage_pipeline.engine.diff.match import LineagePair
from lineage_pipeline.engine.diff.policy import has_public_tag, matches_any_glob
from lineage_pipeline.model.enums import Scope, Severity
from lineage_pipeline.model.tables import ColumnEdge


def promise_removed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """An object is no longer public or under contract, or has no owner any more."""
    for name in pair.common:
        before, after = pair.base.objects[name], pair.head.objects[name]
        lost = [tag for tag in before.tags if has_public_tag([tag]) and tag not in after.tags]
        if lost:
            yield _promise_finding(name, ", ".join(lost), ", ".join(tag for tag in after.tags if has_public_tag([tag])))
        if before.owners and not after.owners:
            yield _promise_finding(name, f"owned by {', '.join(before.owners)}", "")


def _promise_finding(name: str, before: str, after: str) -> ChangeFinding:
    return ChangeFinding("CON002", name, None, Severity.POTENTIALLY_BREAKING, before=before, after=after or None)


def sensitive_spreads(pair: LineagePair) -> Iterator[ChangeFinding]:
    """A sensitive value reaches a column of an object that had none."""
    for name, columns in sorted(pair.head.columns.items()):
        if pair.head.objects[name].temporary:
            continue
        known = {tag for column in pair.base.columns.get(name, {}).values() for tag in column.tags}
        for column in columns.values():
            tags = [tag for tag in column.tags if matches_any_glob(tag, pair.sensitive) and tag not in known]
            sources = _tag_sources(pair.head, name, column.name, tags)
            if sources:
                yield ChangeFinding(
                    "PII001",
                    name,
                    column.name,
                    Severity.POTENTIALLY_BREAKING,
                    after=f"{', '.join(tags)} of {', '.join(sources)}",
                )


def _tag_sources(side: LineageIndex, name: str, column: str, tags: list[str]) -> list[str]:
    """The columns that some tags came from; a column that was only labeled has none."""
    edges = side.inputs(name, column) if tags else []
    return sorted({f"{edge.from_object}.{edge.from_column}" for edge in edges if _carries_tag(side, edge, tags)})


def _carries_tag(side: LineageIndex, edge: ColumnEdge, tags: list[str]) -> bool:
    source = side.columns.get(edge.from_object, {}).get(edge.from_column)
    return source is not None and not edge.masking and bool(set(source.tags) & set(tags))


RULES: tuple[Rule, ...] = (
    Rule(
        id="CON002",
        title="contract, public flag or owner removed",
        scope=Scope.INTERFACE,
        find=promise_removed,
        meaning="The object was promised to others, or somebody answered for it, and no longer.",
        remedy="Agree with its readers first; name an owner.",
    ),
    Rule(
        id="PII001",
        title="sensitive value reaches a new object",
        scope=Scope.COLUMN_SEMANTICS,
        find=sensitive_spreads,
        meaning="A value with a sensitive tag arrives in an object that had none of the kind.",
        remedy="Mask it, leave it out, or make sure that whoever reads the object may see it.",
    ),
)
