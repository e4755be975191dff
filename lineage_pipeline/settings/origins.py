"""Where each setting has its value from: a variable of the environment, the file, or the default."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lineage_pipeline.settings import Settings, _parse, find_file, load_settings
from lineage_pipeline.settings.environment import CONFIG_VARIABLE, environment_layer, variables


class Setting(NamedTuple):
    """One value, and who said it."""

    key: str
    value: Any
    origin: str


def settings_with_origins(start: Path, environ: Mapping[str, str]) -> tuple[Settings, list[Setting]]:
    """Load the settings, and say of each where it comes from."""
    settings = load_settings(start, {}, environ)
    folder = (start if start.is_dir() else start.parent).resolve()
    file = Path(environ[CONFIG_VARIABLE]).resolve() if environ.get(CONFIG_VARIABLE) else find_file(folder)
    in_file = dict(_flat(_parse(file))) if file else {}
    in_environment = dict(_flat(environment_layer(Settings, environ)))
    names = {".".join(path): name for name, path in variables(Settings)}
    found = []
    for key, value in _flat(settings.model_dump(mode="json")):
        if key in in_environment:
            found.append(Setting(key, value, f"environment {names[key]}"))
        elif any(known == key or known.startswith(f"{key}.") or key.startswith(f"{known}.") for known in in_file):
            found.append(Setting(key, value, str(file)))
        else:
            found.append(Setting(key, value, "default"))
    return settings, found


def _flat(layer: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Give the values of nested tables by keys with dots; lists and free tables are values."""
    for key, value in layer.items():
        if isinstance(value, Mapping) and value and not _is_free(f"{path}{key}"):
            yield from _flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


FREE = frozenset({"spark.config", "openlineage.namespaces", "diff.levels"})
"""Tables whose keys are the user's own."""


def _is_free(key: str) -> bool:
    return key in FREE
