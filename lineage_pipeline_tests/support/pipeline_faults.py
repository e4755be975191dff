"""Whole runs of the pipeline under faults: one that is killed, a disk that is read-only or full.

`python -m lineage_pipeline_tests.support.pipeline_faults FOLDER` kills a run and lets the next one recover; with `disk`
behind it, it mounts a disk of its own, and so must be started behind `unshare --map-root-user --mount`.
"""

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from lineage_pipeline.cli import main
from lineage_pipeline.config.load import SECRET_VARIABLES, load_settings
from lineage_pipeline.discover.discovery import build_input_files
from lineage_pipeline.discover.git.mirror import TOKEN_VARIABLE
from lineage_pipeline.discover.git.repository import discover_revision
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline_tests.support.example_run import canonical_rows
from lineage_pipeline_tests.support.fault_injection import read_published
from lineage_pipeline_tests.support.git_repositories import run_git

WAREHOUSE = Path(".lineage", "warehouse")
COMMIT_FILES = (
    {"lineage.toml": '[analysis]\ndialect = "postgres"\n', "t.sql": "create table t (a int, b int);\n"},
    {"v.sql": "create view v as select a, a + b as c from t;\n"},
    {"w.sql": "create view w as select c from v where a > 1;\n"},
)
"""What each commit of the repository adds."""


def make_three_commits(folder: Path) -> Path:
    """Make a small repository of three commits."""
    folder.mkdir()
    run_git(folder, "init", "-q", "-b", "main")
    for texts in COMMIT_FILES:
        for name, text in texts.items():
            (folder / name).write_text(text)
        run_git(folder, "add", "-A")
        run_git(folder, "commit", "-q", "-m", f"adds {', '.join(texts)}")
    return folder


def run_revision(repo: Path, revision: str) -> tuple[int, str]:
    """Materialize a revision; return the exit code and the last line on stderr."""
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
        code = main(["run", "--repo", str(repo), "--rev", revision])
    return code, _last_line(said.getvalue())


def _last_line(said: str) -> str:
    assert "Traceback" not in said, said
    assert "internal error" not in said, said
    return said.strip().splitlines()[-1]


def analyze_revision(repo: Path, revision: str) -> dict[str, list[bytes]]:
    """The rows of a revision as one process gives them, without warehouse."""
    settings = load_settings(repo, {}, {})
    return canonical_rows(build_lineage(build_input_files(discover_revision(repo, revision, settings), settings)))


SECRET = "one-that-nobody-is-told"
KILL_AFTER_FILES = 30
"""Files that a run has written when it is killed: some of its tables, and none is published yet."""


def kill_and_recover(repo: Path, work: Path) -> None:
    """Kill a run with Dagster and Spark after it wrote some files; the next run gives all of its rows."""
    os.chdir(work)
    child = os.fork()  # what the run imports was imported here, once
    if not child:
        os.setsid()
        os._exit(run_revision(repo, "HEAD~2")[0])
    while _count_files(work) < KILL_AFTER_FILES:
        assert os.waitpid(child, os.WNOHANG) == (0, 0), "it came to its end"
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert read_published(work / WAREHOUSE) == []
    assert run_revision(repo, "HEAD~2")[0] == 0
    assert read_published(work / WAREHOUSE) == [analyze_revision(repo, "HEAD~2")]
    told = [file for file in work.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]
    assert told == [], "a secret of the environment is in what runs leave behind"


def _count_files(work: Path) -> int:
    return sum(len(files) for _, _, files in os.walk(work / WAREHOUSE))


def run_on_failing_disk(repo: Path, disk: Path) -> None:
    """Run on a disk that is read-only, then full, then neither; readers see the earlier rows, then all."""
    before = read_published(disk / WAREHOUSE)
    _mount(disk, "-o", "remount,ro")
    code, said = run_revision(repo, "HEAD~1")
    _mount(disk, "-o", "remount,rw")
    assert (code, said.endswith(": Read-only file system")) == (2, True), said
    assert read_published(disk / WAREHOUSE) == before
    for spare in (50_000, 1_000_000):
        _fill_disk(disk / "ballast", spare)
        code, said = run_revision(repo, "HEAD~1")
        (disk / "ballast").unlink()
        assert code == 2, said
        assert any(words in said for words in ("disk is full", "No space left", "disk I/O error")), said
        assert read_published(disk / WAREHOUSE) == before
    assert run_revision(repo, "HEAD~1")[0] == 0
    assert _sort_snapshots(read_published(disk / WAREHOUSE)) == _sort_snapshots(
        [analyze_revision(repo, "HEAD~2"), analyze_revision(repo, "HEAD~1")]
    )


def _fill_disk(file: Path, spare: int) -> None:
    free = os.statvfs(file.parent)
    file.write_bytes(bytes(free.f_bavail * free.f_frsize - spare))


def _sort_snapshots(rows: list[dict[str, list[bytes]]]) -> list[dict[str, list[bytes]]]:
    return sorted(rows, key=lambda tables: tables["statements"])


def _mount(place: Path, *arguments: str) -> None:
    subprocess.run(["mount", *arguments, str(place)], check=True, capture_output=True)


def run_faults(place: Path, *, mounting: bool) -> None:
    """Kill a run, and, where a disk can be mounted, let the disk fail."""
    import lineage_pipeline.defs.compose  # noqa: F401 - once, for the run that is killed and for all others

    os.environ |= dict.fromkeys((*SECRET_VARIABLES, TOKEN_VARIABLE), SECRET)
    repo, work = make_three_commits(place / "repo"), place / "work"
    work.mkdir()
    if mounting:
        _mount(work, "-t", "tmpfs", "-o", "size=64m", "none")
    kill_and_recover(repo, work)
    if mounting:
        run_on_failing_disk(repo, work)


if __name__ == "__main__":
    run_faults(Path(sys.argv[1]), mounting=sys.argv[2:] == ["disk"])
