"""The dbt target: database, schema and adapter from the profiles in the repository and the settings."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lineage_pipeline.discover.dbt.adapters import DbtAdapter, find_adapter
from lineage_pipeline.discover.dbt.project import DbtProject
from lineage_pipeline.discover.dbt.yaml_files import YamlFiles, as_mapping

PROFILE_FOLDERS = ("", "profile", "profiles", ".dbt", "config")
EXAMPLE_PROFILES = (
    *(f"profiles.yml.{word}" for word in ("template", "example", "sample", "dist")),
    *(f"profiles.{word}.yml" for word in ("template", "example", "sample")),
    *(f"{word}{sign}profiles.yml" for word in ("example", "sample", "ci") for sign in "._"),
)
"""File names of profile templates: they give the adapter, and nothing of a real target."""

EXAMPLE_KEY = "example"

ENV_VAR_CALL = re.compile(r"\{\{\s*env_var\(\s*['\"](\w+)['\"]\s*(?:,\s*['\"]([^'\"]*)['\"]\s*)?\)[^}]*\}\}")

DEFAULT_TARGET = "prod"
"""The target name where none is configured: most projects name the real one so."""


class TargetOptions(msgspec.Struct, frozen=True):
    """The target that the settings configure, and the variables given."""

    target: str = ""
    adapter: str = ""
    database: str = ""
    schema: str = ""
    dialect: str = ""
    variables: Mapping[str, Any] = {}
    manifest: str = ""
    trust: bool = False


class DbtTarget(msgspec.Struct, frozen=True):
    """Where a project would be built; unknown parts are empty."""

    name: str
    adapter: DbtAdapter
    database: str
    schema: str
    values: Mapping[str, Any]

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
    kind = wanted.adapter or str(output.get("type") or "")
    adapter = find_adapter(kind, wanted.dialect)
    database = next((str(output[key]) for key in ("database", "dbname", "project", "catalog") if output.get(key)), "")
    real = bool(output.get("type")) and not output.get(EXAMPLE_KEY)
    if adapter.name == "duckdb" and not database:
        database = posixpath.basename(str(output.get("path") or "")).split(".")[0].replace(":memory:", "") or "memory"
    schema = str(output.get("schema") or output.get("dataset") or (adapter.schema if real else ""))
    safe = {key: value for key, value in output.items() if key not in ("password", "pass", "token", "private_key")}
    return DbtTarget(
        name=name, adapter=adapter, database=wanted.database or database, schema=wanted.schema or schema, values=safe
    )


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
