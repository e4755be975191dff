"""What a templater takes and gives; those of others plug in by entry point, see docs/templating.md."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

ENTRY_POINTS = "lineage_pipeline.templaters"
"""The group of entry points that templaters are found in, by name."""


class Library(Protocol):
    """The files of a repository, whether they are SQL or not; nothing outside it can be read."""

    def paths(self) -> Sequence[str]:
        """Give the paths of all files, in order."""

    def read(self, path: str) -> str | None:
        """Give the text of a file, or None where there is none."""

    def locate(self, path: str) -> str:
        """Give the path from the top of a file that was named in another way."""


class NoLibrary(msgspec.Struct, frozen=True):
    """A text that lies nowhere."""

    def paths(self) -> Sequence[str]:
        """Give nothing."""
        return ()

    def read(self, path: str) -> str | None:
        """Give nothing."""
        return None

    def locate(self, path: str) -> str:
        """Give the path as it is."""
        return path


class RenderLimits(msgspec.Struct, frozen=True):
    """What a template may cost: steps are turns of loops and calls, output is counted in characters."""

    steps: int = 1_000_000
    output: int = 10_000_000


class Problem(msgspec.Struct, frozen=True):
    """What is to be told of a template: the code of a finding, its values, and the offset in the file as written."""

    code: str
    values: Mapping[str, str]
    offset: int = -1


class DbtOptions(msgspec.Struct, frozen=True):
    """What settings say of dbt projects: the target, and whether dbt itself may run what they hold."""

    target: str = ""
    adapter: str = ""
    target_database: str = ""
    target_schema: str = ""
    manifest: str = ""
    trust: bool = False


class Templating(msgspec.Struct, frozen=True):
    """How settings want a file to be rendered: by whom, with which variables, and at what cost."""

    templater: str = "auto"
    variables: Mapping[str, Any] = {}
    limits: RenderLimits = RenderLimits()
    dbt: DbtOptions = DbtOptions()


class Template(msgspec.Struct, frozen=True):
    """A file to be rendered: its path and text, the variables, the dialect if it is known, and what lies around it."""

    path: str
    text: str
    variables: Mapping[str, Any] = {}
    dialect: str = ""
    library: Library = NoLibrary()
    limits: RenderLimits = RenderLimits()


class Rendered(msgspec.Struct, frozen=True):
    """The SQL that a template stands for, and what of it was copied from the file, as `pieces.Pieces` puts it together.

    Without copies, they are found by comparing the lines of both texts. A templater may know the dialect, too.
    """

    text: str
    copies: tuple[int, ...] = ()
    problems: tuple[Problem, ...] = ()
    dialect: str = ""


@runtime_checkable
class Templater(Protocol):
    """Whoever turns templates into SQL."""

    def render(self, template: Template) -> Rendered:
        """Render one file; what goes wrong is a problem of the result, and an exception costs this file alone."""
