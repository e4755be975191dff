"""`lineage waivers`: which exceptions there are, what is wrong with them, and away with those that are over."""

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.words import Dialect, Format, FormatOption, Output, Today, put, say

if TYPE_CHECKING:
    from lineage_pipeline.engine.diff.waivers import Waived
    from lineage_pipeline.vocabulary.waivers import Waiver


class Action(StrEnum):
    """What to do with waivers."""

    LIST = "list"
    LINT = "lint"
    PRUNE = "prune"


def waivers(
    action: Annotated[Action, typer.Argument(help="What to do.", metavar="list|lint|prune")],
    path: Annotated[Path, typer.Argument(help="A folder of the repository.", metavar="[PATH]")] = Path(),
    base: Annotated[
        str, typer.Option("--base", help="prune, lint: also those that cover nothing since then.", metavar="REV")
    ] = "",
    today: Today = None,
    dialect: Dialect = None,
    format: FormatOption = Format.TEXT,
    output: Output = None,
) -> None:
    """List waivers, check them, or remove those that ran out; exit 1: lint found something.

    They stand in lineage-waivers.toml and in comments. Files are read as they lie there. What stands in
    comments is never removed for you: prune says where it is.

    Example: lineage waivers lint --today 2026-12-31
    """
    from lineage_pipeline.export.waivers import waivers_document, waivers_text

    found = _waived(path, base, today, dialect)
    if action is Action.PRUNE:
        over = tuple(waiver for waiver in found.waivers if waiver.expired or (base and not waiver.used))
        put(_pruned(path, over), output)
        return
    shown = found if action is Action.LIST else _faults(found)
    put((waivers_document if format is Format.JSON else waivers_text)(shown.waivers, shown.findings), output)
    if action is Action.LINT and shown.findings:
        raise typer.Exit(1)


def _waived(path: Path, base: str, today: str | None, dialect: str | None) -> "Waived":
    """Give the waivers that stand in the files, held against today, and against the changes since a base."""
    from lineage_pipeline.cli.check import sides_of
    from lineage_pipeline.cli.compare import compare, day, waivers_of
    from lineage_pipeline.cli.subject import subject_of
    from lineage_pipeline.discover.folder import discover_folder
    from lineage_pipeline.engine.diff.waivers import Waived, waive
    from lineage_pipeline.settings import load_settings

    flags = {"analysis": {"dialect": dialect}}
    if base:
        comparison = compare(*sides_of(path, (base, "WORKTREE"), flags), day(today))
        return Waived(comparison.changes, comparison.waivers, comparison.findings)
    top = _top(path)
    settings = load_settings(top, flags, os.environ)
    discovery = discover_folder(top, settings)
    listed, problems = waivers_of(discovery, subject_of(discovery, settings, settings).lineage)
    waived = waive((), listed, day(today))
    # Without a comparison nobody can say whether a waiver is of use.
    return Waived((), waived.waivers, problems)


def _top(path: Path) -> Path:
    from lineage_pipeline.discover.git import is_repository, toplevel

    return toplevel(path) if is_repository(path) else path


def _faults(found: "Waived") -> "Waived":
    """Keep what is wrong: with comments, with the day, and with waivers that say the same twice."""
    from lineage_pipeline.engine.diff.waivers import Waived, faults

    known = {(one.code, one.path, one.line) for one in found.findings}
    more = [one for one in faults(found.waivers) if (one.code, one.path, one.line) not in known]
    wrong = {(one.path, one.line) for one in (*found.findings, *more)}
    listed = tuple(waiver for waiver in found.waivers if (waiver.path, waiver.line) in wrong)
    return Waived((), listed, (*found.findings, *more))


def _pruned(path: Path, over: "tuple[Waiver, ...]") -> str:
    """Remove waivers from the file, and say which; those in comments are only told."""
    from lineage_pipeline.discover.waivers import FILE_NAME, without
    from lineage_pipeline.export.waivers import waivers_text

    file = _top(path) / FILE_NAME
    own = tuple(waiver for waiver in over if waiver.path == FILE_NAME and waiver.line is not None)
    if own:
        text = without(file.read_text(encoding="utf-8"), [waiver.line or 0 for waiver in own])
        file.write_text(text, encoding="utf-8", newline="")
    for waiver in over:
        if waiver not in own:
            say(f"lineage: remove it by hand: {waiver.path}:{waiver.line or 1}")
    return waivers_text(own, ())
