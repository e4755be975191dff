"""SQLMesh projects: defaults and variables of the configuration, and the columns of seeds."""

import csv
import io
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import yaml

from lineage_pipeline.discover.templating.protocol import Library
from lineage_pipeline.files.bounded_yaml import load_yaml

CONFIG_FILES = ("config.yaml", "config.yml")
ROOT_MARKER = "$root"
MODELS_FOLDER = "models"

ENV_VARIABLE = re.compile(
    r"\{\{\s*env_var\(\s*['\"]\w+['\"]\s*(?:,\s*['\"]([^'\"]*)['\"]\s*)?\)\s*\}\}|\{\{.*?\}\}|\{%.*?%\}", re.DOTALL
)
"""An environment variable in a configuration: it gets the default."""

MAX_SEED_ROWS = 1000
"""How many rows of a seed are read to infer its types."""


class SqlmeshProject(msgspec.Struct, frozen=True):
    """The folder of a project, and the defaults of its configuration."""

    root: str = ""
    dialect: str = ""
    variables: Mapping[str, Any] = {}

    def default_name(self, path: str) -> str:
        """Return the name of a model without one by its path: `models/<schema>/<name>.sql`."""
        inner = posixpath.relpath(posixpath.splitext(path)[0], self.root or ".").split("/")
        return ".".join(inner[1:] if inner[0] == MODELS_FOLDER and len(inner) > 1 else inner[-1:])


class SqlmeshProjects:
    """The projects of a repository by folder, each read once."""

    def __init__(self, library: Library) -> None:
        """Store the files of the repository."""
        self.library = library
        self._known: dict[str, SqlmeshProject] = {}

    def of(self, path: str) -> SqlmeshProject:
        """Return the innermost project around a file."""
        return self._project_of_folder(posixpath.dirname(path))

    def _project_of_folder(self, folder: str) -> SqlmeshProject:
        if folder not in self._known:
            texts = [self.library.read(posixpath.join(folder, name)) for name in CONFIG_FILES]
            text = next((text for text in texts if text is not None), None)
            found = _parse_config(folder, text) if text is not None else None
            if found is None:
                found = self._project_of_folder(posixpath.dirname(folder)) if folder else SqlmeshProject()
            self._known[folder] = found
        return self._known[folder]


def _parse_config(folder: str, text: str) -> SqlmeshProject | None:
    """Parse a configuration; a file of that name that is not SQLMesh's is ignored."""
    try:
        document = load_yaml(ENV_VARIABLE.sub(lambda match: match[1] or "", text))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if not isinstance(document, Mapping) or not {"model_defaults", "gateways", "variables"} & set(document):
        return None
    defaults, variables = (document.get(key) for key in ("model_defaults", "variables"))
    given = {str(name).lower(): value for name, value in variables.items()} if isinstance(variables, Mapping) else {}
    dialect = str(defaults.get("dialect") or "") if isinstance(defaults, Mapping) else ""
    return SqlmeshProject(folder, dialect.split(",")[0].strip().lower(), given)


def read_seed_columns(library: Library, project: SqlmeshProject, path: str, seed: str) -> Iterator[tuple[str, str]]:
    """Return the columns in the first line of a seed, with types inferred from its values."""
    from lineage_pipeline.discover.dbt.value_types import infer_seed_type  # as dbt tells them

    beside = (
        seed.replace(ROOT_MARKER, project.root or ".")
        if ROOT_MARKER in seed
        else posixpath.join(posixpath.dirname(path), seed)
    )
    place = posixpath.normpath(beside)
    text = library.read(place) if not place.startswith("..") else None
    try:
        rows = [
            row
            for row, _ in zip(
                csv.reader(io.StringIO((text or "").lstrip("\ufeff"))), range(MAX_SEED_ROWS), strict=False
            )
        ]
    except csv.Error:
        return
    for number, name in enumerate(rows[0] if rows else ()):
        kind = infer_seed_type(row[number] for row in rows[1:] if number < len(row))
        yield name, "double" if kind == "numeric" else kind
