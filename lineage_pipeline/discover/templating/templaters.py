"""Chooses the templater of a file: the one in the settings, or else by its text and location."""

import posixpath
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import msgspec

from lineage_pipeline.dialects.generic import GENERIC
from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.discover.dialect_detection import guess_dialect
from lineage_pipeline.discover.dialect_vote import AgreedDialects
from lineage_pipeline.discover.sqlproj import read_project_variables
from lineage_pipeline.discover.templating.pieces import align_texts
from lineage_pipeline.discover.templating.placeholder_styles import PLACEHOLDER_STYLES, PlaceholderTemplater
from lineage_pipeline.discover.templating.protocol import (
    TEMPLATER_ENTRY_POINTS,
    Library,
    Problem,
    Rendered,
    Template,
    Templater,
)
from lineage_pipeline.discover.templating.sqlcmd import INCLUDE_COMMAND, inherit_variables
from lineage_pipeline.discover.templating.sqlmesh import SqlmeshTemplater, is_sqlmesh_model
from lineage_pipeline.files.sql_endings import find_file_kind
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.templating import Templating

if TYPE_CHECKING:
    from lineage_pipeline.discover.dbt.templater import DbtTemplater

AUTO, NONE, DBT, SQLCMD, DATAFORM = "auto", "none", "dbt", "sqlcmd", "dataform"
SQLCMD_REFERENCE = re.compile(r"\$\([A-Za-z_][\w-]*\)")


def _make_jinja() -> Templater:
    from lineage_pipeline.discover.templating.jinja import JinjaTemplater  # only those who need it pay for it

    return JinjaTemplater()


def _make_dataform() -> Templater:
    from lineage_pipeline.discover.templating.dataform import DataformTemplater

    return DataformTemplater()


TEMPLATERS: Mapping[str, Callable[[], Templater]] = {
    "jinja": _make_jinja,
    DATAFORM: _make_dataform,
    "sqlmesh": SqlmeshTemplater,
    **{name: lambda style=style: PlaceholderTemplater(style) for name, style in PLACEHOLDER_STYLES.items()},  # type: ignore[misc]
}
"""Built-in templaters by name; plug-ins are entry points."""


class RepositoryTemplaters:
    """The templaters of one repository, each created when it is first needed."""

    def __init__(self, library: Library, agreed: AgreedDialects | None = None) -> None:
        """Open the files of the repository; `agreed` are dialects of dbt projects."""
        self.library = library
        self.agreed = agreed or {}
        self._made: dict[str, Templater] = {}
        self._projects: dict[str, bool] = {}
        self._database: dict[str, Mapping[str, str]] | None = None
        self._scripts: dict[str, dict[str, str]] | None = None
        self.dbt: DbtTemplater | None = None

    def render(
        self, path: str, text: str, dialect: str, wanted: Templating, configured: str = ""
    ) -> tuple[str, Rendered] | None:
        """Render a file and return the templater's name with the result, or None where it is no template.

        `configured` is the dialect of the settings; a dbt project does not take that of one file's header.
        """
        place = self.library.locate(path)
        name = wanted.templater
        if name == AUTO:
            name = DBT if self._is_dbt_file(place, configured, wanted) else self._detect_templater(place, text, dialect)
        if name == NONE:
            return None
        variables = wanted.variables
        if name == SQLCMD:
            variables = {**self._project_variables(place), **self._inherited_variables(place), **variables}
        template = Template(
            path=place, text=text, variables=variables, dialect=dialect, library=self.library, limits=wanted.limits
        )
        if name == DBT:
            return name, render_template(self._dbt_templater(configured, wanted), template)
        return name, render_template(self._templater(name), template)

    def _detect_templater(self, place: str, text: str, dialect: str) -> str:
        """Return the templater of a file; in a database project `$(x)` is a variable even without a dialect."""
        name = detect_templater(place, text, dialect)
        if name == NONE and not dialect and SQLCMD_REFERENCE.search(text) and self._in_database_project(place):
            return SQLCMD
        return name

    def _in_database_project(self, place: str) -> bool:
        return any(not folder or place.startswith(f"{folder}/") for folder in self._database_projects())

    def _project_variables(self, place: str) -> Mapping[str, str]:
        """Return the variables of the database projects around a file; the innermost one wins."""
        around = [folder for folder in self._database_projects() if not folder or place.startswith(f"{folder}/")]
        return {
            name.lower(): value
            for folder in sorted(around, key=len)
            for name, value in self._database_projects()[folder].items()
        }

    def _inherited_variables(self, place: str) -> Mapping[str, str]:
        """Return the variables set by the scripts that include a file."""
        if self._scripts is None:
            self._scripts = inherit_variables(self.library)
        return self._scripts.get(place, {})

    def _database_projects(self) -> dict[str, Mapping[str, str]]:
        if self._database is None:
            self._database = read_project_variables(self.library.paths(), self.library.read)
        return self._database

    def _templater(self, name: str) -> Templater:
        if name not in self._made:
            self._made[name] = make_templater(name)
        return self._made[name]

    def takes_program(self, path: str, text: str, dialect: str, wanted: Templating) -> bool:
        """Return whether a program defines tables of a Dataform or dbt project around it."""
        if path.endswith(".js") and wanted.templater in (AUTO, DATAFORM) and "(" in text:
            from lineage_pipeline.discover.templating.dataform import defines_actions, is_in_dataform_project

            return is_in_dataform_project(self.library.locate(path), self.library) and defines_actions(text)
        return self.is_python_model(path, dialect, wanted)

    def is_python_model(self, path: str, dialect: str, wanted: Templating) -> bool:
        """Return whether a file is a Python model of a dbt project."""
        if not path.endswith(".py") or wanted.templater not in (AUTO, DBT):
            return False
        place = self.library.locate(path)
        return self._in_dbt_project(posixpath.dirname(place)) and self._dbt_templater(dialect, wanted).is_python_model(
            place
        )

    def _is_dbt_file(self, place: str, dialect: str, wanted: Templating) -> bool:
        """Return whether a dbt project around a file reads it."""
        return self._in_dbt_project(posixpath.dirname(place)) and self._dbt_templater(dialect, wanted).owns(place)

    def _in_dbt_project(self, folder: str) -> bool:
        """Return whether a folder lies in a dbt project, cached per folder."""
        if folder not in self._projects:
            here = self.library.read(posixpath.join(folder, "dbt_project.yml")) is not None
            above = posixpath.dirname(folder)
            self._projects[folder] = here or (above != folder and self._in_dbt_project(above))
        return self._projects[folder]

    def _dbt_templater(self, dialect: str, wanted: Templating) -> "DbtTemplater":
        if self.dbt is None:
            from lineage_pipeline.discover.dbt.target import TargetOptions
            from lineage_pipeline.discover.dbt.templater import DbtTemplater

            said = wanted.dbt
            target = TargetOptions(
                said.target,
                said.adapter,
                said.target_database,
                said.target_schema,
                dialect,
                wanted.variables,
                said.manifest,
                said.trust,
                self.agreed,
            )
            self.dbt = DbtTemplater(self.library, target)
        return self.dbt


_JINJA_TAG = re.compile(r"\{%[-+]?\s*[a-z]\w*(?:[\s(]|-?%\})")
"""A Jinja tag; `{%s:%s}` is none, but a format of some other language."""


def detect_templater(path: str, text: str, dialect: str) -> str:
    """Return the templater of a file by its name and text."""
    if path.lower().endswith(".js"):  # of programs, only those that `takes` are asked for
        return DATAFORM
    kind = find_file_kind(path)
    if kind is not None and kind.templater:
        return kind.templater
    if "MODEL" in text[:2000].upper() and is_sqlmesh_model(text):
        return "sqlmesh"
    if "{{" in text or ("{%" in text and _JINJA_TAG.search(text)):
        return "jinja"
    # In a dialect of batches, `$(x)` can be nothing but a variable of sqlcmd.
    includes = ":r" in text.lower() and INCLUDE_COMMAND.search(text) is not None
    if ("$(" in text or includes) and (find_traits(dialect) or GENERIC).transact_sql:
        return SQLCMD
    if not dialect and (includes or SQLCMD_REFERENCE.search(text)):
        guess = guess_dialect(text)
        return SQLCMD if guess is not None and (find_traits(guess.dialect) or GENERIC).transact_sql else NONE
    return NONE


def render_template(templater: Templater, template: Template) -> Rendered:
    """Render one file; a templater that fails only affects this file, which is read unrendered."""
    try:
        result = templater.render(template)
    except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return Rendered(template.text, (0, 0, len(template.text)), (Problem("TEMPLATE_ERROR", {"reason": reason}),))
    if not result.copies:
        return msgspec.structs.replace(result, copies=align_texts(template.text, result.text))
    return result


def make_templater(name: str) -> Templater:
    """Create a templater by its name: a built-in one, or a plug-in."""
    if name in TEMPLATERS:
        return TEMPLATERS[name]()
    found = find_plugin_templaters().get(name)
    if found is None:
        known = ", ".join(sorted({AUTO, NONE, DBT, *TEMPLATERS, *find_plugin_templaters()}))
        raise LineageError(f"there is no templater {name}; known are {known}")
    made = found()
    if not isinstance(made, Templater):
        raise LineageError(f"the plug-in {name} is no templater: it has no method `render`")
    return made


@cache
def find_plugin_templaters() -> Mapping[str, Callable[[], object]]:
    """Return the plug-in templaters by name; each is imported when it is created."""
    return {point.name: lambda point=point: point.load()() for point in entry_points(group=TEMPLATER_ENTRY_POINTS)}  # type: ignore[misc]
