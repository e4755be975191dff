"""The tables of the settings file, each a frozen model that rejects unknown keys; and how layers are merged."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from lineage_pipeline import __version__
from lineage_pipeline.files.bounded_files import SETTINGS, TOO_DEEP, parse_bounded_toml, read_bounded_file
from lineage_pipeline.files.path_patterns import matches_path
from lineage_pipeline.files.sql_endings import list_read_endings
from lineage_pipeline.model.alerting import AlertSeverity, RetryPolicy, SinkOptions
from lineage_pipeline.model.analysis import PROGRAM_ENDINGS, Label, Limits, Options
from lineage_pipeline.model.enums import Severity
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.layers import PRIVATE_LAYERS, PUBLIC_LAYERS, TEST_FOLDERS
from lineage_pipeline.model.templating import DbtOptions, RenderLimits, Templating

SettingsLayer = dict[str, Any]

DEFAULT_INCLUDE = tuple(f"*{ending}" for ending in (*list_read_endings(), *PROGRAM_ENDINGS))
"""Patterns of the files that are read if the settings have none; what else is read depends on the content."""

DEFAULTS = "defaults"
"""The word in `include` and `exclude` that stands for the default patterns."""

DEFAULT_EXCLUDE = (".venv/**", "**/node_modules/**", "**/target/**", ".lineage/**", "*.min.js", "*.d.ts")

COMMA_LISTS = frozenset(
    {
        *("search_path", "schemas", "query_names", "include", "exclude"),
        *("public", "private", "public_layers", "private_layers", "tests", "sensitive"),
    }
)  # with commas

READING_TABLES = ("analysis", "systems", "include", "exclude", "labels", "templating", "dbt")
"""Tables of the settings that affect how files are read."""

REPOSITORY_TABLES = (*READING_TABLES, "manifest", "diff", "checks")
"""Tables that a repository's own settings file may set: how it is read and judged."""


def merge_layers(weaker: SettingsLayer, stronger: Mapping[str, Any]) -> SettingsLayer:
    """Merge a stronger layer over a weaker one, table by table; None means not given."""
    merged = dict(weaker)
    for key, value in stronger.items():
        if isinstance(value, Mapping):
            merged[key] = merge_layers(merged[key] if isinstance(merged.get(key), dict) else {}, value)
        elif value is not None:
            merged[key] = value
    return merged


def drop_overridden(layer: SettingsLayer, stronger: Mapping[str, Any]) -> SettingsLayer:
    """Drop the keys of `[[systems]]` that a stronger layer sets for all: `--dialect` must override every row."""
    said = {key for key, value in stronger.get("analysis", {}).items() if value is not None}
    rows = [row for row in layer.get("systems", ()) if isinstance(row, dict)]
    systems = [{key: value for key, value in row.items() if key not in said} for row in rows]
    return layer | {"systems": systems} if said and systems else layer


class SettingsSection(BaseModel):
    """A table of the settings file: frozen, and without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class LimitSettings(SettingsSection):
    """What a source may cost before its analysis is cut short."""

    bytes: int = Field(Limits().bytes, gt=0)
    tokens: int = Field(Limits().tokens, gt=0)
    depth: int = Field(
        Limits().depth, gt=0, le=1000
    )  # beyond that, the parser's stack ends and takes the process along
    seconds: float = Field(Limits().seconds, gt=0)
    memory: int = Field(Limits().memory, ge=50_000_000)
    edges: int = Field(Limits().edges, gt=0)


QUERY_NAME_FIELD = re.compile(r"\{([^{}]*)\}")
QUERY_NAME_FIELDS = ("catalog", "schema", "name")


def _check_query_names(value: object) -> object:
    """Refuse a pattern for the names of queries that does not say where the name is; one pattern may stand alone."""
    patterns = [value] if isinstance(value, str) else value
    for pattern in patterns if isinstance(patterns, list | tuple) else ():
        fields = QUERY_NAME_FIELD.findall(str(pattern))
        strange = [field for field in fields if field not in QUERY_NAME_FIELDS]
        if strange or fields.count("name") != 1 or len(set(fields)) < len(fields):
            said = ", ".join(f"{{{field}}}" for field in QUERY_NAME_FIELDS)
            raise ValueError(f"{pattern}: a pattern has {{name}} once, and of {said} each once at most")
    return patterns


class AnalysisSettings(SettingsSection):
    """How SQL is read where no system overrides it."""

    dialect: str = ""
    default_catalog: str = ""
    default_schema: str = ""
    search_path: tuple[str, ...] = ()
    case_sensitivity: Literal["dialect", "lower", "upper", "exact"] = "dialect"
    allow_implied: bool = True
    schemas: tuple[str, ...] = ()
    query_names: tuple[str, ...] = ()
    limits: LimitSettings = LimitSettings()

    _are_query_names = field_validator("query_names", mode="before")(_check_query_names)


class SystemSettings(SettingsSection):
    """One warehouse: the paths that belong to it, and its differences from `[analysis]`."""

    name: str = Field(min_length=1)
    paths: tuple[str, ...] = ("**",)
    dialect: str | None = None
    default_catalog: str | None = None
    default_schema: str | None = None
    search_path: tuple[str, ...] | None = None
    case_sensitivity: Literal["dialect", "lower", "upper", "exact"] | None = None
    allow_implied: bool | None = None
    schemas: tuple[str, ...] | None = None
    query_names: tuple[str, ...] | None = None

    _are_query_names = field_validator("query_names", mode="before")(_check_query_names)


class LabelSettings(SettingsSection):
    """Tags and owners for objects by patterns of their ids; with column patterns, the tags are for columns."""

    objects: tuple[str, ...] = ("*",)
    columns: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()


@lru_cache(maxsize=256)  # every file asks, and there are few systems
def build_options(
    analysis: AnalysisSettings, system: SystemSettings | None, name: str, labels: tuple[LabelSettings, ...]
) -> Options:
    """Build the engine options of a system: its own settings, else those of `[analysis]`."""
    options = analysis.model_dump(exclude={"limits", "schemas"})
    if system:
        options |= system.model_dump(exclude={"name", "paths", "schemas"}, exclude_none=True)
    made = tuple(Label(**label.model_dump()) for label in labels)
    return Options(**options, system=name, limits=Limits(**analysis.limits.model_dump()), labels=made)


class SparkSettings(SettingsSection):
    """Where Spark runs, and its configuration beyond our own defaults."""

    master: str = "local[*,4]"
    config: dict[str, str] = {}

    @field_validator("config", mode="before")
    @classmethod
    def _flatten(cls, value: object) -> object:
        return dict(_flatten_spark_config(value)) if isinstance(value, Mapping) else value


class OpenLineageSettings(SettingsSection):
    """How datasets and jobs are named in OpenLineage events."""

    namespaces: dict[str, str] = {}
    job_namespace: str = ""
    producer: str = f"urn:lineage-pipeline:{__version__}"
    source_url: str = ""


class DiffSettings(SettingsSection):
    """How changes are judged; the same fields as the engine's `Policy`."""

    leaf: Literal["unknown", "public", "private"] = "unknown"
    public: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    public_layers: tuple[str, ...] = PUBLIC_LAYERS
    private_layers: tuple[str, ...] = PRIVATE_LAYERS
    tests: tuple[str, ...] = TEST_FOLDERS
    levels: dict[str, Severity | Literal["off", "error", "warn", "info"]] = {}
    hops: int = Field(5, ge=0)
    sensitive: tuple[str, ...] = ("pii", "pii=*", "pii:*", "pii.*")


class ChecksSettings(SettingsSection):
    """How much of the SQL must be understood, as shares of 1: limits, and the allowed loss against the base."""

    parsed: float = Field(0.0, ge=0, le=1)
    covered: float = Field(0.0, ge=0, le=1)
    approximate: float = Field(1.0, ge=0, le=1)
    worse: float = Field(0.01, ge=0, le=1)


def _flatten_spark_config(table: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Join nested keys with dots and format values as Spark does."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flatten_spark_config(value, f"{path}{key}.")
        else:
            yield path + key, str(value).lower() if isinstance(value, bool) else str(value)


VARIABLE_PREFIX = "LINEAGE_VAR_"
"""Prefix of environment variables that are template variables."""


class RenderLimitSettings(SettingsSection):
    """What a template may cost before rendering is given up."""

    steps: int = Field(RenderLimits().steps, gt=0)
    output: int = Field(RenderLimits().output, gt=0)


class TemplatingRule(SettingsSection):
    """Overrides for the files of some paths; the first rule that matches counts."""

    paths: tuple[str, ...] = ("**",)
    templater: str | None = None
    variables: dict[str, Any] = {}


_EMPTY_RULE = TemplatingRule()


class TemplatingSettings(SettingsSection):
    """Which templater renders, with which variables, and within which limits."""

    templater: str = "auto"
    variables: dict[str, Any] = {}
    variables_file: str = ""
    limits: RenderLimitSettings = RenderLimitSettings()
    rules: tuple[TemplatingRule, ...] = ()

    def templating_for(self, path: str, root: Path, given: Mapping[str, Any], dbt: "DbtSettings") -> Templating:
        """Return how a file is rendered; flags and environment override rules, rules override the rest."""
        rule = next((rule for rule in self.rules if matches_path(path, rule.paths)), _EMPTY_RULE)
        read = _read_variables_cached(root / self.variables_file) if self.variables_file else {}
        variables = {**read, **self.variables, **rule.variables, **given}
        return Templating(rule.templater or self.templater, variables, _render_limits(self.limits), _dbt_options(dbt))


@lru_cache(maxsize=64)  # every file asks
def _render_limits(settings: RenderLimitSettings) -> RenderLimits:
    return RenderLimits(**settings.model_dump())


@lru_cache(maxsize=64)
def _dbt_options(settings: "DbtSettings") -> DbtOptions:
    return DbtOptions(**settings.model_dump())


def _read_variables_cached(file: Path) -> Mapping[str, Any]:
    """Read the variables file, once as long as it is unchanged."""
    try:
        found = file.stat()
    except OSError as error:
        raise LineageError(f"{file}: {error.strerror}") from None
    return _read_variables_at(file, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=16)
def _read_variables_at(file: Path, changed: int, size: int) -> Mapping[str, Any]:
    return read_variables_file(file)


def collect_variables(environ: Mapping[str, str], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of the environment, as written and in lower case, and those of flags."""
    found = {
        name.removeprefix(VARIABLE_PREFIX): value for name, value in environ.items() if name.startswith(VARIABLE_PREFIX)
    }
    flags = overrides.get("templating", {}).get("variables") or {}
    return {**{name.lower(): value for name, value in sorted(found.items())}, **found, **flags}


def read_variables_file(file: Path) -> dict[str, Any]:
    """Read variables by name from a TOML, JSON or YAML file."""
    try:
        text = read_bounded_file(file, SETTINGS).decode()
        match file.suffix.lower():
            case ".toml":
                document: object = parse_bounded_toml(text)
            case ".json":
                document = json.loads(text)
            case _:
                document = _parse_yaml_variables(text, file)
    except RecursionError:
        raise LineageError(f"{file}: {TOO_DEEP}") from None
    except (OSError, ValueError) as error:
        raise LineageError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    if not isinstance(document, dict):
        raise LineageError(f"{file}: expected variables by name, got {type(document).__name__}")
    return document


def _parse_yaml_variables(text: str, file: Path) -> object:
    import yaml

    from lineage_pipeline.files.bounded_yaml import load_yaml

    try:
        document: object = load_yaml(text)
    except yaml.YAMLError as error:
        raise LineageError(f"{file}: {' '.join(str(error).split())}") from None
    return document


class DbtSettings(SettingsSection):
    """How dbt projects are read: with which target, and whether dbt itself may run their code."""

    target: str = ""
    adapter: str = ""
    target_database: str = ""
    target_schema: str = ""
    manifest: str = ""
    trust: bool = False


ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RETRY_FIELDS = RetryPolicy()


class SinkSettings(SettingsSection):
    """One place that alerts go to, and which of them; the same fields as `SinkOptions`."""

    name: str = Field(min_length=1)
    kind: Literal["log", "webhook", "slack", "smtp"]
    severity: AlertSeverity = AlertSeverity.WARN
    owners: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    recoveries: bool = True
    path: str = ""
    url_env: str = ""
    token_env: str = ""
    host: str = "localhost"
    port: int = Field(25, ge=1, le=65_535)
    security: Literal["none", "starttls", "tls"] = "none"
    username: str = ""
    password_env: str = ""
    sender: str = ""
    recipients: tuple[str, ...] = ()
    addresses: dict[str, str] = {}

    @field_validator("url_env", "token_env", "password_env")
    @classmethod
    def _is_a_name(cls, value: str) -> str:
        if value and not ENVIRONMENT_NAME.fullmatch(value):
            raise ValueError("it names a variable of the environment, and never holds the secret itself")
        return value

    @field_validator("sender", "recipients", "addresses")
    @classmethod
    def _is_one_line(cls, value: object) -> object:
        texts = [value] if isinstance(value, str) else value.values() if isinstance(value, dict) else value
        if any("\n" in str(text) or "\r" in str(text) for text in texts or ()):  # type: ignore[attr-defined]
            raise ValueError("an address has one line")
        return value

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        needed = {"webhook": ("url_env",), "slack": ("url_env",), "smtp": ("sender",)}.get(self.kind, ())
        for key in needed:
            if not getattr(self, key):
                raise ValueError(f"a sink of kind {self.kind} needs {key}")
        if self.kind == "smtp" and not self.recipients and not self.addresses:
            raise ValueError("a sink of kind smtp needs recipients, or addresses of owners")
        return self


class AlertSettings(SettingsSection):
    """Retries of sinks, the initial lookback, and the sinks; without any, a file takes all alerts."""

    dagster_url: str = ""
    lookback_hours: float = Field(24.0, ge=0)
    timeout: float = Field(RETRY_FIELDS.timeout, gt=0, le=20)
    pause: float = Field(RETRY_FIELDS.pause, ge=0)
    longest: float = Field(RETRY_FIELDS.longest, ge=0)
    budget: float = Field(RETRY_FIELDS.budget, gt=0, le=30)
    days: float = Field(RETRY_FIELDS.days, gt=0)
    sinks: tuple[SinkSettings, ...] = (SinkSettings(name="log", kind="log"),)

    @model_validator(mode="after")
    def _has_distinct_names(self) -> Self:
        names = [sink.name for sink in self.sinks]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two sinks have the name {twice[0]}")
        return self

    def sink_options(self) -> list[SinkOptions]:
        """Return the sinks as the sender takes them."""
        return [SinkOptions(**sink.model_dump()) for sink in self.sinks]

    def retry_policy(self) -> RetryPolicy:
        """Return the retry policy of sinks."""
        return RetryPolicy(
            timeout=self.timeout, pause=self.pause, longest=self.longest, budget=self.budget, days=self.days
        )


class RepositorySettings(SettingsSection):
    """A watched repository; its settings here override the repository's own file."""

    name: str = Field(min_length=1, pattern=r"^[^@\s]+$")
    path: str = Field(min_length=1)
    refs: tuple[str, ...] = ()
    base_ref: str = ""
    history: bool = False
    analysis: AnalysisSettings = AnalysisSettings()
    systems: tuple[SystemSettings, ...] = ()
    labels: tuple[LabelSettings, ...] = ()
    templating: TemplatingSettings = TemplatingSettings()
    dbt: DbtSettings = DbtSettings()
    diff: DiffSettings = DiffSettings()
    checks: ChecksSettings = ChecksSettings()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    manifest: str = ""

    def as_layer(self, root: Path) -> SettingsLayer:
        """Return the settings for reading and judging the repository; files are relative to our folder."""
        said: SettingsLayer = self.model_dump(include=set(REPOSITORY_TABLES), exclude_unset=True)
        for part in (said.get("analysis", {}), *said.get("systems", ())):
            if part.get("schemas"):
                part["schemas"] = [_absolute_place(place, root) for place in part["schemas"]]
        return said


class WatchSettings(SettingsSection):
    """How the sensor polls repositories: each tick is short, and requests few runs."""

    interval: int = Field(30, gt=0)
    seconds: int = Field(40, gt=0)
    requests: int = Field(20, gt=0)
    assets: bool = False


class RetentionSettings(SettingsSection):
    """How long snapshots are kept: by age in days and by number per repository; 0 keeps them forever."""

    days: int = Field(0, ge=0)
    snapshots: int = Field(0, ge=0)
    cache_days: int = Field(7, ge=0)
    schedule: str = "0 3 * * *"
    timezone: str = "UTC"


def _absolute_place(place: str, root: Path) -> str:
    return place if "://" in place or place.startswith("snapshot:") else str(root / place)
