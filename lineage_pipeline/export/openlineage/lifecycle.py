"""OpenLineage lifecycle states of datasets between two revisions."""

from collections.abc import Iterable, Mapping

import msgspec

from lineage_pipeline.export.openlineage.jobs import NON_DATASET_KINDS
from lineage_pipeline.model.enums import Scope
from lineage_pipeline.model.tables import Change, ObjectRow

REMOVED, RENAMED, ADDED = "OBJ001", "OBJ002", "OBJ003"
"""Rules about an object as a whole."""

ALTERING_SCOPES = frozenset({Scope.INTERFACE, Scope.POSITIONAL})
"""Scopes of changes that alter a dataset; a changed filter leaves its schema alone."""


class LifecycleChange(msgspec.Struct, frozen=True):
    """The lifecycle state of one object, and the object it was before a rename."""

    row: ObjectRow
    state: str
    previous: ObjectRow | None = None


def find_lifecycle_changes(
    changes: Iterable[Change], before: Mapping[str, ObjectRow], after: Mapping[str, ObjectRow]
) -> dict[str, LifecycleChange]:
    """Return the state of each object; one that was created, dropped or renamed is not reported as altered."""
    altered: dict[str, LifecycleChange] = {}
    whole: dict[str, LifecycleChange] = {}
    for change in changes:
        name, now = change.object, change.after or ""
        if change.rule == REMOVED and name in before:
            whole[name] = LifecycleChange(before[name], "DROP")
        elif change.rule == RENAMED and now in after and name in before:
            whole[now] = LifecycleChange(after[now], "RENAME", before[name])
        elif change.rule == ADDED and name in after:
            whole[name] = LifecycleChange(after[name], "CREATE")
        elif change.scope in ALTERING_SCOPES and name in after:
            altered[name] = LifecycleChange(after[name], "ALTER")
    return {name: turn for name, turn in (altered | whole).items() if _is_persistent_dataset(turn.row)}


def _is_persistent_dataset(row: ObjectRow) -> bool:
    return not row.temporary and row.kind not in NON_DATASET_KINDS
