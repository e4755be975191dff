"""What is published, as the stages after it and the summary read it; no Dagster here."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from lineage_pipeline import __version__
from lineage_pipeline.defs.home import key_of
from lineage_pipeline.defs.keys import commit_of
from lineage_pipeline.discover.gather import as_inputs
from lineage_pipeline.discover.git import has_commit, read_waivers
from lineage_pipeline.discover.schemas.found import with_found
from lineage_pipeline.discover.waivers import waivers_of
from lineage_pipeline.engine.diff.contested import contested
from lineage_pipeline.engine.diff.waivers import Waived, waive
from lineage_pipeline.export import Comparison, Naming, Subject, with_head
from lineage_pipeline.settings import Settings
from lineage_pipeline.settings.judging import policy_of
from lineage_pipeline.settings.relaxing import relaxed_between
from lineage_pipeline.store.arrays import from_arrow
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline.vocabulary.analysis import InputFile, Lineage, TableSchema
from lineage_pipeline.vocabulary.sets import Origin
from lineage_pipeline.vocabulary.tables import (
    Change,
    Diagnostic,
    ObjectEdge,
    ObjectRow,
    ObjectStatement,
    Snapshot,
    Source,
    SqlFile,
    StatementRow,
)
from lineage_pipeline.vocabulary.waivers import Waiver


def base_of(warehouse: Warehouse, head: str) -> str | None:
    """Give the key of the snapshot that a published one is compared with."""
    (row,) = from_arrow("snapshots", warehouse.read(head, "snapshots"), Snapshot)
    return f"{row.repo}@{row.base}" if row.base else None


TOLD = frozenset({"SETTINGS_RELAXED", "WAIVER_EXPIRED", "WAIVER_INVALID", "WAIVER_UNUSED"})
"""Findings that are said of a comparison, and not of what is compared."""


def relaxations(folder: Path, base: str, head: str) -> tuple[Diagnostic, ...]:
    """Give what a snapshot brings of settings that judge it more mildly than those of its base would."""
    before, after = commit_of(base), commit_of(head)
    known = has_commit(folder, before) and has_commit(folder, after)
    return relaxed_between(folder, before, after, os.environ) if known else ()


def comparison_of(warehouse: Warehouse, head: str) -> Comparison | None:
    """Read the published changes of a snapshot, if it has been compared."""
    base = base_of(warehouse, head)
    if base is None or warehouse.manifest((base, head)) is None:
        return None
    manifest = warehouse.manifest((base, head))
    changes = from_arrow("changes", warehouse.read((base, head), "changes"), Change)
    # A diff of an older version has its waivers' ids alone.
    known = manifest is not None and "waivers" in manifest.tables
    waivers = from_arrow("waivers", warehouse.read((base, head), "waivers"), Waiver) if known else ()
    lineage = Lineage(
        objects=from_arrow("objects", warehouse.read(head, "objects"), ObjectRow),
        object_edges=from_arrow("object_edges", warehouse.read(head, "object_edges"), ObjectEdge),
        diagnostics=from_arrow("diagnostics", warehouse.read(head, "diagnostics"), Diagnostic),
    )
    files = from_arrow("sql_files", warehouse.read(head, "sql_files"), SqlFile)
    told = tuple(one for one in lineage.diagnostics if one.code in TOLD)
    return with_head(Comparison(base, head, changes, tuple(waivers), told), lineage, files)


def subject_of(warehouse: Warehouse, settings: Settings, snapshot: str) -> Subject:
    """Read a published snapshot as an exporter takes it."""
    (row,) = from_arrow("snapshots", warehouse.read(snapshot, "snapshots"), Snapshot)
    files = from_arrow("sql_files", warehouse.read(snapshot, "sql_files"), SqlFile)
    written = {source.source_hash: source.text for source in sources_of(warehouse, snapshot)}
    texts = {file.path: written[file.source_hash] for file in files}
    configured = settings.openlineage
    named = (settings.namespaces(), configured.job_namespace, configured.producer)
    naming = Naming(*named, source_url=configured.source_url)
    return Subject(warehouse.load(snapshot), row, files, texts, naming)


def contested_pair(warehouse: Warehouse, settings: Settings, base: str, head: str) -> tuple[Lineage, Lineage] | None:
    """Link both sides of a comparison again where head changed a definition that an imported schema speaks over.

    The definition counts then, and not what is imported; None where nothing is contested, which names alone tell.
    """
    rows = [from_arrow("objects", warehouse.read(key, "objects"), ObjectRow) for key in (base, head)]
    if not any(row.origin is Origin.IMPORTED for side in rows for row in side):
        return None
    if not contested(_named(warehouse, base, rows[0]), _named(warehouse, head, rows[1])):
        return None
    from lineage_pipeline import pipeline

    first, second = (
        pipeline.work_out(_files(warehouse, settings, key), _imported(warehouse, settings, key)) for key in (base, head)
    )
    first, second = pipeline.settle(first, second)
    return first.lineage, second.lineage


def _named(warehouse: Warehouse, key: str, objects: tuple[ObjectRow, ...]) -> Lineage:
    """Read the names of a snapshot: who makes and reads what, in which statements."""
    return Lineage(
        statements=from_arrow("statements", warehouse.read(key, "statements"), StatementRow),
        objects=objects,
        object_statements=from_arrow("object_statements", warehouse.read(key, "object_statements"), ObjectStatement),
        object_edges=from_arrow("object_edges", warehouse.read(key, "object_edges"), ObjectEdge),
    )


def waived_changes(
    warehouse: Warehouse, folder: Path, head: str, sources: Sequence[Source], changes: Sequence[Change]
) -> Waived:
    """Put the waivers of the head, in its file and in some sources, on changes.

    The commit says what day it is, and without one nothing runs out.
    """
    (row,) = from_arrow("snapshots", warehouse.read(head, "snapshots"), Snapshot)
    files = from_arrow("sql_files", warehouse.read(head, "sql_files"), SqlFile)
    hashes = {source.source_hash for source in sources}
    paths = [file.path for file in files if file.source_hash in hashes]
    content = warehouse.read(head, "statements")
    here = content.filter(pc.is_in(content["path"], pa.array(paths, pa.string())))
    text = read_waivers(folder, row.commit)
    waivers, problems = waivers_of(text, files, sources, from_arrow("statements", here, StatementRow))
    waived = waive(changes, waivers, (row.committed_at or "")[:10])
    return msgspec.structs.replace(waived, findings=(*problems, *waived.findings))


def _files(warehouse: Warehouse, settings: Settings, snapshot: str) -> Iterator[InputFile]:
    files = from_arrow("sql_files", warehouse.read(snapshot, "sql_files"), SqlFile)
    yield from as_inputs(files, sources_of(warehouse, snapshot), settings)


def _imported(warehouse: Warehouse, settings: Settings, snapshot: str) -> Mapping[str, TableSchema]:
    files = from_arrow("sql_files", warehouse.read(snapshot, "sql_files"), SqlFile)
    return with_found(settings.imports(), files, sources_of(warehouse, snapshot), settings).schemas


def sources_of(warehouse: Warehouse, snapshot: str) -> Sequence[Source]:
    """Read the texts of a snapshot."""
    return from_arrow("sources", warehouse.read(snapshot, "sources"), Source)


def is_published(warehouse: Warehouse, snapshot: str, settings: Settings) -> bool:
    """Say whether a snapshot is there as these settings make it."""
    manifest = warehouse.manifest(snapshot)
    return manifest is not None and manifest.analysis_key == settings.analysis_key()


def diff_key(settings: Settings) -> str:
    """Name what bears on changes apart from the two snapshots."""
    return key_of(settings.analysis_key(), msgspec.to_builtins(policy_of(settings)))


def events_key(settings: Settings) -> str:
    """Name what bears on events apart from the snapshot."""
    return key_of(__version__, settings.analysis_key(), settings.namespaces(), settings.openlineage.model_dump())
