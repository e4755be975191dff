"""Command groups: `lineage graph build` is the command `build` of the group `graph`."""

from typing import Any

import typer
from typer.core import TyperGroup

PLAIN_TYPER: dict[str, Any] = {"add_completion": False, "rich_markup_mode": None, "pretty_exceptions_enable": False}


class HelpfulGroup(TyperGroup):
    """A command group that shows its help when no command is given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; without any, show the help."""
        return super().parse_args(ctx, args or ["--help"])


def make_group(help: str) -> typer.Typer:
    """Create a group to which a module adds its commands."""
    return typer.Typer(cls=HelpfulGroup, help=help, **PLAIN_TYPER)
