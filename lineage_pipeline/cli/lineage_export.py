"""What `lineage export` does: reads or analyzes the input and writes it in a format."""

import os
from collections.abc import Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import msgspec

from lineage_pipeline.cli.inputs import open_stored_lineage
from lineage_pipeline.cli.local_analysis import analyze_subject, build_naming
from lineage_pipeline.cli.options import DirectionChoice
from lineage_pipeline.cli.output import print_note, write_output
from lineage_pipeline.cli.revisions import discover_side
from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.config.toml_files import suggest_word
from lineage_pipeline.discover.git.mirror import split_revision
from lineage_pipeline.engine.trace.facts import RowFacts
from lineage_pipeline.export.formats.lineage_formats import FORMATS, DrawingOptions, LineageFormat, write_text_parts
from lineage_pipeline.export.subject import Focus, Subject, narrow_lineage
from lineage_pipeline.model.enums import Grain
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.queries.lineage import Lineage

if TYPE_CHECKING:
    import pyarrow as pa

    from lineage_pipeline.model.tables import Snapshot

DRAWING_OPTIONS = frozenset({"level", "limit"})
DOCUMENT_OPTIONS = frozenset({"expand"})
DOCUMENT_FORMAT = "json"
EVENTS_FORMAT = "openlineage"
PAGE_FORMAT = "html"


@runtime_checkable
class StoredTexts(Protocol):
    """Stored facts that also have the texts of files and the snapshot."""

    def text(self, path: str) -> str | None:
        """Return the text of a file."""

    def snapshot(self) -> "Snapshot | None":
        """Return the snapshot of the rows."""


class ExportSource(NamedTuple):
    """What is exported: an input, or what is around one of its objects."""

    word: str
    flags: Mapping[str, Any]
    focus: str | None = None
    depth: int | None = None
    direction: DirectionChoice | None = None

    def subject(self) -> Subject:
        """Read or analyze the input, narrowed to the focus."""
        if self.focus is None and (self.depth is not None or self.direction is not None):
            raise LineageError("--depth and --direction say how far around --focus OBJECT")
        subject = self._whole()
        if self.focus is None:
            return subject
        chosen = Lineage(RowFacts(subject.lineage, subject.files)).object(self.focus)
        focus = Focus(
            chosen, self.depth, self.direction is not DirectionChoice.DOWN, self.direction is not DirectionChoice.UP
        )
        return msgspec.structs.replace(subject, lineage=narrow_lineage(subject.lineage, focus))

    def settings(self) -> Settings:
        """Return the settings that names are taken from."""
        repo = split_revision(self.word)[0]
        here = next((Path(place) for place in (self.word, repo) if place and Path(place).exists()), Path.cwd())
        return load_settings(here, self.flags, os.environ)

    def with_text(self, subject: Subject, object: str) -> Subject:
        """Add the text of the file that defines an object, if a lineage file or a warehouse has it."""
        found = open_stored_lineage(self.word)
        path = next((row.path for row in subject.lineage.objects if row.object == object), None)
        text = found.facts.text(path) if found is not None and path and isinstance(found.facts, StoredTexts) else None
        return subject if text is None else msgspec.structs.replace(subject, texts={path: text})

    def _whole(self) -> Subject:
        found = open_stored_lineage(self.word)
        if found is None:
            side = discover_side(self.word, self.flags)
            return analyze_subject(*side, side[1])
        snapshot = found.facts.snapshot() if isinstance(found.facts, StoredTexts) else None
        return Subject(
            lineage=found.rows,
            snapshot=snapshot,
            files=tuple(found.facts.files()),
            texts={},
            naming=build_naming(self.settings()),
        )


def write_export(name: str, source: ExportSource, output: Path | None, options: Mapping[str, Any]) -> None:
    """Write in a format; an option that does not apply to the format is an error."""
    if name not in FORMATS:
        raise LineageError(f"there is no format {name}; {suggest_word(name, FORMATS)}")
    format = FORMATS[name]
    given = {option: value for option, value in options.items() if value is not None}
    if "object" in given:
        _write_object_page(name, source, output, given)
        return
    for option in sorted(given.keys() - _list_options(name, format, given)):
        raise LineageError(f"{name} takes no --{option.replace('_', '-')}")
    if name == EVENTS_FORMAT:
        from lineage_pipeline.cli.openlineage_events import export_events

        export_events(source, output, given)
    elif format.parts is not None:
        write_output(write_text_parts(name, source.subject(), expand="expand" in given), output)
    elif format.write is not None:
        _write_drawing(format, source, output, given)
    else:
        _save_tables(name, format, source, output)


def _list_options(name: str, format: LineageFormat, given: Mapping[str, Any]) -> Set[str]:
    """Return the given options that apply to a format."""
    if name == EVENTS_FORMAT:
        return given.keys() - DRAWING_OPTIONS - DOCUMENT_OPTIONS
    if name == DOCUMENT_FORMAT:
        return DOCUMENT_OPTIONS
    return DRAWING_OPTIONS if format.grains else frozenset()


def _write_object_page(name: str, source: ExportSource, output: Path | None, given: Mapping[str, Any]) -> None:
    """Write the page of one object."""
    from lineage_pipeline.export.object_page import render_object_page

    further = sorted(given.keys() - {"object"})
    if name != PAGE_FORMAT or further or source.focus is not None:
        other = name if name != PAGE_FORMAT else f"--{further[0]}" if further else "--focus"
        raise LineageError(
            f"--object writes a page of its own with `lineage export {PAGE_FORMAT}`, and goes not with {other}"
        )
    subject = source.subject()
    chosen = Lineage(RowFacts(subject.lineage, subject.files)).object(given["object"])
    write_output(render_object_page(source.with_text(subject, chosen), chosen), output)


def _write_drawing(format: LineageFormat, source: ExportSource, output: Path | None, given: Mapping[str, Any]) -> None:
    """Write a text, and report what did not fit into it."""
    grain = given.get("level") or next(iter(format.grains), None)
    if grain is not None and grain not in format.grains:
        raise LineageError(f"--level is {', '.join(grain.value for grain in format.grains)} here")
    subject = source.subject()
    assert format.write is not None
    written = format.write(subject, DrawingOptions(grain or Grain.TABLE, given.get("limit") or format.most))
    write_output(written.text, output)
    if written.cut:
        print_note(f"lineage: drawn are {written.cut}; --focus OBJECT draws what is around one, --limit N more")


def _save_tables(name: str, format: LineageFormat, source: ExportSource, output: Path | None) -> None:
    """Write the tables to a file or folder."""
    if output is None:
        raise LineageError(f"{name} needs a {'file' if format.suffix else 'folder'} to write to: -o PATH")
    if output.is_dir() and format.suffix:
        raise LineageError(f"{output} is a folder; name the file in it")
    if not format.suffix and output.is_file():
        raise LineageError(f"{output} is a file; {name} writes a folder of them")
    assert format.save is not None
    subject = source.subject()
    cut = format.save(build_arrow_tables(subject), output)
    if cut:
        print_note(f"lineage: {output} has {' and '.join(cut)}")


def build_arrow_tables(subject: Subject) -> "dict[str, pa.Table]":
    """Return all tables of a snapshot as Arrow tables, empty ones included."""
    from lineage_pipeline.engine.trace.reach import build_column_reach
    from lineage_pipeline.model.tables import TABLES
    from lineage_pipeline.store.row_conversion import rows_to_arrow

    lineage, snapshot = subject.lineage, subject.snapshot
    key = f"{snapshot.repo}@{snapshot.commit}" if snapshot else ""
    rows: dict[str, Any] = {name: getattr(lineage, name) for name in TABLES if name in type(lineage).__struct_fields__}
    found = {"snapshots": (snapshot,) if snapshot else (), "sql_files": subject.files} | rows
    found["column_reach"] = lineage.column_reach or build_column_reach(lineage)
    return {name: rows_to_arrow(name, (key,), found[name]) for name in TABLES if name in found}
