"""Where everything lies that a run leaves behind besides the tables."""

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

from lineage_pipeline.settings import Settings
from lineage_pipeline.store.manifests import file_name

RECORD = "made.json"
"""What each output was made from, so that it is made again only when that changed."""


DAGSTER = Path(__file__).with_name("dagster.yaml")
"""The settings of Dagster where a project has none of its own."""


class Home(msgspec.Struct, frozen=True):
    """The folder beside the warehouse, with marts, events, reports and what the checks said."""

    folder: Path

    @property
    def marts(self) -> Path:
        """Give the DuckDB file that readers open."""
        return self.folder / "warehouse.duckdb"

    @property
    def listing(self) -> Path:
        """Give the list of published files that the marts are built from."""
        return self.folder / "published_files.json"

    @property
    def events(self) -> Path:
        """Give the folder of OpenLineage events, a file for each snapshot."""
        return self.folder / "events"

    def events_of(self, snapshot: str) -> Path:
        """Give the file of a snapshot's events."""
        return self.events / f"{file_name(snapshot)}.ndjson"

    def report_of(self, base: str, head: str, suffix: str) -> Path:
        """Give the file of a change report."""
        return self.folder / "reports" / f"{file_name(f'{base}..{head}')}{suffix}"

    def checks_of(self, snapshot: str, table: str) -> Path:
        """Give the file that keeps what the checks of a table said."""
        return self.folder / "checks" / file_name(snapshot) / f"{table}.json"

    def is_made(self, output: Path, key: str) -> bool:
        """Say whether an output is there and was made from what `key` names."""
        return output.exists() and self._made().get(self._name(output)) == key

    def record(self, output: Path, key: str) -> None:
        """Remember what an output was made from."""
        with self.alone("record"):
            self._write(self._made() | {self._name(output): key})

    def forget(self, snapshots: Collection[str]) -> None:
        """Remove the events, reports and results of checks of snapshots."""
        names = {file_name(snapshot) for snapshot in snapshots}
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
        """Let one process at a time do something; the lock goes with whoever holds it."""
        (self.folder / "locks").mkdir(parents=True, exist_ok=True)
        with (self.folder / "locks" / what).open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield

    def _write(self, made: Mapping[str, str]) -> None:
        write_text(self.folder / RECORD, json.dumps(made, indent=2, sort_keys=True) + "\n")

    def _made(self) -> dict[str, str]:
        file = self.folder / RECORD
        return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {}

    def _name(self, output: Path) -> str:
        return output.relative_to(self.folder).as_posix()


def home_of(settings: Settings) -> Home:
    """Give the folder beside a local warehouse; a remote one has its outputs in the project."""
    remote = "://" in settings.warehouse
    return Home(settings.home if remote else Path(settings.warehouse).parent)


def prepare_dagster(settings: Settings) -> Path:
    """Make the folder that Dagster keeps its own records in, with the project's settings for it, else ours."""
    folder = settings.home / "dagster"
    folder.mkdir(parents=True, exist_ok=True)
    write_text(settings.home / ".gitignore", "*\n")
    own = settings.root / "dagster.yaml"
    write_text(folder / "dagster.yaml", (own if own.is_file() else DAGSTER).read_text(encoding="utf-8"))
    return folder


def write_text(file: Path, text: str) -> None:
    """Put a whole file in place at once, whoever else is writing it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.draft")
    with _held(draft) as stream:
        stream.truncate(0)
        stream.write(text)
        stream.flush()
        draft.replace(file)


@contextmanager
def _held(draft: Path) -> Iterator[TextIO]:
    """Open a draft that no other process writes; one that was put in place while we waited for it is none any more."""
    while True:
        with draft.open("a", encoding="utf-8", newline="\n") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            if draft.exists() and os.path.samestat(os.fstat(stream.fileno()), draft.stat()):
                yield stream
                return


def key_of(*parts: object) -> str:
    """Name what an output is made from."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]
