"""A dbt project while it is rendered: what its names mean, which model is at hand, and what the templates asked for."""

import posixpath
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jinja2 import nodes as syntax
from jinja2.environment import Template as Compiled
from jinja2.exceptions import TemplateError

from lineage_pipeline.discover.dbt.context import context_of
from lineage_pipeline.discover.dbt.documents import Documents, entries
from lineage_pipeline.discover.dbt.external import located
from lineage_pipeline.discover.dbt.macros import DbtEnvironment, Macros, Return
from lineage_pipeline.discover.dbt.manifest import Known, find_manifest
from lineage_pipeline.discover.dbt.naming import Naming
from lineage_pipeline.discover.dbt.nodes import Node, Nodes, body_of
from lineage_pipeline.discover.dbt.programs import SUFFIX, config_of
from lineage_pipeline.discover.dbt.project import Project, all_of, merged
from lineage_pipeline.discover.dbt.relations import Relation, quoting_of
from lineage_pipeline.discover.dbt.target import Wanted, find_target
from lineage_pipeline.discover.dbt.values import worked_out
from lineage_pipeline.discover.templating.protocol import Library
from lineage_pipeline.discover.templating.undefined import Missing

CTE = "__dbt__cte__"

TRUTHS: Mapping[str, Any] = {"true": True, "True": True, "false": False, "False": False}
"""What dbt takes for yes and no where a variable is given as text: a flag or the environment has nothing else."""

LATE = frozenset({"pre-hook", "post-hook"})
"""Settings that are rendered when a model is made, not when the project is read."""


class Session:
    """All that rendering needs to know of one project."""

    def __init__(self, project: Project, library: Library, documents: Documents, wanted: Wanted) -> None:
        """Read the project."""
        self.project, self.library, self.wanted = project, library, wanted
        self.environment = DbtEnvironment()
        self.documents = documents
        self.target = find_target(project, documents, wanted)
        self.packages = {one.name: one for one in reversed(list(all_of(project)))}
        self.nodes = Nodes(project, library, documents)
        self.macros = Macros(project, library, self.environment)
        self.macros.context = self.context
        self.naming = Naming(self)
        self.manifest = find_manifest(project, library, wanted.manifest, wanted.trust)
        self.incremental = False
        self.current: Node | None = None
        self.noted: dict[str, Any] = {}
        self.ctes: dict[str, Node] = {}
        self.inferred: Callable[[Node], list[tuple[str, str]]] = lambda node: []
        self._contexts: dict[str, Mapping[str, Any]] = {}
        self._configs: dict[tuple[str, str], dict[str, Any]] = {}

    def context(self, package: str) -> Mapping[str, Any]:
        """Give what code of a package can name."""
        if package not in self._contexts:
            self._contexts[package] = {**self.environment.globals, **context_of(self, package)}
        return self._contexts[package]

    def start(self, node: Node | None) -> None:
        """Turn to a node."""
        self.current, self.noted, self.ctes = node, {}, {}

    def text(self, value: str, package: str) -> str:
        """Render a text of the project's settings."""
        try:
            template = self._template(value, f"{package}:settings")
            return template.render(dict(self.context(package)))
        except (TemplateError, Return, TypeError, ValueError):
            return value

    def _template(self, text: str, name: str) -> Compiled:
        code = self.environment.compile(self.environment.parse(text, name, name), name, name)
        return Compiled.from_code(self.environment, code, {})

    def variables(self, package: str) -> Mapping[str, Any]:
        """Give the variables that a package sees: those that are given, those of the project, its own."""
        own = self.packages.get(package, self.project)
        given = {
            name: TRUTHS.get(value, value) if isinstance(value, str) else value
            for name, value in self.wanted.variables.items()
        }
        return {**own.variables(package), **self.project.variables(package), **given}

    def missing(self, name: str) -> Missing:
        """Give what stands for something without a value."""
        return Missing(self.environment, name)

    def asked(self, what: str) -> None:
        """Remember that a template asked the database."""
        self.environment.report.add("DATABASE_NEEDED", "what", what)

    def reference(self, name: str, package: str, version: str) -> Relation:
        """Give what `ref` means; a model that is not there has a name all the same."""
        near = self.current.package if self.current is not None else self.project.name
        node = self.nodes.find(name, package, version, near)
        if node is None:
            unknown = f"{name}_v{version}" if version else name
            return Relation(self.target.adapter, "", "", unknown, "table", self.quoting())
        if self.config(node).get("materialized") == "ephemeral":
            self.ctes[node.path] = node
            return Relation(self.target.adapter, "", "", CTE + self.naming.of(node).identifier, "cte")
        return self.naming.of(node)

    def source(self, name: str, table: str) -> Relation:
        """Give what `source` means."""
        found = self.nodes.sources.get((name, table))
        if found is None:
            return Relation(self.target.adapter, "", name, table, "table", self.quoting())
        quoting = self.quoting(found.source.get("quoting"), found.table.get("quoting"))
        parts = (
            found.part("database"),
            str(found.source.get("schema") or name),
            str(found.table.get("identifier") or table),
        )
        said = [self.text(part, found.package).strip() if "{" in part else part.strip() for part in parts]
        home = said[0] or self.target.database
        return located(Relation(self.target.adapter, home, said[1], said[2], "table", quoting), found, table)

    def quoting(self, *own: Any) -> dict[str, bool]:
        """Give which parts of a name are quoted: as the project says, and over that what a table says itself."""
        return quoting_of(self.project.document.get("quoting"), *own)

    def exposure(self, entry: Mapping[str, Any]) -> Relation:
        """Give what stands for an exposure among the relations."""
        return Relation(self.target.adapter, "", "exposure", str(entry["name"]), "view")

    def known(self, node: Node) -> Known | None:
        """Give what dbt itself says of a node, if it has left it behind."""
        inner = posixpath.relpath(node.path, self.packages[node.package].root or ".")
        return self.manifest.find((node.package, inner, node.name), self.library.read(node.path) or "")

    def this(self) -> Relation:
        """Give the relation of the model at hand."""
        if self.current is None:
            return Relation(self.target.adapter, self.target.database, self.target.schema, "this")
        return self.naming.of(self.current)

    def model(self) -> dict[str, Any]:
        """Describe the model at hand."""
        return self.naming.described(self.current) if self.current is not None else {}

    def current_config(self) -> Mapping[str, Any]:
        """Give what is set for the model at hand."""
        return merged(self.config(self.current), self.noted) if self.current is not None else self.noted

    def note_config(self, given: Mapping[str, Any]) -> None:
        """Take what `config(…)` sets."""
        self.noted = merged(self.noted, {key.replace("_hook", "-hook"): value for key, value in given.items()})

    def config(self, node: Node) -> dict[str, Any]:
        """Give what is set for a node: by the project, beside it, and in its file."""
        key = (node.path, node.name)
        if key not in self._configs:
            self._configs[key] = dict(node.settings)  # a file that asks for its own settings sees these
            given = {
                name: value if name in LATE else worked_out(value, lambda text: self.text(text, node.package))
                for name, value in node.settings.items()
            }
            self._configs[key] = merged(given, self._written_config(node))
        return self._configs[key]

    def _written_config(self, node: Node) -> dict[str, Any]:
        if node.kind == "model" and node.path.endswith(SUFFIX):
            return config_of(self.library.read(node.path) or "", node.settings)
        text = self.library.read(node.path) or "" if node.path.endswith(".sql") else ""
        if "config" not in text:
            return {}
        try:
            tree = self.environment.parse(body_of(text, node), node.path, node.path)
        except TemplateError:
            return {}
        found: dict[str, Any] = {}
        for call in _config_calls(tree, node):
            for key, value in _settings(call):
                found[key.replace("_hook", "-hook")] = self._value(value, node, tree)
        return found

    def _value(self, expression: syntax.Expr, node: Node, file: syntax.Template) -> Any:
        """Work out a setting that is written in a file."""
        try:
            return expression.as_const()
        except (syntax.Impossible, RuntimeError):  # a filter of ours knows no environment before it is compiled
            pass
        place = syntax.Name("lineage_value", "store", lineno=expression.lineno)
        assignment = syntax.Assign(place, expression, lineno=expression.lineno)
        tree = syntax.Template([*_assigned_before(expression, file), assignment], lineno=1)
        tree.set_environment(self.environment)
        before, self.current = self.current, self.current or node
        try:
            code = self.environment.compile(tree, "config", "config")
            module = Compiled.from_code(self.environment, code, dict(self.context(node.package))).make_module()
            return getattr(module, "lineage_value", None)
        except (TemplateError, Return, TypeError, ValueError, KeyError, AttributeError, RecursionError):
            return None
        finally:
            self.current = before

    def dispatched(self, name: str, namespace: str, package: str) -> Any:
        """Find the macro that an adapter has under a name, in the packages that may say so."""
        adapter = self.target.adapter
        order = self._search_order(namespace) or [self.project.name, namespace or package, package, "dbt"]
        for prefix in (adapter.name, *adapter.parents, "default"):
            found = self.macros.find(f"{prefix}__{name}", order)
            if found is not None:
                return found
        return self.macros.find(f"default__{name}", list(self.macros.packages)) or self.missing(name)

    def _search_order(self, namespace: str) -> list[str]:
        listed = self.project.document.get("dispatch")
        for entry in listed if isinstance(listed, list) else ():
            if isinstance(entry, Mapping) and entry.get("macro_namespace") == namespace:
                return [*map(str, entry.get("search_order") or ()), namespace, "dbt"]
        return []

    def columns(self, relation: Any) -> list[tuple[str, str]]:
        """Give the columns of a relation: those that its query gives, or those that the YAML of the project lists."""
        node = self.naming.node(str(relation))
        return (self.inferred(node) if node is not None else []) or self.naming.columns(str(relation))


def _assigned_before(expression: syntax.Expr, file: syntax.Template) -> list[syntax.Node]:
    """Give what a file assigns, `{% set name = … %}`, before an expression that needs it."""
    whole = syntax.Output([expression])
    needed, found = {name.name for name in whole.find_all(syntax.Name)}, list[syntax.Node]()
    for node in reversed(file.body):
        target = node.target if isinstance(node, syntax.Assign) else None
        if isinstance(target, syntax.Name) and target.name in needed and node.lineno <= expression.lineno:
            needed |= {name.name for name in node.find_all(syntax.Name)}
            found.insert(0, node)
    return found


def _settings(call: syntax.Call) -> Iterator[tuple[str, syntax.Expr]]:
    """Give what a call of `config` sets, by names or by a mapping."""
    for given in call.args:
        for pair in given.items if isinstance(given, syntax.Dict) else ():
            if isinstance(pair.key, syntax.Const):
                yield str(pair.key.value), pair.value
    for setting in call.kwargs:
        yield setting.key, setting.value


def _config_calls(tree: syntax.Template, node: Node) -> Iterator[syntax.Call]:
    """Give the calls of `config` at the level of the file itself."""
    for call in tree.find_all(syntax.Call):
        if isinstance(call.node, syntax.Name) and call.node.name == "config":
            yield call


__all__ = ["CTE", "Session", "entries"]
