"""What a look at the repositories finds: refs that moved, and the runs to ask for.

A ref is remembered at the last commit that was dealt with. What there is no time or room for stays where it was, so
that the next look finds it again; so does a commit whose base is still to be made.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import Protocol

import msgspec

from lineage_pipeline.defs.keys import REF, commit_of
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.defs.targets import Target, Todo, everything, name_tips, run_tags, target_of, todo_of
from lineage_pipeline.discover.git import has_commit, is_repository, read_commit, toplevel
from lineage_pipeline.discover.refs import chosen_refs, gained, is_forced
from lineage_pipeline.discover.remotes import is_remote, mirrored, shown
from lineage_pipeline.settings import RepositorySettings, Settings
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline.vocabulary.errors import LineageError

AGAIN = "again"
"""What somebody writes in place of a commit, to have it made once more."""

Refs = Mapping[str, str]
Cursor = dict[str, dict[str, str]]
"""Which commit of each ref of each repository was dealt with last."""


class State(StrEnum):
    """What became of a run that was asked for."""

    UNKNOWN = "unknown"
    OPEN = "open"
    MADE = "made"
    FAILED = "failed"


class Asked(msgspec.Struct, frozen=True):
    """A run to ask for: what is to be made of a snapshot, under a key by which it is asked for once."""

    todo: Todo
    key: str
    tags: dict[str, str]


class Look(msgspec.Struct):
    """What a look at one repository gave: where its refs are now, what to ask for, and what to tell.

    `tips` says which ref is at a commit.
    """

    refs: dict[str, str]
    tips: Mapping[str, str] = {}
    asked: list[Asked] = []
    told: list[str] = []


class Budget:
    """How long a look may take, and how many runs it may ask for."""

    def __init__(self, seconds: float, requests: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin to count."""
        self._clock = clock
        self._end = clock() + seconds
        self.requests = requests

    @property
    def seconds(self) -> float:
        """Give the time that is left."""
        return max(self._end - self._clock(), 0.0)

    @property
    def spent(self) -> bool:
        """Say whether nothing more may be begun."""
        return self.requests <= 0 or self.seconds <= 0


class Runs(Protocol):
    """Who knows about runs."""

    def state(self, key: str) -> State:
        """Say what became of the run that was asked for under a key."""

    def is_busy(self, snapshot: str) -> bool:
        """Say whether a run of a snapshot has not ended, whoever asked for it."""


class Watcher:
    """Looks at one repository after the other."""

    def __init__(self, project: Project, runs: Runs, budget: Budget) -> None:
        """Take the settings, whom to ask about runs, and what a look may cost."""
        self.project = project
        self.runs = runs
        self.budget = budget
        self._asked: dict[str, Asked] = {}

    def look(self, row: RepositorySettings, known: Refs, patience: float) -> Look:
        """Find what moved in a repository since it was looked at last."""
        repo = self._folder(row, patience)
        refs = chosen_refs(repo, row.refs, row.base_ref)
        look = Look({name: commit for name, commit in known.items() if name in refs}, name_tips(refs, row.base_ref))
        look.told += [f"{row.name}: {name} is gone" for name in known if name not in refs]
        moved = [name for name in refs if known.get(name) != refs[name]]
        for number, name in enumerate(moved):
            if self.budget.spent:
                look.told.append(f"{row.name}: {len(moved) - number} refs are left for the next look")
                break
            self._follow(row, repo, look, name, refs[name])
        return look

    def _folder(self, row: RepositorySettings, patience: float) -> Path:
        settings = self.project.settings
        if is_remote(row.path):
            return mirrored(row.path, settings.home / "mirrors", os.environ, patience)
        place = settings.root / row.path
        if not is_repository(place):
            raise LineageError(f"{place} is not a git repository: only those are watched")
        return toplevel(place)

    def _follow(self, row: RepositorySettings, repo: Path, look: Look, name: str, tip: str) -> None:
        """Deal with the commits of a ref that moved, as far as that can be done now."""
        before = look.refs.get(name, "")
        commits = gained(repo, before, tip) if row.history and before not in ("", AGAIN) else [tip]
        moved = before not in ("", AGAIN) and is_forced(repo, before, tip)
        if moved:
            look.told.append(f"{row.name}: {name} was moved to another history")
        for commit in commits:
            tags = {REF: name, **({"git/forced": "true"} if moved else {})}
            if self.budget.spent or not self._deal(row, repo, look, commit, tags, before == AGAIN):
                return
            look.refs[name] = commit

    def _deal(
        self, row: RepositorySettings, repo: Path, look: Look, commit: str, tags: dict[str, str], again: bool
    ) -> bool:
        """Ask for what a commit needs; False where its base, or it as a base, has to be there first."""
        settings = self.project.settings_for(f"{row.name}@{commit}")
        target = target_of(settings, repo, row, commit)
        if target.snapshot in self._asked:
            return not self._asked[target.snapshot].todo.target.implied
        warehouse = Warehouse(settings.warehouse)
        if not self._is_ready(target, repo, look, _Making(settings, warehouse)):
            return False
        todo = everything(target) if again else todo_of(target, settings, warehouse)
        base = commit_of(target.base) if target.base else ""
        key = f"{target.snapshot}..{base or 'none'}"
        state, free = ask_after(self.runs, key)
        if not again and (not todo or state is State.OPEN):
            look.told.append(f"{target.snapshot} is there already, or being made")
            return True
        known = {"git/base": base, **tags}
        self._ask(look, Asked(todo, free, _tags(repo, target, known)))
        return True

    def _is_ready(self, target: Target, repo: Path, look: Look, making: "_Making") -> bool:
        """Say whether the base is there, or cannot be; one that was never made is asked for first."""
        base = target.base
        if base is None or not has_commit(repo, commit_of(base)):
            return True
        implied = Target(base, implied=True, ref=look.tips.get(commit_of(base), ""), past=True)
        missing = todo_of(implied, making.settings, making.warehouse)
        if not missing:
            return True
        if base in self._asked or self.runs.is_busy(base):
            look.told.append(f"{target.snapshot} waits for its base {base}")
            return False
        state, free = ask_after(self.runs, f"{base}:{making.settings.analysis_key()}")
        removed = state is State.MADE and making.warehouse.manifest(base) is None  # retention has taken it since
        if state is State.UNKNOWN or removed:
            self._ask(look, Asked(missing, free, _tags(repo, missing.target, {})))
            look.told.append(f"{target.snapshot} waits for its base {base}")
            return False
        look.told.append(f"{base} could not be made: {target.snapshot} is not compared with it")
        return True

    def _ask(self, look: Look, asked: Asked) -> None:
        look.asked.append(asked)
        self._asked[asked.todo.target.snapshot] = asked
        self.budget.requests -= 1


class _Making(msgspec.Struct, frozen=True):
    """With which settings snapshots are made, and where they go."""

    settings: Settings
    warehouse: Warehouse


def ask_after(runs: Runs, key: str) -> tuple[State, str]:
    """Say what became of what was asked for last under a key, and give one that is free: itself, or a numbered one."""
    last, free = State.UNKNOWN, key
    for number in count(2):
        state = runs.state(free)
        if state is State.UNKNOWN:
            break
        last, free = state, f"{key}#{number}"
    return last, free


def _tags(repo: Path, target: Target, more: Mapping[str, str]) -> dict[str, str]:
    author = read_commit(repo, commit_of(target.snapshot)).author
    return {**run_tags(target), "git/author": author, **more}


def look_at_all(watcher: Watcher, cursor: Cursor) -> Iterator[tuple[str, Look | LineageError]]:
    """Look at every repository; one that cannot be read does not keep us from the others, nor take their time."""
    rows = watcher.project.settings.repositories
    for number, row in enumerate(rows):
        patience = watcher.budget.seconds / (len(rows) - number)
        try:
            yield row.name, watcher.look(row, cursor.get(row.name, {}), patience)
        except LineageError as error:
            yield row.name, error
        except OSError as error:
            yield row.name, LineageError(f"{error.filename or shown(row.path)}: {error.strerror or error}")


def read_cursor(text: str | None) -> Cursor:
    """Read the cursor; one that cannot be read is none."""
    try:
        return msgspec.json.decode(text or "{}", type=Cursor)
    except msgspec.DecodeError:
        return {}


def write_cursor(cursor: Cursor) -> str:
    """Write the cursor."""
    return msgspec.json.encode(cursor, order="sorted").decode()
