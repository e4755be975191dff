"""What became of each dataset between two revisions, in OpenLineage's words."""

from collections.abc import Iterable, Mapping

import msgspec

from lineage_pipeline.export.jobs import NO_DATASETS
from lineage_pipeline.vocabulary.sets import Scope
from lineage_pipeline.vocabulary.tables import Change, ObjectRow

REMOVED, RENAMED, ADDED = "OBJ001", "OBJ002", "OBJ003"
"""The rules of change that tell of an object as a whole."""

ALTERING = frozenset({Scope.INTERFACE, Scope.POSITIONAL})
"""The scopes whose changes alter what a dataset looks like; another filter leaves its schema alone."""


class Turn(msgspec.Struct, frozen=True):
    """What became of one object, and what it was before where it has another name now."""

    row: ObjectRow
    state: str
    previous: ObjectRow | None = None


def turns_of(
    changes: Iterable[Change], before: Mapping[str, ObjectRow], after: Mapping[str, ObjectRow]
) -> dict[str, Turn]:
    """Give what became of each object; one that came, went or moved is not told to be altered as well."""
    altered: dict[str, Turn] = {}
    whole: dict[str, Turn] = {}
    for change in changes:
        name, now = change.object, change.after or ""
        if change.rule == REMOVED and name in before:
            whole[name] = Turn(before[name], "DROP")
        elif change.rule == RENAMED and now in after and name in before:
            whole[now] = Turn(after[now], "RENAME", before[name])
        elif change.rule == ADDED and name in after:
            whole[name] = Turn(after[name], "CREATE")
        elif change.scope in ALTERING and name in after:
            altered[name] = Turn(after[name], "ALTER")
    return {name: turn for name, turn in (altered | whole).items() if _is_dataset(turn.row)}


def _is_dataset(row: ObjectRow) -> bool:
    return not row.temporary and row.kind not in NO_DATASETS
