"""Repositories that point outside of themselves: by a foreign `.git`, by links, settings, numbers and names."""

import os
import subprocess
from pathlib import Path

import pytest

from lineage_pipeline.config.load import Settings
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.discover.git.repository import (
    WORKTREE,
    discover_revision,
    find_toplevel,
    is_repository,
    list_refs,
    read_commit,
    resolve_commit,
)
from lineage_pipeline.files import git_command
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline_tests.support.git_repositories import run_git, write_files

RULES = Settings(analysis={"dialect": "postgres"})


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """A repository of the user that nobody else is to read."""
    return _make_repository(tmp_path / "private", secret_sql="create table secret (a int)")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository of a stranger."""
    return _make_repository(tmp_path / "strange", a_sql="create table t (a int)")


def _make_repository(place: Path, **files: str) -> Path:
    place.mkdir()
    run_git(place, "init", "-q", "-b", "main")
    write_files(place, **files)
    run_git(place, "add", "-A")
    run_git(place, "commit", "-q", "-m", "all")
    return place


def _paths(repo: Path, revision: str = "HEAD") -> list[str]:
    return [file.path for file in discover_revision(repo, revision, RULES).files]


def _drop(place: Path) -> Path:
    subprocess.run(["rm", "-r", str(place)], check=True)
    return place


def _pointer(repo: Path, private: Path) -> None:
    _drop(repo / ".git").write_text(f"gitdir: {private / '.git'}\n")


def _link(repo: Path, private: Path) -> None:
    _drop(repo / ".git").symlink_to(private / ".git")


def _pointer_to_bare(repo: Path, private: Path) -> None:
    run_git(repo.parent, "clone", "-q", "--bare", str(private), "bare.git")
    _drop(repo / ".git").write_text("gitdir: ../bare.git\n")


def _tree_of_another(repo: Path, private: Path) -> None:
    run_git(private, "worktree", "add", "-q", str(private.parent / "linked"))
    (private.parent / "linked" / ".git").rename(repo / "pointer")
    _drop(repo / ".git")
    (repo / "pointer").rename(repo / ".git")


def _common(repo: Path, private: Path) -> None:
    (repo / ".git" / "commondir").write_text(f"{private / '.git'}\n")


def _common_behind_a_pointer(repo: Path, private: Path) -> None:
    (repo / ".git").rename(repo / "inner")
    (repo / "inner" / "commondir").write_text(f"{private / '.git'}\n")
    (repo / ".git").write_text("gitdir: inner\n")


def _objects_and_refs(repo: Path, private: Path) -> None:
    for name in ("objects", "refs"):
        _drop(repo / ".git" / name).symlink_to(private / ".git" / name)


def _packs_and_one_ref(repo: Path, private: Path) -> None:
    run_git(private, "gc", "-q")
    _drop(repo / ".git" / "objects" / "pack").symlink_to(private / ".git" / "objects" / "pack")
    (repo / ".git" / "packed-refs").symlink_to(private / ".git" / "packed-refs")
    (repo / ".git" / "refs" / "heads" / "main").unlink()


def _everything(repo: Path, private: Path) -> None:
    run_git(repo, "config", "core.worktree", "/")


def _what_is_around(repo: Path, private: Path) -> None:
    """The folder around is a repository of the user, and this one claims it."""
    run_git(repo.parent, "init", "-q")
    run_git(repo, "config", "core.worktree", "../..")


CLAIMS = {
    "a file in place of .git": _pointer,
    "a link in place of .git": _link,
    "a file that leads to a bare repository": _pointer_to_bare,
    "the file of a working tree that lies elsewhere": _tree_of_another,
    "what is common": _common,
    "what is common to what a file leads to": _common_behind_a_pointer,
    "links in place of objects and refs": _objects_and_refs,
    "links in place of packs and of one ref": _packs_and_one_ref,
    "the whole machine as its tree": _everything,
    "the tree around it": _what_is_around,
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_git_folder_of_another_repository_is_refused(claim: str, repo: Path, private: Path) -> None:
    CLAIMS[claim](repo, private)
    for revision in ("HEAD", WORKTREE, "main"):
        with pytest.raises(LineageError, match=r"lead|knows nothing of it") as refusal:
            _paths(repo, revision)
        assert "\n" not in str(refusal.value)
    with pytest.raises(LineageError):  # and not: it is a folder like any other
        is_repository(repo)
    assert [file.path for file in discover_folder(repo, RULES).files] == ["a.sql"]


def _linked(repo: Path) -> Path:
    run_git(repo, "worktree", "add", "-q", "../linked")
    return repo.parent / "linked"


def _submodule(repo: Path) -> Path:
    other = _make_repository(repo.parent / "other", b_sql="create table b (a int)")
    run_git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "inner")
    return repo / "inner"


def _separate_git_folder(repo: Path) -> Path:
    run_git(repo, "init", "-q", "--separate-git-dir", "../apart.git")
    run_git(repo, "config", "core.worktree", str(repo))
    return repo


def _around_a_bare_one(repo: Path) -> Path:
    run_git(repo.parent, "clone", "-q", "--bare", str(repo), "around/.bare")
    (repo.parent / "around" / ".git").write_text("gitdir: ./.bare\n")
    return repo.parent / "around"


def _shared(repo: Path) -> Path:
    run_git(repo.parent, "clone", "-q", "--shared", str(repo), "shared")
    return repo.parent / "shared"


def _inside_git(repo: Path) -> Path:
    run_git(repo.parent, "clone", "-q", "--bare", str(repo), "bare.git")
    return repo.parent / "bare.git" / "refs"


@pytest.mark.parametrize("kind", [_linked, _submodule, _separate_git_folder, _around_a_bare_one, _shared, _inside_git])
def test_an_own_git_folder_is_read_wherever_it_is(kind: object, repo: Path) -> None:
    assert callable(kind)
    place = kind(repo)
    assert _paths(place) == (["b.sql"] if kind is _submodule else ["a.sql"])


@pytest.mark.parametrize("name", ["HEAD", "config", "packed-refs", "objects/pack/pack-1.idx", "refs/heads/x"])
def test_a_pipe_in_a_repository_is_not_waited_for(name: str, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_command, "MAX_SILENCE_SECONDS", 0.5)
    (repo / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(repo / ".git" / name)
    with pytest.raises(LineageError, match=r"is no file|said nothing|failed in"):
        _paths(repo)
    assert [file.path for file in discover_folder(repo, RULES).files] == ["a.sql"]


def test_a_pipe_that_settings_include_is_not_waited_for(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_command, "MAX_SILENCE_SECONDS", 0.5)
    os.mkfifo(repo / "pipe")
    (repo / ".git" / "config").write_text("[include]\n\tpath = ../pipe\n")
    with pytest.raises(LineageError, match="git said nothing for 0.5 seconds"):
        _paths(repo)


def test_a_content_that_is_a_pipe_is_not_waited_for(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In objects that the repository borrows, which are not looked through."""
    monkeypatch.setattr(git_command, "MAX_SILENCE_SECONDS", 0.5)
    blob = run_git(repo, "rev-parse", "HEAD:a.sql").strip()
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    (repo / "borrowed" / blob[:2]).mkdir(parents=True)
    os.mkfifo(repo / "borrowed" / blob[:2] / blob[2:])
    (repo / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (repo / ".git" / "objects" / "info" / "alternates").write_text(f"{repo / 'borrowed'}\n")
    with pytest.raises(LineageError, match="git said nothing for 0.5 seconds"):
        _paths(repo)


def test_a_tree_that_lists_itself_exponentially_is_one_error_message(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_command, "MAX_OUTPUT_BYTES", 1_000_000)
    entry = f"100644 blob {run_git(repo, 'rev-parse', 'HEAD:a.sql').strip()}"
    for _ in range(12):
        listing = "".join(f"{entry}\tf{number}{'.sql' if ' blob ' in entry else ''}\n" for number in range(10))
        entry = f"040000 tree {_tree(repo, listing)}"
    run_git(repo, "update-ref", "refs/heads/bomb", run_git(repo, "commit-tree", "-m", "x", entry.split()[2]).strip())
    with pytest.raises(LineageError, match="gives more than 1 MB"):
        _paths(repo, "bomb")


def _tree(repo: Path, listing: str) -> str:
    made = subprocess.run(["git", "mktree"], cwd=repo, input=listing, text=True, capture_output=True, check=True)
    return made.stdout.strip()


def test_a_link_of_a_hundred_megabytes_leads_nowhere(repo: Path) -> None:
    with (repo / "long").open("wb") as stream:
        stream.truncate(100_000_000)
    blob = run_git(repo, "hash-object", "-w", "long").strip()
    run_git(repo, "update-index", "--add", "--cacheinfo", f"120000,{blob},long.sql")
    run_git(repo, "update-index", "--add", "--cacheinfo", f"100644,{blob},CODEOWNERS")
    run_git(repo, "update-index", "--add", "--cacheinfo", f"100644,{blob},x/.lineageignore")
    run_git(repo, "commit", "-q", "-m", "links")
    assert _paths(repo) == ["a.sql"]


@pytest.mark.parametrize(
    ("when", "shown"),
    [
        ("99999999999999", "9999-12-31T23:59:59Z"),
        ("18446744073709551615", "9999-12-31T23:59:59Z"),
        ("-1", "1970-01-01T00:00:00Z"),
        ("", "1970-01-01T00:00:00Z"),
    ],
)
def test_a_commit_may_claim_any_time(when: str, shown: str, repo: Path) -> None:
    who = f"A <a@b> {when} +0000"
    written = f"tree {run_git(repo, 'rev-parse', 'HEAD^{tree}').strip()}\nauthor {who}\ncommitter {who}\n\nx\n"
    command = ["git", "hash-object", "-t", "commit", "-w", "--literally", "--stdin"]
    made = subprocess.run(command, cwd=repo, input=written, text=True, capture_output=True, check=True)
    assert read_commit(repo, made.stdout.strip()).committed_at == shown


def test_git_settings_of_a_repository_change_no_result(repo: Path) -> None:
    expected = read_commit(repo, resolve_commit(repo, "HEAD"))
    for name, value in (("i18n.logOutputEncoding", "UTF-16"), ("log.date", "raw"), ("color.ui", "always")):
        run_git(repo, "config", name, value)
    assert read_commit(repo, expected.id) == expected


def test_a_file_of_grafts_gives_a_commit_no_other_parents(repo: Path) -> None:
    other = run_git(repo, "commit-tree", "-m", "x", "HEAD^{tree}").strip()
    (repo / ".git" / "info").mkdir(exist_ok=True)
    (repo / ".git" / "info" / "grafts").write_text(f"{resolve_commit(repo, 'HEAD')} {other}\n")
    assert read_commit(repo, resolve_commit(repo, "HEAD")).parents == ()
    assert discover_revision(repo, "HEAD", RULES).snapshot.base is None


ODD = [b"a\xe2\x80\xa8b", b"a\xc2\x85b", b"a\xe3\x80\x80b", b"\xff", b"-rf", b"$(touch${IFS}x)", b"'\"|&", b"a" * 150]


def test_refs_may_have_odd_names_and_be_many(repo: Path) -> None:
    head = resolve_commit(repo, "HEAD")
    many = [f"{head} refs/tags/t{number:05}" for number in range(20_000)]
    odd = [os.fsdecode(head.encode() + b" refs/heads/" + name) for name in ODD]
    packed = "\n".join(["# pack-refs with: peeled fully-peeled sorted ", *sorted([*odd, *many], key=_name), ""])
    (repo / ".git" / "packed-refs").write_bytes(os.fsencode(packed))
    shown = {name.decode("utf-8", "backslashreplace") for name in ODD}
    found = list_refs(repo)
    assert set(found) == {"main", *shown, *(f"tags/t{number:05}" for number in range(20_000))}
    assert len(discover_revision(repo, "HEAD", RULES).snapshot.refs) == len(found)
    assert not (repo / "x").exists()


def _name(line: str) -> bytes:
    return os.fsencode(line.partition(" ")[2])


@pytest.mark.parametrize("written", ["gitdir: loop", "gitdir: \0", f"gitdir: {'x/' * 5_000}", "gitdir:", "\xff", ""])
def test_a_gitfile_that_points_nowhere_is_ignored(written: str, repo: Path) -> None:
    _drop(repo / ".git").write_text(written, encoding="latin-1")
    (repo / "loop").symlink_to("loop")
    assert [file.path for file in discover_folder(repo, RULES).files] == ["a.sql"]
    with pytest.raises(LineageError):
        find_toplevel(repo)


def test_a_name_of_thousands_of_digits_is_ordered_like_any_other(repo: Path) -> None:
    """No disk has such a name, a tree of git may; Python makes no number of it."""
    blob = f"100644 blob {run_git(repo, 'rev-parse', 'HEAD:a.sql').strip()}"
    names = ["2.sql", "10.sql", f"{'1' * 5_000}.sql", f"{'2' * 5_000}.sql"]
    tree = _tree(repo, "".join(f"{blob}\t{name}\n" for name in names))
    assert _paths(repo, run_git(repo, "commit-tree", "-m", "x", tree).strip()) == names
