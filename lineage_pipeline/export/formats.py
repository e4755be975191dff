"""The formats of `lineage export`: a row each, and what each can be asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from lineage_pipeline.export import csv, dot, duckdb, graphml, html, json, markdown, mermaid, openlineage, parquet, xlsx
from lineage_pipeline.export.picture import Picture, draw
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.vocabulary.sets import Grain

if TYPE_CHECKING:
    import pyarrow as pa

ALL_GRAINS = (Grain.TABLE, Grain.SCRIPT, Grain.COLUMN)


class Wish(msgspec.Struct, frozen=True):
    """What is to be drawn: the grain, and at most how many boxes."""

    grain: Grain
    most: int


class Written(NamedTuple):
    """A text, and what of the lineage did not fit into it."""

    text: str
    cut: str = ""


class Format(NamedTuple):
    """A way to write lineage: as a text, whole or in parts, or from its tables into a file or folder.

    Drawings have grains and a bound; what has none is given in parts, so that it need not be there as a whole.
    """

    suffix: str
    write: Callable[[Subject, Wish], Written] | None = None
    parts: Callable[[Subject], Iterator[str]] | None = None
    save: "Callable[[Mapping[str, pa.Table], Path], Iterable[str] | None] | None" = None
    grains: tuple[Grain, ...] = ()
    most: int = 0


def _drawn(render: Callable[[Picture], str]) -> Callable[[Subject, Wish], Written]:
    def write(subject: Subject, wish: Wish) -> Written:
        picture = draw(subject.lineage, wish.grain, wish.most)
        return Written(render(picture), picture.cut)

    return write


def _page(subject: Subject, wish: Wish) -> Written:
    """Draw objects and what they are made of; at the finest grain with columns, which can be followed."""
    snapshot = subject.snapshot
    title = f"Lineage of {snapshot.repo}@{snapshot.commit[:12]}" if snapshot else "Lineage"
    if wish.grain is not Grain.COLUMN:
        picture = draw(subject.lineage, wish.grain, wish.most)
        return Written(html.render(title, picture), picture.cut)
    picture = draw(subject.lineage, Grain.TABLE, wish.most)
    finest = draw(subject.lineage, Grain.COLUMN, max(len(subject.lineage.objects), 10 * wish.most))
    columns = {box.id: box for box in finest.boxes}
    boxes = tuple(columns[box.id] for box in picture.boxes)
    cut = " and ".join(filter(None, (picture.cut, finest.cut and f"{finest.cut} between columns")))
    return Written(html.render(title, Picture(boxes, picture.arrows, cut), finest.arrows), cut)


def _read(subject: Subject, wish: Wish) -> Written:
    picture = draw(subject.lineage, wish.grain, wish.most)
    return Written(markdown.render(subject, picture), picture.cut)


FORMATS: Mapping[str, Format] = {
    "openlineage": Format(".ndjson", parts=openlineage.write_events),
    "csv": Format("", save=csv.save),
    "xlsx": Format(".xlsx", save=xlsx.save),
    "duckdb": Format(".duckdb", save=duckdb.save),
    "parquet": Format("", save=parquet.save),
    "mermaid": Format(".mmd", _drawn(mermaid.render), grains=ALL_GRAINS, most=100),
    "dot": Format(".dot", _drawn(dot.render), grains=ALL_GRAINS, most=2000),
    "graphml": Format(".graphml", _drawn(graphml.render), grains=ALL_GRAINS, most=1_000_000),
    "json": Format(".json", parts=json.write_lineage),
    "html": Format(".html", _page, grains=(Grain.COLUMN, Grain.TABLE, Grain.SCRIPT), most=400),
    "markdown": Format(".md", _read, grains=(Grain.TABLE, Grain.SCRIPT), most=60),
}
