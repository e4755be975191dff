"""Static lineage compared with that of runs, as text and as JSON."""

from collections import Counter

import msgspec

from lineage_pipeline.export.documents.lineage_json import SCHEMA_VERSION, dump_json
from lineage_pipeline.export.escaping import escape_hidden
from lineage_pipeline.model.runtime import RuntimeComparison, RuntimeDifference


def write_runtime_text(comparison: RuntimeComparison) -> str:
    """Return a line for each edge that only one side has, then the counts."""
    lines = [_difference_line(difference) for difference in comparison.differences]
    only = Counter((row.seen, row.from_column is None) for row in comparison.differences)
    told = [
        f"{comparison.jobs} jobs ran; {comparison.silent} objects that statements fill were written by none of them",
        f"between objects: {comparison.tables} seen by both, {only['static', True]} only in statements, "
        f"{only['runtime', True]} only in runs",
        f"between columns: {comparison.columns} seen by both, {only['static', False]} only in statements, "
        f"{only['runtime', False]} only in runs",
    ]
    return "".join(f"{line}\n" for line in (*lines, *told))


def _difference_line(row: RuntimeDifference) -> str:
    ends = (
        name if column is None else f"{name}.{column}"
        for name, column in ((row.from_object, row.from_column), (row.to_object, row.to_column))
    )
    source, target = map(escape_hidden, ends)
    how = f" ({row.type.value})" if row.type else ""
    where = f"{row.path}#{row.statement}" if row.path is not None else row.job or ""
    return (
        f"only in {'statements' if row.seen == 'static' else 'runs'}: {source} -> {target}{how}  {escape_hidden(where)}"
    )


def write_runtime_json(comparison: RuntimeComparison) -> str:
    """Return the comparison as JSON."""
    return dump_json({"schema_version": SCHEMA_VERSION} | msgspec.to_builtins(comparison))
