"""The dbt project as assets: staging and marts over the published files, in a DuckDB file that is swapped in whole.

The graph of models comes from dbt's manifest, which `prepare` makes before a run and before the UI starts. Importing
this module starts nothing: where there is no manifest yet, the models are left out and one sentence says so.
"""

import os
import sys
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_dbt import DagsterDbtTranslator, DbtCliResource, dbt_assets

from lineage_pipeline import __version__
from lineage_pipeline.defs.home import Home, key_of
from lineage_pipeline.defs.resources import Project, StoreResource
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline.vocabulary.errors import LineageError

PROJECT = Path(__file__).parents[2] / "dbt_project"
MANIFEST = PROJECT / "target" / "manifest.json"
MISSING = "the dbt models are not shown yet: `lineage run` or `lineage ui` prepares them"
NOT_READ = frozenset({"target", "logs", "dbt_packages"})


class Translator(DagsterDbtTranslator):
    """Shows models in groups of their layers, owned by us."""

    def get_group_name(self, dbt_resource_props: Mapping[str, Any]) -> str | None:
        """Name the group after the folder: staging or marts."""
        return str(dbt_resource_props["fqn"][1])


def mart_assets() -> list[dg.AssetsDefinition]:
    """Give the models as assets, once dbt's manifest is there."""
    if not MANIFEST.is_file():
        warnings.warn(MISSING, stacklevel=2)
        return []

    @dbt_assets(manifest=MANIFEST, dagster_dbt_translator=Translator(), name="dbt_models")
    def dbt_models(
        context: dg.AssetExecutionContext, project: dg.ResourceParam[Project], store: StoreResource
    ) -> Iterator[Any]:
        settings = project.settings
        yield from build_marts(context, store.warehouse(settings), project.home)

    return [dbt_models]


def build_marts(context: dg.AssetExecutionContext, warehouse: Warehouse, home: Home) -> Iterator[Any]:
    """Build all models into a new file, and put it in place when every one of them and every test held."""
    warehouse.list_published(home.listing)
    draft = home.marts.with_name(f".{home.marts.stem}_{uuid.uuid4().hex}.duckdb")
    dbt = DbtCliResource(project_dir=str(PROJECT), profiles_dir=str(PROJECT), dbt_executable=_executable())
    try:
        with _environment(LINEAGE_MARTS=str(draft), LINEAGE_FILES=str(home.listing)):
            invocation = dbt.cli(["build"], context=context)
            yield from invocation.stream()
        draft.replace(home.marts)
        home.record(home.marts, marts_key(home.listing))
    finally:
        for leftover in (draft, draft.with_name(f"{draft.name}.wal")):
            leftover.unlink(missing_ok=True)


def marts_key(listing: Path) -> str:
    """Name what the marts are made from: the published files, and the dbt project."""
    return key_of(__version__, listing.read_text(encoding="utf-8"), project_key())


def project_key() -> str:
    """Name the content of the dbt project."""
    return key_of([(file.relative_to(PROJECT).as_posix(), file.read_text(encoding="utf-8")) for file in _sources()])


def prepare() -> None:
    """Let dbt parse the project in this process, if it changed since the manifest was made."""
    stamp = MANIFEST.with_name("manifest.key")
    if MANIFEST.is_file() and stamp.is_file() and stamp.read_text(encoding="utf-8") == project_key():
        return
    from dbt.cli.main import dbtRunner

    folder = MANIFEST.parent / f"parse_{uuid.uuid4().hex}"
    options = ["--project-dir", str(PROJECT), "--profiles-dir", str(PROJECT), "--target-path", str(folder)]
    with _environment(DBT_LOG_PATH=str(folder)):
        outcome = dbtRunner().invoke(["--quiet", "parse", *options])
    if not outcome.success:
        raise LineageError(f"dbt cannot read {PROJECT}: {outcome.exception}")
    (folder / MANIFEST.name).replace(MANIFEST)
    stamp.write_text(project_key(), encoding="utf-8")


def _sources() -> list[Path]:
    found = (path for path in PROJECT.rglob("*") if path.is_file() and path.suffix in (".sql", ".yml"))
    return sorted(path for path in found if NOT_READ.isdisjoint(path.relative_to(PROJECT).parts))


def _executable() -> str:
    return str(Path(sys.executable).with_name("dbt"))


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    """Set variables for a while: dbt takes its file names from nowhere else."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
