"""What an exporter is given."""

from collections.abc import Mapping

import msgspec

from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.tables import Change, Diagnostic, Snapshot, SqlFile
from lineage_pipeline.vocabulary.waivers import Waiver


class Naming(msgspec.Struct, frozen=True):
    """How datasets and jobs are called outside: the namespace of each system, of jobs, and who we are."""

    namespaces: Mapping[str, str] = {}
    job_namespace: str = ""
    producer: str = "urn:lineage-pipeline"
    event_time: str = "1970-01-01T00:00:00Z"
    source_url: str = ""


class Subject(msgspec.Struct, frozen=True):
    """One snapshot: its lineage, its files and their texts, and how to name things."""

    lineage: Lineage
    snapshot: Snapshot | None = None
    files: tuple[SqlFile, ...] = ()
    texts: Mapping[str, str] = {}
    naming: Naming = Naming()


class Comparison(msgspec.Struct, frozen=True):
    """Two snapshots by their keys, the changes between them, and the waivers with what is to be said about them.

    Those who write for people leave waived changes out, unless `show_waived`, and count them.
    """

    base: str
    head: str
    changes: tuple[Change, ...]
    waivers: tuple[Waiver, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    show_waived: bool = False

    @property
    def shown(self) -> tuple[Change, ...]:
        """The changes that people are to see."""
        return tuple(change for change in self.changes if self.show_waived or change.waiver is None)
