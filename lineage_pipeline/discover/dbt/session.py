"""The rendering session of a dbt project: name resolution, the model being rendered, and what its templates asked."""

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from jinja2 import nodes as syntax
from jinja2.environment import Template as Compiled
from jinja2.exceptions import TemplateError

from lineage_pipeline.discover.dbt.context import build_context
from lineage_pipeline.discover.dbt.macros import DbtEnvironment, MacroRegistry, MacroReturn
from lineage_pipeline.discover.dbt.manifest import ManifestNode, find_manifest
from lineage_pipeline.discover.dbt.node_names import NodeNaming, apply_external_location
from lineage_pipeline.discover.dbt.nodes import DbtNode, DbtNodes, node_body
from lineage_pipeline.discover.dbt.project import DbtProject, merge_settings, with_packages
from lineage_pipeline.discover.dbt.python_models import PYTHON_SUFFIX, python_model_config
from lineage_pipeline.discover.dbt.relation import DbtRelation, merge_quoting
from lineage_pipeline.discover.dbt.target import TargetOptions, find_target
from lineage_pipeline.discover.dbt.yaml_files import YamlFiles
from lineage_pipeline.discover.templating.protocol import Library
from lineage_pipeline.discover.templating.undefined import UndefinedName

CTE_PREFIX = "__dbt__cte__"

BOOLEAN_TEXTS: Mapping[str, Any] = {"true": True, "True": True, "false": False, "False": False}
"""Boolean spellings of variables that are given as text, by a flag or the environment."""

LATE_SETTINGS = frozenset({"pre-hook", "post-hook"})
"""Settings that are rendered when a model is built, not when the project is read."""


class DbtSession:
    """Everything that rendering needs to know about one project."""

    def __init__(self, project: DbtProject, library: Library, documents: YamlFiles, wanted: TargetOptions) -> None:
        """Read the project."""
        self.project, self.library, self.wanted = project, library, wanted
        self.environment = DbtEnvironment()
        self.documents = documents
        self.target = find_target(project, documents, wanted)
        self.packages = {one.name: one for one in reversed(list(with_packages(project)))}
        self.nodes = DbtNodes(project, library, documents)
        self.macros = MacroRegistry(project, library, self.environment)
        self.macros.context = self.context
        self.naming = NodeNaming(self)
        self.manifest = find_manifest(project, library, wanted.manifest, wanted.trust)
        self.incremental = False
        self.current: DbtNode | None = None
        self.noted: dict[str, Any] = {}
        self.ctes: dict[str, DbtNode] = {}
        self.inferred: Callable[[DbtNode], list[tuple[str, str]]] = lambda node: []
        self._contexts: dict[str, Mapping[str, Any]] = {}
        self._configs: dict[tuple[str, str], dict[str, Any]] = {}

    def context(self, package: str) -> Mapping[str, Any]:
        """Return the Jinja context for code of a package."""
        if package not in self._contexts:
            self._contexts[package] = {**self.environment.globals, **build_context(self, package)}
        return self._contexts[package]

    def start_node(self, node: DbtNode | None) -> None:
        """Make a node the one being rendered."""
        self.current, self.noted, self.ctes = node, {}, {}

    def render_text(self, value: str, package: str) -> str:
        """Render a text of the project's settings."""
        try:
            template = self._compile_template(value, f"{package}:settings")
            return template.render(dict(self.context(package)))
        except (TemplateError, MacroReturn, TypeError, ValueError):
            return value

    def _compile_template(self, text: str, name: str) -> Compiled:
        code = self.environment.compile(self.environment.parse(text, name, name), name, name)
        return Compiled.from_code(self.environment, code, {})

    def variables(self, package: str) -> Mapping[str, Any]:
        """Return the variables that a package sees: given ones, those of the project, its own."""
        own = self.packages.get(package, self.project)
        given = {
            name: BOOLEAN_TEXTS.get(value, value) if isinstance(value, str) else value
            for name, value in self.wanted.variables.items()
        }
        return {**own.variables(package), **self.project.variables(package), **given}

    def missing_value(self, name: str) -> UndefinedName:
        """Return the placeholder for something without a value."""
        return UndefinedName(self.environment, name)

    def note_database_query(self, what: str) -> None:
        """Record that a template queried the database."""
        self.environment.report.add("DATABASE_NEEDED", "what", what)

    def resolve_ref(self, name: str, package: str, version: str) -> DbtRelation:
        """Resolve `ref`; a model that does not exist still gets a name."""
        near = self.current.package if self.current is not None else self.project.name
        node = self.nodes.find(name, package, version, near)
        if node is None:
            unknown = f"{name}_v{version}" if version else name
            return DbtRelation(
                adapter=self.target.adapter,
                database="",
                schema="",
                identifier=unknown,
                kind="table",
                quoting=self.quoting(),
            )
        if self.node_config(node).get("materialized") == "ephemeral":
            self.ctes[node.path] = node
            return DbtRelation(
                adapter=self.target.adapter,
                database="",
                schema="",
                identifier=CTE_PREFIX + self.naming.relation_of(node).identifier,
                kind="cte",
            )
        return self.naming.relation_of(node)

    def resolve_source(self, name: str, table: str) -> DbtRelation:
        """Resolve `source`."""
        found = self.nodes.sources.get((name, table))
        if found is None:
            return DbtRelation(
                adapter=self.target.adapter,
                database="",
                schema=name,
                identifier=table,
                kind="table",
                quoting=self.quoting(),
            )
        quoting = self.quoting(found.source.get("quoting"), found.table.get("quoting"))
        parts = (
            found.part("database"),
            str(found.source.get("schema") or name),
            str(found.table.get("identifier") or table),
        )
        said = [self.render_text(part, found.package).strip() if "{" in part else part.strip() for part in parts]
        home = said[0] or self.target.database
        return apply_external_location(
            DbtRelation(
                adapter=self.target.adapter,
                database=home,
                schema=said[1],
                identifier=said[2],
                kind="table",
                quoting=quoting,
            ),
            found,
            table,
        )

    def quoting(self, *own: Any) -> dict[str, bool]:
        """Return which parts of a name are quoted: by the project, overridden by a table's own setting."""
        return merge_quoting(self.project.document.get("quoting"), *own)

    def exposure_relation(self, entry: Mapping[str, Any]) -> DbtRelation:
        """Return the relation of an exposure."""
        return DbtRelation(
            adapter=self.target.adapter, database="", schema="exposure", identifier=str(entry["name"]), kind="view"
        )

    def manifest_node(self, node: DbtNode) -> ManifestNode | None:
        """Return the manifest entry of a node, if there is one."""
        inner = posixpath.relpath(node.path, self.packages[node.package].root or ".")
        return self.manifest.find((node.package, inner, node.name), self.library.read(node.path) or "")

    def this(self) -> DbtRelation:
        """Return the relation of the model being rendered."""
        if self.current is None:
            return DbtRelation(self.target.adapter, self.target.database, self.target.schema, "this")
        return self.naming.relation_of(self.current)

    def model(self) -> dict[str, Any]:
        """Describe the model being rendered."""
        return self.naming.describe_node(self.current) if self.current is not None else {}

    def current_config(self) -> Mapping[str, Any]:
        """Return the settings of the model being rendered."""
        return merge_settings(self.node_config(self.current), self.noted) if self.current is not None else self.noted

    def note_config(self, given: Mapping[str, Any]) -> None:
        """Store the settings that `config(…)` makes."""
        self.noted = merge_settings(self.noted, {key.replace("_hook", "-hook"): value for key, value in given.items()})

    def node_config(self, node: DbtNode) -> dict[str, Any]:
        """Return the settings of a node: from the project, its properties, and its file."""
        key = (node.path, node.name)
        if key not in self._configs:
            self._configs[key] = dict(node.settings)  # a file that asks for its own settings sees these
            given = {
                name: value
                if name in LATE_SETTINGS
                else render_nested(value, lambda text: self.render_text(text, node.package))
                for name, value in node.settings.items()
            }
            self._configs[key] = merge_settings(given, self._file_config(node))
        return self._configs[key]

    def _file_config(self, node: DbtNode) -> dict[str, Any]:
        if node.kind == "model" and node.path.endswith(PYTHON_SUFFIX):
            return python_model_config(self.library.read(node.path) or "", node.settings)
        text = self.library.read(node.path) or "" if node.path.endswith(".sql") else ""
        if "config" not in text:
            return {}
        try:
            tree = self.environment.parse(node_body(text, node), node.path, node.path)
        except TemplateError:
            return {}
        found: dict[str, Any] = {}
        for call in _config_calls(tree, node):
            for key, value in _call_settings(call):
                found[key.replace("_hook", "-hook")] = self._evaluate_setting(value, node, tree)
        return found

    def _evaluate_setting(self, expression: syntax.Expr, node: DbtNode, file: syntax.Template) -> Any:
        """Evaluate a setting that is written in a file."""
        try:
            return expression.as_const()
        except (syntax.Impossible, RuntimeError):  # a filter of ours knows no environment before it is compiled
            pass
        place = syntax.Name("lineage_value", "store", lineno=expression.lineno)
        assignment = syntax.Assign(place, expression, lineno=expression.lineno)
        tree = syntax.Template([*_assignments_before(expression, file), assignment], lineno=1)
        tree.set_environment(self.environment)
        before, self.current = self.current, self.current or node
        try:
            code = self.environment.compile(tree, "config", "config")
            module = Compiled.from_code(self.environment, code, dict(self.context(node.package))).make_module()
            return getattr(module, "lineage_value", None)
        except (TemplateError, MacroReturn, TypeError, ValueError, KeyError, AttributeError, RecursionError):
            return None
        finally:
            self.current = before

    def dispatch_macro(self, name: str, namespaces: Sequence[str], package: str) -> Any:
        """Find the implementation of a macro for the adapter, in the packages of the search order."""
        adapter = self.target.adapter
        listed = self._search_order(namespaces[0]) if len(namespaces) == 1 else []
        order = listed or [self.project.name, *(namespaces or [package]), package, "dbt"]
        for prefix in (adapter.name, *adapter.parents, "default"):
            found = self.macros.find(f"{prefix}__{name}", order)
            if found is not None:
                return found
        return self.macros.find(f"default__{name}", list(self.macros.packages)) or self.missing_value(name)

    def _search_order(self, namespace: str) -> list[str]:
        listed = self.project.document.get("dispatch")
        for entry in listed if isinstance(listed, list) else ():
            if isinstance(entry, Mapping) and entry.get("macro_namespace") == namespace:
                return [*map(str, entry.get("search_order") or ()), namespace, "dbt"]
        return []

    def relation_columns(self, relation: Any) -> list[tuple[str, str]]:
        """Return the columns of a relation: inferred from its query, or listed in YAML."""
        node = self.naming.find_node(str(relation))
        return (self.inferred(node) if node is not None else []) or self.naming.listed_columns(str(relation))


def _assignments_before(expression: syntax.Expr, file: syntax.Template) -> list[syntax.Node]:
    """Return the `{% set name = … %}` assignments of a file that an expression needs."""
    whole = syntax.Output([expression])
    needed, found = {name.name for name in whole.find_all(syntax.Name)}, list[syntax.Node]()
    for node in reversed(file.body):
        target = node.target if isinstance(node, syntax.Assign) else None
        if isinstance(target, syntax.Name) and target.name in needed and node.lineno <= expression.lineno:
            needed |= {name.name for name in node.find_all(syntax.Name)}
            found.insert(0, node)
    return found


def _call_settings(call: syntax.Call) -> Iterator[tuple[str, syntax.Expr]]:
    """Return the settings of a `config` call, by keywords or by a mapping."""
    for given in call.args:
        for pair in given.items if isinstance(given, syntax.Dict) else ():
            if isinstance(pair.key, syntax.Const):
                yield str(pair.key.value), pair.value
    for setting in call.kwargs:
        yield setting.key, setting.value


def _config_calls(tree: syntax.Template, node: DbtNode) -> Iterator[syntax.Call]:
    """Return the calls of `config` at the top level of the file."""
    for call in tree.find_all(syntax.Call):
        if isinstance(call.node, syntax.Name) and call.node.name == "config":
            yield call


def render_nested(value: Any, render: Callable[[str], str]) -> Any:
    """Return a setting with its templates rendered, inside of lists and mappings too."""
    if isinstance(value, str):
        if "{{" not in value and "{%" not in value:
            return value
        said = render(value).strip()
        return {"True": True, "False": False, "None": None}.get(said, said)
    if isinstance(value, Mapping):
        return {key: render_nested(item, render) for key, item in value.items()}
    return [render_nested(item, render) for item in value] if isinstance(value, list | tuple) else value
