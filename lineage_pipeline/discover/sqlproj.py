"""SQL Server database projects (`.sqlproj`): pre- and post-deployment scripts, and default values of variables.

The files that a project builds have no order of their own; its deployment scripts have.
"""

from collections.abc import Callable, Iterable, Mapping
from posixpath import dirname, join, normpath
from xml.parsers import expat

import msgspec

SQLPROJ_SUFFIX = ".sqlproj"
BEFORE, AFTER = -1, 1
DEPLOYMENT_ITEMS = {"PreDeploy": BEFORE, "PostDeploy": AFTER}
VARIABLE, DEFAULT = "SqlCmdVariable", "DefaultValue"

ReadText = Callable[[str], str | None]


class DatabaseProject(msgspec.Struct, frozen=True):
    """One project: its deployment scripts in order, and the default values of its variables."""

    deployed: tuple[tuple[str, int], ...] = ()
    variables: Mapping[str, str] = {}


def find_deployment_positions(paths: Iterable[str], read: ReadText) -> dict[str, int]:
    """Return which files of the projects among some paths run first or last; unreadable projects are skipped."""
    found: dict[str, int] = {}
    for path in sorted(path for path in paths if path.endswith(SQLPROJ_SUFFIX)):
        for file, position in parse_sqlproj(read(path) or "").deployed:
            found.setdefault(normpath(join(dirname(path), file)), position)
    return found


def read_project_variables(paths: Iterable[str], read: ReadText) -> dict[str, Mapping[str, str]]:
    """Return the variables of the projects among some paths, by the folder of each project."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(path for path in paths if path.endswith(SQLPROJ_SUFFIX)):
        known = found.setdefault(dirname(path), {})
        for name, value in parse_sqlproj(read(path) or "").variables.items():
            known.setdefault(name, value)
    return dict(found)


class _ProjectParser:
    """Collects deployment scripts and variables from XML events."""

    def __init__(self) -> None:
        self.deployed: list[tuple[str, int]] = []
        self.variables: dict[str, str] = {}
        self.variable = ""
        self.texts: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name, included = tag.rpartition(":")[2], attributes.get("Include", "")
        position = DEPLOYMENT_ITEMS.get(name)
        if position is not None and included:
            self.deployed.append((included.replace("\\", "/"), position))
        if name == VARIABLE:
            self.variable = included
        self.texts.clear()

    def add_text(self, text: str) -> None:
        self.texts.append(text)  # a line at a time, and there may be millions

    def end(self, tag: str) -> None:
        name = tag.rpartition(":")[2]
        said = "".join(self.texts).strip() if name == DEFAULT and self.variable else ""
        if said:
            self.variables[self.variable] = said
        if name == VARIABLE:
            self.variable = ""


def parse_sqlproj(text: str) -> DatabaseProject:
    """Parse a project; damaged XML gives an empty one."""
    reader = _ProjectParser()

    def refuse(*_: object) -> None:
        raise expat.ExpatError("it declares entities")

    parser = expat.ParserCreate(namespace_separator=None)
    parser.StartElementHandler = reader.start
    parser.CharacterDataHandler = reader.add_text
    parser.EndElementHandler = reader.end
    parser.EntityDeclHandler = refuse  # one that stands for others may grow without end
    try:
        parser.Parse(text.lstrip("\ufeff").encode(), True)  # noqa: FBT003
    except (expat.ExpatError, ValueError, LookupError):  # the latter for an encoding that Python does not know
        return DatabaseProject()
    return DatabaseProject(tuple(reader.deployed), reader.variables)
