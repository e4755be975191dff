"""What to rebuild, as text, as JSON, and as a selection of dbt."""

from collections.abc import Callable, Collection, Mapping
from pathlib import PurePosixPath
from typing import Any

from lineage_pipeline.engine.diff.rebuild import Rebuild, Stale
from lineage_pipeline.export.json import SCHEMA_VERSION, dump, pick
from lineage_pipeline.export.report import place

MODELS, SEEDS, SNAPSHOTS = (".sql", ".py"), ".csv", "snapshots"

KEYS = ("object", "kind", "level", "reason", "because", "path", "line", "makers")


def rebuild_document(rebuild: Rebuild, base: str, head: str, models: Collection[str] = ()) -> str:
    """Give what to rebuild as JSON, in order."""
    document: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "base": base, "head": head}
    return dump(document | {"rebuild": pick(rebuild.stale, KEYS), "gone": list(rebuild.gone)})


def rebuild_text(rebuild: Rebuild, base: str, head: str, models: Collection[str] = ()) -> str:
    """Give a line for each object, in order, with the reason."""
    lines = [_line(stale) for stale in rebuild.stale] + [f"{name}  gone" for name in rebuild.gone]
    return "".join(f"{line}\n" for line in lines)


def rebuild_selector(rebuild: Rebuild, base: str, head: str, models: Collection[str] = ()) -> str:
    """Give the models that `dbt build --select` takes; `models` are the files that dbt reads."""
    names = dict.fromkeys(name for stale in rebuild.stale if (name := model_of(stale, models)))
    return " ".join(names) + "\n"


WRITERS: Mapping[str, Callable[[Rebuild, str, str, Collection[str]], str]] = {
    "text": rebuild_text,
    "json": rebuild_document,
    "dbt": rebuild_selector,
}


def model_of(stale: Stale, models: Collection[str]) -> str:
    """Give the model that makes an object, or nothing where no model does; an alias is no name of a model.

    Where dbt reads no file here, the files may be what it compiled, and are called as their models are.
    """
    path, name = PurePosixPath(stale.path or ""), stale.object.rpartition(".")[2].strip('"')
    own = stale.path in models or not models or path.suffix == SEEDS
    if own and path.stem.casefold() == name.casefold():
        return path.stem
    if stale.path not in models:
        return ""
    # A file may hold several snapshots, each with a name of its own.
    return path.stem if path.suffix in MODELS and SNAPSHOTS not in path.parts else name


def _line(stale: Stale) -> str:
    because = f" {', '.join(stale.because)}" if stale.reason == "reads" else ""
    where = "" if stale.path is None else f"  {place(stale.path, stale.line)}"
    return f"{stale.object}  {stale.kind}  {stale.reason}{because}{where}"
