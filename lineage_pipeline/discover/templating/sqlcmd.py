"""Scripts that sqlcmd puts together: `:r other.sql` runs another file, with the variables that are set by then."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lineage_pipeline.discover.templating.protocol import Library

INCLUDE = re.compile(r"^[ \t]*:r[ \t]+(\"[^\"\n]+\"|[^\s\"]+)", re.MULTILINE | re.IGNORECASE)
SETTING = re.compile(r"^[ \t]*:setvar[ \t]+([\w-]+)(?:[ \t]+(\"[^\"\n]*\"|[^\s\"]+))?", re.MULTILINE | re.IGNORECASE)
VARIABLE = re.compile(r"\$\(([\w-]+)\)")
DEEPEST = 10
"""How deep scripts that run each other are followed."""


class Included(NamedTuple):
    """A file that a script runs: as it is written, where, and the variables by then."""

    name: str
    at: int
    variables: Mapping[str, str]


def included_in(text: str, variables: Mapping[str, str]) -> Iterator[Included]:
    """Give the files that a script runs."""
    known = {name.lower(): value for name, value in variables.items()}
    found = [*SETTING.finditer(text), *INCLUDE.finditer(text)]
    for match in sorted(found, key=lambda match: match.start()):
        if match.re is SETTING:
            known[match[1].lower()] = (match[2] or "").strip('"')
        else:
            written = VARIABLE.sub(lambda name: known.get(name[1].lower(), name[0]), match[1].strip('"'))
            yield Included(written.replace("\\", "/"), match.start(), dict(known))


def place_of(name: str, path: str, library: Library) -> str | None:
    """Give the path of a file that a script names: beside it, or from the top."""
    for folder in (posixpath.dirname(path), ""):
        place = posixpath.normpath(posixpath.join(folder, name))
        if not place.startswith(("..", "/")) and library.read(place) is not None:
            return place
    return None


def inherited(library: Library) -> dict[str, dict[str, str]]:
    """Give the variables that files get from the scripts that run them; one that two set differently has no value."""
    texts = {path: library.read(path) or "" for path in library.paths() if path.lower().endswith(".sql")}
    scripts = {path: text for path, text in texts.items() if INCLUDE.search(text)}
    found: dict[str, dict[str, str]] = {}
    unsure: set[tuple[str, str]] = set()

    def follow(path: str, variables: Mapping[str, str], depth: int) -> None:
        for one in included_in(scripts.get(path, ""), variables) if depth < DEEPEST else ():
            place = place_of(one.name, path, library)
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
