"""Whole runs of the pipeline where something is wrong: one that is killed, a disk that is closed or full.

`python -m lineage_pipeline_tests.whole_runs FOLDER` kills a run and lets the next one mend that; with `disk` behind it,
it mounts a disk of its own, and so is started where it harms nobody: behind `unshare --map-root-user --mount`.
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
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.discover.discovery import build_input_files
from lineage_pipeline.discover.git.mirror import TOKEN_VARIABLE
from lineage_pipeline.discover.git.repository import discover_revision
from lineage_pipeline.discover.schemas.imported_tables import SECRET_VARIABLES
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline_tests.faults import seen
from lineage_pipeline_tests.materialised import canonical
from lineage_pipeline_tests.test_discover import git

WAREHOUSE = Path(".lineage", "warehouse")
TEXTS = (
    {"lineage.toml": '[analysis]\ndialect = "postgres"\n', "t.sql": "create table t (a int, b int);\n"},
    {"v.sql": "create view v as select a, a + b as c from t;\n"},
    {"w.sql": "create view w as select c from v where a > 1;\n"},
)
"""What each commit of the repository adds."""


def make_repository(folder: Path) -> Path:
    """Make a small repository of three commits."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for texts in TEXTS:
        for name, text in texts.items():
            (folder / name).write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", f"adds {', '.join(texts)}")
    return folder


def run(repo: Path, revision: str) -> tuple[int, str]:
    """Materialise a revision; give the exit code and the last line that was said."""
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
        code = main(["run", "--repo", str(repo), "--rev", revision])
    return code, _sentence(said.getvalue())


def _sentence(said: str) -> str:
    assert "Traceback" not in said, said
    assert "internal error" not in said, said
    return said.strip().splitlines()[-1]


def rows_of(repo: Path, revision: str) -> dict[str, list[bytes]]:
    """Give the rows of a revision as one process works them out, without disk and warehouse."""
    settings = load_settings(repo, {}, {})
    return canonical(build_lineage(build_input_files(discover_revision(repo, revision, settings), settings)))


SECRET = "one-that-nobody-is-told"
FILES = 30
"""Files that a run has put into the warehouse when it is killed: some of its tables, and none of it is published."""


def killed_and_mended(repo: Path, work: Path) -> None:
    """Kill a run, Dagster and Spark with it, when it has written some files; the next one gives all of its rows."""
    os.chdir(work)
    child = os.fork()  # what the run imports was imported here, once
    if not child:
        os.setsid()
        os._exit(run(repo, "HEAD~2")[0])
    while _held(work) < FILES:
        assert os.waitpid(child, os.WNOHANG) == (0, 0), "it came to its end"
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert seen(work / WAREHOUSE) == []
    assert run(repo, "HEAD~2")[0] == 0
    assert seen(work / WAREHOUSE) == [rows_of(repo, "HEAD~2")]
    told = [file for file in work.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]
    assert told == [], "a secret of the environment is in what runs leave behind"


def _held(work: Path) -> int:
    return sum(len(files) for _, _, files in os.walk(work / WAREHOUSE))


def on_a_small_disk(repo: Path, disk: Path) -> None:
    """Run on a disk that is closed, then full, then neither; readers see what was there before, then all."""
    before = seen(disk / WAREHOUSE)
    _mount(disk, "-o", "remount,ro")
    code, said = run(repo, "HEAD~1")
    _mount(disk, "-o", "remount,rw")
    assert (code, said.endswith(": Read-only file system")) == (2, True), said
    assert seen(disk / WAREHOUSE) == before
    for spare in (50_000, 1_000_000):
        _fill(disk / "ballast", spare)
        code, said = run(repo, "HEAD~1")
        (disk / "ballast").unlink()
        assert code == 2, said
        assert any(words in said for words in ("disk is full", "No space left", "disk I/O error")), said
        assert seen(disk / WAREHOUSE) == before
    assert run(repo, "HEAD~1")[0] == 0
    assert _sorted(seen(disk / WAREHOUSE)) == _sorted([rows_of(repo, "HEAD~2"), rows_of(repo, "HEAD~1")])


def _fill(file: Path, spare: int) -> None:
    free = os.statvfs(file.parent)
    file.write_bytes(bytes(free.f_bavail * free.f_frsize - spare))


def _sorted(rows: list[dict[str, list[bytes]]]) -> list[dict[str, list[bytes]]]:
    return sorted(rows, key=lambda tables: tables["statements"])


def _mount(place: Path, *arguments: str) -> None:
    subprocess.run(["mount", *arguments, str(place)], check=True, capture_output=True)


def main_of(place: Path, *, mounting: bool) -> None:
    """Run where runs are killed, and, where a disk can be had, where it fails them."""
    import lineage_pipeline.defs.compose  # noqa: F401 - once, for the run that is killed and for all others

    os.environ |= dict.fromkeys((*SECRET_VARIABLES, TOKEN_VARIABLE), SECRET)
    repo, work = make_repository(place / "repo"), place / "work"
    work.mkdir()
    if mounting:
        _mount(work, "-t", "tmpfs", "-o", "size=64m", "none")
    killed_and_mended(repo, work)
    if mounting:
        on_a_small_disk(repo, work)


if __name__ == "__main__":
    main_of(Path(sys.argv[1]), mounting=sys.argv[2:] == ["disk"])
