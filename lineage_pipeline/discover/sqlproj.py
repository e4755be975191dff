"""Database projects (`.sqlproj`): which scripts run before all others, and which after them.

What a project builds has no order of its own; its deployment scripts have.
"""

from collections.abc import Callable, Iterable
from posixpath import dirname, join, normpath
from xml.parsers import expat

SUFFIX = ".sqlproj"
BEFORE, AFTER = -1, 1
ITEMS = {"PreDeploy": BEFORE, "PostDeploy": AFTER}


def positions(paths: Iterable[str], read: Callable[[str], str | None]) -> dict[str, int]:
    """Say which files of the projects among some paths run first or last; one that cannot be read says nothing."""
    found: dict[str, int] = {}
    for path in sorted(path for path in paths if path.endswith(SUFFIX)):
        for file, position in _deployed(read(path) or ""):
            found.setdefault(normpath(join(dirname(path), file)), position)
    return found


def _deployed(text: str) -> list[tuple[str, int]]:
    """List the deployment scripts that a project names."""
    found: list[tuple[str, int]] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        position, file = ITEMS.get(tag.rpartition(":")[2]), attributes.get("Include", "")
        if position is not None and file:
            found.append((file.replace("\\", "/"), position))

    def refuse(*_: object) -> None:
        raise expat.ExpatError("it declares entities")

    parser = expat.ParserCreate(namespace_separator=None)
    parser.StartElementHandler = start
    parser.EntityDeclHandler = refuse  # one that stands for others may grow without end
    try:
        parser.Parse(text.lstrip("\ufeff").encode(), True)  # noqa: FBT003
    except expat.ExpatError:
        return []
    return found
