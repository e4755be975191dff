"""From what `lineage export` was asked to what it writes."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import msgspec

from lineage_pipeline.cli.impact import Way
from lineage_pipeline.cli.places import stored
from lineage_pipeline.cli.sides import side_of
from lineage_pipeline.cli.subject import naming_of, subject_of
from lineage_pipeline.cli.words import put, say
from lineage_pipeline.discover.remotes import parted
from lineage_pipeline.engine.trace.facts import RowFacts
from lineage_pipeline.export import Subject
from lineage_pipeline.export.focus import Focus, narrowed
from lineage_pipeline.export.formats import FORMATS, Format, Wish
from lineage_pipeline.questions.lineage import Lineage
from lineage_pipeline.settings import Settings, load_settings, suggestion
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.sets import Grain

if TYPE_CHECKING:
    import pyarrow as pa

    from lineage_pipeline.vocabulary.tables import Snapshot

DRAWING = frozenset({"level", "limit"})
EVENTS = "openlineage"
PAGE = "html"


@runtime_checkable
class Kept(Protocol):
    """What kept more than rows of lineage: the texts of files, and what they are a snapshot of."""

    def text(self, path: str) -> str | None:
        """Give what is written in a file."""

    def snapshot(self) -> "Snapshot | None":
        """Give what the rows were worked out from."""


class Source(NamedTuple):
    """What is exported: what a word names, or what is around one of its objects."""

    word: str
    flags: Mapping[str, Any]
    focus: str | None = None
    depth: int | None = None
    direction: Way | None = None

    def subject(self) -> Subject:
        """Read or analyse, and keep what is of interest."""
        if self.focus is None and (self.depth is not None or self.direction is not None):
            raise LineageError("--depth and --direction say how far around --focus OBJECT")
        subject = self._whole()
        if self.focus is None:
            return subject
        chosen = Lineage(RowFacts(subject.lineage, subject.files)).object(self.focus)
        focus = Focus(chosen, self.depth, self.direction is not Way.DOWN, self.direction is not Way.UP)
        return msgspec.structs.replace(subject, lineage=narrowed(subject.lineage, focus))

    def settings(self) -> Settings:
        """Give the settings that names are taken from."""
        repo = parted(self.word)[0]
        here = next((Path(place) for place in (self.word, repo) if place and Path(place).exists()), Path.cwd())
        return load_settings(here, self.flags, os.environ)

    def with_text(self, subject: Subject, object: str) -> Subject:
        """Add the text of the file that defines an object, which a lineage file or a warehouse may have kept."""
        found = stored(self.word)
        path = next((row.path for row in subject.lineage.objects if row.object == object), None)
        text = found.facts.text(path) if found is not None and path and isinstance(found.facts, Kept) else None
        return subject if text is None else msgspec.structs.replace(subject, texts={path: text})

    def _whole(self) -> Subject:
        found = stored(self.word)
        if found is None:
            side = side_of(self.word, self.flags)
            return subject_of(*side, side[1])
        snapshot = found.facts.snapshot() if isinstance(found.facts, Kept) else None
        return Subject(found.rows, snapshot, tuple(found.facts.files()), {}, naming_of(self.settings()))


def export(name: str, source: Source, output: Path | None, options: Mapping[str, Any]) -> None:
    """Write in a format; an option that it does not know is an error."""
    if name not in FORMATS:
        raise LineageError(f"there is no format {name}; {suggestion(name, FORMATS)}")
    format = FORMATS[name]
    given = {option: value for option, value in options.items() if value is not None}
    if "object" in given:
        _put_object(name, source, output, given)
        return
    taken = given.keys() - DRAWING if name == EVENTS else given.keys() & DRAWING if format.grains else set()
    for option in sorted(given.keys() - taken):
        raise LineageError(f"{name} takes no --{option.replace('_', '-')}")
    if name == EVENTS:
        from lineage_pipeline.cli.events import export_events

        export_events(source, output, given)
    elif format.parts is not None:
        put(format.parts(source.subject()), output)
    elif format.write is not None:
        _write(format, source, output, given)
    else:
        _save(name, format, source, output)


def _put_object(name: str, source: Source, output: Path | None, given: Mapping[str, Any]) -> None:
    """Write the page of one object."""
    from lineage_pipeline.export.object_page import render_object

    further = sorted(given.keys() - {"object"})
    if name != PAGE or further or source.focus is not None:
        other = name if name != PAGE else f"--{further[0]}" if further else "--focus"
        raise LineageError(f"--object writes a page of its own with `lineage export {PAGE}`, and goes not with {other}")
    subject = source.subject()
    chosen = Lineage(RowFacts(subject.lineage, subject.files)).object(given["object"])
    put(render_object(source.with_text(subject, chosen), chosen), output)


def _write(format: Format, source: Source, output: Path | None, given: Mapping[str, Any]) -> None:
    """Write a text, and tell what did not fit into it."""
    grain = given.get("level") or next(iter(format.grains), None)
    if grain is not None and grain not in format.grains:
        raise LineageError(f"--level is {', '.join(grain.value for grain in format.grains)} here")
    subject = source.subject()
    assert format.write is not None
    written = format.write(subject, Wish(grain or Grain.TABLE, given.get("limit") or format.most))
    put(written.text, output)
    if written.cut:
        say(f"lineage: drawn are {written.cut}; --focus OBJECT draws what is around one, --limit N more")


def _save(name: str, format: Format, source: Source, output: Path | None) -> None:
    """Write the tables into a file or folder."""
    if output is None:
        raise LineageError(f"{name} needs a {'file' if format.suffix else 'folder'} to write to: -o PATH")
    if output.is_dir() and format.suffix:
        raise LineageError(f"{output} is a folder; name the file in it")
    if not format.suffix and output.is_file():
        raise LineageError(f"{output} is a file; {name} writes a folder of them")
    assert format.save is not None
    subject = source.subject()
    cut = format.save(tables_of(subject), output)
    if cut:
        say(f"lineage: {output} has {' and '.join(cut)}")


def tables_of(subject: Subject) -> "dict[str, pa.Table]":
    """Give the tables of a snapshot, also those that are empty."""
    from lineage_pipeline.engine.trace.reach import column_reach
    from lineage_pipeline.store.arrays import to_arrow
    from lineage_pipeline.vocabulary.tables import TABLES

    lineage, snapshot = subject.lineage, subject.snapshot
    key = f"{snapshot.repo}@{snapshot.commit}" if snapshot else ""
    rows: dict[str, Any] = {name: getattr(lineage, name) for name in TABLES if name in type(lineage).__struct_fields__}
    found = {"snapshots": (snapshot,) if snapshot else (), "sql_files": subject.files} | rows
    found["column_reach"] = lineage.column_reach or column_reach(lineage)
    return {name: to_arrow(name, (key,), found[name]) for name in TABLES if name in found}
