"""Output of commands: results, messages, colors, the progress bar, and the flags for them that every command has."""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, TextIO, TypeVar

import typer

from lineage_pipeline.cli.groups import PLAIN_TYPER


class ColorMode(StrEnum):
    """When to write colors."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class OutputSettings:
    """The output flags of the current call; the only mutable state of the command line."""

    quiet = False
    verbose = False
    color = ColorMode.AUTO


OUTPUT_SETTINGS = OutputSettings()

RED, YELLOW, GREEN, BOLD, FAINT, RESET_STYLE = (f"\x1b[{code}m" for code in ("31", "33", "32", "1", "2", "0"))

PAINTS = (
    (re.compile(r"^BREAKING(?= [A-Z]{3}\d)", re.MULTILINE), RED),
    (re.compile(r"^POTENTIALLY_BREAKING(?= [A-Z]{3}\d)", re.MULTILINE), YELLOW),
    (re.compile(r"^(?:NON_BREAKING|INFO)(?= [A-Z]{3}\d)", re.MULTILINE), GREEN),
    (re.compile(r"(?<=: )error(?=: .* \[[A-Z_]+\]$)", re.MULTILINE), RED),
    (re.compile(r"(?<=: )warning(?=: .* \[[A-Z_]+\]$)", re.MULTILINE), YELLOW),
    (re.compile(r"^ok(?= {7})", re.MULTILINE), GREEN),
    (re.compile(r"^problem(?= {2})", re.MULTILINE), RED),
    (re.compile(r"^ +\^+$", re.MULTILINE), RED),
    (re.compile(r"^lineage:(?= )", re.MULTILINE), BOLD),
)
"""Patterns that are colored in texts for people, each with its color."""

_SUSPICIOUS = re.compile("::|##|[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe00-\ufe0d\uffa0\U000e0000-\U000e0fff]")
"""CI commands (`::`, `##`) and invisible characters: printable, but escaped before they are shown."""


def wants_color(stream: TextIO) -> bool:
    """Tell whether to write colors: --color, then NO_COLOR and FORCE_COLOR, then whether it is a terminal."""
    if OUTPUT_SETTINGS.color is not ColorMode.AUTO:
        return OUTPUT_SETTINGS.color is ColorMode.ALWAYS
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def colorize(text: str, stream: TextIO) -> str:
    """Color a text where colors are wanted; JSON is never colored."""
    if not wants_color(stream) or text.lstrip()[:1] in ("{", "["):
        return text
    for pattern, paint in PAINTS:
        text = pattern.sub(lambda match, paint=paint: f"{paint}{match[0]}{RESET_STYLE}", text)  # type: ignore[misc]
    return text


def _set_quiet(wanted: bool) -> bool:
    OUTPUT_SETTINGS.quiet = OUTPUT_SETTINGS.quiet or wanted
    return wanted


def _set_verbose(wanted: bool) -> bool:
    OUTPUT_SETTINGS.verbose = OUTPUT_SETTINGS.verbose or wanted
    return wanted


def _set_color(when: ColorMode | None) -> ColorMode | None:
    if when is not None:
        OUTPUT_SETTINGS.color = ColorMode(when)
    return when


QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", callback=_set_quiet, expose_value=False, help="Say nothing but errors.")
]
VerboseOption = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        callback=_set_verbose,
        expose_value=False,
        help="List each file on stderr: how and why it is read, or not.",
    ),
]
ColorOption = Annotated[
    ColorMode | None,
    typer.Option("--color", callback=_set_color, expose_value=False, help="Write in colors.", show_default="auto"),
]


def add_output_flags(command: Any) -> Any:
    """Add the output flags to a command, or to all commands of a group, unless it has its own."""
    for inner in getattr(command, "commands", {}).values():
        add_output_flags(inner)
    if not hasattr(command, "commands"):
        taken = {word for param in command.params for word in param.opts}
        command.params.extend(param for param in _build_output_flags() if taken.isdisjoint(param.opts))
    return command


def _build_output_flags() -> list[Any]:
    def speak(quiet: QuietOption = False, verbose: VerboseOption = False, color: ColorOption = None) -> None:
        """Hold the flags."""

    holder = typer.Typer(**PLAIN_TYPER)
    holder.command()(speak)
    return list(typer.main.get_command(holder).params)


def reset_output_settings() -> None:
    """Reset the output flags at the start of a call."""
    OUTPUT_SETTINGS.quiet, OUTPUT_SETTINGS.verbose, OUTPUT_SETTINGS.color = False, False, ColorMode.AUTO


def print_message(line: str, *, error: bool = False) -> None:
    """Print a line to stderr, unless --quiet; errors are always printed."""
    if error or not OUTPUT_SETTINGS.quiet:
        print(colorize(_escape_control_characters(line), sys.stderr), file=sys.stderr, flush=True)


def _escape_control_characters(text: str) -> str:
    """Escape what could steer a terminal or a CI runner, such as names from analyzed SQL."""
    if all(sign.isprintable() or sign in "\n\t" for sign in text) and not _SUSPICIOUS.search(text):
        return text
    from lineage_pipeline.export.escaping import escape_hidden  # with its room, and hardly ever needed

    return "\n".join("\t".join(map(escape_hidden, part.split("\t"))) for part in text.split("\n"))


ItemT = TypeVar("ItemT")

BAR_WIDTH, REDRAW_SECONDS, FIRST_DRAW_SECONDS = 30, 0.1, 0.5
"""Signs of the bar, seconds between two drawings, and seconds before the first."""


def iterate_with_progress(items: Sequence[ItemT], title: str) -> Iterator[ItemT]:
    """Yield the items one by one; on a terminal, show a progress bar until the end."""
    if OUTPUT_SETTINGS.quiet or not sys.stderr.isatty():
        yield from items
        return
    drawn, next_time = False, monotonic() + FIRST_DRAW_SECONDS
    for number, item in enumerate(items):
        if monotonic() >= next_time:
            drawn, next_time = True, monotonic() + REDRAW_SECONDS
            _draw_bar(number, len(items), title)
        yield item
    if drawn:
        sys.stderr.write("\r\x1b[2K")
        sys.stderr.flush()


def _draw_bar(done: int, whole: int, title: str) -> None:
    full = BAR_WIDTH * done // max(whole, 1)
    bar = "━" * full + " " * (BAR_WIDTH - full)
    sys.stderr.write(f"\r\x1b[2K{title} {bar} {done} of {whole}")
    sys.stderr.flush()


def write_output(text: str | Iterable[str], output: Path | None = None) -> None:
    """Write the result to stdout or to a file; an iterable is streamed unless it must be colored."""
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines([text] if isinstance(text, str) else text)
    elif isinstance(text, str) or wants_color(sys.stdout):
        sys.stdout.write(colorize("".join(text), sys.stdout))
    else:
        sys.stdout.writelines(text)


def print_note(line: str) -> None:
    """Print a line to stderr, unless --quiet."""
    print_message(line)
