"""Our dbt project: where it lies, what it was parsed from, and how it is parsed; no Dagster here."""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lineage_pipeline import __version__
from lineage_pipeline.defs.home import key_of, write_text
from lineage_pipeline.vocabulary.errors import LineageError

PROJECT = Path(__file__).parents[2] / "dbt_project"
MANIFEST = PROJECT / "target" / "manifest.json"
STAMP = MANIFEST.with_suffix(".key")
NOT_READ = frozenset({"target", "logs", "dbt_packages"})


def prepare() -> None:
    """Let dbt parse the project in this process, if it changed since the manifest was made."""
    if MANIFEST.is_file() and STAMP.is_file() and STAMP.read_text(encoding="utf-8") == project_key():
        return
    from dbt.cli.main import dbtRunner

    folder = MANIFEST.parent / f"parse_{uuid.uuid4().hex}"
    options = ["--project-dir", str(PROJECT), "--profiles-dir", str(PROJECT), "--target-path", str(folder)]
    with environment(DBT_LOG_PATH=str(folder)):
        outcome = dbtRunner().invoke(["--quiet", "parse", *options])
    if not outcome.success:
        raise LineageError(f"dbt cannot read {PROJECT}: {outcome.exception}")
    (folder / MANIFEST.name).replace(MANIFEST)
    shutil.rmtree(folder)
    write_text(STAMP, project_key())


def marts_key(listing: bytes) -> str:
    """Name what the marts are made from: the published files, and the dbt project."""
    return key_of(__version__, listing.decode(), project_key())


def project_key() -> str:
    """Name the content of the dbt project."""
    found = (path for path in PROJECT.rglob("*") if path.is_file() and path.suffix in (".sql", ".yml"))
    read = sorted(path for path in found if NOT_READ.isdisjoint(path.relative_to(PROJECT).parts))
    return key_of([(path.relative_to(PROJECT).as_posix(), path.read_text(encoding="utf-8")) for path in read])


@contextmanager
def environment(**values: str) -> Iterator[None]:
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
