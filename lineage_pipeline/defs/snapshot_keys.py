"""Keys of snapshots, `<repo>@<commit>`, and the tags of their runs; does not import Dagster."""

REF_TAG = "git/ref"
"""The run tag with the ref of the snapshot; alerts group the snapshots of one ref."""

BASE_TAG = "git/base"
"""The run tag with the commit that the snapshot is compared with, or nothing."""

HISTORY_TAG = "git/history"
"""The run tag of a past commit: one of a backfill, or one that others are compared with."""


def extract_repository(key: str) -> str:
    """Return the repository of a key."""
    return key.rpartition("@")[0]


def extract_commit(key: str) -> str:
    """Return the commit of a key."""
    return key.rpartition("@")[2]
