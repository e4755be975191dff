"""Our dbt project: its folder, its manifest, and how it is parsed; does not import Dagster."""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lineage_pipeline import __version__
from lineage_pipeline.defs.home import hash_key, write_text_atomically
from lineage_pipeline.model.errors import LineageError

DBT_PROJECT = Path(__file__).parents[2] / "dbt_project"
DBT_MANIFEST = DBT_PROJECT / "target" / "manifest.json"
MANIFEST_STAMP = DBT_MANIFEST.with_suffix(".key")
IGNORED_FOLDERS = frozenset({"target", "logs", "dbt_packages"})


def prepare_manifest() -> None:
    """Let dbt parse the project in this process, if it has changed since the manifest was made."""
    if (
        DBT_MANIFEST.is_file()
        and MANIFEST_STAMP.is_file()
        and MANIFEST_STAMP.read_text(encoding="utf-8") == hash_dbt_project()
    ):
        return
    from dbt.cli.main import dbtRunner

    folder = DBT_MANIFEST.parent / f"parse_{uuid.uuid4().hex}"
    options = ["--project-dir", str(DBT_PROJECT), "--profiles-dir", str(DBT_PROJECT), "--target-path", str(folder)]
    with set_environment(DBT_LOG_PATH=str(folder)):
        outcome = dbtRunner().invoke(["--quiet", "parse", *options])
    if not outcome.success:
        raise LineageError(f"dbt cannot read {DBT_PROJECT}: {outcome.exception}")
    (folder / DBT_MANIFEST.name).replace(DBT_MANIFEST)
    shutil.rmtree(folder)
    write_text_atomically(MANIFEST_STAMP, hash_dbt_project())


def hash_marts_inputs(listing: bytes) -> str:
    """Hash the inputs of the marts: the published files and the dbt project."""
    return hash_key(__version__, listing.decode(), hash_dbt_project())


def hash_dbt_project() -> str:
    """Hash the content of the dbt project."""
    found = (path for path in DBT_PROJECT.rglob("*") if path.is_file() and path.suffix in (".sql", ".yml"))
    read = sorted(path for path in found if IGNORED_FOLDERS.isdisjoint(path.relative_to(DBT_PROJECT).parts))
    return hash_key([(path.relative_to(DBT_PROJECT).as_posix(), path.read_text(encoding="utf-8")) for path in read])


@contextmanager
def set_environment(**values: str) -> Iterator[None]:
    """Set environment variables for a while: dbt reads its file names only from there."""
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
