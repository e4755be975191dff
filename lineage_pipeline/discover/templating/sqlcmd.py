"""sqlcmd scripts: `:r other.sql` includes another file, with the variables set so far."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lineage_pipeline.discover.templating.protocol import Library

INCLUDE_COMMAND = re.compile(r"^[ \t]*:r[ \t]+(\"[^\"\n]+\"|[^\s\"]+)", re.MULTILINE | re.IGNORECASE)
SETVAR_COMMAND = re.compile(
    r"^[ \t]*:setvar[ \t]+([\w-]+)(?:[ \t]+(\"[^\"\n]*\"|[^\s\"]+))?", re.MULTILINE | re.IGNORECASE
)
SQLCMD_VARIABLE = re.compile(r"\$\(([\w-]+)\)")
MAX_INCLUDE_DEPTH = 10
"""How deep nested includes are followed."""


class IncludedScript(NamedTuple):
    """A file that a script includes: its name as written, the offset, and the variables set so far."""

    name: str
    at: int
    variables: Mapping[str, str]


def find_includes(text: str, variables: Mapping[str, str]) -> Iterator[IncludedScript]:
    """Yield the files that a script includes."""
    known = {name.lower(): value for name, value in variables.items()}
    found = [*SETVAR_COMMAND.finditer(text), *INCLUDE_COMMAND.finditer(text)]
    for match in sorted(found, key=lambda match: match.start()):
        if match.re is SETVAR_COMMAND:
            known[match[1].lower()] = (match[2] or "").strip('"')
        else:
            written = SQLCMD_VARIABLE.sub(lambda name: known.get(name[1].lower(), name[0]), match[1].strip('"'))
            yield IncludedScript(written.replace("\\", "/"), match.start(), dict(known))


def locate_script(name: str, path: str, library: Library) -> str | None:
    """Return the path of a file that a script names: beside it, or from the top."""
    for folder in (posixpath.dirname(path), ""):
        place = posixpath.normpath(posixpath.join(folder, name))
        if not place.startswith(("..", "/")) and library.read(place) is not None:
            return place
    return None


def inherit_variables(library: Library) -> dict[str, dict[str, str]]:
    """Return the variables that files get from the scripts that include them; conflicting values are dropped."""
    texts = {path: library.read(path) or "" for path in library.paths() if path.lower().endswith(".sql")}
    scripts = {path: text for path, text in texts.items() if INCLUDE_COMMAND.search(text)}
    found: dict[str, dict[str, str]] = {}
    unsure: set[tuple[str, str]] = set()

    def follow(path: str, variables: Mapping[str, str], depth: int) -> None:
        for one in find_includes(scripts.get(path, ""), variables) if depth < MAX_INCLUDE_DEPTH else ():
            place = locate_script(one.name, path, library)
            if place is None:
                continue
            known = found.setdefault(place, {})
            unsure.update((place, name) for name, value in one.variables.items() if known.get(name, value) != value)
            known.update(one.variables)
            follow(place, one.variables, depth + 1)

    for path in scripts:
        follow(path, {}, 0)
    return {
        path: {name: value for name, value in known.items() if (path, name) not in unsure}
        for path, known in found.items()
    }
