"""The target of a project: what profiles in the repository and settings say of the database, as templates see it."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lineage_pipeline.discover.dbt.adapters import Adapter, adapter_of
from lineage_pipeline.discover.dbt.documents import Documents, mapping
from lineage_pipeline.discover.dbt.project import Project

PLACES = ("", "profile", "profiles", ".dbt", "config")
EXAMPLES = (
    *(f"profiles.yml.{word}" for word in ("template", "example", "sample", "dist")),
    *(f"profiles.{word}.yml" for word in ("template", "example", "sample")),
    *(f"{word}{sign}profiles.yml" for word in ("example", "sample", "ci") for sign in "._"),
)
"""What a profile is called that everybody is to copy: it tells the adapter, and nothing of a real target."""

EXAMPLE = "example"

ENVIRONMENT = re.compile(r"\{\{\s*env_var\(\s*['\"](\w+)['\"]\s*(?:,\s*['\"]([^'\"]*)['\"]\s*)?\)[^}]*\}\}")

PRODUCTION = "prod"
"""The name of a target that nobody names: most projects call the real one so."""


class Wanted(msgspec.Struct, frozen=True):
    """What settings say of the target, and the variables that are given."""

    target: str = ""
    adapter: str = ""
    database: str = ""
    schema: str = ""
    dialect: str = ""
    variables: Mapping[str, Any] = {}
    manifest: str = ""
    trust: bool = False


class Target(msgspec.Struct, frozen=True):
    """Where a project would be built; what nobody says is empty."""

    name: str
    adapter: Adapter
    database: str
    schema: str
    values: Mapping[str, Any]

    def as_mapping(self, profile: str) -> dict[str, Any]:
        """Give the target as templates see it."""
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


def find_target(project: Project, documents: Documents, wanted: Wanted) -> Target:
    """Find the target that settings name, or else the one that the profile calls its own."""
    name, output = _output(project, documents, wanted)
    output = {key: _resolved(value, wanted.variables) for key, value in output.items()}
    kind = wanted.adapter or str(output.get("type") or "")
    adapter = adapter_of(kind, wanted.dialect)
    database = next((str(output[key]) for key in ("database", "dbname", "project", "catalog") if output.get(key)), "")
    real = bool(output.get("type")) and not output.get(EXAMPLE)
    if adapter.name == "duckdb" and not database:
        database = posixpath.basename(str(output.get("path") or "")).split(".")[0].replace(":memory:", "") or "memory"
    schema = str(output.get("schema") or output.get("dataset") or (adapter.schema if real else ""))
    safe = {key: value for key, value in output.items() if key not in ("password", "pass", "token", "private_key")}
    return Target(name, adapter, wanted.database or database, wanted.schema or schema, safe)


def _output(project: Project, documents: Documents, wanted: Wanted) -> tuple[str, dict[str, Any]]:
    found = _named(project, documents, wanted, ("profiles.yml",))
    if found is not None:
        return found
    example = _named(project, documents, wanted, EXAMPLES)
    return wanted.target or PRODUCTION, {"type": example[1].get("type"), EXAMPLE: True} if example is not None else {}


def _named(
    project: Project, documents: Documents, wanted: Wanted, names: Sequence[str]
) -> tuple[str, dict[str, Any]] | None:
    """Give the target of the first profile of that name that is the project's."""
    profile = str(project.document.get("profile") or project.name)
    for place in _profiles(project, names):
        found = mapping(documents.read(place).get(profile))
        outputs = mapping(found.get("outputs"))
        if outputs:
            default = str(_resolved(found.get("target") or "", wanted.variables))
            name = next((item for item in (wanted.target, default, *outputs) if item in outputs), "")
            return name, mapping(outputs[name])
    return None


def _profiles(project: Project, names: Sequence[str]) -> Iterator[str]:
    for base in dict.fromkeys((project.root, posixpath.dirname(project.root), "")):
        for place in PLACES:
            yield from (posixpath.normpath(posixpath.join(base, place, name)) for name in names)


def _resolved(value: Any, variables: Mapping[str, Any]) -> Any:
    """Give a value of a profile with what its environment would say: a variable that is given, or the default."""
    if not isinstance(value, str) or "{{" not in value:
        return value
    return ENVIRONMENT.sub(lambda match: str(variables.get(match.group(1), match.group(2) or "")), value)
