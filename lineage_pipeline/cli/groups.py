"""Groups of commands: `lineage graph build` is the command `build` of the group `graph`."""

from typing import Any

import typer
from typer.core import TyperGroup

PLAIN: dict[str, Any] = {"add_completion": False, "rich_markup_mode": None, "pretty_exceptions_enable": False}


class Helpful(TyperGroup):
    """A group that shows its commands where none is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; without any, ask for help."""
        return super().parse_args(ctx, args or ["--help"])


def group(help: str) -> typer.Typer:
    """Make a group to which a module adds its commands."""
    return typer.Typer(cls=Helpful, help=help, **PLAIN)
