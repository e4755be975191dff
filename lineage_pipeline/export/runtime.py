"""Static lineage against what runs told, as text and as JSON."""

from collections import Counter

import msgspec

from lineage_pipeline.export.escaping import visible
from lineage_pipeline.export.json import SCHEMA_VERSION, dump
from lineage_pipeline.vocabulary.runtime import RuntimeComparison, RuntimeDifference


def comparison_text(comparison: RuntimeComparison) -> str:
    """Give a line for each edge that only one side has, then the counts."""
    lines = [_line(difference) for difference in comparison.differences]
    only = Counter((row.seen, row.from_column is None) for row in comparison.differences)
    told = [
        f"{comparison.jobs} jobs ran; {comparison.silent} objects that statements fill were written by none of them",
        f"between objects: {comparison.tables} seen by both, {only['static', True]} only in statements, "
        f"{only['runtime', True]} only in runs",
        f"between columns: {comparison.columns} seen by both, {only['static', False]} only in statements, "
        f"{only['runtime', False]} only in runs",
    ]
    return "".join(f"{line}\n" for line in (*lines, *told))


def _line(row: RuntimeDifference) -> str:
    ends = (
        name if column is None else f"{name}.{column}"
        for name, column in ((row.from_object, row.from_column), (row.to_object, row.to_column))
    )
    source, target = map(visible, ends)
    how = f" ({row.type.value})" if row.type else ""
    where = f"{row.path}#{row.statement}" if row.path is not None else row.job or ""
    return f"only in {'statements' if row.seen == 'static' else 'runs'}: {source} -> {target}{how}  {visible(where)}"


def comparison_document(comparison: RuntimeComparison) -> str:
    """Give the comparison as JSON."""
    return dump({"schema_version": SCHEMA_VERSION} | msgspec.to_builtins(comparison))
