"""Rows of templates: the file row stays, its source becomes the rendered text."""

import hashlib
import posixpath
from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

import msgspec

from lineage_pipeline.discover.file_options import parse_header
from lineage_pipeline.discover.templating.protocol import Rendered
from lineage_pipeline.discover.templating.templaters import RepositoryTemplaters
from lineage_pipeline.files.encoding import replace_surrogates
from lineage_pipeline.model.analysis import Options
from lineage_pipeline.model.enums import Stage, Status
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.findings import build_diagnostic
from lineage_pipeline.model.source_map import SourceText, find_line_starts
from lineage_pipeline.model.tables import Diagnostic, Source, SqlFile
from lineage_pipeline.model.templating import Templating

SCHEMA_TEMPLATER = "schema"
"""Templater name of files that describe tables and hold no SQL; their rendered text is a list of tables."""

DIALECT_EVIDENCE = {
    "dbt": "the target of the dbt project",
    "sqlmesh": "the SQLMesh model or its project",
    "dataform": "Dataform writes for BigQuery",
}
"""Why a file has the dialect that its templater reports, by templater."""

FileRows = tuple[SqlFile, Source, Sequence[Diagnostic]]


class RenderingRules(Protocol):
    """The settings that rendering needs."""

    def options_for(self, path: str) -> Options:
        """Return the options of the system that this path belongs to."""

    def templating_for(self, path: str) -> Templating:
        """Return how the file at this path is rendered."""

    def selects(self, path: str) -> bool:
        """Return whether the file at this path is read."""

    def leaves_out(self, path: str) -> bool:
        """Return whether the file at this path is excluded, whatever kind of file it is."""


def render_rows(file: SqlFile, source: Source, templates: RepositoryTemplaters, rules: RenderingRules) -> FileRows:
    """Return the rows of a file after rendering; a file that is no template keeps its rows."""
    if file.status is Status.FAILED or file.templater:  # nothing was read, or a host has been taken apart
        return file, source, ()
    wanted, own = rules.templating_for(file.path), parse_header(source.text).get("templater", "")
    if own:
        wanted = msgspec.structs.replace(wanted, templater=own)
    try:
        done = templates.render(file.path, source.text, file.dialect, wanted)
    except LineageError as error:
        if not own:  # settings that name nobody are a mistake, a file that does is a finding
            raise
        text = SourceText(file.path, find_line_starts(source.text))
        at = max(source.text.find("templater"), 0)
        return file, source, [build_diagnostic("TEMPLATE_ERROR", {"reason": str(error)}, text, at, Stage.DISCOVERY)]
    if done is None:
        return file, source, ()
    templater, rendering = done
    row = msgspec.structs.replace(file, templater=templater)
    if rendering.dialect and not file.dialect:
        row = msgspec.structs.replace(row, dialect=rendering.dialect, evidence=_dialect_evidence(templater))
    return _build_rows(row, source, rendering)


def _dialect_evidence(templater: str) -> str:
    return DIALECT_EVIDENCE.get(templater, f"the templater {templater}")


def render_project_rows(
    templates: RepositoryTemplaters, rules: RenderingRules, known: Collection[str]
) -> Iterator[FileRows]:
    """Yield rows of files without SQL that define objects: seeds, YAML and packages of dbt projects in use."""
    for further in templates.dbt.project_files(known) if templates.dbt is not None else ():
        if further.path in known or not _is_selected(further.path, further.templater, rules):
            continue
        options = rules.options_for(further.path)
        content = _hash_source_text(further.text)
        source = Source(
            source_hash=content,
            content_hash=content,
            text=further.text,
            rendered=further.rendered.text,
            source_map=further.rendered.copies,
        )
        row = SqlFile(
            path=further.path,
            system=options.system,
            dialect=options.dialect or further.rendered.dialect,
            source_hash=content,
            bytes=len(further.text.encode()),
            encoding="utf-8",
            templater=further.templater,
            status=Status.ANALYSED,
            owners=(),
            evidence="settings" if options.dialect else _dialect_evidence("dbt") if further.rendered.dialect else None,
        )
        yield _build_rows(row, source, further.rendered)


def _is_selected(path: str, templater: str, rules: RenderingRules) -> bool:
    """Return whether a row of a project file is kept: not excluded, and an SQL file at its place would be read.

    Files that describe tables are kept, since they affect files elsewhere.
    """
    if rules.leaves_out(path):
        return False
    return templater == SCHEMA_TEMPLATER or rules.selects(path) or rules.selects(posixpath.splitext(path)[0] + ".sql")


def _build_rows(file: SqlFile, source: Source, rendering: Rendered) -> FileRows:
    rendered = replace_surrogates(rendering.text)
    identity = "\0".join((source.content_hash, file.templater, rendered, *map(str, rendering.copies)))
    row = Source(
        source_hash=_hash_source_text(identity),
        content_hash=source.content_hash,
        text=source.text,
        rendered=rendered,
        source_map=rendering.copies,
    )
    text = SourceText(file.path, find_line_starts(source.text))
    found = [build_diagnostic(one.code, one.values, text, one.offset, Stage.DISCOVERY) for one in rendering.problems]
    return msgspec.structs.replace(file, source_hash=row.source_hash), row, found


def _hash_source_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
