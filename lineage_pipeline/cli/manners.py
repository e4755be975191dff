"""How commands speak: loud or quiet, in colours or plain. Every command has these flags, before or behind its name."""

import os
import re
import sys
from enum import StrEnum
from typing import Annotated, Any, TextIO

import typer

from lineage_pipeline.cli.groups import PLAIN


class When(StrEnum):
    """When to write in colours."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Manners:
    """What the flags of this call say; the edge of the program is the one place that may remember."""

    quiet = False
    verbose = False
    color = When.AUTO


MANNERS = Manners()

RED, YELLOW, GREEN, BOLD, FAINT, PLAINLY = (f"\x1b[{code}m" for code in ("31", "33", "32", "1", "2", "0"))

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
"""What is painted in texts for people, and how."""

_DOING = re.compile("::|##|[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe00-\ufe0d\uffa0\U000e0000-\U000e0fff]")
"""What may need a second look though it can be printed."""


def wants_color(stream: TextIO) -> bool:
    """Say whether to write in colours: the flag, then NO_COLOR and FORCE_COLOR, then whether it is a terminal."""
    if MANNERS.color is not When.AUTO:
        return MANNERS.color is When.ALWAYS
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def painted(text: str, stream: TextIO) -> str:
    """Give a text in colours, where those are wanted; data have nothing to paint."""
    if not wants_color(stream) or text.lstrip()[:1] in ("{", "["):
        return text
    for pattern, paint in PAINTS:
        text = pattern.sub(lambda match, paint=paint: f"{paint}{match[0]}{PLAINLY}", text)  # type: ignore[misc]
    return text


def _be_quiet(wanted: bool) -> bool:
    MANNERS.quiet = MANNERS.quiet or wanted
    return wanted


def _be_verbose(wanted: bool) -> bool:
    MANNERS.verbose = MANNERS.verbose or wanted
    return wanted


def _choose_color(when: When | None) -> When | None:
    if when is not None:
        MANNERS.color = When(when)
    return when


Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", callback=_be_quiet, expose_value=False, help="Say nothing but errors.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", callback=_be_verbose, expose_value=False, help="Say more on stderr.")
]
Color = Annotated[
    When | None,
    typer.Option("--color", callback=_choose_color, expose_value=False, help="Write in colours.", show_default="auto"),
]


def with_manners(command: Any) -> Any:
    """Give a command, and all commands of a group, the flags that it does not have itself."""
    for inner in getattr(command, "commands", {}).values():
        with_manners(inner)
    if not hasattr(command, "commands"):
        taken = {word for param in command.params for word in param.opts}
        command.params.extend(param for param in _flags() if taken.isdisjoint(param.opts))
    return command


def _flags() -> list[Any]:
    def speak(quiet: Quiet = False, verbose: Verbose = False, color: Color = None) -> None:
        """Hold the flags."""

    holder = typer.Typer(**PLAIN)
    holder.command()(speak)
    return list(typer.main.get_command(holder).params)


def reset() -> None:
    """Begin a call with no manners but the usual ones."""
    MANNERS.quiet, MANNERS.verbose, MANNERS.color = False, False, When.AUTO


def tell(line: str, *, error: bool = False) -> None:
    """Tell people something, unless they want to hear nothing; errors are always told."""
    if error or not MANNERS.quiet:
        print(painted(_harmless(line), sys.stderr), file=sys.stderr, flush=True)


def _harmless(text: str) -> str:
    """Give a text in which a name of somebody's SQL can steer no terminal, nor what runs a build."""
    if all(sign.isprintable() or sign in "\n\t" for sign in text) and not _DOING.search(text):
        return text
    from lineage_pipeline.export.escaping import visible  # with its room, and hardly ever needed

    return "\n".join("\t".join(map(visible, part.split("\t"))) for part in text.split("\n"))
