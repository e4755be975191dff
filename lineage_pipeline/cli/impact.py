"""`lineage impact`: how far a column or a table reaches, and what a change of it would break."""

import os
import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from lineage_pipeline.cli.places import Reading
from lineage_pipeline.cli.whatif import Edits
from lineage_pipeline.cli.words import Dialect, Output, Schemas, Subjects, Table, TableOption, Variables, put
from lineage_pipeline.vocabulary.errors import LineageError

if TYPE_CHECKING:
    from lineage_pipeline.engine.trace.impact import Reached
    from lineage_pipeline.engine.trace.selectors import Selector
    from lineage_pipeline.export.answers import Answer
    from lineage_pipeline.questions.lineage import Lineage


class Level(StrEnum):
    """What an answer lists."""

    COLUMN = "column"
    TABLE = "table"


class Way(StrEnum):
    """Which way to go where the selector has no +."""

    UP = "up"
    DOWN = "down"
    BOTH = "both"


class Kind(StrEnum):
    """Which columns count."""

    ALL = "all"
    DIRECT = "direct"
    INDIRECT = "indirect"


SelectorArgument = Annotated[
    str,
    typer.Argument(
        help="A column or table, with + for a direction: '+s.t.col+2'. With --drop and its like: a folder.",
        metavar="SELECTOR",
    ),
]
Drop = Annotated[Edits, typer.Option("--drop", help="What if this column went?", metavar="T.COLUMN")]
Rename = Annotated[Edits, typer.Option("--rename", help="What if it had another name?", metavar="T.COLUMN=NEW")]
Retype = Annotated[Edits, typer.Option("--retype", help="What if it had another type?", metavar="T.COLUMN=TYPE")]
LevelOption = Annotated[Level, typer.Option("--level", "-l", help="List columns, or whole tables.")]
WayOption = Annotated[
    Way | None, typer.Option("--direction", help="Which way to go; a + in the selector says it, too.")
]
Depth = Annotated[int | None, typer.Option("--depth", "--max-depth", min=0, help="Hops to go at most.")]
KindOption = Annotated[
    Kind, typer.Option("--type", help="Follow values only (direct), or list what only decisions reach (indirect).")
]
Roots = Annotated[bool, typer.Option("--roots", help="List only what nothing feeds.")]
Leaves = Annotated[bool, typer.Option("--leaves", help="List only what feeds nothing.")]


class Asked(NamedTuple):
    """What the flags say of an answer."""

    level: Level
    direction: Way | None
    depth: int | None
    kind: Kind
    roots: bool
    leaves: bool


def impact(
    selector: SelectorArgument = "",
    subject: Subjects = None,
    level: LevelOption = Level.COLUMN,
    direction: WayOption = None,
    depth: Depth = None,
    kind: KindOption = Kind.ALL,
    roots: Roots = False,
    leaves: Leaves = False,
    drop: Drop = None,
    rename: Rename = None,
    retype: Retype = None,
    dialect: Dialect = None,
    schema: Schemas = None,
    var: Variables = None,
    format: TableOption = Table.TEXT,
    output: Output = None,
) -> None:
    """Show what feeds a column or a table, and what it feeds.

    `s.t.col` and `s.t.col+` go downstream, `+s.t.col` upstream, `+s.t.col+` both ways; a number is the number of hops:
    `2+s.t.col+1`. A name may be its end only, `s.t.*` is every column of a table, `*.id` every column of a name.

    Example: lineage impact '+mart.daily_sales.revenue' --type direct

    Example: lineage impact 'staging.orders.*' --in lineage.json --leaves -f csv

    With --drop, --rename or --retype, which may be repeated, it shows what `lineage diff` would after that edit.

    Example: lineage impact --drop raw.orders.note --retype raw.orders.id=bigint warehouse
    """
    wanted = {"drop": drop, "rename": rename, "retype": retype}
    reading = Reading(dialect, schema, variables=var)
    if any(wanted.values()):
        put(_written(selector or (subject or ["."])[0], reading.flags(), wanted, format), output)
        return

    asked = Asked(level, direction, depth, kind, roots, leaves)
    put(_listed(selector, subject, reading, asked, format), output)


def _listed(
    selector: str,
    subject: list[str] | None,
    reading: Reading,
    asked: Asked,
    format: Table,
) -> str:
    """Write what is within reach."""
    from lineage_pipeline.cli.places import lineage_in
    from lineage_pipeline.export.answers import write_answer

    if not selector:
        raise LineageError("name a column or table, or say what would change: --drop, --rename or --retype")
    lineage = lineage_in(subject, reading)
    try:
        return write_answer(_answer(selector, lineage, asked), format)
    except LineageError:
        meant = _unqualified(selector, subject, reading)
        if meant == selector:
            raise
        return write_answer(_answer(meant, lineage, asked), format)


def _unqualified(selector: str, subject: list[str] | None, reading: Reading) -> str:
    """Give a selector without a schema in which names are looked for anyhow."""
    from lineage_pipeline.settings import load_settings

    place = Path((subject or ["."])[0])
    analysis = load_settings(place if place.exists() else Path(), reading.flags(), os.environ).analysis
    searched = {word.casefold() for word in (*analysis.search_path, analysis.default_schema) if word}
    sides = re.fullmatch(r"(\d*\+)?(\w+)\.(.+)", selector.strip())
    if sides is None or sides[2].casefold() not in searched:
        return selector
    return f"{sides[1] or ''}{sides[3]}"


def _answer(selector: str, lineage: "Lineage", asked: Asked) -> "Answer":
    from lineage_pipeline.engine.trace.impact import Follow
    from lineage_pipeline.engine.trace.selectors import parse_selector
    from lineage_pipeline.export.answers import impact_answer

    meant = parse_selector(selector)
    up, down = _sides(meant, asked.direction, asked.depth)
    if asked.level is Level.COLUMN:
        starts = [f"{ref.object}.{ref.column}" for ref in lineage.select(meant).columns]
        found = lineage.impact(meant, up=up, down=down, follow=Follow(asked.kind))
    else:
        starts = list(lineage.select_objects(meant))
        found = lineage.table_impact(meant, up=up, down=down, follow=Follow(asked.kind))
    return impact_answer(selector, asked.level, starts, _ends(found, asked.roots, asked.leaves))


def _written(word: str, flags: Mapping[str, Any], wanted: Mapping[str, Edits], format: Table) -> str:
    """Write what an edit would break."""
    from lineage_pipeline.cli.whatif import supposed
    from lineage_pipeline.export import REPORTERS

    if format not in REPORTERS:
        raise LineageError(f"what would change is not written as {format}; known are text and json")
    return REPORTERS[format].write(supposed(word, flags, wanted))


def _sides(meant: "Selector", direction: Way | None, depth: int | None) -> tuple[int | None, int | None]:
    """Say how far to go up and down: the selector's numbers count, then the flags, then as far as it goes."""
    from lineage_pipeline.engine.trace.selectors import FAR

    far = FAR if depth is None else depth
    up, down = meant.up, meant.down
    if up is None and down is None and direction is None:
        direction = Way.DOWN
    if direction in (Way.UP, Way.BOTH) and up is None:
        up = far
    if direction in (Way.DOWN, Way.BOTH) and down is None:
        down = far
    return (far if up == FAR else up), (far if down == FAR else down)


def _ends(found: "tuple[Reached, ...]", roots: bool, leaves: bool) -> "tuple[Reached, ...]":
    if not roots and not leaves:
        return found
    return tuple(row for row in found if (roots and row.root) or (leaves and row.leaf))
