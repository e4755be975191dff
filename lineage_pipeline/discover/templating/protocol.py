"""What a templater takes and returns; plug-ins are found by entry point, see docs/templating.md."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

from lineage_pipeline.model.templating import DbtOptions, RenderLimits, Templating

__all__ = [
    "TEMPLATER_ENTRY_POINTS",
    "DbtOptions",
    "Library",
    "NoLibrary",
    "Problem",
    "RenderLimits",
    "Rendered",
    "Template",
    "Templater",
    "Templating",
]

TEMPLATER_ENTRY_POINTS = "lineage_pipeline.templaters"
"""The entry point group of templater plug-ins."""


class Library(Protocol):
    """The files of a repository, whether they are SQL or not; nothing outside it can be read."""

    def paths(self) -> Sequence[str]:
        """Return the paths of all files, in order."""

    def read(self, path: str) -> str | None:
        """Return the text of a file, or None where there is none."""

    def read_all(self, paths: Iterable[str]) -> Iterator[tuple[str, str | None]]:
        """Yield the texts of files, which may be quicker than reading one by one."""

    def locate(self, path: str) -> str:
        """Return the path from the top of a file that was named in another way."""


class NoLibrary(msgspec.Struct, frozen=True):
    """The library of a text without a repository."""

    def paths(self) -> Sequence[str]:
        """Return nothing."""
        return ()

    def read(self, path: str) -> str | None:
        """Return nothing."""
        return None

    def read_all(self, paths: Iterable[str]) -> Iterator[tuple[str, str | None]]:
        """Yield nothing of each file."""
        return ((path, None) for path in paths)

    def locate(self, path: str) -> str:
        """Return the path unchanged."""
        return path


class Problem(msgspec.Struct, frozen=True):
    """A finding about a template: its code, its values, and the offset in the file as written."""

    code: str
    values: Mapping[str, str]
    offset: int = -1


class Template(msgspec.Struct, frozen=True):
    """A file to be rendered: path, text, variables, dialect if known, and the files around it."""

    path: str
    text: str
    variables: Mapping[str, Any] = {}
    dialect: str = ""
    library: Library = NoLibrary()
    limits: RenderLimits = RenderLimits()


class Rendered(msgspec.Struct, frozen=True):
    """The SQL that a template renders to, and its source map as `pieces.Pieces` builds it.

    Without a source map the lines of both texts are compared. A templater may also know the dialect, and why.
    """

    text: str
    copies: tuple[int, ...] = ()
    problems: tuple[Problem, ...] = ()
    dialect: str = ""
    evidence: str = ""


@runtime_checkable
class Templater(Protocol):
    """Renders templates into SQL."""

    def render(self, template: Template) -> Rendered:
        """Render one file; errors are problems of the result, and an exception only affects this file."""
