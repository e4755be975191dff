"""Change reports of `diff` and `check`: their formats, output files and style."""

import difflib
import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from lineage_pipeline.cli.output import write_output
from lineage_pipeline.model.enums import Severity
from lineage_pipeline.model.errors import LineageError

if TYPE_CHECKING:
    from lineage_pipeline.export.subject import Comparison, ReportStyle


class ReportFormat(StrEnum):
    """Format of a change report: the keys of `export.REPORTERS`, which is too heavy to import here."""

    TEXT = "text"
    SINGLELINE = "singleline"
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    GITHUB = "github"
    GITLAB = "gitlab"


class ReportColor(StrEnum):
    """When to write colors."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


ReportFormatOption = Annotated[ReportFormat, typer.Option("--format", "-f", help="How to write the result.")]
ReportOutputsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        help="Write to this file, not to stdout; FORMAT=FILE writes a further file, and may be repeated.",
        metavar="FILE|FORMAT=FILE",
    ),
]
ReportColorOption = Annotated[
    ReportColor, typer.Option("--color", help="Whether to use colors; auto: on terminals, unless NO_COLOR is set.")
]
LinkBaseOption = Annotated[
    str | None,
    typer.Option(
        "--link-base", help="Link places to files below this address, as https://…/blob/COMMIT.", metavar="URL"
    ),
]


class ReportTargets(NamedTuple):
    """Where reports go: the main file, or stdout, and further files, each with its format."""

    own: Path | None
    further: tuple[tuple[ReportFormat, Path], ...]


def parse_targets(outputs: list[str] | None) -> ReportTargets:
    """Parse all --output options before the work begins, so that mistakes are reported at once."""
    read = [_parse_target(output) for output in outputs or ()]
    own = [file for name, file in read if name is None]
    if len(own) > 1:
        raise LineageError("--output names two files for one format; name the formats: --output sarif=FILE")
    return ReportTargets(own[0] if own else None, tuple((name, file) for name, file in read if name is not None))


def write_reports(
    comparison: "Comparison", format: ReportFormat, targets: ReportTargets, color: ReportColor, style: "ReportStyle"
) -> None:
    """Write the main report and all further files."""
    import msgspec

    from lineage_pipeline.export import REPORTERS

    terminal = targets.own is None and sys.stdout.isatty()
    painted = msgspec.structs.replace(style, color=wants_report_color(color, os.environ, terminal))
    for name, file in targets.further:
        write_output(REPORTERS[name].write(comparison, style), file)
    write_output(REPORTERS[format].write(comparison, painted), targets.own)


def build_style(link: str | None, fail_on: Severity = Severity.BREAKING) -> "ReportStyle":
    """Build the style of reports from the flags."""
    from lineage_pipeline.export.subject import ReportStyle

    if link is not None and not link.startswith(("https://", "http://")):
        raise LineageError(f"--link-base {link} is not an address; it begins with https://")
    return ReportStyle(link=link, fail_on=fail_on)


def wants_report_color(color: ReportColor, environ: Mapping[str, str], terminal: bool) -> bool:
    """Tell whether to write colors: --color, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal."""
    if color is not ReportColor.AUTO:
        return color is ReportColor.ALWAYS
    if environ.get("NO_COLOR"):
        return False
    return bool(environ.get("FORCE_COLOR")) or (terminal and environ.get("TERM") != "dumb")


def _parse_target(output: str) -> tuple[ReportFormat | None, Path]:
    """Parse FORMAT=FILE or FILE; with a dot or slash before the `=`, all of it is a file name."""
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
