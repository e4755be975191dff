"""Macros of a project, its packages and our own, compiled when they are first called; and dbt's Jinja filters."""

import ast
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

from lineage_pipeline.discover.dbt.project import DbtProject, with_packages
from lineage_pipeline.discover.templating.jinja_sandbox import BoundedEnvironment
from lineage_pipeline.discover.templating.protocol import Library
from lineage_pipeline.discover.templating.undefined import AbsentKey, UndefinedName

MACRO_TAG = re.compile(r"\{%-?\+?\s*macro\s+([A-Za-z_]\w*)")
_RULER_TAG = re.compile(r"\{%-?[ \t]*#[^%\n]*%\}")
"""`{% ##### %}`: a separator line between macros, which dbt skips because it has no tag name."""

MACRO_PREFIX = "dbt_macro__"
BUNDLED_PACKAGES = ("dbt", "dbt_utils", "dbt_date", "fivetran_utils")
"""Packages whose common macros are bundled with us."""


class MacroReturn(Exception):  # noqa: N818 - it is no error: `return` ends a macro and hands a value on
    """Raised by `return(…)` in a macro to carry its value."""

    def __init__(self, value: Any) -> None:
        """Store the value."""
        super().__init__()
        self.value = value


class SkippedBlocks(Extension):
    """Jinja extension that skips dbt blocks without SQL: tests, materializations, documentation."""

    tags = {"test", "data_test", "materialization", "docs"}

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """Skip a block."""
        tag = next(parser.stream).value
        while parser.stream.current.type != "block_end":
            next(parser.stream)
        parser.parse_statements((f"name:end{tag}", "name:endtest"), drop_needle=True)
        return []


class PartialMapping(dict[str, Any]):
    """A mapping that is only partly known: missing keys are reported."""


class DbtEnvironment(BoundedEnvironment):
    """Jinja as dbt uses it: lists are mutable, macros are called by name."""

    def __init__(self) -> None:
        """Start without a repository."""
        super().__init__(extensions=("jinja2.ext.do", "jinja2.ext.loopcontrols", SkippedBlocks))
        self.filters.update(VALUE_FILTERS)

    def _missing(
        self, hint: str | None = None, obj: Any = None, name: str | None = None, exc: Any = None
    ) -> UndefinedName:
        """Return the value of a missing name; keys of known values and plain names in conditions are not reported."""
        if isinstance(obj, dict | list | tuple | str) and not isinstance(obj, PartialMapping):
            return AbsentKey(self, str(name))
        found = super()._missing(hint, obj, name, exc)
        return UndefinedName(self, found.path, quiet=True) if obj is None and hint is None else found


class DbtMacro:
    """A macro by its name; it is compiled when it is first called."""

    def __init__(self, macros: "MacroRegistry", package: str, name: str, path: str) -> None:
        """Store where it is defined."""
        self.macros, self.package, self.name, self.path = macros, package, name, path

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run the macro and return what it prints, or its `return` value."""
        try:
            return self.macros.function(self)(*arguments, **named)
        except MacroReturn as done:
            return done.value


class MacroNamespace:
    """The macros of a package as attributes of its name."""

    def __init__(self, found: Callable[[str], Any]) -> None:
        """Store the function that finds a macro."""
        self._found = found

    def __getattr__(self, name: str) -> Any:
        """Return a macro by its name."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self._found(name)

    def __getitem__(self, name: str) -> Any:
        """Return a macro by its name."""
        return self._found(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a macro, or the default."""
        return self._found(name) or default


class MacroRegistry:
    """All macros of a project by package and name."""

    def __init__(self, project: DbtProject, library: Library, environment: DbtEnvironment) -> None:
        """List the macros of the project, its packages, and the bundled ones."""
        self.environment = environment
        self.root = project.name
        self.context: Callable[[str], Mapping[str, Any]] = lambda package: {}
        self.wrong: dict[str, TemplateError] = {}
        self.packages: dict[str, dict[str, DbtMacro]] = {}
        self._texts: dict[str, str] = {}
        self._modules: dict[str, Any] = {}
        for package in BUNDLED_PACKAGES:
            for path, text in read_bundled_macros(package):
                self._add_macros(package, path, text)
        for each in reversed(list(with_packages(project))):
            folders = tuple(f"{folder}/" for folder in each.folders("macro"))
            for path in library.paths():
                if path.startswith(folders) and path.endswith((".sql", ".jinja", ".jinja2")):
                    self._add_macros(each.name, path, library.read(path) or "")

    def _add_macros(self, package: str, path: str, text: str) -> None:
        known = self.packages.setdefault(package, {})
        for name in MACRO_TAG.findall(text):
            known[name] = DbtMacro(self, package, name, path)
            self._texts[path] = text

    def visible(self, package: str) -> dict[str, Any]:
        """Return the macros that code of a package can name: bundled, the project's and its own; later ones win."""
        found: dict[str, Any] = {}
        for name in ("dbt", self.root, package):
            found |= self.packages.get(name, {})
        spaces = {name: MacroNamespace(self._finder(name)) for name in self.packages}
        return {**spaces, **found} if self.root not in found else {**found, **spaces}

    def _finder(self, package: str) -> Callable[[str], Any]:
        known = self.packages[package]
        return lambda name: known.get(name) or UndefinedName(self.environment, f"{package}.{name}")

    def find(self, name: str, packages: Sequence[str]) -> DbtMacro | None:
        """Return the first macro of that name in some packages."""
        return next((self.packages[one][name] for one in packages if name in self.packages.get(one, {})), None)

    def function(self, macro: DbtMacro) -> Callable[..., Any]:
        """Compile the file of a macro, once."""
        module = self._modules.get(macro.path)
        if module is None:
            module = self._modules[macro.path] = self._compile_macro_file(macro)
        if isinstance(module, TemplateError):
            raise module
        found: Callable[..., Any] = getattr(module, MACRO_PREFIX + macro.name)
        return found

    def _compile_macro_file(self, macro: DbtMacro) -> Any:
        try:
            text = _RULER_TAG.sub(lambda found: " " * len(found[0]), self._texts[macro.path].replace("\r\n", "\n"))
            tree = self.environment.parse(text, macro.path, macro.path)
            # What stands around macros is never run: examples in a comment may call the macros themselves.
            tree.body = [node for node in tree.body if isinstance(node, nodes.Macro)]
            for definition in tree.find_all(nodes.Macro):
                definition.name = MACRO_PREFIX + definition.name
            code = self.environment.compile(tree, macro.path, macro.path)
            template = Compiled.from_code(self.environment, code, dict(self.context(macro.package)))
            return template.make_module()
        except TemplateError as error:
            self.wrong[macro.path] = error
            return error


def read_bundled_macros(package: str) -> Iterator[tuple[str, str]]:
    """Return the macro files that we bundle for a package."""
    folder = files("lineage_pipeline.discover.dbt") / "include" / package
    for file in sorted(folder.iterdir(), key=lambda item: item.name):
        if file.name.endswith(".sql"):
            yield posixpath.join("lineage", package, file.name), file.read_text(encoding="utf-8")


INTEGER_TEXT = re.compile(r"[+-]?\d+")


def as_bool(value: Any) -> Any:
    """dbt's `as_bool`: return the boolean that a text spells; any other value is returned unchanged."""
    said = str(value).strip().lower()
    return {"true": True, "false": False, "1": True, "0": False}.get(said, value)


def as_number(value: Any) -> Any:
    """dbt's `as_number`: return the number that a text spells; any other value is returned unchanged."""
    try:
        return int(str(value)) if INTEGER_TEXT.fullmatch(str(value).strip()) else float(str(value))
    except ValueError:
        return value


def as_native(value: Any) -> Any:
    """dbt's `as_native`: return the Python value that a text spells; any other value is returned unchanged."""
    try:
        return ast.literal_eval(str(value).strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value


VALUE_FILTERS: Mapping[str, Callable[[Any], Any]] = {
    "as_bool": as_bool,
    "as_number": as_number,
    "as_native": as_native,
    "as_text": str,
}
"""dbt's Jinja filters that turn the text of a setting into a value."""
