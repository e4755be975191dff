"""Reads published snapshots for the stages after publishing and for the summary; does not import Dagster."""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from lineage_pipeline import __version__
from lineage_pipeline.config.load import Settings
from lineage_pipeline.configured_schemas import compute_analysis_key, import_configured_schemas
from lineage_pipeline.defs.home import hash_key
from lineage_pipeline.defs.snapshot_keys import extract_commit
from lineage_pipeline.diff_settings import build_policy, report_relaxed_between
from lineage_pipeline.discover.discovery import build_inputs_from_rows
from lineage_pipeline.discover.git.repository import has_commit, read_waiver_text
from lineage_pipeline.discover.schemas.project_schemas import add_project_schemas
from lineage_pipeline.discover.waiver_file import collect_waivers
from lineage_pipeline.engine.diff.file_accounts import FileSide, account_for_files
from lineage_pipeline.engine.diff.import_conflicts import find_import_conflicts
from lineage_pipeline.engine.diff.waivers import WaivedChanges, apply_waivers
from lineage_pipeline.export.subject import Comparison, OpenLineageNaming, Subject, with_base, with_head
from lineage_pipeline.model.analysis import InputFile, LineageTables, TableSchema
from lineage_pipeline.model.enums import Origin, Status
from lineage_pipeline.model.file_account import FileAccount
from lineage_pipeline.model.tables import (
    Change,
    Diagnostic,
    ObjectEdge,
    ObjectRow,
    ObjectStatement,
    Snapshot,
    Source,
    SqlFile,
    StatementRow,
    Waiver,
)
from lineage_pipeline.store.row_conversion import arrow_to_rows
from lineage_pipeline.store.warehouse import Warehouse


def read_base_key(warehouse: Warehouse, head: str) -> str | None:
    """Return the key of the snapshot that a published one is compared with."""
    (row,) = arrow_to_rows("snapshots", warehouse.read(head, "snapshots"), Snapshot)
    return f"{row.repo}@{row.base}" if row.base else None


COMPARISON_FINDINGS = frozenset({"SETTINGS_RELAXED", "WAIVER_EXPIRED", "WAIVER_INVALID", "WAIVER_UNUSED"})
"""Codes of findings about a comparison, not about what is compared."""


def find_relaxations(folder: Path, base: str, head: str) -> tuple[Diagnostic, ...]:
    """Return the settings of a snapshot that are milder than those of its base, as findings."""
    before, after = extract_commit(base), extract_commit(head)
    known = has_commit(folder, before) and has_commit(folder, after)
    return report_relaxed_between(folder, before, after, os.environ) if known else ()


def read_comparison(warehouse: Warehouse, head: str) -> Comparison | None:
    """Read the published changes of a snapshot, if it has been compared."""
    base = read_base_key(warehouse, head)
    if base is None or warehouse.manifest((base, head)) is None:
        return None
    manifest = warehouse.manifest((base, head))
    changes = arrow_to_rows("changes", warehouse.read((base, head), "changes"), Change)
    # A diff of an older version has its waivers' ids alone.
    known = manifest is not None and "waivers" in manifest.tables
    waivers = arrow_to_rows("waivers", warehouse.read((base, head), "waivers"), Waiver) if known else ()
    lineage = LineageTables(
        objects=arrow_to_rows("objects", warehouse.read(head, "objects"), ObjectRow),
        object_edges=arrow_to_rows("object_edges", warehouse.read(head, "object_edges"), ObjectEdge),
        diagnostics=arrow_to_rows("diagnostics", warehouse.read(head, "diagnostics"), Diagnostic),
    )
    files = arrow_to_rows("sql_files", warehouse.read(head, "sql_files"), SqlFile)
    reported = tuple(one for one in lineage.diagnostics if one.code in COMPARISON_FINDINGS)
    there = warehouse.manifest(base) is not None
    comparison = Comparison(
        base=base,
        head=head,
        changes=changes,
        waivers=tuple(waivers),
        findings=reported,
        account=read_file_account(warehouse, base, head) if there else FileAccount(),
    )
    before = arrow_to_rows("diagnostics", warehouse.read(base, "diagnostics"), Diagnostic) if there else ()
    return with_base(with_head(comparison, lineage, files), before)


def read_file_account(warehouse: Warehouse, base: str, head: str) -> FileAccount:
    """Read which files changed between two published snapshots, and which of them could not be compared."""
    return account_for_files(read_file_side(warehouse, base), read_file_side(warehouse, head))


def read_file_side(warehouse: Warehouse, snapshot: str) -> FileSide:
    """Read the files of a snapshot, its findings and the statements that failed; the rest only of files in demand."""
    statements = warehouse.read(snapshot, "statements")
    failed = statements.filter(pc.equal(statements["status"], Status.FAILED.value))

    def find_statements(path: str) -> tuple[StatementRow, ...]:
        return arrow_to_rows("statements", statements.filter(pc.equal(statements["path"], path)), StatementRow)

    @cache
    def read_sources_table() -> pa.Table:
        return warehouse.read(snapshot, "sources")

    def read_text(file: SqlFile) -> str:
        sources = read_sources_table()
        rows = sources.filter(pc.equal(sources["source_hash"], file.source_hash))
        return rows["text"][0].as_py() if len(rows) else ""

    lineage = LineageTables(
        statements=arrow_to_rows("statements", failed, StatementRow),
        diagnostics=arrow_to_rows("diagnostics", warehouse.read(snapshot, "diagnostics"), Diagnostic),
    )
    files = arrow_to_rows("sql_files", warehouse.read(snapshot, "sql_files"), SqlFile)
    return FileSide(files, lineage, read_text, find_statements)


def read_subject(warehouse: Warehouse, settings: Settings, snapshot: str) -> Subject:
    """Read a published snapshot as the subject of an exporter."""
    (row,) = arrow_to_rows("snapshots", warehouse.read(snapshot, "snapshots"), Snapshot)
    files = arrow_to_rows("sql_files", warehouse.read(snapshot, "sql_files"), SqlFile)
    written = {source.source_hash: source.text for source in read_sources(warehouse, snapshot)}
    texts = {file.path: written[file.source_hash] for file in files}
    configured = settings.openlineage
    named = (settings.namespaces(), configured.job_namespace, configured.producer)
    naming = OpenLineageNaming(*named, source_url=configured.source_url)
    return Subject(lineage=warehouse.load(snapshot), snapshot=row, files=files, texts=texts, naming=naming)


def relink_contested(
    warehouse: Warehouse, settings: Settings, base: str, head: str
) -> tuple[LineageTables, LineageTables] | None:
    """Link both sides again where the head changed a definition that an imported schema overrides.

    The definition then counts, not the import; None where nothing is contested, which names alone can tell.
    """
    rows = [arrow_to_rows("objects", warehouse.read(key, "objects"), ObjectRow) for key in (base, head)]
    if not any(row.origin is Origin.IMPORTED for side in rows for row in side):
        return None
    if not find_import_conflicts(_read_names(warehouse, base, rows[0]), _read_names(warehouse, head, rows[1])):
        return None
    from lineage_pipeline import pipeline

    first, second = (
        pipeline.analyze_files(_read_input_files(warehouse, settings, key), _read_imports(warehouse, settings, key))
        for key in (base, head)
    )
    first, second = pipeline.reconcile_imports(first, second)
    return first.lineage, second.lineage


def _read_names(warehouse: Warehouse, key: str, objects: tuple[ObjectRow, ...]) -> LineageTables:
    """Read the names of a snapshot: which statements define and read which objects."""
    return LineageTables(
        statements=arrow_to_rows("statements", warehouse.read(key, "statements"), StatementRow),
        objects=objects,
        object_statements=arrow_to_rows("object_statements", warehouse.read(key, "object_statements"), ObjectStatement),
        object_edges=arrow_to_rows("object_edges", warehouse.read(key, "object_edges"), ObjectEdge),
    )


def waive_snapshot_changes(
    warehouse: Warehouse, folder: Path, head: str, sources: Sequence[Source], changes: Sequence[Change]
) -> WaivedChanges:
    """Apply the waivers of the head, from its file and from some sources, to changes.

    The date of the commit counts as today; without one, no waiver expires.
    """
    (row,) = arrow_to_rows("snapshots", warehouse.read(head, "snapshots"), Snapshot)
    files = arrow_to_rows("sql_files", warehouse.read(head, "sql_files"), SqlFile)
    hashes = {source.source_hash for source in sources}
    paths = [file.path for file in files if file.source_hash in hashes]
    content = warehouse.read(head, "statements")
    here = content.filter(pc.is_in(content["path"], pa.array(paths, pa.string())))
    text = read_waiver_text(folder, row.commit)
    waivers, problems = collect_waivers(text, files, sources, arrow_to_rows("statements", here, StatementRow))
    waived = apply_waivers(changes, waivers, (row.committed_at or "")[:10])
    return msgspec.structs.replace(waived, findings=(*problems, *waived.findings))


def _read_input_files(warehouse: Warehouse, settings: Settings, snapshot: str) -> Iterator[InputFile]:
    files = arrow_to_rows("sql_files", warehouse.read(snapshot, "sql_files"), SqlFile)
    yield from build_inputs_from_rows(files, read_sources(warehouse, snapshot), settings)


def _read_imports(warehouse: Warehouse, settings: Settings, snapshot: str) -> Mapping[str, TableSchema]:
    files = arrow_to_rows("sql_files", warehouse.read(snapshot, "sql_files"), SqlFile)
    return add_project_schemas(
        import_configured_schemas(settings), files, read_sources(warehouse, snapshot), settings
    ).schemas


def read_sources(warehouse: Warehouse, snapshot: str) -> Sequence[Source]:
    """Read the sources of a snapshot."""
    return arrow_to_rows("sources", warehouse.read(snapshot, "sources"), Source)


def is_published(warehouse: Warehouse, snapshot: str, settings: Settings) -> bool:
    """Tell whether a snapshot is published with these settings."""
    manifest = warehouse.manifest(snapshot)
    return manifest is not None and manifest.analysis_key == compute_analysis_key(settings)


def hash_diff_inputs(settings: Settings) -> str:
    """Hash what affects changes besides the two snapshots."""
    return hash_key(compute_analysis_key(settings), msgspec.to_builtins(build_policy(settings)))


def hash_event_inputs(settings: Settings) -> str:
    """Hash what affects events besides the snapshot."""
    return hash_key(
        __version__, compute_analysis_key(settings), settings.namespaces(), settings.openlineage.model_dump()
    )
