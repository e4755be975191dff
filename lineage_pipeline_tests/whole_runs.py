"""Whole runs of the pipeline where something is wrong: a disk that is closed or full.

`python -m lineage_pipeline_tests.whole_runs FOLDER` mounts a disk of its own, and so is started where it harms nobody:
behind `unshare --map-root-user --mount`.
"""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

from lineage_pipeline.cli import main
from lineage_pipeline.discover.gather import input_files
from lineage_pipeline.discover.git import discover_revision
from lineage_pipeline.pipeline import analyse
from lineage_pipeline.settings import load_settings
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
    return canonical(analyse(input_files(discover_revision(repo, revision, settings), settings)))


def on_a_small_disk(place: Path) -> None:
    """Run on a disk that is closed, then full, then neither; readers see what was there before, then all."""
    repo, disk = make_repository(place / "repo"), place / "disk"
    disk.mkdir()
    _mount(disk, "-t", "tmpfs", "-o", "size=64m", "none")
    os.chdir(disk)
    assert run(repo, "HEAD~2")[0] == 0
    before = seen(disk / WAREHOUSE)
    assert before == [rows_of(repo, "HEAD~2")]
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


if __name__ == "__main__":
    on_a_small_disk(Path(sys.argv[1]))
