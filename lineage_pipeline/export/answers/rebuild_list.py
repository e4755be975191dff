"""Objects to rebuild, as text, as JSON, and as a dbt selection."""

from collections.abc import Callable, Collection, Mapping
from pathlib import PurePosixPath
from typing import Any

from lineage_pipeline.engine.diff.rebuild import RebuildPlan, StaleObject
from lineage_pipeline.export.documents.lineage_json import SCHEMA_VERSION, dump_json, pick_fields
from lineage_pipeline.export.text_fragments import format_location

MODELS, SEEDS, SNAPSHOTS = (".sql", ".py"), ".csv", "snapshots"

REBUILD_KEYS = ("object", "kind", "level", "reason", "because", "path", "line", "makers")


def write_rebuild_json(rebuild: RebuildPlan, base: str, head: str, models: Collection[str] = ()) -> str:
    """Return the objects to rebuild as JSON, in order."""
    document: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "base": base, "head": head}
    return dump_json(document | {"rebuild": pick_fields(rebuild.stale, REBUILD_KEYS), "gone": list(rebuild.gone)})


def write_rebuild_text(rebuild: RebuildPlan, base: str, head: str, models: Collection[str] = ()) -> str:
    """Return a line for each object, in order, with the reason."""
    lines = [_rebuild_line(stale) for stale in rebuild.stale] + [f"{name}  gone" for name in rebuild.gone]
    return "".join(f"{line}\n" for line in lines)


def write_dbt_selection(rebuild: RebuildPlan, base: str, head: str, models: Collection[str] = ()) -> str:
    """Return the models for `dbt build --select`; `models` are the files that dbt reads."""
    names = dict.fromkeys(name for stale in rebuild.stale if (name := find_model_name(stale, models)))
    return " ".join(names) + "\n"


REBUILD_WRITERS: Mapping[str, Callable[[RebuildPlan, str, str, Collection[str]], str]] = {
    "text": write_rebuild_text,
    "json": write_rebuild_json,
    "dbt": write_dbt_selection,
}


def find_model_name(stale: StaleObject, models: Collection[str]) -> str:
    """Return the model that makes an object, or an empty text; an alias is not a model name.

    Where dbt reads no file here, the files may be compiled ones, which have the names of their models.
    """
    path, name = PurePosixPath(stale.path or ""), stale.object.rpartition(".")[2].strip('"')
    own = stale.path in models or not models or path.suffix == SEEDS
    if own and path.stem.casefold() == name.casefold():
        return path.stem
    if stale.path not in models:
        return ""
    # A file may hold several snapshots, each with a name of its own.
    return path.stem if path.suffix in MODELS and SNAPSHOTS not in path.parts else name


def _rebuild_line(stale: StaleObject) -> str:
    because = f" {', '.join(stale.because)}" if stale.reason == "reads" else ""
    where = "" if stale.path is None else f"  {format_location(stale.path, stale.line)}"
    return f"{stale.object}  {stale.kind}  {stale.reason}{because}{where}"
