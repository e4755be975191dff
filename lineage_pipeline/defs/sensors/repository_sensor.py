"""The sensor of the watched repositories: each new commit of a ref becomes a partition and a run request.

The cursor holds the last handled commit of each ref. What exceeds the budget stays where it was, so that the next
look finds it again; so does a commit whose base is still to be made.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import msgspec

from lineage_pipeline.config.load import Settings
from lineage_pipeline.config.models import RepositorySettings
from lineage_pipeline.configured_schemas import compute_analysis_key
from lineage_pipeline.defs.assets.external_assets import READABLE_CHECK, make_repository_key
from lineage_pipeline.defs.jobs import SNAPSHOT_JOB, select_missing_assets
from lineage_pipeline.defs.resources import Project
from lineage_pipeline.defs.run_states import InstanceRuns, RunLookup, RunState, find_run_key
from lineage_pipeline.defs.runs.targets import (
    MissingOutputs,
    SnapshotTarget,
    build_run_tags,
    compare_with_last_look,
    find_missing,
    keep_last_look,
    map_tip_refs,
    require_all,
    resolve_snapshot_target,
)
from lineage_pipeline.defs.snapshot_keys import BASE_TAG, REF_TAG, extract_commit
from lineage_pipeline.defs.specs import snapshot_partitions
from lineage_pipeline.discover.git.mirror import fetch_mirror, is_remote_address, redact_address
from lineage_pipeline.discover.git.repository import (
    find_toplevel,
    has_commit,
    is_force_pushed,
    is_repository,
    list_gained_commits,
    read_commit,
    select_refs,
)
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.store.warehouse import Warehouse


def repositories_sensor(settings: Settings) -> dg.SensorDefinition:
    """Build the sensor with the interval of the settings."""

    @dg.sensor(
        name="repositories_sensor",
        job_name=SNAPSHOT_JOB,
        minimum_interval_seconds=settings.watch.interval,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Asks for a run of every new commit of the refs in [[repositories]].",
    )
    def look(context: dg.SensorEvaluationContext, project: dg.ResourceParam[Project]) -> Any:
        current = project.anew()
        watch = current.settings.watch
        watcher = RepositoryWatcher(current, InstanceRuns(context.instance), LookBudget(watch.seconds, watch.requests))
        cursor = decode_cursor(context.cursor)
        return _build_result(context, cursor, dict(look_at_repositories(watcher, cursor)))

    return look


class WatchRequest(msgspec.Struct, frozen=True):
    """A run to request: the missing outputs of a snapshot, a run key that is used once, and tags."""

    todo: MissingOutputs
    key: str
    tags: dict[str, str]


class RepositoryLook(msgspec.Struct):
    """The result of a look at one repository: its refs, the runs to request, and messages.

    `tips` maps commits to refs.
    """

    refs: dict[str, str]
    tips: Mapping[str, str] = {}
    asked: list[WatchRequest] = []
    messages: list[str] = []


WatchCursor = dict[str, dict[str, str]]
"""The last handled commit of each ref of each repository."""


def _build_result(
    context: dg.SensorEvaluationContext, cursor: WatchCursor, looks: dict[str, RepositoryLook | LineageError]
) -> Any:
    """Return the requests and the cursor; errors are logged and fail the check of their repository."""
    after: WatchCursor = {}
    asked: list[WatchRequest] = []
    said = []
    for name, look in looks.items():
        if isinstance(look, LineageError):
            context.log.error(f"{name}: {look}")
            said.append(f"{name}: {look}")
            after[name] = cursor.get(name, {})
        else:
            for line in look.messages:
                context.log.info(line)
            said += look.messages
            after[name] = look.refs
            asked += look.asked
    keys = [one.todo.target.snapshot for one in asked]
    return dg.SensorResult(
        run_requests=[_build_request(one) for one in asked],
        skip_reason=None if asked else dg.SkipReason("; ".join(said) or _describe_skip(looks)),
        cursor=encode_cursor(after),
        dynamic_partitions_requests=[snapshot_partitions.build_add_request(keys)] if keys else [],
        asset_events=list(_evaluate_repositories(context.instance, looks)),
    )


def _describe_skip(looks: dict[str, RepositoryLook | LineageError]) -> str:
    return "nothing has changed" if looks else "there are no [[repositories]] in the settings"


def _build_request(asked: WatchRequest) -> dg.RunRequest:
    todo = asked.todo
    return dg.RunRequest(
        run_key=asked.key,
        partition_key=todo.target.snapshot,
        tags=asked.tags,
        asset_selection=select_missing_assets(todo),
    )


def _evaluate_repositories(
    instance: dg.DagsterInstance, looks: dict[str, RepositoryLook | LineageError]
) -> Iterator[dg.AssetCheckEvaluation]:
    """Yield the check of each repository whose result has changed."""
    keys = {name: dg.AssetCheckKey(make_repository_key(name), READABLE_CHECK) for name in looks}
    known = instance.event_log_storage.get_latest_asset_check_execution_by_key(list(keys.values()))
    for name, look in looks.items():
        problem = str(look) if isinstance(look, LineageError) else None
        last = known.get(keys[name])
        said = last.evaluation if last else None
        if not isinstance(said, dg.AssetCheckEvaluation) or (said.passed, said.description) != (not problem, problem):
            yield dg.AssetCheckEvaluation(keys[name].asset_key, READABLE_CHECK, not problem, description=problem)


AGAIN_MARK = "again"
"""What a user writes into the cursor in place of a commit, to have it made once more."""

RefCommits = Mapping[str, str]


class LookBudget:
    """How long a look may take, and how many runs it may request."""

    def __init__(self, seconds: float, requests: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Start the clock."""
        self._clock = clock
        self._end = clock() + seconds
        self.requests = requests

    @property
    def seconds(self) -> float:
        """The seconds that are left."""
        return max(self._end - self._clock(), 0.0)

    @property
    def spent(self) -> bool:
        """Tell whether nothing more may be started."""
        return self.requests <= 0 or self.seconds <= 0


class RepositoryWatcher:
    """Looks at one repository after the other."""

    def __init__(self, project: Project, runs: RunLookup, budget: LookBudget) -> None:
        """Take the settings, the lookup of runs, and the budget of a look."""
        self.project = project
        self.runs = runs
        self.budget = budget
        self._asked: dict[str, WatchRequest] = {}

    def look(self, row: RepositorySettings, known: RefCommits, patience: float) -> RepositoryLook:
        """Find what has moved in a repository since the last look."""
        repo = self._folder(row, patience)
        refs = select_refs(repo, row.refs, row.base_ref)
        look = RepositoryLook(
            {name: commit for name, commit in known.items() if name in refs}, map_tip_refs(refs, row.base_ref)
        )
        look.messages += [f"{row.name}: {name} is gone" for name in known if name not in refs]
        moved = [name for name in refs if known.get(name) != refs[name]]
        for number, name in enumerate(moved):
            if self.budget.spent:
                look.messages.append(f"{row.name}: {len(moved) - number} refs are left for the next look")
                break
            self._follow(row, repo, look, name, refs[name])
        return look

    def _folder(self, row: RepositorySettings, patience: float) -> Path:
        settings = self.project.settings
        if is_remote_address(row.path):
            return fetch_mirror(row.path, settings.home / "mirrors", os.environ, patience)
        place = settings.root / row.path
        if not is_repository(place):
            raise LineageError(f"{place} is not a git repository: only those are watched")
        return find_toplevel(place)

    def _follow(self, row: RepositorySettings, repo: Path, look: RepositoryLook, name: str, tip: str) -> None:
        """Handle the commits of a ref that moved, as far as possible now."""
        before = look.refs.get(name, "")
        commits = list_gained_commits(repo, before, tip) if row.history and before not in ("", AGAIN_MARK) else [tip]
        moved = before not in ("", AGAIN_MARK) and is_force_pushed(repo, before, tip)
        if moved:
            look.messages.append(f"{row.name}: {name} was moved to another history")
        for commit in commits:
            tags = {REF_TAG: name, **({"git/forced": "true"} if moved else {})}
            if self.budget.spent or not self._deal(row, repo, look, commit, tags, before):
                return
            look.refs[name] = commit

    def _deal(
        self, row: RepositorySettings, repo: Path, look: RepositoryLook, commit: str, tags: dict[str, str], before: str
    ) -> bool:
        """Request what a commit needs; False where its base, or it as a base, must be made first."""
        settings, again = self.project.settings_for(f"{row.name}@{commit}"), before == AGAIN_MARK
        warehouse = Warehouse(settings.warehouse)
        target = keep_last_look(resolve_snapshot_target(settings, repo, row, commit), warehouse)
        if before and not again and not row.history and has_commit(repo, before):
            target = compare_with_last_look(target, before)
        if target.snapshot in self._asked:
            return not self._asked[target.snapshot].todo.target.implied
        if not self._is_ready(target, repo, look, _SnapshotOutput(settings, warehouse)):
            return False
        todo = require_all(target) if again else find_missing(target, settings, warehouse)
        base = extract_commit(target.base) if target.base else ""
        key = f"{target.snapshot}..{base or 'none'}"
        state, free = find_run_key(self.runs, key)
        if not again and (not todo or state is RunState.OPEN):
            look.messages.append(f"{target.snapshot} is there already, or being made")
            return True
        known = {BASE_TAG: base, **tags}
        self._ask(look, WatchRequest(todo, free, _build_tags(repo, target, known)))
        return True

    def _is_ready(self, target: SnapshotTarget, repo: Path, look: RepositoryLook, making: "_SnapshotOutput") -> bool:
        """Tell whether the base exists or cannot be made; one that was never made is requested first."""
        base = target.base
        if base is None or not has_commit(repo, extract_commit(base)):
            return True
        implied = SnapshotTarget(base, implied=True, ref=look.tips.get(extract_commit(base), ""), past=True)
        missing = find_missing(implied, making.settings, making.warehouse)
        if not missing:
            return True
        if base in self._asked or self.runs.is_busy(base):
            look.messages.append(f"{target.snapshot} waits for its base {base}")
            return False
        state, free = find_run_key(self.runs, f"{base}:{compute_analysis_key(making.settings)}")
        removed = state is RunState.MADE and making.warehouse.manifest(base) is None  # retention has taken it since
        if state is RunState.UNKNOWN or removed:
            self._ask(look, WatchRequest(missing, free, _build_tags(repo, missing.target, {})))
            look.messages.append(f"{target.snapshot} waits for its base {base}")
            return False
        look.messages.append(f"{base} could not be made: {target.snapshot} is not compared with it")
        return True

    def _ask(self, look: RepositoryLook, asked: WatchRequest) -> None:
        look.asked.append(asked)
        self._asked[asked.todo.target.snapshot] = asked
        self.budget.requests -= 1


class _SnapshotOutput(msgspec.Struct, frozen=True):
    """The settings that snapshots are made with, and their warehouse."""

    settings: Settings
    warehouse: Warehouse


def _build_tags(repo: Path, target: SnapshotTarget, more: Mapping[str, str]) -> dict[str, str]:
    author = read_commit(repo, extract_commit(target.snapshot)).author
    return {**build_run_tags(target), "git/author": author, **more}


def look_at_repositories(
    watcher: RepositoryWatcher, cursor: WatchCursor
) -> Iterator[tuple[str, RepositoryLook | LineageError]]:
    """Look at every repository; one that cannot be read does not stop the others or use up their time."""
    rows = watcher.project.settings.repositories
    for number, row in enumerate(rows):
        patience = watcher.budget.seconds / (len(rows) - number)
        try:
            yield row.name, watcher.look(row, cursor.get(row.name, {}), patience)
        except LineageError as error:
            yield row.name, error
        except OSError as error:
            yield row.name, LineageError(f"{error.filename or redact_address(row.path)}: {error.strerror or error}")


def decode_cursor(text: str | None) -> WatchCursor:
    """Decode the cursor; an invalid one is empty."""
    try:
        return msgspec.json.decode(text or "{}", type=WatchCursor)
    except msgspec.DecodeError:
        return {}


def encode_cursor(cursor: WatchCursor) -> str:
    """Encode the cursor."""
    return msgspec.json.encode(cursor, order="sorted").decode()
