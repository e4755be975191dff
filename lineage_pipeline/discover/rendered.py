"""Templates as rows: the file stays what it is, its source is the text that it stands for."""

import hashlib
import posixpath
from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

import msgspec

from lineage_pipeline.discover.decode import characters
from lineage_pipeline.discover.headers import header_of
from lineage_pipeline.discover.templating.choosing import Templates
from lineage_pipeline.discover.templating.protocol import Rendered, Templating
from lineage_pipeline.vocabulary.analysis import Options
from lineage_pipeline.vocabulary.codes import diagnose
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.places import Text, line_starts
from lineage_pipeline.vocabulary.sets import Stage, Status
from lineage_pipeline.vocabulary.tables import Diagnostic, Source, SqlFile

SCHEMA = "schema"
"""The templater of a file that describes tables and holds no SQL; its rendered text is a list of them."""

TOLD = {
    "dbt": "the target of the dbt project",
    "sqlmesh": "the SQLMesh model or its project",
    "dataform": "Dataform writes for BigQuery",
}
"""Why a file has the dialect that its templater says, by templater."""

Rows = tuple[SqlFile, Source, Sequence[Diagnostic]]


class Rendering(Protocol):
    """What rendering asks of the settings."""

    def options_for(self, path: str) -> Options:
        """Give the options of the system that this path belongs to."""

    def templating_for(self, path: str) -> Templating:
        """Give how the file at this path is rendered."""

    def selects(self, path: str) -> bool:
        """Say whether the file at this path is to be read."""

    def leaves_out(self, path: str) -> bool:
        """Say whether nothing of the file at this path is to be read, whatever it is."""


def rendered_rows(file: SqlFile, source: Source, templates: Templates, rules: Rendering) -> Rows:
    """Give the rows of a file once it is rendered; most files are no templates and stay what they are."""
    if file.status is Status.FAILED or file.templater:  # nothing was read, or a host has been taken apart
        return file, source, ()
    wanted, own = rules.templating_for(file.path), header_of(source.text).get("templater", "")
    if own:
        wanted = msgspec.structs.replace(wanted, templater=own)
    try:
        done = templates.render(file.path, source.text, file.dialect, wanted)
    except LineageError as error:
        if not own:  # settings that name nobody are a mistake, a file that does is a finding
            raise
        text = Text(file.path, line_starts(source.text))
        at = max(source.text.find("templater"), 0)
        return file, source, [diagnose("TEMPLATE_ERROR", {"reason": str(error)}, text, at, Stage.DISCOVERY)]
    if done is None:
        return file, source, ()
    templater, rendering = done
    row = msgspec.structs.replace(file, templater=templater)
    if rendering.dialect and not file.dialect:
        row = msgspec.structs.replace(row, dialect=rendering.dialect, evidence=_evidence(templater))
    return _rows(row, source, rendering)


def _evidence(templater: str) -> str:
    return TOLD.get(templater, f"the templater {templater}")


def further_rows(templates: Templates, rules: Rendering, known: Collection[str]) -> Iterator[Rows]:
    """Give the rows of files that hold no SQL and yet bear on it: those that a dbt project in use brings."""
    for further in templates.dbt.further(known) if templates.dbt is not None else ():
        if further.path in known or not _wanted(further.path, further.templater, rules):
            continue
        options = rules.options_for(further.path)
        content = _hash(further.text)
        source = Source(content, content, further.text, further.rendered.text, further.rendered.copies)
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
            evidence="settings" if options.dialect else _evidence("dbt") if further.rendered.dialect else None,
        )
        yield _rows(row, source, further.rendered)


def _wanted(path: str, templater: str, rules: Rendering) -> bool:
    """Say whether a row is to be had: where it is left out or a file of SQL would not be read, there is none.

    What describes tables bears on files elsewhere.
    """
    if rules.leaves_out(path):
        return False
    return templater == SCHEMA or rules.selects(path) or rules.selects(posixpath.splitext(path)[0] + ".sql")


def _rows(file: SqlFile, source: Source, rendering: Rendered) -> Rows:
    rendered = characters(rendering.text)
    identity = "\0".join((source.content_hash, file.templater, rendered, *map(str, rendering.copies)))
    row = Source(_hash(identity), source.content_hash, source.text, rendered, rendering.copies)
    text = Text(file.path, line_starts(source.text))
    found = [diagnose(one.code, one.values, text, one.offset, Stage.DISCOVERY) for one in rendering.problems]
    return msgspec.structs.replace(file, source_hash=row.source_hash), row, found


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
