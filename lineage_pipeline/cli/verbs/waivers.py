"""`lineage waivers`: list waivers, find faults in them, and remove expired ones."""

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.options import DialectOption, OutputOption, ResultFormat, ResultFormatOption, TodayOption
from lineage_pipeline.cli.output import print_note, write_output
from lineage_pipeline.cli.read_files import list_read_files

if TYPE_CHECKING:
    from lineage_pipeline.engine.diff.waivers import WaivedChanges
    from lineage_pipeline.model.tables import Waiver


class WaiverAction(StrEnum):
    """What to do with waivers."""

    LIST = "list"
    LINT = "lint"
    PRUNE = "prune"


def waivers(
    action: Annotated[WaiverAction, typer.Argument(help="What to do.", metavar="list|lint|prune")],
    path: Annotated[Path, typer.Argument(help="A folder of the repository.", metavar="[PATH]")] = Path(),
    base: Annotated[
        str, typer.Option("--base", help="prune, lint: also those that cover nothing since then.", metavar="REV")
    ] = "",
    today: TodayOption = None,
    dialect: DialectOption = None,
    format: ResultFormatOption = ResultFormat.TEXT,
    output: OutputOption = None,
) -> None:
    """List waivers, check them, or remove those that ran out; exit 1: lint found something.

    They stand in lineage-waivers.toml and in comments. Files are read as they lie there. What stands in
    comments is never removed for you: prune says where it is.

    Example: lineage waivers lint --today 2026-12-31
    """
    from lineage_pipeline.export.answers.change_answers import write_waivers_json, write_waivers_text

    found = _collect_waivers(path, base, today, dialect)
    if action is WaiverAction.PRUNE:
        over = tuple(waiver for waiver in found.waivers if waiver.expired or (base and not waiver.used))
        write_output(_prune_waivers(path, over), output)
        return
    shown = found if action is WaiverAction.LIST else _keep_faults(found)
    write_output(
        (write_waivers_json if format is ResultFormat.JSON else write_waivers_text)(shown.waivers, shown.findings),
        output,
    )
    if action is WaiverAction.LINT and shown.findings:
        raise typer.Exit(1)


def _collect_waivers(path: Path, base: str, today: str | None, dialect: str | None) -> "WaivedChanges":
    """Return the waivers of the files, checked against today and against the changes since a base."""
    from lineage_pipeline.cli.inputs import discover_base_and_head
    from lineage_pipeline.cli.local_analysis import analyze_subject
    from lineage_pipeline.cli.side_comparison import compare_sides, find_waivers, parse_today
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.configured_schemas import compute_analysis_key
    from lineage_pipeline.discover.folder import discover_folder
    from lineage_pipeline.engine.diff.waivers import WaivedChanges, apply_waivers

    flags = {"analysis": {"dialect": dialect}}
    if base:
        comparison = compare_sides(*discover_base_and_head(path, (base, "WORKTREE"), flags), parse_today(today))
        return WaivedChanges(comparison.changes, comparison.waivers, comparison.findings)
    top = _repository_root(path)
    settings = load_settings(top, flags, os.environ)
    discovery = discover_folder(top, settings, analysis_key=compute_analysis_key(settings))
    list_read_files(discovery)
    listed, problems = find_waivers(discovery, analyze_subject(discovery, settings, settings).lineage)
    waived = apply_waivers((), listed, parse_today(today))
    # Without a comparison nobody can say whether a waiver is of use.
    return WaivedChanges((), waived.waivers, problems)


def _repository_root(path: Path) -> Path:
    from lineage_pipeline.discover.git.repository import find_toplevel, is_repository

    return find_toplevel(path) if is_repository(path) else path


def _keep_faults(found: "WaivedChanges") -> "WaivedChanges":
    """Keep what is wrong: comments, dates, and waivers that are there twice."""
    from lineage_pipeline.engine.diff.waivers import WaivedChanges, report_expired_waivers

    known = {(one.code, one.path, one.line) for one in found.findings}
    more = [one for one in report_expired_waivers(found.waivers) if (one.code, one.path, one.line) not in known]
    wrong = {(one.path, one.line) for one in (*found.findings, *more)}
    listed = tuple(waiver for waiver in found.waivers if (waiver.path, waiver.line) in wrong)
    return WaivedChanges((), listed, (*found.findings, *more))


def _prune_waivers(path: Path, over: "tuple[Waiver, ...]") -> str:
    """Remove waivers from the file and list them; those in comments are only reported."""
    from lineage_pipeline.discover.waiver_file import WAIVER_FILE_NAME, remove_waivers
    from lineage_pipeline.export.answers.change_answers import write_waivers_text

    file = _repository_root(path) / WAIVER_FILE_NAME
    own = tuple(waiver for waiver in over if waiver.path == WAIVER_FILE_NAME and waiver.line is not None)
    if own:
        text = remove_waivers(file.read_text(encoding="utf-8"), [waiver.line or 0 for waiver in own])
        file.write_text(text, encoding="utf-8", newline="")
    for waiver in over:
        if waiver not in own:
            print_note(f"lineage: remove it by hand: {waiver.path}:{waiver.line or 1}")
    return write_waivers_text(own, ())
