"""What every template of a dbt project can name beside macros: references, settings, stand-ins for the database."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import yaml

from lineage_pipeline.discover.dbt.answers import Table
from lineage_pipeline.discover.dbt.graph import Graph
from lineage_pipeline.discover.dbt.macros import Partly, Return
from lineage_pipeline.discover.dbt.modules import STARTED, safe_modules
from lineage_pipeline.discover.dbt.relations import Relation
from lineage_pipeline.discover.dbt.standins import AdapterStandIn, ColumnStandIn, Complaints, RelationStandIn
from lineage_pipeline.discover.yamls import load_yaml

if TYPE_CHECKING:
    from lineage_pipeline.discover.dbt.session import Session


UNSAID = object()


def context_of(session: "Session", package: str) -> dict[str, Any]:
    """Give the names that code of a package sees."""
    names = _references(session, package) | _database(session, package) | _plain(session)
    names["builtins"] = {key: names[key] for key in ("ref", "source", "config", "var")}
    macros = session.macros.visible(package)
    for own in ("run_query", "statement", "is_incremental"):  # what asks the database is answered here
        macros.pop(own, None)
    everything = {**names, **macros}
    everything["context"] = everything
    return everything


class Config:
    """`config(…)` sets, and `config.get(…)` asks for, what is set for the model that is rendered."""

    def __init__(self, session: "Session") -> None:
        """Take the session."""
        self._session = session

    def __call__(self, *given: Mapping[str, Any], **named: Any) -> str:
        """Set and print nothing."""
        self._session.note_config({**(given[0] if given else {}), **named})
        return ""

    def get(self, name: str, default: Any = None, **_named: Any) -> Any:
        """Give a setting of the model."""
        found = self._session.current_config().get(name)
        return default if found is None else found

    require = get
    meta_get = get

    def _nothing(self, *_arguments: Any, **_named: Any) -> str:
        return ""

    set = persist_relation_docs = persist_column_docs = _nothing


class Current(Mapping[str, Any]):
    """A value of the model that is rendered now, whichever that is: macros keep it while models come and go."""

    def __init__(self, value: Any) -> None:
        """Take what gives the value."""
        self._value = value

    def __getattr__(self, name: str) -> Any:
        """Give a part of the value."""
        if name.startswith("__"):
            raise AttributeError(name)
        value = self._value()
        return value[name] if isinstance(value, Mapping) and name in value else getattr(value, name)

    def __getitem__(self, key: Any) -> Any:
        """Give a part of the value."""
        return self._value()[key]

    def __iter__(self) -> Iterator[str]:
        """Name the parts of the value."""
        return iter(self._value())

    def __len__(self) -> int:
        """Count the parts of the value."""
        return len(self._value())

    def __str__(self) -> str:
        """Print the value."""
        return str(self._value())

    def __eq__(self, other: object) -> bool:
        """Be equal as the value is."""
        return str(self) == str(other)

    def __hash__(self) -> int:
        """Be one thing."""
        return hash(str(self))


class Variables:
    """`var(…)`: a variable, or its default; one that holds a template is rendered."""

    def __init__(self, session: "Session", package: str) -> None:
        """Take the variables that a package sees."""
        self._session, self._package = session, package

    def __call__(self, name: str, default: Any = UNSAID) -> Any:
        """Give the value."""
        known = self._session.variables(self._package)
        if name not in known:
            return self._session.missing(f"var.{name}") if default is UNSAID else default
        value = known[name]
        return self._session.text(value, self._package) if isinstance(value, str) and "{{" in value else value

    def has_var(self, name: str) -> bool:
        """Say whether it is set."""
        return name in self._session.variables(self._package)


def _references(session: "Session", package: str) -> dict[str, Any]:
    config = Config(session)
    profile = str(session.project.document.get("profile") or session.project.name)

    def ref(*names: str, **named: Any) -> Relation:
        version = named.get("version", named.get("v"))
        return session.reference(names[-1], names[0] if len(names) > 1 else "", "" if version is None else str(version))

    def source(name: str, table: str, database: str = "", **_named: Any) -> Relation:
        found = session.source(str(name), str(table))
        return found.incorporate(database=database) if database else found

    def env_var(name: str, default: Any = None) -> Any:
        given = session.wanted.variables.get(name, default)
        return session.missing(f"env_var.{name}") if given is None else given

    return {
        "ref": ref,
        "source": source,
        "config": config,
        "var": Variables(session, package),
        "env_var": env_var,
        "this": Current(session.this),
        "model": Current(session.model),
        "schema": Current(lambda: session.this().schema),
        "database": Current(lambda: session.this().database),
        "target": Partly(session.target.as_mapping(profile)),
        "is_incremental": lambda: session.incremental,
        "should_full_refresh": lambda: not session.incremental,
    }


def _database(session: "Session", package: str) -> dict[str, Any]:
    def run_query(_sql: Any = "", **_named: Any) -> Table:
        session.asked("run_query")
        return Table()

    def statement(name: Any = None, fetch_result: bool = False, caller: Any = None, **_named: Any) -> str:
        if caller is not None and fetch_result:
            session.asked(f"statement {name}")
        return ""

    return {
        "run_query": run_query,
        "dbt_run_query": run_query,
        "statement": statement,
        "load_result": lambda _name: Table(),
        "store_result": lambda *_arguments, **_named: "",
        "adapter": AdapterStandIn(session, package),
        "api": {"Relation": RelationStandIn(session), "Column": ColumnStandIn()},
        "execute": True,
        "graph": Graph(session),
        "flags": {"FULL_REFRESH": False, "WHICH": "compile", "STORE_FAILURES": False, "EMPTY": False},
        "schemas": [],
        "selected_resources": [],
    }


def _plain(session: "Session") -> dict[str, Any]:
    def give(value: Any = None) -> None:
        raise Return(value)

    def silent(*_arguments: Any, **_named: Any) -> str:
        return ""

    return {
        "return": give,
        "log": silent,
        "print": silent,
        "debug": silent,
        "doc": silent,
        "exceptions": Complaints(),
        "modules": safe_modules(session.environment),
        "run_started_at": STARTED,
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
        "set": lambda items, default=None: set(session.environment.budget.turns(items)),
        "set_strict": lambda items: set(session.environment.budget.turns(items)),
        "zip": lambda *items, **_named: list(zip(*items, strict=False)),
        "zip_strict": lambda *items: list(zip(*items, strict=False)),
        "local_md5": lambda text: hashlib.md5(str(text).encode(), usedforsecurity=False).hexdigest(),
        "dbt_metadata_envs": {},
        "target_path": "target",
    }
