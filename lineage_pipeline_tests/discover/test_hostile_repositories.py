"""Hostile repositories: only regular files are read, nothing hangs, and nothing is dropped in silence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lineage_pipeline.config.load import Settings
from lineage_pipeline.discover.discovery import Discovery
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.discover.git.repository import WORKTREE, discover_revision
from lineage_pipeline_tests.export.test_hostile_names import LOG_COMMAND
from lineage_pipeline_tests.support.comparisons import HOSTILE_NAMES
from lineage_pipeline_tests.support.git_repositories import run_git
from lineage_pipeline_tests.support.paths import ROOT

RULES = Settings(analysis={"dialect": "postgres"})
SMALL = Settings(analysis={"dialect": "postgres", "limits": {"bytes": 1_000}})
SQL = b"create table t (a int);\n"


def list_paths(found: Discovery) -> list[str]:
    return [file.path for file in found.files]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "repo"
    made.mkdir()
    (made / "good.sql").write_bytes(SQL)
    return made


def test_only_regular_files_are_opened(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(folder / "pipe.sql")  # to open it would wait for ever
    (folder / "zero.sql").symlink_to("/dev/zero")
    (folder / "secret.sql").symlink_to("/etc/passwd")
    (folder / "loop.sql").symlink_to("loop.sql")
    (folder / "round").symlink_to("..")
    (folder / "folder.sql").mkdir()
    assert list_paths(discover_folder(folder, RULES)) == ["good.sql"]


@pytest.mark.parametrize(
    "name", ["-rf", "--help.sql", "-rf.sql", "$(touch x).sql", ";x.sql", "a\nb.sql", "'.sql", "*.sql"]
)
def test_a_name_is_never_an_option_or_a_command(name: str, folder: Path) -> None:
    (folder / name).write_bytes(SQL)
    run_git(folder, "init", "-q", "-b", "main")
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "-m", "all")
    expected = sorted({"good.sql", *([name] if name.endswith(".sql") else [])})
    for revision in ("HEAD", WORKTREE):
        assert sorted(list_paths(discover_revision(folder, revision, RULES))) == expected
    assert sorted(path.name for path in folder.iterdir()) == sorted([".git", "good.sql", name])


def test_replace_refs_do_not_change_the_contents_of_a_commit(folder: Path) -> None:
    run_git(folder, "init", "-q", "-b", "main")
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "-m", "all")
    (folder / "other").write_text("create table lie (a int);\n")
    other = run_git(folder, "hash-object", "-w", "other").strip()
    run_git(folder, "replace", run_git(folder, "rev-parse", "HEAD:good.sql").strip(), other)
    assert [source.text for source in discover_revision(folder, "HEAD", RULES).sources] == [SQL.decode()]


def test_names_that_are_no_text_or_differ_by_case_are_files_of_their_own(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.sql")).write_bytes(SQL)
    (folder / "GOOD.sql").write_bytes(b"create table u (a int);\n")
    run_git(folder, "init", "-q", "-b", "main")
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "-m", "all")
    for revision in ("HEAD", WORKTREE):
        assert sorted(list_paths(discover_revision(folder, revision, RULES))) == [
            "GOOD.sql",
            "\\xff\\xfe.sql",
            "good.sql",
        ]


@pytest.mark.parametrize("revision", ["HEAD", WORKTREE])
def test_a_file_that_is_too_large_is_said_and_not_read(revision: str, folder: Path) -> None:
    with (folder / "huge.sql").open("wb") as stream:
        stream.truncate(50_000_000)
    run_git(folder, "init", "-q", "-b", "main")
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "-m", "all")
    found = discover_revision(folder, revision, SMALL)
    assert [(row.path, row.code, row.message) for row in found.diagnostics] == [
        ("huge.sql", "LIMIT_EXCEEDED", "the file is over the limit of 1000 characters")
    ]
    assert [(file.path, file.status) for file in found.files] == [("good.sql", "analysed"), ("huge.sql", "failed")]


def test_no_name_in_a_file_reaches_the_terminal_as_a_command(folder: Path) -> None:
    names = [name.replace('"', '""') for name in HOSTILE_NAMES.values() if name.isprintable() or "\x1b" in name]
    sql = "".join(f'create view "v{name}" as select "{name}", "no{name}" from "{name}";\n' for name in names)
    (folder / "good.sql").write_text(sql, encoding="utf-8", newline="")
    (folder / "::stop-commands::x.sql").write_text("select from from;\ncreate view w as select a from nowhere;\n")
    for verb in (
        ["scan", "."],
        ["analyze", "good.sql"],
        ["search", "v", "-f", "csv"],
        ["diff", ".", ".", "-f", "text"],
    ):
        chosen = [] if verb[0] == "search" else ["--dialect", "postgres"]
        command = [sys.executable, "-W", "ignore", "-m", "lineage_pipeline.cli", *verb, *chosen]
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, capture_output=True, cwd=folder, env=environ)
        said = (done.stdout + done.stderr).decode()
        assert done.returncode == 0, said
        assert not LOG_COMMAND.search(said), LOG_COMMAND.search(said)
        assert not [sign for sign in said if sign < " " and sign not in "\n\t"], repr(said)
        assert not set(said) & set("\x7f\x9b\u202e\u2066")
