"""Macros of a project, of its packages and our own: found by name, compiled when they are first called."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from jinja2 import nodes
from jinja2.environment import Template as Compiled
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension
from jinja2.parser import Parser

from lineage_pipeline.discover.dbt.project import Project, all_of
from lineage_pipeline.discover.dbt.values import FILTERS
from lineage_pipeline.discover.templating.protocol import Library
from lineage_pipeline.discover.templating.sandbox import Bounded
from lineage_pipeline.discover.templating.undefined import Absent, Missing

DEFINITION = re.compile(r"\{%-?\+?\s*macro\s+([A-Za-z_]\w*)")
_RULE = re.compile(r"\{%-?[ \t]*#[^%\n]*%\}")
"""`{% ##### %}`: a line between macros, which dbt passes over as it looks for tags with names alone."""

PREFIX = "dbt_macro__"
OWN = ("dbt", "dbt_utils", "dbt_date", "fivetran_utils")
"""The packages whose common macros we know ourselves."""


class Return(Exception):  # noqa: N818 - it is no error: `return` ends a macro and hands a value on
    """What a macro gives back."""

    def __init__(self, value: Any) -> None:
        """Take the value."""
        super().__init__()
        self.value = value


class Blocks(Extension):
    """The blocks of dbt that make no SQL: tests, materialisations, documentation."""

    tags = {"test", "data_test", "materialization", "docs"}

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """Pass over a block."""
        tag = next(parser.stream).value
        while parser.stream.current.type != "block_end":
            next(parser.stream)
        parser.parse_statements((f"name:end{tag}", "name:endtest"), drop_needle=True)
        return []


class Partly(dict[str, Any]):
    """A mapping of which not all is known: what it has not got is reported."""


class DbtEnvironment(Bounded):
    """Jinja as dbt speaks it: lists can be changed, macros are called through their names."""

    def __init__(self) -> None:
        """Start without a repository."""
        super().__init__(extensions=("jinja2.ext.do", "jinja2.ext.loopcontrols", Blocks))
        self.filters.update(FILTERS)

    def _missing(self, hint: str | None = None, obj: Any = None, name: str | None = None, exc: Any = None) -> Missing:
        """Say nothing of what a value that is known has not got, nor of a plain name in a condition: dbt says no."""
        if isinstance(obj, dict | list | tuple | str) and not isinstance(obj, Partly):
            return Absent(self, str(name))
        found = super()._missing(hint, obj, name, exc)
        return Missing(self, found.path, quiet=True) if obj is None and hint is None else found


class Macro:
    """A macro by its name; it is compiled when it is first called."""

    def __init__(self, macros: "Macros", package: str, name: str, path: str) -> None:
        """Remember where it is defined."""
        self.macros, self.package, self.name, self.path = macros, package, name, path

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run it: what it prints, or what it returns."""
        try:
            return self.macros.function(self)(*arguments, **named)
        except Return as done:
            return done.value


class Namespace:
    """The macros of a package, as its name gives them."""

    def __init__(self, found: Callable[[str], Any]) -> None:
        """Take what finds one."""
        self._found = found

    def __getattr__(self, name: str) -> Any:
        """Give a macro by its name."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self._found(name)

    def __getitem__(self, name: str) -> Any:
        """Give a macro by its name."""
        return self._found(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Give a macro, or something else."""
        return self._found(name) or default


class Macros:
    """All macros of a project: by package and name."""

    def __init__(self, project: Project, library: Library, environment: DbtEnvironment) -> None:
        """List the macros of the project, its packages, and our own."""
        self.environment = environment
        self.root = project.name
        self.context: Callable[[str], Mapping[str, Any]] = lambda package: {}
        self.wrong: dict[str, TemplateError] = {}
        self.packages: dict[str, dict[str, Macro]] = {}
        self._texts: dict[str, str] = {}
        self._modules: dict[str, Any] = {}
        for package in OWN:
            for path, text in own_macros(package):
                self._list(package, path, text)
        for each in reversed(list(all_of(project))):
            folders = tuple(f"{folder}/" for folder in each.folders("macro"))
            for path in library.paths():
                if path.startswith(folders) and path.endswith((".sql", ".jinja", ".jinja2")):
                    self._list(each.name, path, library.read(path) or "")

    def _list(self, package: str, path: str, text: str) -> None:
        known = self.packages.setdefault(package, {})
        for name in DEFINITION.findall(text):
            known[name] = Macro(self, package, name, path)
            self._texts[path] = text

    def visible(self, package: str) -> dict[str, Any]:
        """Give the macros that code of a package can name: ours, the project's and its own; the last one counts."""
        found: dict[str, Any] = {}
        for name in ("dbt", self.root, package):
            found |= self.packages.get(name, {})
        spaces = {name: Namespace(self._finder(name)) for name in self.packages}
        return {**spaces, **found} if self.root not in found else {**found, **spaces}

    def _finder(self, package: str) -> Callable[[str], Any]:
        known = self.packages[package]
        return lambda name: known.get(name) or Missing(self.environment, f"{package}.{name}")

    def find(self, name: str, packages: Sequence[str]) -> Macro | None:
        """Give the first macro of that name in some packages."""
        return next((self.packages[one][name] for one in packages if name in self.packages.get(one, {})), None)

    def function(self, macro: Macro) -> Callable[..., Any]:
        """Compile the file of a macro, once."""
        module = self._modules.get(macro.path)
        if module is None:
            module = self._modules[macro.path] = self._compiled(macro)
        if isinstance(module, TemplateError):
            raise module
        found: Callable[..., Any] = getattr(module, PREFIX + macro.name)
        return found

    def _compiled(self, macro: Macro) -> Any:
        try:
            text = _RULE.sub(lambda found: " " * len(found[0]), self._texts[macro.path].replace("\r\n", "\n"))
            tree = self.environment.parse(text, macro.path, macro.path)
            # What stands around macros is never run: examples in a comment may call the macros themselves.
            tree.body = [node for node in tree.body if isinstance(node, nodes.Macro)]
            for definition in tree.find_all(nodes.Macro):
                definition.name = PREFIX + definition.name
            code = self.environment.compile(tree, macro.path, macro.path)
            template = Compiled.from_code(self.environment, code, dict(self.context(macro.package)))
            return template.make_module()
        except TemplateError as error:
            self.wrong[macro.path] = error
            return error


def own_macros(package: str) -> Iterator[tuple[str, str]]:
    """Give the files of macros that we bring."""
    folder = files("lineage_pipeline.discover.dbt") / "include" / package
    for file in sorted(folder.iterdir(), key=lambda item: item.name):
        if file.name.endswith(".sql"):
            yield posixpath.join("lineage", package, file.name), file.read_text(encoding="utf-8")
