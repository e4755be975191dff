"""The Jinja context of a dbt project beside macros: `ref`, `config`, `var`, `graph`, `modules`, and database stubs."""

import datetime
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import yaml
from jinja2 import Undefined

from lineage_pipeline.discover.dbt.database_stub import (
    AdapterStub,
    ColumnFactory,
    ExceptionsStub,
    RelationFactory,
    UnknownTable,
)
from lineage_pipeline.discover.dbt.macros import MacroReturn, PartialMapping
from lineage_pipeline.discover.dbt.relation import DbtRelation
from lineage_pipeline.discover.dbt.yaml_files import named_entries
from lineage_pipeline.files.bounded_yaml import load_yaml

if TYPE_CHECKING:
    from lineage_pipeline.discover.dbt.session import DbtSession
    from lineage_pipeline.discover.templating.jinja_sandbox import BoundedEnvironment

GRAPH_KEYS = ("nodes", "sources", "exposures", "metrics", "groups", "semantic_models", "saved_queries")


class GraphStub(Mapping[str, Any]):
    """`graph`: nodes and sources of a project by kind, described when a template first asks."""

    def __init__(self, session: "DbtSession") -> None:
        """Store the session."""
        self._session = session
        self._known: dict[str, dict[str, Any]] = {}

    def __getitem__(self, key: str) -> dict[str, Any]:
        """Return the items of a kind by their unique ids."""
        if key not in GRAPH_KEYS:
            raise KeyError(key)
        if key not in self._known:
            self._known[key] = {}  # what asks while things are described finds none
            self._known[key] = dict(self._describe_kind(key))
        return self._known[key]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the kinds."""
        return iter(GRAPH_KEYS)

    def __len__(self) -> int:
        """Return the number of kinds."""
        return len(GRAPH_KEYS)

    def _describe_kind(self, key: str) -> Iterator[tuple[str, dict[str, Any]]]:
        session = self._session
        if key == "nodes":
            for node in [node for found in session.nodes.models.values() for node in found]:
                if session.node_config(node).get("enabled") is not False:
                    session.naming.relation_of(node)
                    described = session.naming.describe_node(node)
                    yield described["unique_id"], described
        elif key == "sources":
            for name, table in session.nodes.sources:
                described = self._describe_source(name, table)
                yield described["unique_id"], described
        elif key == "exposures":
            for entry, path in session.nodes.exposures:
                unique = f"exposure.{session.project.name}.{entry['name']}"
                yield unique, {**entry, "unique_id": unique, "resource_type": "exposure", "original_file_path": path}

    def _describe_source(self, name: str, table: str) -> dict[str, Any]:
        found, relation = self._session.nodes.sources[name, table], self._session.resolve_source(name, table)
        settings = found.settings
        return {
            "name": table,
            "source_name": name,
            "identifier": relation.identifier,
            "schema": relation.schema,
            "database": relation.database,
            "relation_name": str(relation),
            "resource_type": "source",
            "package_name": found.package,
            "original_file_path": found.path,
            "path": found.path,
            "fqn": [found.package, name, table],
            "unique_id": f"source.{found.package}.{name}.{table}",
            "config": {"enabled": True, **settings},
            "tags": settings.get("tags") or [],
            "meta": settings.get("meta") or {},
            "columns": {str(column["name"]): dict(column) for column in named_entries(found.table, "columns")},
            "description": found.table.get("description") or "",
            "source_description": found.source.get("description") or "",
            "loader": found.source.get("loader") or "",
        }


NO_DEFAULT = object()


def build_context(session: "DbtSession", package: str) -> dict[str, Any]:
    """Return the names that code of a package can use."""
    names = _reference_functions(session, package) | _database_functions(session, package) | _plain_functions(session)
    names["builtins"] = {key: names[key] for key in ("ref", "source", "config", "var")}
    macros = session.macros.visible(package)
    for own in ("run_query", "statement", "is_incremental"):  # what asks the database is answered here
        macros.pop(own, None)
    everything = {**names, **macros}
    everything["context"] = everything
    return everything


class ConfigFunction:
    """`config(…)` sets, and `config.get(…)` returns, settings of the model being rendered."""

    def __init__(self, session: "DbtSession") -> None:
        """Store the session."""
        self._session = session

    def __call__(self, *given: Mapping[str, Any], **named: Any) -> str:
        """Store settings and print nothing."""
        self._session.note_config({**(given[0] if given else {}), **named})
        return ""

    def get(self, name: str, default: Any = None, **_named: Any) -> Any:
        """Return a setting of the model."""
        found = self._session.current_config().get(name)
        return default if found is None else found

    require = get
    meta_get = get

    def _nothing(self, *_arguments: Any, **_named: Any) -> str:
        return ""

    set = persist_relation_docs = persist_column_docs = _nothing


class CurrentValue(Mapping[str, Any]):
    """A value of the model being rendered, evaluated on each use: macros keep it while models change."""

    def __init__(self, value: Any) -> None:
        """Store the function that returns the value."""
        self._value = value

    def __getattr__(self, name: str) -> Any:
        """Return a part of the value."""
        if name.startswith("__"):
            raise AttributeError(name)
        value = self._value()
        return value[name] if isinstance(value, Mapping) and name in value else getattr(value, name)

    def __getitem__(self, key: Any) -> Any:
        """Return a part of the value."""
        return self._value()[key]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the parts."""
        return iter(self._value())

    def __len__(self) -> int:
        """Return the number of parts."""
        return len(self._value())

    def __str__(self) -> str:
        """Print the value."""
        return str(self._value())

    def __eq__(self, other: object) -> bool:
        """Compare by the printed value."""
        return str(self) == str(other)

    def __hash__(self) -> int:
        """Hash the printed value."""
        return hash(str(self))


class VarFunction:
    """`var(…)`: a variable, or its default; a value that holds a template is rendered."""

    def __init__(self, session: "DbtSession", package: str) -> None:
        """Store the session and the package whose variables are visible."""
        self._session, self._package = session, package

    def __call__(self, name: str, default: Any = NO_DEFAULT) -> Any:
        """Return the value."""
        known = self._session.variables(self._package)
        if name not in known:
            return self._session.missing_value(f"var.{name}") if default is NO_DEFAULT else default
        value = known[name]
        return self._session.render_text(value, self._package) if isinstance(value, str) and "{{" in value else value

    def has_var(self, name: str) -> bool:
        """Return whether the variable is set."""
        return name in self._session.variables(self._package)


def _reference_functions(session: "DbtSession", package: str) -> dict[str, Any]:
    config = ConfigFunction(session)
    profile = str(session.project.document.get("profile") or session.project.name)

    def ref(*names: str, **named: Any) -> DbtRelation:
        version = named.get("version", named.get("v"))
        return session.resolve_ref(
            names[-1], names[0] if len(names) > 1 else "", "" if version is None else str(version)
        )

    def source(name: str, table: str, database: str = "", **_named: Any) -> DbtRelation:
        found = session.resolve_source(str(name), str(table))
        return found.incorporate(database=database) if database else found

    def env_var(name: str, default: Any = None) -> Any:
        given = session.wanted.variables.get(name, default)
        return session.missing_value(f"env_var.{name}") if given is None else given

    return {
        "ref": ref,
        "source": source,
        "config": config,
        "var": VarFunction(session, package),
        "env_var": env_var,
        "this": CurrentValue(session.this),
        "model": CurrentValue(session.model),
        "schema": CurrentValue(lambda: session.this().schema),
        "database": CurrentValue(lambda: session.this().database),
        "target": PartialMapping(session.target.as_mapping(profile)),
        "is_incremental": lambda: session.incremental,
        "should_full_refresh": lambda: not session.incremental,
    }


def _database_functions(session: "DbtSession", package: str) -> dict[str, Any]:
    def run_query(_sql: Any = "", **_named: Any) -> UnknownTable:
        session.note_database_query("run_query")
        return UnknownTable()

    def statement(name: Any = None, fetch_result: bool = False, caller: Any = None, **_named: Any) -> str:
        if caller is not None and fetch_result:
            session.note_database_query(f"statement {name}")
        return ""

    return {
        "run_query": run_query,
        "dbt_run_query": run_query,
        "statement": statement,
        "load_result": lambda _name: UnknownTable(),
        "store_result": lambda *_arguments, **_named: "",
        "adapter": AdapterStub(session, package),
        "api": {"Relation": RelationFactory(session), "Column": ColumnFactory()},
        "execute": True,
        "graph": GraphStub(session),
        "flags": {"FULL_REFRESH": False, "WHICH": "compile", "STORE_FAILURES": False, "EMPTY": False},
        "schemas": [],
        "selected_resources": [],
    }


def _plain_functions(session: "DbtSession") -> dict[str, Any]:
    def give(value: Any = None) -> None:
        raise MacroReturn(value)

    def silent(*_arguments: Any, **_named: Any) -> str:
        return ""

    return {
        "return": give,
        "log": silent,
        "print": silent,
        "debug": silent,
        "doc": silent,
        "exceptions": ExceptionsStub(),
        "modules": build_template_modules(session.environment),
        "run_started_at": FIXED_NOW,
        "invocation_id": "0",
        "dbt_version": "1.11.0",
        "project_name": session.project.name,
        "thread_id": "0",
        "pre_hooks": [],
        "post_hooks": [],
        "sql": "",
        "tojson": lambda value, default=None, sort_keys=False: json.dumps(value, sort_keys=sort_keys, default=str),
        "fromjson": lambda text, default=None: json.loads(text),
        "toyaml": lambda value, default=None, sort_keys=False: yaml.safe_dump(value, sort_keys=sort_keys),
        "fromyaml": lambda text, default=None: load_yaml(str(text)),
        "set": lambda items, default=None: set(session.environment.budget.count_iterations(items)),
        "set_strict": lambda items: set(session.environment.budget.count_iterations(items)),
        "zip": lambda *items, **_named: list(zip(*items, strict=False)),
        "zip_strict": lambda *items: list(zip(*items, strict=False)),
        "local_md5": lambda text: hashlib.md5(str(text).encode(), usedforsecurity=False).hexdigest(),
        "dbt_metadata_envs": {},
        "target_path": "target",
    }


FIXED_NOW = datetime.datetime(2000, 6, 15, tzinfo=datetime.UTC)
"""The fixed current time, so that a template always renders the same.

It is in the middle of a month and a year, so that templates that count days or months from it work.
"""


class _FixedDateTime(datetime.datetime):
    """`datetime` whose current time is fixed."""

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        """Return the fixed time."""
        return FIXED_NOW if tz is not None else FIXED_NOW.replace(tzinfo=None)

    @classmethod
    def utcnow(cls) -> Any:
        """Return the fixed time."""
        return FIXED_NOW.replace(tzinfo=None)

    @classmethod
    def today(cls) -> Any:
        """Return the fixed time."""
        return FIXED_NOW.replace(tzinfo=None)


class _FixedDate(datetime.date):
    """`date` whose current day is fixed."""

    @classmethod
    def today(cls) -> Any:
        """Return the fixed day."""
        return FIXED_NOW.date()


def build_template_modules(environment: "BoundedEnvironment") -> dict[str, Any]:
    """Return what templates may use of the modules that dbt provides."""

    def bound_iterations(plain: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments, **named: environment.budget.count_iterations(plain(*arguments, **named))

    endless = ("chain", "product", "permutations", "combinations", "combinations_with_replacement", "zip_longest")
    dates = {"datetime": _FixedDateTime, "date": _FixedDate, "timedelta": datetime.timedelta, "time": datetime.time}
    zones = {"utc": datetime.UTC, "UTC": datetime.UTC, "timezone": lambda _name: datetime.UTC}
    return {
        "datetime": SimpleNamespace(**dates, timezone=datetime.timezone),
        "pytz": SimpleNamespace(**zones),
        "re": SimpleNamespace(
            **{
                name: _bounded_regex_function(name)
                for name in ("match", "search", "fullmatch", "findall", "sub", "split")
            },
            IGNORECASE=re.IGNORECASE,
            MULTILINE=re.MULTILINE,
            DOTALL=re.DOTALL,
            compile=lambda pattern, flags=0: SimpleNamespace(
                **{
                    name: lambda *rest, name=name: _bounded_regex_function(name)(pattern, *rest, flags=flags)
                    for name in ("match", "search", "fullmatch", "findall", "sub", "split")
                }
            ),
        ),
        "itertools": SimpleNamespace(**{name: bound_iterations(getattr(itertools, name)) for name in endless}),
    }


NESTED_QUANTIFIER = re.compile(r"\([^()]*[+*}][^()]*\)\s*[+*{]")
QUANTIFIER = re.compile(r"(?<!\\)[+*{]")


def _bounded_regex_function(name: str) -> Callable[..., Any]:
    """Return a function of `re` that refuses patterns and texts with exponential run time."""
    plain: Callable[..., Any] = getattr(re, name)

    def matching(pattern: str, *given: Any, **named: Any) -> Any:
        arguments = [str(item) if isinstance(item, Undefined) else item for item in given]
        repeated = len(QUANTIFIER.findall(str(pattern)))
        longest = max((len(item) for item in arguments if isinstance(item, str)), default=0)
        if NESTED_QUANTIFIER.search(str(pattern)) or longest > (10_000, 10_000, 2_000, 500, 100)[min(repeated, 4)]:
            raise ValueError("a pattern like this is not searched for in a text of this size")
        return plain(pattern, *arguments, **named)

    return matching
