"""What lies around a SQLMesh model: the defaults and variables of its project, and the seeds that it names."""

import csv
import io
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import yaml

from lineage_pipeline.discover.templating.protocol import Library
from lineage_pipeline.discover.yamls import load_yaml

FILES = ("config.yaml", "config.yml")
ROOT = "$root"
MODELS = "models"

VARIABLE = re.compile(
    r"\{\{\s*env_var\(\s*['\"]\w+['\"]\s*(?:,\s*['\"]([^'\"]*)['\"]\s*)?\)\s*\}\}|\{\{.*?\}\}|\{%.*?%\}", re.DOTALL
)
"""What a configuration asks of the environment: it gets the default."""

ROWS = 1000
"""How many rows of a seed are looked at to tell its types."""


class SqlmeshProject(msgspec.Struct, frozen=True):
    """The folder of a project, and what its configuration says of all models."""

    root: str = ""
    dialect: str = ""
    variables: Mapping[str, Any] = {}

    def name_of(self, path: str) -> str:
        """Give the name that a model has by its place where it says none: `models/<schema>/<name>.sql`."""
        inner = posixpath.relpath(posixpath.splitext(path)[0], self.root or ".").split("/")
        return ".".join(inner[1:] if inner[0] == MODELS and len(inner) > 1 else inner[-1:])


class SqlmeshProjects:
    """The projects of a repository by folder, each read once."""

    def __init__(self, library: Library) -> None:
        """Take the files of the repository."""
        self.library = library
        self._known: dict[str, SqlmeshProject] = {}

    def of(self, path: str) -> SqlmeshProject:
        """Give the innermost project around a file."""
        return self._around(posixpath.dirname(path))

    def _around(self, folder: str) -> SqlmeshProject:
        if folder not in self._known:
            texts = [self.library.read(posixpath.join(folder, name)) for name in FILES]
            text = next((text for text in texts if text is not None), None)
            found = _project(folder, text) if text is not None else None
            if found is None:
                found = self._around(posixpath.dirname(folder)) if folder else SqlmeshProject()
            self._known[folder] = found
        return self._known[folder]


def _project(folder: str, text: str) -> SqlmeshProject | None:
    """Read a configuration; a file of that name that is none of SQLMesh says nothing."""
    try:
        document = load_yaml(VARIABLE.sub(lambda match: match[1] or "", text))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if not isinstance(document, Mapping) or not {"model_defaults", "gateways", "variables"} & set(document):
        return None
    defaults, variables = (document.get(key) for key in ("model_defaults", "variables"))
    given = {str(name).lower(): value for name, value in variables.items()} if isinstance(variables, Mapping) else {}
    dialect = str(defaults.get("dialect") or "") if isinstance(defaults, Mapping) else ""
    return SqlmeshProject(folder, dialect.split(",")[0].strip().lower(), given)


def seed_columns(library: Library, project: SqlmeshProject, path: str, seed: str) -> Iterator[tuple[str, str]]:
    """Give the columns of a seed by its first line, with the types that fit its values."""
    from lineage_pipeline.discover.dbt.values import type_of_values  # as dbt tells them

    beside = seed.replace(ROOT, project.root or ".") if ROOT in seed else posixpath.join(posixpath.dirname(path), seed)
    place = posixpath.normpath(beside)
    text = library.read(place) if not place.startswith("..") else None
    try:
        rows = [
            row for row, _ in zip(csv.reader(io.StringIO((text or "").lstrip("\ufeff"))), range(ROWS), strict=False)
        ]
    except csv.Error:
        return
    for number, name in enumerate(rows[0] if rows else ()):
        kind = type_of_values(row[number] for row in rows[1:] if number < len(row))
        yield name, "double" if kind == "numeric" else kind
