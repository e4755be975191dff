"""Settings that come with somebody else's repository: they say how it is read, and lead nowhere else."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lineage_pipeline.settings.layers import Layer
from lineage_pipeline.vocabulary.errors import LineageError

PLACES = (
    ("manifest",),
    ("templating", "variables_file"),
    ("analysis", "schemas"),
    ("systems", "schemas"),
)
"""The settings that name files to read."""


def is_own(file: Path, here: Path) -> bool:
    """Say whether a settings file is that of whoever starts us: it lies where we are started, or above."""
    return here.is_relative_to(file.parent)


def harmless(layer: Layer, source: str, root: Path) -> Layer:
    """Refuse settings of a stranger that run its code, ask another machine, or name files that are not its own.

    Where to work is not for it to say, so that a warehouse elsewhere is left out.
    """
    if any(value is not False for value in _values(layer, ("dbt", "trust"))):
        raise LineageError(f"{source}: dbt.trust is {_ADVICE}")
    for keys in PLACES:
        for place in _values(layer, keys):
            if isinstance(place, str) and _leads_out(place, root):
                raise LineageError(f"{source}: {'.'.join(keys)} leads out of its folder, which is {_ADVICE}")
    return {key: value for key, value in layer.items() if key != "warehouse" or not _leads_out(str(value), root)}


_ADVICE = "for whoever starts the analysis to say: start it in that folder, or name the file in LINEAGE_CONFIG"


def _leads_out(place: str, root: Path) -> bool:
    """Say whether a place is neither in a folder nor in the one that we are started in; snapshots have names."""
    kind, _, rest = place.partition("snapshot:")
    path = (place if kind else rest.rpartition("#")[0]).removeprefix("duckdb:///")
    leading = (root.resolve() / path).resolve()
    return "://" in path or not any(leading.is_relative_to(folder) for folder in (root.resolve(), Path.cwd()))


def _values(node: Any, keys: tuple[str, ...]) -> Iterator[Any]:
    """Give what stands under some keys, in every row of what is a list on the way."""
    if isinstance(node, list):
        for item in node:
            yield from _values(item, keys)
    elif not keys:
        yield node
    elif isinstance(node, dict) and keys[0] in node:
        yield from _values(node[keys[0]], keys[1:])
