"""Plain Jinja: lists are immutable, and only files of the repository are included or imported."""

import posixpath
from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import BaseLoader, Environment, nodes
from jinja2.exceptions import TemplateNotFound

from lineage_pipeline.discover.templating.jinja_sandbox import ImmutableEnvironment
from lineage_pipeline.discover.templating.jinja_source_map import render_jinja
from lineage_pipeline.discover.templating.protocol import Library, Rendered, Template
from lineage_pipeline.discover.templating.undefined import TemplateReport, UndefinedName

JINJA_EXTENSIONS = ("jinja2.ext.do", "jinja2.ext.loopcontrols")


class LibraryLoader(BaseLoader):
    """Loads templates from the files of a repository."""

    def __init__(self, library: Library) -> None:
        """Store the files."""
        self.library = library

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Return a file by its path from the top."""
        path = posixpath.normpath(template.lstrip("/"))
        text = None if path.startswith("..") else self.library.read(path)
        if text is None:
            raise TemplateNotFound(template, f"{template} is not a file of the repository")
        return text, path, lambda: True


class JinjaEnvironment(ImmutableEnvironment):
    """An environment in which a path is relative to the file that names it, or else to the top."""

    def __init__(self, library: Library) -> None:
        """Open the files of a repository."""
        super().__init__(loader=LibraryLoader(library), extensions=JINJA_EXTENSIONS)
        self.library = library
        self.variables: Mapping[str, Any] = {}
        self.globals.update(dbt_fallbacks(self))

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """Parse a template; an included file that does not exist is a finding, and nothing more."""
        tree = super()._parse(source, name, filename)
        for include in tree.find_all(nodes.Include):
            path = include.template.value if isinstance(include.template, nodes.Const) else None
            if (
                not include.ignore_missing
                and isinstance(path, str)
                and not self._has_template(self.join_path(path, name or ""))
            ):
                include.ignore_missing = True
                reason = f"{path} is not a file of the repository"
                self.report.add_at(include.lineno if name == self.report.file else -1, "TEMPLATE_ERROR", reason)
        return tree

    def _has_template(self, template: str) -> bool:
        path = posixpath.normpath(template.lstrip("/"))
        return not path.startswith("..") and self.library.read(path) is not None

    def join_path(self, template: str, parent: str) -> str:
        """Return the path from the top."""
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(parent), template))
        found = not beside.startswith("..") and self.library.read(beside) is not None
        return beside if found else template


def dbt_fallbacks(environment: JinjaEnvironment) -> dict[str, Callable[..., Any]]:
    """Return `ref`, `source` and the like for files outside of dbt projects: distinct unknown names."""

    def ref(*names: Any, **_named: Any) -> str:
        environment.report.undefined("ref")
        return str(names[-1]) if names else ""

    def source(*names: Any) -> str:
        environment.report.undefined("source")
        return ".".join(str(name) for name in names)

    def var(name: str = "", default: Any = None) -> Any:
        given = environment.variables.get(name, default)
        return UndefinedName(environment, f"var.{name}") if given is None else given

    return {
        "ref": ref,
        "source": source,
        "var": var,
        "config": lambda *_arguments, **_named: "",
        "is_incremental": lambda: False,
    }


class JinjaTemplater:
    """Renders Jinja; the environment is created once per repository."""

    def __init__(self) -> None:
        """Start without a repository."""
        self._environment: JinjaEnvironment | None = None

    def render(self, template: Template) -> Rendered:
        """Render one file."""
        environment = self._environment
        if environment is None or environment.library is not template.library:
            environment = self._environment = JinjaEnvironment(template.library)
        environment.variables = template.variables
        return render_jinja(environment, template, template.variables, TemplateReport(template.path))
