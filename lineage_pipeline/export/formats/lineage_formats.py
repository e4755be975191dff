"""The formats of `lineage export`, one row each, with the options that each supports."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from lineage_pipeline.export.documents import lineage_json
from lineage_pipeline.export.drawing.picture import Picture, draw_lineage
from lineage_pipeline.export.formats import (
    csv,
    dot,
    duckdb,
    graphml,
    html,
    lineage_text,
    markdown,
    mermaid,
    parquet,
    xlsx,
)
from lineage_pipeline.export.openlineage import events
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.model.enums import Grain

if TYPE_CHECKING:
    import pyarrow as pa

ALL_GRAINS = (Grain.TABLE, Grain.SCRIPT, Grain.COLUMN)


class DrawingOptions(msgspec.Struct, frozen=True):
    """The grain of a drawing, and the maximal number of boxes."""

    grain: Grain
    most: int


class ExportedText(NamedTuple):
    """A text, and what of the lineage did not fit into it."""

    text: str
    cut: str = ""


class LineageFormat(NamedTuple):
    """A way to write lineage: as a text, whole or in parts, or from its tables to a file or folder.

    Drawings have grains and a limit; other texts are yielded in parts, never in memory as a whole.
    """

    suffix: str
    write: Callable[[Subject, DrawingOptions], ExportedText] | None = None
    parts: Callable[[Subject], Iterator[str]] | None = None
    save: "Callable[[Mapping[str, pa.Table], Path], Iterable[str] | None] | None" = None
    grains: tuple[Grain, ...] = ()
    most: int = 0


def _drawing_writer(render: Callable[[Picture], str]) -> Callable[[Subject, DrawingOptions], ExportedText]:
    def write(subject: Subject, wish: DrawingOptions) -> ExportedText:
        picture = draw_lineage(subject.lineage, wish.grain, wish.most)
        return ExportedText(render(picture), picture.cut)

    return write


def _write_html_page(subject: Subject, wish: DrawingOptions) -> ExportedText:
    """Draw objects and their dependencies; at the finest grain with columns that can be followed."""
    snapshot = subject.snapshot
    title = f"Lineage of {snapshot.repo}@{snapshot.commit[:12]}" if snapshot else "Lineage"
    if wish.grain is not Grain.COLUMN:
        picture = draw_lineage(subject.lineage, wish.grain, wish.most)
        return ExportedText(html.render_html(title, picture), picture.cut)
    picture = draw_lineage(subject.lineage, Grain.TABLE, wish.most)
    finest = draw_lineage(subject.lineage, Grain.COLUMN, max(len(subject.lineage.objects), 10 * wish.most))
    columns = {box.id: box for box in finest.boxes}
    boxes = tuple(columns[box.id] for box in picture.boxes)
    cut = " and ".join(filter(None, (picture.cut, finest.cut and f"{finest.cut} between columns")))
    return ExportedText(html.render_html(title, Picture(boxes, picture.arrows, cut), finest.arrows), cut)


def _write_markdown_page(subject: Subject, wish: DrawingOptions) -> ExportedText:
    picture = draw_lineage(subject.lineage, wish.grain, wish.most)
    return ExportedText(markdown.render_markdown(subject, picture), picture.cut)


FORMATS: Mapping[str, LineageFormat] = {
    "openlineage": LineageFormat(".ndjson", parts=events.write_events),
    "csv": LineageFormat("", save=csv.save_csv),
    "xlsx": LineageFormat(".xlsx", save=xlsx.save_xlsx),
    "duckdb": LineageFormat(".duckdb", save=duckdb.save_duckdb),
    "parquet": LineageFormat("", save=parquet.save_parquet),
    "mermaid": LineageFormat(".mmd", _drawing_writer(mermaid.render_mermaid), grains=ALL_GRAINS, most=100),
    "dot": LineageFormat(".dot", _drawing_writer(dot.render_dot), grains=ALL_GRAINS, most=2000),
    "graphml": LineageFormat(".graphml", _drawing_writer(graphml.render_graphml), grains=ALL_GRAINS, most=1_000_000),
    "json": LineageFormat(".json", parts=lineage_json.write_lineage_json),
    "text": LineageFormat(".txt", parts=lineage_text.write_lineage_text),
    "html": LineageFormat(".html", _write_html_page, grains=(Grain.COLUMN, Grain.TABLE, Grain.SCRIPT), most=400),
    "markdown": LineageFormat(".md", _write_markdown_page, grains=(Grain.TABLE, Grain.SCRIPT), most=60),
}


def write_text_parts(name: str, subject: Subject, *, expand: bool = False) -> Iterator[str]:
    """Write lineage in a format that is a text given in parts: json, openlineage or text.

    JSON can `expand` an edge of a whole statement: once for each column that the statement writes.
    """
    if expand:
        return lineage_json.write_lineage_json(subject, expand=True)
    write = FORMATS[name].parts
    assert write is not None, name
    return write(subject)
