"""Inputs of exporters and reporters: one snapshot (`Subject`), or two snapshots and their changes (`Comparison`)."""

from collections.abc import Iterable, Mapping

import msgspec

from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import Level, Severity
from lineage_pipeline.model.findings import CODES
from lineage_pipeline.model.tables import Change, Diagnostic, Snapshot, SqlFile
from lineage_pipeline.model.waivers import Waiver


class OpenLineageNaming(msgspec.Struct, frozen=True):
    """Namespaces of systems and of jobs in OpenLineage events, the producer, and the default event time."""

    namespaces: Mapping[str, str] = {}
    job_namespace: str = ""
    producer: str = "urn:lineage-pipeline"
    event_time: str = "1970-01-01T00:00:00Z"
    source_url: str = ""


class Subject(msgspec.Struct, frozen=True):
    """One snapshot: its lineage, its files and their texts, and the names for OpenLineage."""

    lineage: LineageTables
    snapshot: Snapshot | None = None
    files: tuple[SqlFile, ...] = ()
    texts: Mapping[str, str] = {}
    naming: OpenLineageNaming = OpenLineageNaming()


RELAXED_CODE = "SETTINGS_RELAXED"


class Comparison(msgspec.Struct, frozen=True):
    """Two snapshots by key, the changes between them, and the waivers with the findings about them.

    Reports for people omit waived changes unless `show_waived`, and count them.
    About head: what could not be analyzed, the object edges, the files where known, and the owners.
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
    def relaxed_findings(self) -> tuple[Diagnostic, ...]:
        """Return the findings about settings that judge head more mildly than base."""
        return tuple(one for one in self.findings if one.code == RELAXED_CODE)

    @property
    def waiver_findings(self) -> tuple[Diagnostic, ...]:
        """Return the findings about waivers."""
        return tuple(one for one in self.findings if one.code != RELAXED_CODE)


class ReportStyle(msgspec.Struct, frozen=True):
    """How a report looks: colors, base address of links, and the severity that fails."""

    colour: bool = False
    link: str | None = None
    fail_on: Severity = Severity.BREAKING


PLAIN_STYLE = ReportStyle()


def with_head(comparison: Comparison, lineage: LineageTables, files: Iterable[SqlFile]) -> Comparison:
    """Add what a report says about head: what was not analyzed, the object edges, the files and the owners."""
    return msgspec.structs.replace(
        comparison,
        unanalysed=tuple(finding for finding in lineage.diagnostics if is_unanalyzed(finding)),
        edges=tuple(sorted({(edge.from_object, edge.to_object) for edge in lineage.object_edges})),
        files=frozenset(file.path for file in files),
        owners={row.object: row.owners for row in lineage.objects if row.owners},
    )


def is_unanalyzed(finding: Diagnostic) -> bool:
    """Return whether a finding means that something could not be analyzed."""
    return finding.severity is Level.ERROR or CODES[finding.code].undone
