"""How templates are rendered: `[templating]` and `[dbt]`."""

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field

from lineage_pipeline.discover.bounded import DEEP, SETTINGS, read_bounded, toml_of
from lineage_pipeline.discover.globs import matches
from lineage_pipeline.discover.templating.protocol import DbtOptions, RenderLimits, Templating
from lineage_pipeline.settings.sections import Section
from lineage_pipeline.vocabulary.errors import LineageError

VARIABLE = "LINEAGE_VAR_"
"""What a variable of the environment begins with that is a variable of templates."""


class RenderLimitSettings(Section):
    """What a template may cost before it is given up."""

    steps: int = Field(RenderLimits().steps, gt=0)
    output: int = Field(RenderLimits().output, gt=0)


class TemplatingRule(Section):
    """What differs for the files of some paths; the first rule that fits counts."""

    paths: tuple[str, ...] = ("**",)
    templater: str | None = None
    variables: dict[str, Any] = {}


_NO_RULE = TemplatingRule()


class TemplatingSettings(Section):
    """Who renders templates, with which variables, and at what cost."""

    templater: str = "auto"
    variables: dict[str, Any] = {}
    variables_file: str = ""
    limits: RenderLimitSettings = RenderLimitSettings()
    rules: tuple[TemplatingRule, ...] = ()

    def templating_for(self, path: str, root: Path, given: Mapping[str, Any], dbt: "DbtSettings") -> Templating:
        """Give how a file is rendered; what flags and the environment give beats rules, and rules beat the rest."""
        rule = next((rule for rule in self.rules if matches(path, rule.paths)), _NO_RULE)
        read = _variables(root / self.variables_file) if self.variables_file else {}
        variables = {**read, **self.variables, **rule.variables, **given}
        return Templating(rule.templater or self.templater, variables, _limits(self.limits), _dbt_options(dbt))


@lru_cache(maxsize=64)  # every file asks
def _limits(settings: RenderLimitSettings) -> RenderLimits:
    return RenderLimits(**settings.model_dump())


@lru_cache(maxsize=64)
def _dbt_options(settings: "DbtSettings") -> DbtOptions:
    return DbtOptions(**settings.model_dump())


def _variables(file: Path) -> Mapping[str, Any]:
    """Read the file of variables, once as long as it stays the same."""
    try:
        found = file.stat()
    except OSError as error:
        raise LineageError(f"{file}: {error.strerror}") from None
    return _variables_of(file, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=16)
def _variables_of(file: Path, changed: int, size: int) -> Mapping[str, Any]:
    return read_variables(file)


def given_variables(environ: Mapping[str, str], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Give the variables of the environment, in the case they are written in and in lower case, and those of flags."""
    found = {name.removeprefix(VARIABLE): value for name, value in environ.items() if name.startswith(VARIABLE)}
    flags = overrides.get("templating", {}).get("variables") or {}
    return {**{name.lower(): value for name, value in sorted(found.items())}, **found, **flags}


def read_variables(file: Path) -> dict[str, Any]:
    """Read variables by name from a TOML, JSON or YAML file."""
    try:
        text = read_bounded(file, SETTINGS).decode()
        match file.suffix.lower():
            case ".toml":
                document: object = toml_of(text)
            case ".json":
                document = json.loads(text)
            case _:
                document = _yaml(text, file)
    except RecursionError:
        raise LineageError(f"{file}: {DEEP}") from None
    except (OSError, ValueError) as error:
        raise LineageError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    if not isinstance(document, dict):
        raise LineageError(f"{file}: expected variables by name, got {type(document).__name__}")
    return document


def _yaml(text: str, file: Path) -> object:
    import yaml

    from lineage_pipeline.discover.yamls import load_yaml

    try:
        document: object = load_yaml(text)
    except yaml.YAMLError as error:
        raise LineageError(f"{file}: {' '.join(str(error).split())}") from None
    return document


class DbtSettings(Section):
    """How dbt projects are read: with which target, and whether dbt itself may run what they say."""

    target: str = ""
    adapter: str = ""
    target_database: str = ""
    target_schema: str = ""
    manifest: str = ""
    trust: bool = False
