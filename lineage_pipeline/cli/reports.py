"""What `diff` and `check` have in common: in which formats changes are written, where to, and how they look."""

import difflib
import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from lineage_pipeline.cli.words import put
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.sets import Severity

if TYPE_CHECKING:
    from lineage_pipeline.export import Comparison, Style


class ReportFormat(StrEnum):
    """How changes are written: the rows of `export.REPORTERS`, which is too heavy to import for a list of words."""

    TEXT = "text"
    SINGLELINE = "singleline"
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    GITHUB = "github"
    GITLAB = "gitlab"


class Colour(StrEnum):
    """When to write colours."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


FormatOption = Annotated[ReportFormat, typer.Option("--format", "-f", help="How to write the result.")]
OutputsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        help="Write to this file, not to stdout; FORMAT=FILE writes a further file, and may be repeated.",
        metavar="FILE|FORMAT=FILE",
    ),
]
ColourOption = Annotated[
    Colour, typer.Option("--color", help="Whether to use colours; auto: on terminals, unless NO_COLOR is set.")
]
LinkOption = Annotated[
    str | None,
    typer.Option(
        "--link-base", help="Link places to files below this address, as https://…/blob/COMMIT.", metavar="URL"
    ),
]


class Targets(NamedTuple):
    """Where reports go: the result itself, to stdout if nowhere else, and further files, each in its format."""

    own: Path | None
    further: tuple[tuple[ReportFormat, Path], ...]


def targets_of(outputs: list[str] | None) -> Targets:
    """Read all of --output; done before the work, so that a wrong word is told at once."""
    read = [_target(output) for output in outputs or ()]
    own = [file for name, file in read if name is None]
    if len(own) > 1:
        raise LineageError("--output names two files for one format; name the formats: --output sarif=FILE")
    return Targets(own[0] if own else None, tuple((name, file) for name, file in read if name is not None))


def put_reports(
    comparison: "Comparison", format: ReportFormat, targets: Targets, colour: Colour, style: "Style"
) -> None:
    """Write the result in its format, and every further file in its own."""
    import msgspec

    from lineage_pipeline.export import REPORTERS

    terminal = targets.own is None and sys.stdout.isatty()
    painted = msgspec.structs.replace(style, colour=is_coloured(colour, os.environ, terminal))
    for name, file in targets.further:
        put(REPORTERS[name].write(comparison, style), file)
    put(REPORTERS[format].write(comparison, painted), targets.own)


def styled(link: str | None, fail_on: Severity = Severity.BREAKING) -> "Style":
    """Give the look that the flags ask for."""
    from lineage_pipeline.export import Style

    if link is not None and not link.startswith(("https://", "http://")):
        raise LineageError(f"--link-base {link} is not an address; it begins with https://")
    return Style(link=link, fail_on=fail_on)


def is_coloured(colour: Colour, environ: Mapping[str, str], terminal: bool) -> bool:
    """Say whether to write colours: a flag beats NO_COLOR, that beats FORCE_COLOR, and otherwise terminals get them."""
    if colour is not Colour.AUTO:
        return colour is Colour.ALWAYS
    if environ.get("NO_COLOR"):
        return False
    return bool(environ.get("FORCE_COLOR")) or (terminal and environ.get("TERM") != "dumb")


def _target(output: str) -> tuple[ReportFormat | None, Path]:
    """Read FORMAT=FILE, or a file alone; what holds a dot or a slash before the sign is part of a file's name."""
    name, sign, file = output.partition("=")
    if not sign or not name.replace("-", "").isalnum():
        return None, Path(output)
    if name not in set(ReportFormat):
        close = difflib.get_close_matches(name.lower(), list(ReportFormat), n=1)
        meant = f"did you mean {close[0]}? " if close else ""
        raise LineageError(f"--output {output}: {name} is no format; {meant}known are {', '.join(ReportFormat)}")
    if not file:
        raise LineageError(f"--output {output} names no file")
    return ReportFormat(name), Path(file)
