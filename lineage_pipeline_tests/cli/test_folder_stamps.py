"""A folder that did not change is not read again, and every change of it is noticed."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.generate import write
from lineage_pipeline.cli import main
from lineage_pipeline.cli.folder_stamp import WRITE_TICK_NS
from lineage_pipeline.cli.lineage_cache import MIN_CACHED_FILES

pytestmark = pytest.mark.usefixtures("caching")
FILE = "in/v7.sql"
SAME_LENGTH = "create view v7 as select a, b from u;"


@pytest.fixture
def caching(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINEAGE_CACHE", "true")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a folder of views, which is asked about from above."""
    write(
        {f"in/v{number}.sql": f"create view v{number} as select a, b from t;" for number in range(MIN_CACHED_FILES)},
        tmp_path,
    )
    write({"lineage.toml": "", ".git/HEAD": "ref: refs/heads/main", ".gitignore": "none\n"}, tmp_path)
    monkeypatch.chdir(tmp_path)
    time.sleep(2 * WRITE_TICK_NS / 1e9)
    return tmp_path


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    def asked() -> str:
        assert main(["impact", "t.a+", "--in", "in"]) == 0
        return capsys.readouterr().out

    return asked


def rewrite_in_place(folder: Path) -> None:
    """Write as many characters into a file as it has, and set its clock back."""
    file = folder / FILE
    before = file.stat()
    file.write_text(SAME_LENGTH, encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size


def replace_file(folder: Path) -> None:
    other = folder / "other"
    other.write_text(SAME_LENGTH, encoding="utf-8")
    other.replace(folder / FILE)


TOUCHES: dict[str, Callable[[Path], object]] = {
    "rewritten": rewrite_in_place,
    "replaced": replace_file,
    "removed": lambda folder: (folder / FILE).unlink(),
    "renamed": lambda folder: (folder / FILE).rename(folder / "in/v7.txt"),
    "added": lambda folder: write({"in/deep/w.sql": "select a from t;"}, folder),
    "added with another ending": lambda folder: write({"in/deep/w.VIEW": "create view w as select a from t;"}, folder),
    "ignored": lambda folder: (folder / "in/.gitignore").write_text("v7.sql"),
    "ignored above": lambda folder: (folder / ".gitignore").write_text("v7.sql"),
    "ignored by git alone": lambda folder: write({".git/info/exclude": "v7.sql"}, folder),
    "settings": lambda folder: (folder / "lineage.toml").write_text('exclude = ["**/v7.sql"]'),
}


def test_a_folder_that_looks_as_before_is_not_read(
    folder: Path, ask: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = ask()
    monkeypatch.setattr("lineage_pipeline.cli.lineage_cache._discover_folder", None)
    assert ask() == answer
    assert str(MIN_CACHED_FILES) in answer


@pytest.mark.parametrize("touch", TOUCHES.values(), ids=TOUCHES)
def test_every_kind_of_edit_is_noticed(folder: Path, ask: Callable[[], str], touch: Callable[[Path], object]) -> None:
    answer = ask()
    touch(folder)
    assert ask() != answer


def test_a_file_written_just_now_gets_no_stamp(
    folder: Path, ask: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    future = time.time_ns() + 10**10
    os.utime(folder / FILE, ns=(future, future))
    answer = ask()
    assert not list(folder.rglob("*.seen"))
    assert ask() == answer


def test_a_damaged_stamp_is_ignored(folder: Path, ask: Callable[[], str]) -> None:
    answer = ask()
    (note,) = folder.rglob("*.seen")
    for nonsense in (b"", b"\xff\xfe", note.read_bytes().split(b" ")[0], note.read_bytes() + b"gone"):
        note.write_bytes(nonsense)
        assert ask() == answer
