"""`lineage impact`: what a column or a table feeds and is fed by, and what a change of it would break."""

import os
import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from lineage_pipeline.cli.inputs import ReadingFlags
from lineage_pipeline.cli.options import (
    DialectOption,
    DirectionChoice,
    OutputOption,
    SchemaOption,
    SubjectsOption,
    TableFormat,
    TableFormatOption,
    VariablesOption,
)
from lineage_pipeline.cli.output import write_output
from lineage_pipeline.model.errors import LineageError

if TYPE_CHECKING:
    from lineage_pipeline.engine.trace.impact import Reached
    from lineage_pipeline.engine.trace.selectors import Selector
    from lineage_pipeline.export.answers.answer import Answer
    from lineage_pipeline.export.subject import Comparison
    from lineage_pipeline.queries.lineage import Lineage

Edits = list[str] | None


def compare_with_edits(word: str, flags: Mapping[str, Any], wanted: Mapping[str, Edits]) -> "Comparison":
    """Compare a folder, or a revision of a repository, with itself after hypothetical edits."""
    from lineage_pipeline import pipeline
    from lineage_pipeline.cli.local_analysis import build_compiler
    from lineage_pipeline.cli.revisions import discover_side
    from lineage_pipeline.configured_schemas import import_configured_schemas
    from lineage_pipeline.diff_settings import build_policy
    from lineage_pipeline.discover.discovery import build_input_files
    from lineage_pipeline.discover.schemas.project_schemas import add_project_schemas
    from lineage_pipeline.engine.diff.compare import diff
    from lineage_pipeline.export.subject import Comparison
    from lineage_pipeline.model.errors import LineageError
    from lineage_pipeline.what_if import EditAction, apply_edits, resolve_edit

    if not any(wanted.values()):
        raise LineageError("say what would change: --drop t.column, --rename t.column=new or --retype t.column=TYPE")
    discovery, settings = discover_side(word, flags)
    memory = pipeline.AnalysisCache()
    imports = add_project_schemas(import_configured_schemas(settings), discovery.files, discovery.sources, settings)
    base = pipeline.analyze_files(
        build_input_files(discovery, settings), imports.schemas, memory, build_compiler(settings)
    )
    edits = [resolve_edit(base, EditAction(action), words) for action, given in wanted.items() for words in given or ()]
    before, after = pipeline.reconcile_imports(base, apply_edits(base, edits), memory)
    changes = diff(before.lineage, after.lineage, build_policy(settings))
    return Comparison(discovery.key, "; ".join([discovery.key, *map(str, edits)]), tuple(changes))


class ImpactLevel(StrEnum):
    """What an answer lists."""

    COLUMN = "column"
    TABLE = "table"


class EdgeFilter(StrEnum):
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
DropOption = Annotated[Edits, typer.Option("--drop", help="What if this column went?", metavar="T.COLUMN")]
RenameOption = Annotated[Edits, typer.Option("--rename", help="What if it had another name?", metavar="T.COLUMN=NEW")]
RetypeOption = Annotated[Edits, typer.Option("--retype", help="What if it had another type?", metavar="T.COLUMN=TYPE")]
ImpactLevelOption = Annotated[ImpactLevel, typer.Option("--level", "-l", help="List columns, or whole tables.")]
ImpactDirectionOption = Annotated[
    DirectionChoice | None, typer.Option("--direction", help="Which way to go; a + in the selector says it, too.")
]
ImpactDepthOption = Annotated[int | None, typer.Option("--depth", "--max-depth", min=0, help="Hops to go at most.")]
EdgeFilterOption = Annotated[
    EdgeFilter,
    typer.Option("--type", help="Follow values only (direct), or list what only decisions reach (indirect)."),
]
RootsOption = Annotated[bool, typer.Option("--roots", help="List only what nothing feeds.")]
LeavesOption = Annotated[bool, typer.Option("--leaves", help="List only what feeds nothing.")]


class ImpactQuery(NamedTuple):
    """The flags of an impact query."""

    level: ImpactLevel
    direction: DirectionChoice | None
    depth: int | None
    kind: EdgeFilter
    roots: bool
    leaves: bool


def impact(
    selector: SelectorArgument = "",
    subject: SubjectsOption = None,
    level: ImpactLevelOption = ImpactLevel.COLUMN,
    direction: ImpactDirectionOption = None,
    depth: ImpactDepthOption = None,
    kind: EdgeFilterOption = EdgeFilter.ALL,
    roots: RootsOption = False,
    leaves: LeavesOption = False,
    drop: DropOption = None,
    rename: RenameOption = None,
    retype: RetypeOption = None,
    dialect: DialectOption = None,
    schema: SchemaOption = None,
    var: VariablesOption = None,
    format: TableFormatOption = TableFormat.TEXT,
    output: OutputOption = None,
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
    reading = ReadingFlags(dialect, schema, variables=var)
    if any(wanted.values()):
        write_output(_write_what_if(selector or (subject or ["."])[0], reading.flags(), wanted, format), output)
        return

    asked = ImpactQuery(level=level, direction=direction, depth=depth, kind=kind, roots=roots, leaves=leaves)
    write_output(_list_impact(selector, subject, reading, asked, format), output)


def _list_impact(
    selector: str,
    subject: list[str] | None,
    reading: ReadingFlags,
    asked: ImpactQuery,
    format: TableFormat,
) -> str:
    """Write what is within reach."""
    from lineage_pipeline.cli.inputs import load_inputs
    from lineage_pipeline.export.answers.answer import write_answer

    if not selector:
        raise LineageError("name a column or table, or say what would change: --drop, --rename or --retype")
    lineage = load_inputs(subject, reading)
    try:
        return write_answer(_build_answer(selector, lineage, asked), format)
    except LineageError:
        meant = _strip_default_schema(selector, subject, reading)
        if meant == selector:
            raise
        return write_answer(_build_answer(meant, lineage, asked), format)


def _strip_default_schema(selector: str, subject: list[str] | None, reading: ReadingFlags) -> str:
    """Drop the schema of a selector if it is the default schema or on the search path."""
    from lineage_pipeline.config.load import load_settings

    place = Path((subject or ["."])[0])
    analysis = load_settings(place if place.exists() else Path(), reading.flags(), os.environ).analysis
    searched = {word.casefold() for word in (*analysis.search_path, analysis.default_schema) if word}
    sides = re.fullmatch(r"(\d*\+)?(\w+)\.(.+)", selector.strip())
    if sides is None or sides[2].casefold() not in searched:
        return selector
    return f"{sides[1] or ''}{sides[3]}"


def _build_answer(selector: str, lineage: "Lineage", asked: ImpactQuery) -> "Answer":
    from lineage_pipeline.engine.trace.impact import Follow
    from lineage_pipeline.engine.trace.selectors import parse_selector
    from lineage_pipeline.export.answers.trace_answers import answer_impact

    meant = parse_selector(selector)
    up, down = _limit_hops(meant, asked.direction, asked.depth)
    if asked.level is ImpactLevel.COLUMN:
        starts = [f"{ref.object}.{ref.column}" for ref in lineage.select(meant).columns]
        found = lineage.impact(meant, up=up, down=down, follow=Follow(asked.kind))
    else:
        starts = list(lineage.select_objects(meant))
        found = lineage.table_impact(meant, up=up, down=down, follow=Follow(asked.kind))
    return answer_impact(selector, asked.level, starts, _filter_ends(found, asked.roots, asked.leaves))


def _write_what_if(word: str, flags: Mapping[str, Any], wanted: Mapping[str, Edits], format: TableFormat) -> str:
    """Write what hypothetical edits would break."""
    pass
    from lineage_pipeline.export import REPORTERS

    if format not in REPORTERS:
        raise LineageError(f"what would change is not written as {format}; known are text and json")
    return REPORTERS[format].write(compare_with_edits(word, flags, wanted))


def _limit_hops(
    meant: "Selector", direction: DirectionChoice | None, depth: int | None
) -> tuple[int | None, int | None]:
    """Return the hops to go up and down: from the selector, then the flags, then unlimited."""
    from lineage_pipeline.engine.trace.selectors import UNLIMITED_DEPTH

    far = UNLIMITED_DEPTH if depth is None else depth
    up, down = meant.up, meant.down
    if up is None and down is None and direction is None:
        direction = DirectionChoice.DOWN
    if direction in (DirectionChoice.UP, DirectionChoice.BOTH) and up is None:
        up = far
    if direction in (DirectionChoice.DOWN, DirectionChoice.BOTH) and down is None:
        down = far
    return (far if up == UNLIMITED_DEPTH else up), (far if down == UNLIMITED_DEPTH else down)


def _filter_ends(found: "tuple[Reached, ...]", roots: bool, leaves: bool) -> "tuple[Reached, ...]":
    if not roots and not leaves:
        return found
    return tuple(row for row in found if (roots and row.root) or (leaves and row.leaf))
