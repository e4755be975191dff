"""Variables of the environment: which there are, and the layer that they make."""

import difflib
from collections.abc import Iterable, Iterator, Mapping

from lineage_pipeline.settings.layers import LISTS, Layer, merge
from lineage_pipeline.settings.sections import Section
from lineage_pipeline.settings.templating import VARIABLE
from lineage_pipeline.vocabulary.errors import LineageError

PREFIX = "LINEAGE_"
CONFIG_VARIABLE = "LINEAGE_CONFIG"  # names the settings file; without it the file is searched upwards


def section_of(model: type[Section], key: str) -> type[Section] | None:
    """Give the model of a nested table, or of the rows of a list of tables."""
    annotation = model.model_fields[key].annotation
    for candidate in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(candidate, type) and issubclass(candidate, Section):
            return candidate
    return None


def variables(model: type[Section], path: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Give each setting that a variable can hold; those of `[analysis]` go without its name."""
    for key, field in model.model_fields.items():
        inner = section_of(model, key)
        if inner and field.annotation is inner:
            yield from variables(inner, (*path, key))
        elif not inner and not str(field.annotation).startswith("dict"):
            named = (*path[1:], key) if path[:1] == ("analysis",) else (*path, key)
            yield PREFIX + "_".join(named).upper(), (*path, key)


def moved(model: type[Section], key: str) -> str:
    """Say in which section a key belongs that stands in none, or nothing."""
    sections = {name: field.annotation for name, field in model.model_fields.items()}
    owners = [name for name, inner in sections.items() if inner is section_of(model, name) and key in _keys(inner)]
    return f"did you mean {owners[0]}.{key}?" if len(owners) == 1 else ""


def _keys(section: object) -> Iterable[str]:
    return section.model_fields if isinstance(section, type) and issubclass(section, Section) else ()


def environment_layer(model: type[Section], environ: Mapping[str, str]) -> Layer:
    """Read `LINEAGE_*`; a name that is nearly one of ours is a slip, any other belongs to somebody else."""
    known = dict(variables(model))
    layer: Layer = {}
    for name in sorted(environ):
        if name in known:
            (*sections, key), text = known[name], environ[name]
            value: Layer = {key: [part.strip() for part in text.split(",")] if key in LISTS else text}
            for section in reversed(sections):
                value = {section: value}
            layer = merge(layer, value)
        elif name.startswith(PREFIX) and name != CONFIG_VARIABLE and not name.startswith(VARIABLE):
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
            if close:
                raise LineageError(f"unknown environment variable {name}; did you mean {close[0]}?")
    return layer
