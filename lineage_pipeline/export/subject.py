"""What an exporter is given."""

from collections.abc import Iterable, Mapping

import msgspec

from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.codes import CODES
from lineage_pipeline.vocabulary.sets import Level, Severity
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


RELAXED = "SETTINGS_RELAXED"


class Comparison(msgspec.Struct, frozen=True):
    """Two snapshots by their keys, the changes between them, and the waivers with what is to be said about them.

    Those who write for people leave waived changes out, unless `show_waived`, and count them.
    Of head: what could not be analysed, which object feeds which, its files, where they are known, and who owns what.
    """

    base: str
    head: str
    changes: tuple[Change, ...]
    waivers: tuple[Waiver, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    show_waived: bool = False
    unanalysed: tuple[Diagnostic, ...] = ()
    edges: tuple[tuple[str, str], ...] = ()
    files: frozenset[str] = frozenset()
    owners: Mapping[str, tuple[str, ...]] = {}

    @property
    def relaxed(self) -> tuple[Diagnostic, ...]:
        """Give what is said of settings by which the head is judged more mildly than its base was."""
        return tuple(one for one in self.findings if one.code == RELAXED)

    @property
    def waiving(self) -> tuple[Diagnostic, ...]:
        """Give what is said of waivers."""
        return tuple(one for one in self.findings if one.code != RELAXED)


class Style(msgspec.Struct, frozen=True):
    """How a report is to look: with colours, with links below an address, and what counts as failed."""

    colour: bool = False
    link: str | None = None
    fail_on: Severity = Severity.BREAKING


PLAIN = Style()


def with_head(comparison: Comparison, lineage: Lineage, files: Iterable[SqlFile]) -> Comparison:
    """Add what a report says about head: its gaps, its graph and its files."""
    return msgspec.structs.replace(
        comparison,
        unanalysed=tuple(finding for finding in lineage.diagnostics if is_undone(finding)),
        edges=tuple(sorted({(edge.from_object, edge.to_object) for edge in lineage.object_edges})),
        files=frozenset(file.path for file in files),
        owners={row.object: row.owners for row in lineage.objects if row.owners},
    )


def is_undone(finding: Diagnostic) -> bool:
    """Say whether a finding means that something could not be analysed."""
    return finding.severity is Level.ERROR or CODES[finding.code].undone
