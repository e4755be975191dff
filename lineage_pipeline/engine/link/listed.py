"""The columns that a statement says it writes: whether the target has them, and each once."""

from collections.abc import Sequence

from lineage_pipeline.dialects import pseudo
from lineage_pipeline.engine.link.model import Input
from lineage_pipeline.engine.link.relations import RelationLinker
from lineage_pipeline.engine.link.scope import Report
from lineage_pipeline.vocabulary import ir


def report_listed(write: ir.Write, own: Input | None, links: RelationLinker, report: Report) -> None:
    """Say which of the listed columns the target does not have, and which are listed twice."""
    if not write.starts or write.columns is None:
        return
    if write.mode in ("insert", "overwrite") and len(set(write.columns)) < len(write.columns):
        _report_twice(write, report)
    if own is None or own.open or not own.columns:
        return
    positions = own.positions
    missing = [at for at, name in enumerate(write.columns) if name not in positions]
    if missing:
        _report_missing(write, own, missing, links, report)


def _report_twice(write: ir.Write, report: Report) -> None:
    columns: Sequence[str] = write.columns or ()
    at = next(at for at, name in enumerate(columns) if name in columns[:at])
    target = f"{'.'.join(write.target.parts)}, which lists {columns[at]} twice,"
    start = max(write.starts[at], 0) if at < len(write.starts) else 0
    values = {"target": target, "expected": str(len(set(columns))), "given": str(len(columns))}
    report("INSERT_ARITY_MISMATCH", start, start, **values)


def _report_missing(write: ir.Write, own: Input, missing: Sequence[int], links: RelationLinker, report: Report) -> None:
    stored = pseudo.STORED.get(links.traits.name, frozenset())
    for at in missing:
        name = (write.columns or ())[at]
        start = write.starts[at] if at < len(write.starts) else ir.NOWHERE
        if start >= 0 and name.upper() not in stored and not _may_be_another(write, name, links):
            report("UNKNOWN_COLUMN", start, start, column=name, candidates=own.object)


def _may_be_another(write: ir.Write, name: str, links: RelationLinker) -> bool:
    """Whether an UPDATE may set the column of another table that it names."""
    if write.mode != "update" or not links.traits.updates_joined:
        return False
    relation = links.statement.relations[write.relation]
    sources = relation.sources if isinstance(relation, ir.Select) else ()
    others = [links.inputs.get(item.name.parts) for item in sources if item.name and item.name != write.target]
    return any(item is None or item.open or name in item.positions for item in others)


def fitting(write: ir.Write, own: Input, given: int, elsewhere: bool) -> list[str]:
    """The columns that values by position go into: all, or those that the engine does not fill itself.

    Where other files add columns, nobody knows which of them are there yet.
    """
    columns = [column for column in own.columns if column.name not in write.fixed]
    if given == len(columns):
        return [column.name for column in columns]
    settable = [column for column in columns if not column.generated]
    first = [column.name for column in settable if not column.added]
    if elsewhere and len(first) <= given < len(settable):
        later = [column.name for column in settable if column.added]
        return [*first, *later][:given]
    return [column.name for column in settable]
