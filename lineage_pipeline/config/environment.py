"""`LINEAGE_*` environment variables: which exist, and the settings layer they form."""

import difflib
from collections.abc import Iterable, Iterator, Mapping

from lineage_pipeline.config.layers import COMMA_LISTS, SettingsLayer, merge_layers
from lineage_pipeline.config.models import VARIABLE_PREFIX, SettingsSection
from lineage_pipeline.model.errors import LineageError

LINEAGE_PREFIX = "LINEAGE_"
CONFIG_VARIABLE = "LINEAGE_CONFIG"  # names the settings file; without it the file is searched upwards


def find_section(model: type[SettingsSection], key: str) -> type[SettingsSection] | None:
    """Return the model of a nested table, or of the rows of a list of tables."""
    annotation = model.model_fields[key].annotation
    for candidate in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(candidate, type) and issubclass(candidate, SettingsSection):
            return candidate
    return None


def list_variables(model: type[SettingsSection], path: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each setting that an environment variable can set; those of `[analysis]` omit the table name."""
    for key, field in model.model_fields.items():
        inner = find_section(model, key)
        if inner and field.annotation is inner:
            yield from list_variables(inner, (*path, key))
        elif not inner and not str(field.annotation).startswith("dict"):
            named = (*path[1:], key) if path[:1] == ("analysis",) else (*path, key)
            yield LINEAGE_PREFIX + "_".join(named).upper(), (*path, key)


def suggest_section(model: type[SettingsSection], key: str) -> str:
    """Return a hint in which table a top-level key belongs, or None."""
    sections = {name: field.annotation for name, field in model.model_fields.items()}
    owners = [
        name for name, inner in sections.items() if inner is find_section(model, name) and key in _section_keys(inner)
    ]
    return f"did you mean {owners[0]}.{key}?" if len(owners) == 1 else ""


def _section_keys(section: object) -> Iterable[str]:
    return section.model_fields if isinstance(section, type) and issubclass(section, SettingsSection) else ()


def read_environment_layer(model: type[SettingsSection], environ: Mapping[str, str]) -> SettingsLayer:
    """Read `LINEAGE_*`; a near miss of one of ours is an error, other names are ignored."""
    known = dict(list_variables(model))
    layer: SettingsLayer = {}
    for name in sorted(environ):
        if name in known:
            (*sections, key), text = known[name], environ[name]
            value: SettingsLayer = {key: [part.strip() for part in text.split(",")] if key in COMMA_LISTS else text}
            for section in reversed(sections):
                value = {section: value}
            layer = merge_layers(layer, value)
        elif name.startswith(LINEAGE_PREFIX) and name != CONFIG_VARIABLE and not name.startswith(VARIABLE_PREFIX):
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
            if close:
                raise LineageError(f"unknown environment variable {name}; did you mean {close[0]}?")
    return layer
