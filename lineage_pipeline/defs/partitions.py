"""One partition is one snapshot."""

import dagster as dg

SNAPSHOTS = "snapshots"

snapshots = dg.DynamicPartitionsDefinition(name=SNAPSHOTS)
"""Keys are `<repo>@<commit>`."""


def repository_of(key: str) -> str:
    """Give the repository's part of a partition key."""
    return key.rpartition("@")[0]


def commit_of(key: str) -> str:
    """Give the commit's part of a partition key."""
    return key.rpartition("@")[2]
