"""`lineage impact`: how far a column or a table reaches."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.words import Dialect, Output, Schemas, Subjects, Table, TableOption, put

if TYPE_CHECKING:
    from lineage_pipeline.engine.trace.impact import Reached
    from lineage_pipeline.engine.trace.selectors import Selector


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
    str, typer.Argument(help="A column or table, with + for a direction: '+s.t.col+2'.", metavar="SELECTOR")
]
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


def impact(
    selector: SelectorArgument,
    subject: Subjects = None,
    level: LevelOption = Level.COLUMN,
    direction: WayOption = None,
    depth: Depth = None,
    kind: KindOption = Kind.ALL,
    roots: Roots = False,
    leaves: Leaves = False,
    dialect: Dialect = None,
    schema: Schemas = None,
    format: TableOption = Table.TEXT,
    output: Output = None,
) -> None:
    """Show what feeds a column or a table, and what it feeds.

    `s.t.col` and `s.t.col+` go downstream, `+s.t.col` upstream, `+s.t.col+` both ways; a number is the number of hops:
    `2+s.t.col+1`. A name may be its end only, `s.t.*` is every column of a table, `*.id` every column of a name.

    Example: lineage impact '+mart.daily_sales.revenue' --type direct

    Example: lineage impact 'staging.orders.*' --in lineage.json --leaves -f csv
    """
    from lineage_pipeline.cli.places import Reading, lineage_in
    from lineage_pipeline.engine.trace.impact import Follow
    from lineage_pipeline.engine.trace.selectors import parse_selector
    from lineage_pipeline.export.answers import impact_answer, write_answer

    meant = parse_selector(selector)
    lineage = lineage_in(subject, Reading(dialect, schema))
    up, down = _sides(meant, direction, depth)
    if level is Level.COLUMN:
        starts = [f"{ref.object}.{ref.column}" for ref in lineage.select(meant).columns]
        found = lineage.impact(meant, up=up, down=down, follow=Follow(kind))
    else:
        starts = list(lineage.select_objects(meant))
        found = lineage.table_impact(meant, up=up, down=down, follow=Follow(kind))
    put(write_answer(impact_answer(selector, level, starts, _ends(found, roots, leaves)), format), output)


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
