"""Inputs of exporters and reporters: a `Subject` (a snapshot, or its part around an object), or a `Comparison`."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set

import msgspec

from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import Level, Severity
from lineage_pipeline.model.file_account import FileAccount
from lineage_pipeline.model.findings import CODES
from lineage_pipeline.model.tables import Change, Diagnostic, Snapshot, SqlFile, Waiver


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
    The `account` says which changed files were compared.
    About head: what could not be analyzed, the object edges, the files where known, and the owners.
    `standing` is what could not be analyzed at base either, where this is known.
    """

    base: str
    head: str
    changes: tuple[Change, ...]
    waivers: tuple[Waiver, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    show_waived: bool = False
    unanalyzed: tuple[Diagnostic, ...] = ()
    edges: tuple[tuple[str, str], ...] = ()
    files: frozenset[str] = frozenset()
    owners: Mapping[str, tuple[str, ...]] = {}
    account: FileAccount = FileAccount()
    standing: frozenset[tuple[str, str | None, str]] = frozenset()

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

    color: bool = False
    link: str | None = None
    fail_on: Severity = Severity.BREAKING


PLAIN_STYLE = ReportStyle()


def with_head(comparison: Comparison, lineage: LineageTables, files: Iterable[SqlFile]) -> Comparison:
    """Add what a report says about head: what was not analyzed, the object edges, the files and the owners."""
    return msgspec.structs.replace(
        comparison,
        unanalyzed=tuple(finding for finding in lineage.diagnostics if is_unanalyzed(finding)),
        edges=tuple(sorted({(edge.from_object, edge.to_object) for edge in lineage.object_edges})),
        files=frozenset(file.path for file in files),
        owners={row.object: row.owners for row in lineage.objects if row.owners},
    )


def with_base(comparison: Comparison, findings: Iterable[Diagnostic]) -> Comparison:
    """Add what could not be analyzed at base: a change is not to blame for it."""
    standing = frozenset(map(identify_finding, filter(is_unanalyzed, findings)))
    return msgspec.structs.replace(comparison, standing=standing)


def identify_finding(finding: Diagnostic) -> tuple[str, str | None, str]:
    """What a finding says of which file, wherever it says it."""
    return finding.code, finding.path, finding.message


def is_unanalyzed(finding: Diagnostic) -> bool:
    """Return whether a finding means that something could not be analyzed."""
    return finding.severity is Level.ERROR or CODES[finding.code].undone


class Focus(msgspec.Struct, frozen=True):
    """An object by id, how many steps around it count (None: all), and in which directions."""

    object: str
    depth: int | None = None
    up: bool = True
    down: bool = True


def narrow_lineage(lineage: LineageTables, focus: Focus) -> LineageTables:
    """Keep the objects within reach of the focus, and the rows about them."""
    kept = _objects_around(lineage, focus)
    places = {
        (row.path, row.ordinal) for row in lineage.object_statements if row.object in kept and row.role.value != "read"
    }
    edges = tuple(row for row in lineage.column_edges if row.to_object in kept and row.from_object in kept | {"?"})
    places |= {(row.path, row.statement) for row in edges}
    paths = {path for path, _ in places}
    return msgspec.structs.replace(
        lineage,
        statements=tuple(row for row in lineage.statements if (row.path, row.ordinal) in places),
        objects=tuple(row for row in lineage.objects if row.object in kept),
        object_statements=tuple(
            row for row in lineage.object_statements if row.object in kept and (row.path, row.ordinal) in places
        ),
        object_edges=tuple(row for row in lineage.object_edges if {row.from_object, row.to_object} <= kept),
        columns=tuple(row for row in lineage.columns if row.object in kept),
        constraints=tuple(row for row in lineage.constraints if row.object in kept),
        column_edges=edges,
        facets=tuple(row for row in lineage.facets if row.object in kept),
        column_reach=tuple(row for row in lineage.column_reach if row.object in kept),
        diagnostics=tuple(row for row in lineage.diagnostics if _is_about(row, kept, paths)),
    )


def _is_about(row: Diagnostic, kept: frozenset[str], paths: Set[str]) -> bool:
    return row.object in kept if row.object is not None else row.path is not None and row.path in paths


def _objects_around(lineage: LineageTables, focus: Focus) -> frozenset[str]:
    """Return the objects within reach of the focus."""
    down: dict[str, set[str]] = defaultdict(set)
    up: dict[str, set[str]] = defaultdict(set)
    for edge in lineage.object_edges:
        down[edge.from_object].add(edge.to_object)
        up[edge.to_object].add(edge.from_object)
    found = {focus.object}
    if focus.up:
        found |= _walk_steps(focus.object, up, focus.depth)
    if focus.down:
        found |= _walk_steps(focus.object, down, focus.depth)
    return frozenset(found)


def _walk_steps(start: str, links: Mapping[str, set[str]], depth: int | None) -> set[str]:
    found, border, steps = {start}, {start}, 0
    while border and (depth is None or steps < depth):
        border = {other for name in border for other in links.get(name, ())} - found
        found |= border
        steps += 1
    return found
