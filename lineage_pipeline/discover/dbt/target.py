"""The dbt target: database and schema from profiles and settings, and what its adapter decides, such as quoting."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lineage_pipeline.discover.dbt.project import PROJECT_FILE, DbtProject, is_installed_package
from lineage_pipeline.discover.dbt.yaml_files import YamlFiles, as_mapping
from lineage_pipeline.discover.declared_dialects import DeclaredDialects, find_required_adapter
from lineage_pipeline.discover.dialect_detection import find_path_sign, find_signs
from lineage_pipeline.discover.dialect_vote import AGREED_EVIDENCE, AgreedDialects, DialectVote, vote_on_dialect

PROFILE_FOLDERS = ("", "profile", "profiles", ".dbt", "config")
EXAMPLE_PROFILES = (
    *(f"profiles.yml.{word}" for word in ("template", "example", "sample", "dist")),
    *(f"profiles.{word}.yml" for word in ("template", "example", "sample")),
    *(f"{word}{sign}profiles.yml" for word in ("example", "sample", "ci") for sign in "._"),
)
"""File names of profile templates: they give the adapter, and nothing of a real target."""

EXAMPLE_KEY = "example"

PROFILE_EVIDENCE = "dbt profile"

DBT_TREE = "dbt"

VOTING_KINDS = ("model", "snapshot", "analysis")
"""The files of a project that tell its dialect: macros are often written for several adapters."""

ENV_VAR_CALL = re.compile(r"\{\{\s*env_var\(\s*['\"](\w+)['\"]\s*(?:,\s*['\"]([^'\"]*)['\"]\s*)?\)[^}]*\}\}")

DEFAULT_TARGET = "prod"
"""The target name where none is configured: most projects name the real one so."""


class TargetOptions(msgspec.Struct, frozen=True):
    """The target that the settings configure, and the variables given.

    `agreed` are the dialects of projects as another side of a comparison has them.
    """

    target: str = ""
    adapter: str = ""
    database: str = ""
    schema: str = ""
    dialect: str = ""
    variables: Mapping[str, Any] = {}
    manifest: str = ""
    trust: bool = False
    agreed: AgreedDialects = {}


class DbtAdapter(msgspec.Struct, frozen=True):
    """An adapter: its dialect, whether and with what it quotes names, and the adapters it inherits macros from.

    `types` are seed column types where they differ from PostgreSQL's. `schema` is used by a target that names none;
    one that `reads_files` reads sources from external locations.
    """

    name: str = ""
    dialect: str = ""
    quotes: bool = True
    mark: str = '"'
    parents: tuple[str, ...] = ()
    types: Mapping[str, str] = {}
    schema: str = ""
    reads_files: bool = False

    def seed_type(self, kind: str) -> str:
        """Return the column type of a seed by the kind of its values."""
        return self.types.get(kind) or {"numeric": "float8", "varchar": "text"}.get(kind, kind)


class DbtTarget(msgspec.Struct, frozen=True):
    """Where a project would be built; unknown parts are empty.

    `evidence` says where the adapter comes from; `vote` is that of the models where nothing declares it.
    """

    name: str
    adapter: DbtAdapter
    database: str
    schema: str
    values: Mapping[str, Any]
    evidence: str = ""
    vote: DialectVote | None = None

    def as_mapping(self, profile: str) -> dict[str, Any]:
        """Return the target as templates see it."""
        return {
            **self.values,
            "name": self.name,
            "target_name": self.name,
            "profile_name": profile,
            "type": self.adapter.name,
            "database": self.database,
            "dbname": self.database,
            "project": self.database,
            "catalog": self.database,
            "schema": self.schema,
            "dataset": self.schema,
            "threads": 1,
        }


def find_target(project: DbtProject, documents: YamlFiles, wanted: TargetOptions) -> DbtTarget:
    """Return the target that the settings name, or else the default of the profile."""
    name, output = _find_output(project, documents, wanted)
    output = {key: _resolve_env_var(value, wanted.variables) for key, value in output.items()}
    adapter, evidence, vote = _find_adapter(project, documents, wanted, str(output.get("type") or ""))
    database = next((str(output[key]) for key in ("database", "dbname", "project", "catalog") if output.get(key)), "")
    real = bool(output.get("type")) and not output.get(EXAMPLE_KEY)
    if adapter.name == "duckdb" and not database:
        database = posixpath.basename(str(output.get("path") or "")).split(".")[0].replace(":memory:", "") or "memory"
    schema = str(output.get("schema") or output.get("dataset") or (adapter.schema if real else ""))
    safe = {key: value for key, value in output.items() if key not in ("password", "pass", "token", "private_key")}
    return DbtTarget(
        name=name,
        adapter=adapter,
        database=wanted.database or database,
        schema=wanted.schema or schema,
        values=safe,
        evidence=evidence,
        vote=vote,
    )


def _find_adapter(
    project: DbtProject, documents: YamlFiles, wanted: TargetOptions, profile: str
) -> tuple[DbtAdapter, str, DialectVote | None]:
    """Return the adapter of a project with the evidence: as declared, or else as its models vote."""
    if wanted.adapter or wanted.dialect:
        return find_adapter(wanted.adapter or profile, wanted.dialect), "settings", None
    if profile:
        return find_adapter(profile), PROFILE_EVIDENCE, None
    nested = _find_nested_profile(project, documents)
    if nested:
        return find_adapter(nested), PROFILE_EVIDENCE, None
    required = find_required_adapter(documents.library, project.root, ADAPTERS)
    if required is not None:
        return find_adapter(required.dialect), required.evidence, None
    declared = DeclaredDialects(documents.library).of_linter(posixpath.join(project.root, PROJECT_FILE))
    if declared is not None:
        return find_adapter("", declared.dialect), declared.evidence, None
    vote = _vote_on_models(project, documents)
    agreed = wanted.agreed.get((DBT_TREE, project.root), vote.dialect)
    evidence = vote.evidence if agreed == vote.dialect else AGREED_EVIDENCE
    return find_adapter("", agreed), evidence, vote


def _find_nested_profile(project: DbtProject, documents: YamlFiles) -> str:
    """Return the adapter of the profiles inside a project, as for integration tests, if all have the same one."""
    kinds = set()
    for path in _paths_inside(project, documents):
        if posixpath.basename(path) == "profiles.yml":
            for profile in documents.read(path).values():
                outputs = as_mapping(as_mapping(profile).get("outputs")).values()
                kinds |= {str(as_mapping(output).get("type") or "") for output in outputs}
    return kinds.pop() if len(kinds) == 1 else ""


def _paths_inside(project: DbtProject, documents: YamlFiles) -> Iterator[str]:
    inside = f"{project.root}/" if project.root else ""
    return (path for path in documents.library.paths() if path.startswith(inside) and not is_installed_package(path))


def _vote_on_models(project: DbtProject, documents: YamlFiles) -> DialectVote:
    """Return the dialect for which the models and snapshots of a project vote, before they are rendered.

    The settings of the project count as one more file: `+snowflake_warehouse`, or a profile named after an engine.
    """
    library = documents.library
    places = tuple(f"{folder}/" for kind in VOTING_KINDS for folder in project.folders(kind))
    paths = [path for path in _paths_inside(project, documents) if path.endswith(".sql") and path.startswith(places)]
    signs = [find_signs(library.read(path) or "") for path in paths]
    named = find_path_sign(str(project.document.get("profile") or "").replace("/", " "))
    own = find_signs(library.read(posixpath.join(project.root, PROJECT_FILE)) or "")
    vote = vote_on_dialect(project.root, [*signs, (*own, *filter(None, [named]))])
    return msgspec.structs.replace(vote, files=len(signs), tree=DBT_TREE)


def _find_output(project: DbtProject, documents: YamlFiles, wanted: TargetOptions) -> tuple[str, dict[str, Any]]:
    found = _find_profile_output(project, documents, wanted, ("profiles.yml",))
    if found is not None:
        return found
    example = _find_profile_output(project, documents, wanted, EXAMPLE_PROFILES)
    return wanted.target or DEFAULT_TARGET, {
        "type": example[1].get("type"),
        EXAMPLE_KEY: True,
    } if example is not None else {}


def _find_profile_output(
    project: DbtProject, documents: YamlFiles, wanted: TargetOptions, names: Sequence[str]
) -> tuple[str, dict[str, Any]] | None:
    """Return the target of the first profile file with the profile of the project."""
    profile = str(project.document.get("profile") or project.name)
    for place in _profile_paths(project, names):
        found = as_mapping(documents.read(place).get(profile))
        outputs = as_mapping(found.get("outputs"))
        if outputs:
            default = str(_resolve_env_var(found.get("target") or "", wanted.variables))
            name = next((item for item in (wanted.target, default, *outputs) if item in outputs), "")
            return name, as_mapping(outputs[name])
    return None


def _profile_paths(project: DbtProject, names: Sequence[str]) -> Iterator[str]:
    for base in dict.fromkeys((project.root, posixpath.dirname(project.root), "")):
        for place in PROFILE_FOLDERS:
            yield from (posixpath.normpath(posixpath.join(base, place, name)) for name in names)


def _resolve_env_var(value: Any, variables: Mapping[str, Any]) -> Any:
    """Return a profile value with `env_var` calls replaced: by a variable given, or by the default."""
    if not isinstance(value, str) or "{{" not in value:
        return value
    return ENV_VAR_CALL.sub(lambda match: str(variables.get(match.group(1), match.group(2) or "")), value)


STRING_SEED_TYPES = {"varchar": "string", "numeric": "double", "integer": "bigint"}
BIGQUERY_SEED_TYPES = {
    "varchar": "string",
    "numeric": "float64",
    "integer": "int64",
    "boolean": "bool",
    "timestamp": "datetime",
}
SQLSERVER_SEED_TYPES = {
    "varchar": "varchar",
    "numeric": "float",
    "integer": "int",
    "boolean": "bit",
    "timestamp": "datetime",
}
ORACLE_SEED_TYPES = {"numeric": "number", "varchar": "varchar2(4000)"}
DOUBLE_SEED_TYPES = {"numeric": "double"}


ADAPTERS: Mapping[str, DbtAdapter] = {
    adapter.name: adapter
    for adapter in (
        DbtAdapter("athena", "athena", types=DOUBLE_SEED_TYPES),
        DbtAdapter("bigquery", "bigquery", mark="`", types=BIGQUERY_SEED_TYPES),
        DbtAdapter("clickhouse", "clickhouse", mark="`"),
        DbtAdapter("databricks", "databricks", mark="`", parents=("spark",), types=STRING_SEED_TYPES),
        DbtAdapter("doris", "doris", mark="`", types=DOUBLE_SEED_TYPES),
        DbtAdapter("dremio", "dremio"),
        DbtAdapter("duckdb", "duckdb", schema="main", reads_files=True),
        DbtAdapter("exasol", "exasol", quotes=False),
        DbtAdapter("fabric", "fabric", parents=("sqlserver",), types=SQLSERVER_SEED_TYPES),
        DbtAdapter("greenplum", "postgres", parents=("postgres",)),
        DbtAdapter("hive", "hive", quotes=False, mark="`", types=STRING_SEED_TYPES),
        DbtAdapter("impala", "hive", quotes=False, mark="`", types=STRING_SEED_TYPES),
        DbtAdapter("materialize", "materialize", parents=("postgres",)),
        DbtAdapter("mysql", "mysql", quotes=False, mark="`", types=DOUBLE_SEED_TYPES),
        DbtAdapter("oracle", "oracle", quotes=False, types=ORACLE_SEED_TYPES),
        DbtAdapter("postgres", "postgres"),
        DbtAdapter("redshift", "redshift", parents=("postgres",), types={"varchar": "varchar"}),
        DbtAdapter("risingwave", "risingwave", parents=("postgres",)),
        DbtAdapter("singlestore", "singlestore", mark="`", types=DOUBLE_SEED_TYPES),
        DbtAdapter("snowflake", "snowflake", quotes=False),
        DbtAdapter("spark", "spark", quotes=False, mark="`", types=STRING_SEED_TYPES),
        DbtAdapter("sqlite", "sqlite"),
        DbtAdapter("sqlserver", "tsql", types=SQLSERVER_SEED_TYPES),
        DbtAdapter("starrocks", "starrocks", mark="`", types=DOUBLE_SEED_TYPES),
        DbtAdapter("synapse", "tsql", parents=("sqlserver",), types=SQLSERVER_SEED_TYPES),
        DbtAdapter("teradata", "teradata"),
        DbtAdapter("trino", "trino", types=DOUBLE_SEED_TYPES),
        DbtAdapter("vertica", "vertica"),
    )
}
"""The adapters by the `type` of a profile."""


def find_adapter(name: str, dialect: str = "") -> DbtAdapter:
    """Return an adapter by its name, or by its dialect."""
    found = ADAPTERS.get(name)
    if found is None and dialect:
        found = ADAPTERS.get(dialect) or next((one for one in ADAPTERS.values() if one.dialect == dialect), None)
    return found or DbtAdapter(name)


SEED_VALUE_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("integer", re.compile(r"[+-]?\d{1,18}\Z")),
    ("numeric", re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\Z")),
    ("date", re.compile(r"\d{4}-\d{2}-\d{2}\Z")),
    ("timestamp", re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?\Z")),
    ("boolean", re.compile(r"(?:true|false)\Z", re.IGNORECASE)),
)


def infer_seed_type(values: Iterable[str]) -> str:
    """Return the kind of the values of a seed column, ignoring empty ones; a column of only empty ones is a number."""
    said = [value.strip() for value in values if value.strip() and value.strip().lower() != "null"]
    if not said:
        return "integer"
    return next(
        (name for name, pattern in SEED_VALUE_PATTERNS if all(pattern.match(value) for value in said)), "varchar"
    )
