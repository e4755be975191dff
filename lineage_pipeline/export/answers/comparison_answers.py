"""Answers of `verify` and `import --compare` as text and JSON: our lineage against the user's engine and its runs."""

from collections import Counter
from collections.abc import Mapping

import msgspec

from lineage_pipeline.engine.diff.verification import Difference, Verification
from lineage_pipeline.export.documents.lineage_json import SCHEMA_VERSION, dump_json
from lineage_pipeline.export.escaping import escape_hidden
from lineage_pipeline.model.runtime import RuntimeComparison, RuntimeDifference

DIFFERENCE_TEXTS: Mapping[str, str] = {
    "missing object": "the engine has no such {ours}",
    "missing column": "the engine has no column {column} ({ours})",
    "further column": "the engine has a column {column} ({theirs}) that we do not know",
    "type": "{column} is {ours} by our reading and {theirs} in the engine",
    "order": "the columns stand as {ours} by our reading and as {theirs} in the engine",
    "unknown table": "{ours}",
    "unknown column": "{ours}",
    "unknown statement": "{ours}",
}
"""The message of each kind of difference."""


def write_verification_json(found: Verification, catalog: str) -> str:
    """Return the result as JSON."""
    return dump_json(
        {
            "schema_version": SCHEMA_VERSION,
            "catalog": catalog,
            "objects": found.objects,
            "columns": found.columns,
            "unknown_types": found.unknown_types,
            "differences": msgspec.to_builtins(found.differences),
        }
    )


def write_verification_text(found: Verification, catalog: str) -> str:
    """Return a line for each difference with its location, then how much was compared."""
    lines = [_verification_line(item) for item in found.differences]
    unknown = f", {found.unknown_types} of them of a type that we do not know" if found.unknown_types else ""
    differences = f"{len(found.differences)} differences" if found.differences else "no difference"
    lines.append(f"{catalog}: {found.objects} objects and {found.columns} columns compared{unknown}: {differences}")
    return "\n".join(lines) + "\n"


def _verification_line(item: Difference) -> str:
    place = f"{item.path}:{item.line}: " if item.path and item.line else ""
    said = DIFFERENCE_TEXTS[item.kind].format(column=item.column, ours=item.ours, theirs=item.theirs)
    return f"{place}{said}" if item.kind.startswith("unknown") else f"{place}{item.object}: {said}"


def write_runtime_text(comparison: RuntimeComparison) -> str:
    """Return a line for each edge that only one side has, then the counts."""
    lines = [_difference_line(difference) for difference in comparison.differences]
    only = Counter((row.seen, row.from_column is None) for row in comparison.differences)
    listed = [
        f"{comparison.jobs} jobs ran; {comparison.silent} objects that statements fill were written by none of them",
        f"between objects: {comparison.tables} seen by both, {only['static', True]} only in statements, "
        f"{only['runtime', True]} only in runs",
        f"between columns: {comparison.columns} seen by both, {only['static', False]} only in statements, "
        f"{only['runtime', False]} only in runs",
    ]
    return "".join(f"{line}\n" for line in (*lines, *listed))


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
