"""Groups of commands: `lineage graph build` is the command `build` of the group `graph`."""

from typing import Any

import typer

PLAIN: dict[str, Any] = {"add_completion": False, "rich_markup_mode": None, "pretty_exceptions_enable": False}


def group(help: str) -> typer.Typer:
    """Make a group to which a module adds its commands."""
    return typer.Typer(help=help, no_args_is_help=True, **PLAIN)
