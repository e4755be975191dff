"""The tables of the settings file, each a frozen model that knows its keys."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from lineage_pipeline import __version__
from lineage_pipeline.vocabulary.analysis import Label, Limits, Options
from lineage_pipeline.vocabulary.sets import Severity


class Section(BaseModel):
    """A table of the settings file: frozen, and no key that we do not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class LimitSettings(Section):
    """What a source may cost before it is cut short."""

    bytes: int = Field(Limits().bytes, gt=0)
    tokens: int = Field(Limits().tokens, gt=0)
    depth: int = Field(
        Limits().depth, gt=0, le=1000
    )  # beyond that, the parser's stack ends and takes the process along
    seconds: float = Field(Limits().seconds, gt=0)
    memory: int = Field(Limits().memory, ge=50_000_000)
    edges: int = Field(Limits().edges, gt=0)


class AnalysisSettings(Section):
    """How SQL is read where no system says otherwise."""

    dialect: str = ""
    default_catalog: str = ""
    default_schema: str = ""
    search_path: tuple[str, ...] = ()
    case_sensitivity: Literal["dialect", "lower", "upper", "exact"] = "dialect"
    allow_implied: bool = True
    schemas: tuple[str, ...] = ()
    limits: LimitSettings = LimitSettings()


class SystemSettings(Section):
    """One warehouse: the paths that belong to it, and what differs from `[analysis]`."""

    name: str = Field(min_length=1)
    paths: tuple[str, ...] = ("**",)
    dialect: str | None = None
    default_catalog: str | None = None
    default_schema: str | None = None
    search_path: tuple[str, ...] | None = None
    case_sensitivity: Literal["dialect", "lower", "upper", "exact"] | None = None
    allow_implied: bool | None = None
    schemas: tuple[str, ...] | None = None


class LabelSettings(Section):
    """Tags and owners for objects by patterns of their ids; with patterns of columns, the tags are for those."""

    objects: tuple[str, ...] = ("*",)
    columns: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()


@lru_cache(maxsize=256)  # every file asks, and there are few systems
def options_from(
    analysis: AnalysisSettings, system: SystemSettings | None, name: str, labels: tuple[LabelSettings, ...]
) -> Options:
    """Give what the engine is told of a system: its own settings, else those of all."""
    options = analysis.model_dump(exclude={"limits", "schemas"})
    if system:
        options |= system.model_dump(exclude={"name", "paths", "schemas"}, exclude_none=True)
    made = tuple(Label(**label.model_dump()) for label in labels)
    return Options(**options, system=name, limits=Limits(**analysis.limits.model_dump()), labels=made)


class SparkSettings(Section):
    """Where Spark runs, and what it is told beyond our own defaults."""

    master: str = "local[*,4]"
    config: dict[str, str] = {}

    @field_validator("config", mode="before")
    @classmethod
    def _flatten(cls, value: object) -> object:
        return dict(_flat(value)) if isinstance(value, Mapping) else value


class OpenLineageSettings(Section):
    """How datasets and jobs are named in events."""

    namespaces: dict[str, str] = {}
    job_namespace: str = ""
    producer: str = f"urn:lineage-pipeline:{__version__}"
    source_url: str = ""


class DiffSettings(Section):
    """How changes are judged; the same fields as the engine's `Policy`."""

    leaf: Literal["unknown", "public", "private"] = "unknown"
    public: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    levels: dict[str, Severity | Literal["off", "error", "warn", "info"]] = {}
    hops: int = Field(5, ge=0)
    sensitive: tuple[str, ...] = ("pii", "pii=*", "pii:*", "pii.*")


class ChecksSettings(Section):
    """How much of the SQL must be understood, in shares of 1: limits, and what a snapshot may lose against its base."""

    parsed: float = Field(0.0, ge=0, le=1)
    covered: float = Field(0.0, ge=0, le=1)
    approximate: float = Field(1.0, ge=0, le=1)
    worse: float = Field(0.01, ge=0, le=1)


def _flat(table: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Join nested keys with dots and write values as Spark does."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{key}.")
        else:
            yield path + key, str(value).lower() if isinstance(value, bool) else str(value)
