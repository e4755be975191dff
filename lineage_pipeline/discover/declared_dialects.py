"""Dialects that project files declare: `.sqlproj`, `.sqlfluff`, SQLMesh and Dataform settings, dbt adapters."""

import configparser
import posixpath
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.discover.dialect_detection import PROJECT_DIALECTS, find_path_dialect
from lineage_pipeline.discover.dialect_vote import parent_folders
from lineage_pipeline.discover.templating.dataform import SETTINGS_FILES
from lineage_pipeline.discover.templating.protocol import Library
from lineage_pipeline.discover.templating.sqlmesh import SqlmeshProjects

SQLFLUFF_FILES = (".sqlfluff", "setup.cfg", "tox.ini", "pep8.ini")
"""INI files with a section `[sqlfluff]` (sqlfluff docs: Configuration); `pyproject.toml` has one as well."""

PYTHON_REQUIREMENTS = (
    *("requirements.txt", "requirements.in", "requirements-dev.txt", "dev-requirements.txt", "requirements_dev.txt"),
    *("pyproject.toml", "Pipfile", "setup.py", "setup.cfg", "environment.yml", "environment.yaml", "Dockerfile"),
)
DBT_PACKAGES = ("packages.yml", "dependencies.yml")
ADAPTER_REQUIREMENT = re.compile(r"\bdbt[-_]([a-z]+)\b")
PACKAGE_NAME = re.compile(r"^\s*-?\s*(?:package|git|name)\s*:\s*['\"]?([^'\"\s#]+)", re.MULTILINE)
SHIM_SUFFIX = "_utils"
"""Packages such as `spark_utils` let others run on one more engine; they say nothing of the one that is used."""


class DeclaredDialect(NamedTuple):
    """A dialect and the file or setting that declares it."""

    dialect: str
    evidence: str


class DeclaredDialects:
    """The dialects that project files declare for the folders of a repository."""

    def __init__(self, library: Library, projects: Iterable[str] = ()) -> None:
        """Store the files of the repository, and the paths of its database projects."""
        self.library = library
        self.projects = {posixpath.dirname(path): path for path in sorted(projects, reverse=True)}
        self._sqlmesh = SqlmeshProjects(library)
        self._of_projects: dict[str, DeclaredDialect | None] = {}
        self._of_linters: dict[str, DeclaredDialect | None] = {}

    def of_project(self, path: str) -> DeclaredDialect | None:
        """Return what the innermost project around a file declares: all its SQL is of one dialect."""
        return next(filter(None, map(self._read_project, parent_folders(path))), None)

    def of_linter(self, path: str) -> DeclaredDialect | None:
        """Return what the settings of sqlfluff around a file declare, for most of the files below them."""
        return next(filter(None, map(self.read_linter, parent_folders(path))), None)

    def _read_project(self, folder: str) -> DeclaredDialect | None:
        if folder not in self._of_projects:
            self._of_projects[folder] = next(self._find_projects(folder), None)
        return self._of_projects[folder]

    def _find_projects(self, folder: str) -> Iterator[DeclaredDialect]:
        project = self.projects.get(folder, "")
        dialect = PROJECT_DIALECTS.get(posixpath.splitext(project)[1], "")
        if dialect:
            yield DeclaredDialect(dialect, f"the project {project}")
        sqlmesh = self._sqlmesh.of(f"{folder}/" if folder else "")
        if sqlmesh.root == folder and (dialect := normalize_dialect(sqlmesh.dialect)):
            yield DeclaredDialect(dialect, "SQLMesh settings")
        if any(self._read(folder, name) is not None for name in SETTINGS_FILES):
            yield DeclaredDialect("bigquery", "Dataform settings")

    def read_linter(self, folder: str) -> DeclaredDialect | None:
        """Return what the settings of sqlfluff in a folder declare."""
        if folder not in self._of_linters:
            self._of_linters[folder] = next(self._find_linters(folder), None)
        return self._of_linters[folder]

    def _find_linters(self, folder: str) -> Iterator[DeclaredDialect]:
        for name in SQLFLUFF_FILES:
            if dialect := _parse_sqlfluff(self._read(folder, name) or ""):
                yield DeclaredDialect(dialect, name)
        if dialect := _parse_sqlfluff_toml(self._read(folder, "pyproject.toml") or ""):
            yield DeclaredDialect(dialect, "sqlfluff in pyproject.toml")

    def _read(self, folder: str, name: str) -> str | None:
        return self.library.read(posixpath.join(folder, name))


def normalize_dialect(name: object) -> str:
    """Return our own name of a dialect; empty where it is unknown or generic SQL."""
    traits = find_traits(str(name or "").strip())
    return traits.name if traits is not None else ""


def _parse_sqlfluff(text: str) -> str:
    """Return the dialect in the section `[sqlfluff]` of an INI file."""
    if "sqlfluff" not in text:
        return ""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, comment_prefixes=("#", ";"))
    try:
        parser.read_string(text)
        return normalize_dialect(parser.get("sqlfluff", "dialect", fallback=""))
    except configparser.Error:
        return ""


def _parse_sqlfluff_toml(text: str) -> str:
    if "sqlfluff" not in text:
        return ""
    try:
        found: Any = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return ""
    for key in ("tool", "sqlfluff", "core", "dialect"):
        found = found.get(key) if isinstance(found, Mapping) else None
    return normalize_dialect(found)


def find_required_adapter(library: Library, root: str, adapters: Iterable[str]) -> DeclaredDialect | None:
    """Return the only dbt adapter that the requirements of a project install, or the engine that its packages name."""
    known = frozenset(adapters)
    for folder in parent_folders(posixpath.join(root, "x")):
        found = [(name, library.read(posixpath.join(folder, name)) or "") for name in PYTHON_REQUIREMENTS]
        named = {(word, name) for name, text in found for word in ADAPTER_REQUIREMENT.findall(text) if word in known}
        if len({word for word, _ in named}) == 1:
            word, name = min(named)
            return DeclaredDialect(word, f"dbt-{word} in {name}")
        if named:
            return None
    texts = [(name, library.read(posixpath.join(root, name)) or "") for name in DBT_PACKAGES]
    packages = {(word, name) for name, text in texts for word in PACKAGE_NAME.findall(text)}
    engines = {
        (dialect, name)
        for word, name in packages
        if not word.removesuffix(".git").endswith(SHIM_SUFFIX) and (dialect := find_path_dialect(word)) in known
    }
    if len({dialect for dialect, _ in engines}) != 1:
        return None
    dialect, name = min(engines)
    return DeclaredDialect(dialect, f"packages for {dialect} in {name}")
