"""The keys of snapshots, `<repo>@<commit>`, and the tags of their runs; no Dagster here."""

REF = "git/ref"
"""The tag of a run that says on which ref its snapshot lies; snapshots of one ref are one thread."""

HISTORY = "git/history"
"""The tag of a run over a commit that is past: one of a backfill, or one that others are compared with."""


def repository_of(key: str) -> str:
    """Give the repository's part of a key."""
    return key.rpartition("@")[0]


def commit_of(key: str) -> str:
    """Give the commit's part of a key."""
    return key.rpartition("@")[2]
