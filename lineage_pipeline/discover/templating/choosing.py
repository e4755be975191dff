"""Which templater a file needs: the one that settings name, or else what its text and its place tell."""

import posixpath
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import msgspec

from lineage_pipeline.dialects.evidence import guess_dialect
from lineage_pipeline.dialects.traits import GENERIC, traits_of
from lineage_pipeline.discover.sqlproj import variables_by_folder
from lineage_pipeline.discover.templating.pieces import aligned
from lineage_pipeline.discover.templating.placeholders import STYLES, PlaceholderTemplater
from lineage_pipeline.discover.templating.protocol import (
    ENTRY_POINTS,
    Library,
    Problem,
    Rendered,
    Template,
    Templater,
    Templating,
)
from lineage_pipeline.discover.templating.sqlcmd import INCLUDE, inherited
from lineage_pipeline.discover.templating.sqlmesh import SqlmeshTemplater, is_model
from lineage_pipeline.vocabulary.errors import LineageError

if TYPE_CHECKING:
    from lineage_pipeline.discover.dbt.templater import DbtTemplater

AUTO, NONE, DBT, SQLCMD, DATAFORM = "auto", "none", "dbt", "sqlcmd", "dataform"
VARIABLE = re.compile(r"\$\([A-Za-z_][\w-]*\)")


def _jinja() -> Templater:
    from lineage_pipeline.discover.templating.jinja import JinjaTemplater  # only those who need it pay for it

    return JinjaTemplater()


def _dataform() -> Templater:
    from lineage_pipeline.discover.templating.dataform import DataformTemplater

    return DataformTemplater()


TEMPLATERS: Mapping[str, Callable[[], Templater]] = {
    "jinja": _jinja,
    DATAFORM: _dataform,
    "sqlmesh": SqlmeshTemplater,
    **{name: lambda style=style: PlaceholderTemplater(style) for name, style in STYLES.items()},  # type: ignore[misc]
}
"""Our own templaters by name; those of others are entry points."""


class Templates:
    """The templaters of one repository, each made when it is first needed."""

    def __init__(self, library: Library) -> None:
        """Open the files of the repository."""
        self.library = library
        self._made: dict[str, Templater] = {}
        self._projects: dict[str, bool] = {}
        self._database: dict[str, Mapping[str, str]] | None = None
        self._scripts: dict[str, dict[str, str]] | None = None
        self.dbt: DbtTemplater | None = None

    def render(self, path: str, text: str, dialect: str, wanted: Templating) -> tuple[str, Rendered] | None:
        """Render a file and say by whom, or None where it is no template."""
        place = self.library.locate(path)
        name = wanted.templater
        if name == AUTO:
            name = DBT if self._is_dbt(place, dialect, wanted) else self._detected(place, text, dialect)
        if name == NONE:
            return None
        variables = wanted.variables
        if name == SQLCMD:
            variables = {**self._project_variables(place), **self._inherited(place), **variables}
        template = Template(place, text, variables, dialect, self.library, wanted.limits)
        if name == DBT:
            return name, rendered(self._dbt(dialect, wanted), template)
        return name, rendered(self._templater(name), template)

    def _detected(self, place: str, text: str, dialect: str) -> str:
        """Tell who renders a file; in a database project, `$(x)` is a variable though nobody says the dialect."""
        name = detected(place, text, dialect)
        if name == NONE and not dialect and VARIABLE.search(text) and self._in_database_project(place):
            return SQLCMD
        return name

    def _in_database_project(self, place: str) -> bool:
        return any(not folder or place.startswith(f"{folder}/") for folder in self._databases())

    def _project_variables(self, place: str) -> Mapping[str, str]:
        """Give the values of variables in the database projects around a file, those of the innermost over others."""
        around = [folder for folder in self._databases() if not folder or place.startswith(f"{folder}/")]
        return {
            name.lower(): value
            for folder in sorted(around, key=len)
            for name, value in self._databases()[folder].items()
        }

    def _inherited(self, place: str) -> Mapping[str, str]:
        """Give the variables that the scripts have set which run a file."""
        if self._scripts is None:
            self._scripts = inherited(self.library)
        return self._scripts.get(place, {})

    def _databases(self) -> dict[str, Mapping[str, str]]:
        if self._database is None:
            self._database = variables_by_folder(self.library.paths(), self.library.read)
        return self._database

    def _templater(self, name: str) -> Templater:
        if name not in self._made:
            self._made[name] = make_templater(name)
        return self._made[name]

    def takes(self, path: str, text: str, dialect: str, wanted: Templating) -> bool:
        """Say whether a program makes tables of a project around it, which reads more in it than its texts."""
        if path.endswith(".js") and wanted.templater in (AUTO, DATAFORM) and "(" in text:
            from lineage_pipeline.discover.templating.dataform_names import in_project
            from lineage_pipeline.discover.templating.dataform_syntax import makes_actions

            return in_project(self.library.locate(path), self.library) and makes_actions(text)
        return self.makes_table(path, dialect, wanted)

    def makes_table(self, path: str, dialect: str, wanted: Templating) -> bool:
        """Say whether a file is a program that a dbt project makes a table of."""
        if not path.endswith(".py") or wanted.templater not in (AUTO, DBT):
            return False
        place = self.library.locate(path)
        return self._in_project(posixpath.dirname(place)) and self._dbt(dialect, wanted).is_program(place)

    def _is_dbt(self, place: str, dialect: str, wanted: Templating) -> bool:
        """Say whether a file is one that a dbt project around it reads."""
        return self._in_project(posixpath.dirname(place)) and self._dbt(dialect, wanted).owns(place)

    def _in_project(self, folder: str) -> bool:
        """Say whether a folder lies in a dbt project; each is asked once."""
        if folder not in self._projects:
            here = self.library.read(posixpath.join(folder, "dbt_project.yml")) is not None
            self._projects[folder] = here or (bool(folder) and self._in_project(posixpath.dirname(folder)))
        return self._projects[folder]

    def _dbt(self, dialect: str, wanted: Templating) -> "DbtTemplater":
        if self.dbt is None:
            from lineage_pipeline.discover.dbt.target import Wanted
            from lineage_pipeline.discover.dbt.templater import DbtTemplater

            said = wanted.dbt
            target = Wanted(
                said.target,
                said.adapter,
                said.target_database,
                said.target_schema,
                dialect,
                wanted.variables,
                said.manifest,
                said.trust,
            )
            self.dbt = DbtTemplater(self.library, target)
        return self.dbt


_TAG = re.compile(r"\{%[-+]?\s*[a-z]\w*(?:[\s(]|-?%\})")
"""A tag of Jinja; `{%s:%s}` is none, but a format of some other language."""


def detected(path: str, text: str, dialect: str) -> str:
    """Tell by its name and its text whether a file is a template."""
    if path.endswith((".sqlx", ".js")):  # of programs, only those that `takes` are asked for
        return DATAFORM
    if "MODEL" in text[:2000].upper() and is_model(text):
        return "sqlmesh"
    if "{{" in text or ("{%" in text and _TAG.search(text)):
        return "jinja"
    # In a dialect of batches, `$(x)` can be nothing but a variable of sqlcmd.
    includes = ":r" in text.lower() and INCLUDE.search(text) is not None
    if ("$(" in text or includes) and (traits_of(dialect) or GENERIC).batches:
        return SQLCMD
    if not dialect and (includes or VARIABLE.search(text)):
        guess = guess_dialect(text)
        return SQLCMD if guess is not None and (traits_of(guess.dialect) or GENERIC).batches else NONE
    return NONE


def rendered(templater: Templater, template: Template) -> Rendered:
    """Render one file; a templater that fails costs this file alone, which is read as it is."""
    try:
        result = templater.render(template)
    except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return Rendered(template.text, (0, 0, len(template.text)), (Problem("TEMPLATE_ERROR", {"reason": reason}),))
    if not result.copies:
        return msgspec.structs.replace(result, copies=aligned(template.text, result.text))
    return result


def make_templater(name: str) -> Templater:
    """Make a templater by its name: one of ours, or one that is plugged in."""
    if name in TEMPLATERS:
        return TEMPLATERS[name]()
    found = plugged().get(name)
    if found is None:
        known = ", ".join(sorted({AUTO, NONE, DBT, *TEMPLATERS, *plugged()}))
        raise LineageError(f"there is no templater {name}; known are {known}")
    made = found()
    if not isinstance(made, Templater):
        raise LineageError(f"the plug-in {name} is no templater: it has no method `render`")
    return made


@cache
def plugged() -> Mapping[str, Callable[[], object]]:
    """Give the templaters of others by name; each is imported when it is made."""
    return {point.name: lambda point=point: point.load()() for point in entry_points(group=ENTRY_POINTS)}  # type: ignore[misc]
