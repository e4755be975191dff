"""What an exporter is given."""

from collections.abc import Mapping

import msgspec

from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.tables import Change, Snapshot, SqlFile


class Naming(msgspec.Struct, frozen=True):
    """How datasets and jobs are called outside: the namespace of each system, of jobs, and who we are."""

    namespaces: Mapping[str, str] = {}
    job_namespace: str = ""
    producer: str = "urn:lineage-pipeline"
    event_time: str = "1970-01-01T00:00:00Z"


class Subject(msgspec.Struct, frozen=True):
    """One snapshot: its lineage, its files and their texts, and how to name things."""

    lineage: Lineage
    snapshot: Snapshot | None = None
    files: tuple[SqlFile, ...] = ()
    texts: Mapping[str, str] = {}
    naming: Naming = Naming()


class Comparison(msgspec.Struct, frozen=True):
    """Two snapshots by their keys, and the changes between them."""

    base: str
    head: str
    changes: tuple[Change, ...]
