"""The origin of each setting: an environment variable, the file, or the default."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lineage_pipeline.config.environment import CONFIG_VARIABLE, list_variables, read_environment_layer
from lineage_pipeline.config.load import Settings, find_settings_file, load_settings, parse_settings_file


class SettingOrigin(NamedTuple):
    """One value, and where it was set."""

    key: str
    value: Any
    origin: str


def list_setting_origins(start: Path, environ: Mapping[str, str]) -> tuple[Settings, list[SettingOrigin]]:
    """Load the settings, and return each with its origin."""
    settings = load_settings(start, {}, environ)
    folder = (start if start.is_dir() else start.parent).resolve()
    file = Path(environ[CONFIG_VARIABLE]).resolve() if environ.get(CONFIG_VARIABLE) else find_settings_file(folder)
    in_file = dict(_flatten_layer(parse_settings_file(file))) if file else {}
    in_environment = dict(_flatten_layer(read_environment_layer(Settings, environ)))
    names = {".".join(path): name for name, path in list_variables(Settings)}
    found = []
    for key, value in _flatten_layer(settings.model_dump(mode="json")):
        if key in in_environment:
            found.append(SettingOrigin(key, value, f"environment {names[key]}"))
        elif any(known == key or known.startswith(f"{key}.") or key.startswith(f"{known}.") for known in in_file):
            found.append(SettingOrigin(key, value, str(file)))
        else:
            found.append(SettingOrigin(key, value, "default"))
    return settings, found


def _flatten_layer(layer: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Return the values of nested tables by dotted keys; lists and free tables are values."""
    for key, value in layer.items():
        if isinstance(value, Mapping) and value and not _is_free_table(f"{path}{key}"):
            yield from _flatten_layer(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


FREE_TABLES = frozenset({"spark.config", "openlineage.namespaces", "diff.levels"})
"""Tables whose keys are the user's own."""


def _is_free_table(key: str) -> bool:
    return key in FREE_TABLES
