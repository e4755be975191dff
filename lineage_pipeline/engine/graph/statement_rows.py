"""Rows of the `statements` table: each statement at its position, with the objects it names."""

from collections.abc import Iterator, Sequence

from lineage_pipeline.model import ir
from lineage_pipeline.model.enums import Status
from lineage_pipeline.model.plan import NameBindings
from lineage_pipeline.model.source_map import SourceText
from lineage_pipeline.model.tables import LONGEST_PREVIEW, StatementRow


def build_statement_rows(text: SourceText, script: ir.Script, bound: Sequence[NameBindings]) -> Iterator[StatementRow]:
    """The rows of one file, in order."""
    own = _count_own_bytes(script, text.text)
    for ordinal, (placed, names) in enumerate(zip(script.statements, bound, strict=True)):
        statement = placed.statement
        ids = dict(names.names)
        targets = tuple(dict.fromkeys(_iter_targets(statement, ids, names.result)))
        reads = tuple(dict.fromkeys(ids[parts] for parts in names.reads if parts in ids))
        yield StatementRow(
            path=text.path,
            ordinal=ordinal,
            parent=placed.parent if placed.parent >= 0 else None,
            kind=statement.kind,
            target=targets[0] if targets else None,
            targets=targets,
            reads=reads,
            preview=" ".join(text.text[placed.start : min(placed.end, placed.start + 400)].split())[:LONGEST_PREVIEW],
            fingerprint=statement.fingerprint,
            span=text.span(placed.start, placed.end) if placed.exact else None,
            bytes=own[ordinal],
            dropped=0 if placed.quoted else min(statement.dropped, own[ordinal]),
            status=Status(statement.status),
            complexity=statement.complexity,
            features=statement.features,
        )


def _iter_targets(statement: ir.Statement, ids: dict[tuple[str, ...], str], result: str) -> Iterator[str]:
    if statement.definition is not None and statement.definition.name.parts in ids:
        yield ids[statement.definition.name.parts]
    for write in statement.writes:
        if write.target.parts == ir.TRIGGER_ROWS:
            yield from (identity for parts, identity in ids.items() if parts[:1] == ir.TRIGGER_ROWS)
        else:
            yield ids[write.target.parts]
    for name in (*(item.name for item in statement.alterations), *(item.name for item in statement.drops)):
        if name.parts in ids:
            yield ids[name.parts]
    if result:
        yield result


def _count_own_bytes(script: ir.Script, text: str) -> list[int]:
    """The bytes of each statement that belong to no statement inside it."""
    sizes = [0 if placed.quoted else len(text[placed.start : placed.end].encode()) for placed in script.statements]
    own = list(sizes)
    for placed, size in zip(script.statements, sizes, strict=True):
        if placed.parent >= 0:
            own[placed.parent] -= size
    return own
