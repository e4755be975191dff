"""Database projects (`.sqlproj`): which scripts run before all others, which after them, and what variables are.

What a project builds has no order of its own; its deployment scripts have.
"""

from collections.abc import Callable, Iterable, Mapping
from posixpath import dirname, join, normpath
from xml.parsers import expat

import msgspec

SUFFIX = ".sqlproj"
BEFORE, AFTER = -1, 1
ITEMS = {"PreDeploy": BEFORE, "PostDeploy": AFTER}
VARIABLE, DEFAULT = "SqlCmdVariable", "DefaultValue"

Read = Callable[[str], str | None]


class DatabaseProject(msgspec.Struct, frozen=True):
    """What a project says: its deployment scripts in order, and the values of variables where nobody gives others."""

    deployed: tuple[tuple[str, int], ...] = ()
    variables: Mapping[str, str] = {}


def positions(paths: Iterable[str], read: Read) -> dict[str, int]:
    """Say which files of the projects among some paths run first or last; one that cannot be read says nothing."""
    found: dict[str, int] = {}
    for path in sorted(path for path in paths if path.endswith(SUFFIX)):
        for file, position in read_project(read(path) or "").deployed:
            found.setdefault(normpath(join(dirname(path), file)), position)
    return found


def variables_by_folder(paths: Iterable[str], read: Read) -> dict[str, Mapping[str, str]]:
    """Give the variables of the projects among some paths, by the folders that they lie in."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(path for path in paths if path.endswith(SUFFIX)):
        known = found.setdefault(dirname(path), {})
        for name, value in read_project(read(path) or "").variables.items():
            known.setdefault(name, value)
    return dict(found)


class _Reader:
    """The elements of a project as they come."""

    def __init__(self) -> None:
        self.deployed: list[tuple[str, int]] = []
        self.variables: dict[str, str] = {}
        self.variable = ""
        self.texts: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name, included = tag.rpartition(":")[2], attributes.get("Include", "")
        position = ITEMS.get(name)
        if position is not None and included:
            self.deployed.append((included.replace("\\", "/"), position))
        if name == VARIABLE:
            self.variable = included
        self.texts.clear()

    def read(self, text: str) -> None:
        self.texts.append(text)  # a line at a time, and there may be millions

    def end(self, tag: str) -> None:
        name = tag.rpartition(":")[2]
        said = "".join(self.texts).strip() if name == DEFAULT and self.variable else ""
        if said:
            self.variables[self.variable] = said
        if name == VARIABLE:
            self.variable = ""


def read_project(text: str) -> DatabaseProject:
    """Read what a project says; one that is damaged says nothing."""
    reader = _Reader()

    def refuse(*_: object) -> None:
        raise expat.ExpatError("it declares entities")

    parser = expat.ParserCreate(namespace_separator=None)
    parser.StartElementHandler = reader.start
    parser.CharacterDataHandler = reader.read
    parser.EndElementHandler = reader.end
    parser.EntityDeclHandler = refuse  # one that stands for others may grow without end
    try:
        parser.Parse(text.lstrip("\ufeff").encode(), True)  # noqa: FBT003
    except (expat.ExpatError, ValueError, LookupError):  # the latter for an encoding that Python does not know
        return DatabaseProject()
    return DatabaseProject(tuple(reader.deployed), reader.variables)
