"""Differences between our columns and those of the user's engine, as text and as JSON."""

from collections.abc import Mapping

import msgspec

from lineage_pipeline.engine.diff.verification import Difference, Verification
from lineage_pipeline.export.documents.lineage_json import SCHEMA_VERSION, dump_json

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
