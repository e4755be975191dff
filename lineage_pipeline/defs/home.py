"""The home folder of a project: all outputs of runs besides the tables."""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import msgspec

from lineage_pipeline.config.load import Settings
from lineage_pipeline.store.manifest_files import encode_file_name

MADE_RECORD = "made.json"
"""File that maps each output to the key of its inputs, so that it is rebuilt only when these change."""


DEFAULT_DAGSTER_YAML = Path(__file__).with_name("dagster.yaml")
"""The settings of Dagster for a project without a dagster.yaml of its own."""


class Home(msgspec.Struct, frozen=True):
    """The folder beside the warehouse, with marts, events, reports and the results of checks."""

    folder: Path

    @property
    def marts(self) -> Path:
        """The DuckDB file that readers open."""
        return self.folder / "warehouse.duckdb"

    @property
    def listing(self) -> Path:
        """The list of published files that the marts are built from."""
        return self.folder / "published_files.json"

    @property
    def events(self) -> Path:
        """The folder of OpenLineage events, with a file for each snapshot."""
        return self.folder / "events"

    def events_of(self, snapshot: str) -> Path:
        """Return the file of a snapshot's events."""
        return self.events / f"{encode_file_name(snapshot)}.ndjson"

    def report_of(self, base: str, head: str, suffix: str) -> Path:
        """Return the file of a change report."""
        return self.folder / "reports" / f"{encode_file_name(f'{base}..{head}')}{suffix}"

    def checks_of(self, snapshot: str, table: str) -> Path:
        """Return the file with the check results of a table."""
        return self.folder / "checks" / encode_file_name(snapshot) / f"{table}.json"

    def is_made(self, output: Path, key: str) -> bool:
        """Tell whether an output exists and was made from the inputs of `key`."""
        return output.exists() and self._made().get(self._name(output)) == key

    def record(self, output: Path, key: str) -> None:
        """Save the key of the inputs of an output."""
        with self.alone("record"):
            self._write(self._made() | {self._name(output): key})

    def forget(self, snapshots: Collection[str]) -> None:
        """Delete the events, reports and check results of snapshots."""
        names = {encode_file_name(snapshot) for snapshot in snapshots}
        for file in self.events.glob("*.ndjson"):
            if file.stem in names:
                file.unlink()
        for file in (self.folder / "reports").glob("*"):
            if not names.isdisjoint(file.name.removesuffix(file.suffix).split("..")):
                file.unlink()
        for name in names:
            shutil.rmtree(self.folder / "checks" / name, ignore_errors=True)
        with self.alone("record"):
            self._write({name: key for name, key in self._made().items() if (self.folder / name).exists()})

    @contextmanager
    def alone(self, what: str) -> Iterator[None]:
        """Hold a file lock, so that one process at a time does something; it is released with the process."""
        (self.folder / "locks").mkdir(parents=True, exist_ok=True)
        with (self.folder / "locks" / what).open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield

    def _write(self, made: Mapping[str, str]) -> None:
        write_text_atomically(self.folder / MADE_RECORD, json.dumps(made, indent=2, sort_keys=True) + "\n")

    def _made(self) -> dict[str, str]:
        file = self.folder / MADE_RECORD
        return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {}

    def _name(self, output: Path) -> str:
        return output.relative_to(self.folder).as_posix()


def locate_home(settings: Settings) -> Home:
    """Return the folder beside a local warehouse; for a remote one, the home folder of the settings."""
    remote = "://" in settings.warehouse
    return Home(settings.home if remote else Path(settings.warehouse).parent)


def prepare_dagster_home(settings: Settings) -> Path:
    """Create DAGSTER_HOME with the project's own dagster.yaml, else ours."""
    folder = settings.home / "dagster"
    folder.mkdir(parents=True, exist_ok=True)
    write_text_atomically(settings.home / ".gitignore", "*\n")
    own = settings.root / "dagster.yaml"
    write_text_atomically(
        folder / "dagster.yaml", (own if own.is_file() else DEFAULT_DAGSTER_YAML).read_text(encoding="utf-8")
    )
    return folder


def write_text_atomically(file: Path, text: str) -> None:
    """Replace a whole file at once, whoever else is writing it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.draft")
    with _open_draft(draft) as stream:
        stream.truncate(0)
        stream.write(text)
        stream.flush()
        draft.replace(file)


@contextmanager
def _open_draft(draft: Path) -> Iterator[TextIO]:
    """Open and lock a draft; retry where another process has moved it in place in the meantime."""
    while True:
        with draft.open("a", encoding="utf-8", newline="\n") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            if draft.exists() and os.path.samestat(os.fstat(stream.fileno()), draft.stat()):
                yield stream
                return


def hash_key(*parts: object) -> str:
    """Hash the inputs of an output."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]
