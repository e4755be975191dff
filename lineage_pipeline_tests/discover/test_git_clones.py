"""Git without a checkout: clones of every kind, malicious repositories, and mirrors of remote ones."""

import os
import time
from pathlib import Path

import msgspec
import pytest

from lineage_pipeline.cli import main
from lineage_pipeline.cli.revisions import discover_side
from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.configured_schemas import compute_analysis_key
from lineage_pipeline.defs.runs.watched_repositories import open_repository
from lineage_pipeline.discover.discovery import Discovery, build_input_files
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.discover.git.mirror import (
    _RemoteRepository,
    fetch_mirror,
    is_remote_address,
    local_repository,
    name_remote_repository,
    redact_address,
)
from lineage_pipeline.discover.git.repository import (
    WORKTREE,
    discover_revision,
    find_toplevel,
    list_gained_commits,
    list_refs,
    resolve_commit,
    select_refs,
)
from lineage_pipeline.model.enums import Status
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline_tests.support.git_repositories import run_git, write_files

RULES = Settings()

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    repo = tmp_path / "shop"
    repo.mkdir()
    run_git(repo, "init", "-q", "-b", "main")
    run_git(repo, "config", "uploadpack.allowFilter", "true")
    write_files(repo, a_sql="select 1", x__b_sql="select 2")
    run_git(repo, "add", "-A")
    run_git(repo, "commit", "-q", "-m", "first")
    write_files(repo, a_sql="select 3")
    run_git(repo, "commit", "-q", "-a", "-m", "second")
    return repo


def texts_by_path(found: Discovery) -> dict[str, str]:
    return {file.path: file.text for file in build_input_files(found, RULES)}


NOW = {"a.sql": "select 3", "x/b.sql": "select 2"}


@pytest.mark.parametrize(
    ("how", "base"),
    [((), True), (("--bare",), True), (("--mirror",), True), (("--depth=1",), False), (("--no-checkout",), True)],
)
def test_clones_of_every_kind(how: tuple[str, ...], base: bool, repo: Path, tmp_path: Path) -> None:
    run_git(tmp_path, "clone", "-q", *how, f"file://{repo}", "clone")
    found = discover_revision(tmp_path / "clone", "HEAD", RULES)
    assert texts_by_path(found) == NOW
    assert found.snapshot.commit == resolve_commit(repo, "main")
    assert (found.snapshot.base is not None) is base


def test_linked_worktrees_are_read_in_place(repo: Path, tmp_path: Path) -> None:
    run_git(repo, "worktree", "add", "-q", str(tmp_path / "linked"), "HEAD~1")
    write_files(tmp_path / "linked", new_sql="select 4")
    assert texts_by_path(discover_revision(tmp_path / "linked", "HEAD", RULES))["a.sql"] == "select 1"
    assert sorted(texts_by_path(discover_revision(tmp_path / "linked", WORKTREE, RULES))) == [
        "a.sql",
        "new.sql",
        "x/b.sql",
    ]


def test_content_missing_from_a_partial_clone_is_a_finding_and_not_fetched(
    repo: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run_git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", f"file://{repo}", "clone")
    found = discover_revision(tmp_path / "clone", "HEAD", RULES)
    assert [(one.path, one.code) for one in found.diagnostics] == [(path, "CONTENT_MISSING") for path in NOW]
    assert all("is not in this clone" in one.message for one in found.diagnostics)
    assert capfd.readouterr().err == ""
    assert [file.status for file in found.files] == [Status.FAILED, Status.FAILED]


def test_folders_missing_from_a_partial_clone_are_one_error_message(repo: Path, tmp_path: Path) -> None:
    run_git(tmp_path, "clone", "-q", "--bare", "--filter=tree:0", f"file://{repo}", "clone")
    with pytest.raises(LineageError, match=r"^this is a partial clone without the folders of \w+: fetch them with"):
        discover_revision(tmp_path / "clone", "HEAD", RULES)


def test_the_working_tree_has_what_is_tracked_changed_and_new_and_not_what_is_ignored(repo: Path) -> None:
    write_files(
        repo, a_sql="select 5", new_sql="select 6", build__c_sql="select 7", build__d_sql="select 8", junk_sql="x"
    )
    run_git(repo, "add", "-f", "build/c.sql")
    (repo / ".gitignore").write_text("build/\njunk.sql\n")
    (repo / "x" / "b.sql").unlink()
    found = texts_by_path(discover_revision(repo, WORKTREE, RULES))
    assert found == {"a.sql": "select 5", "build/c.sql": "select 7", "new.sql": "select 6"}
    assert texts_by_path(discover_folder(repo, RULES)) == found


def test_a_bare_repository_has_no_working_tree(repo: Path, tmp_path: Path) -> None:
    run_git(tmp_path, "clone", "-q", "--bare", str(repo), "bare")
    with pytest.raises(LineageError, match="it has no WORKTREE"):
        discover_revision(tmp_path / "bare", WORKTREE, RULES)


@pytest.mark.parametrize("revision", ["HEAD", WORKTREE])
def test_submodules_and_lfs_pointers_are_findings_and_not_followed(revision: str, repo: Path) -> None:
    (repo / "big.sql").write_text(POINTER)
    run_git(repo, "add", "-A")
    (repo / "module").mkdir()
    run_git(repo, "update-index", "--add", "--cacheinfo", f"160000,{resolve_commit(repo, 'main')},module")
    run_git(repo, "commit", "-q", "-m", "more")
    found = discover_revision(repo, revision, RULES)
    assert [(one.code, one.path) for one in found.diagnostics] == [("SUBMODULE", "module"), ("LFS_POINTER", "big.sql")]
    assert {file.path: file.status.value for file in found.files}["big.sql"] == "failed"
    assert sorted(texts_by_path(found)) == ["a.sql", "x/b.sql"]


@pytest.mark.parametrize("revision", ["HEAD", WORKTREE, "folder"])
def test_a_repository_inside_is_told_and_not_entered(revision: str, repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    run_git(tmp_path, "init", "-q", str(other))
    write_files(other, secret_sql="select 'other'", models__m_sql="select 1", **{"dbt_project.yml": "name: o"})
    run_git(other, "add", "-A")
    run_git(other, "commit", "-q", "-m", "other")
    run_git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "lib/module")
    run_git(repo, "commit", "-q", "-m", "module")
    (repo / "lib" / "link.sql").symlink_to("module/secret.sql")
    run_git(repo, "add", "-A")
    run_git(repo, "commit", "-q", "-m", "link")
    found = discover_folder(repo, RULES) if revision == "folder" else discover_revision(repo, revision, RULES)
    assert [(one.code, one.path) for one in found.diagnostics] == [("SUBMODULE", "lib/module")]
    assert texts_by_path(found) == NOW


def test_repositories_inside_a_plain_folder_are_read(repo: Path) -> None:
    assert sorted(texts_by_path(discover_folder(repo.parent, RULES))) == [f"{repo.name}/a.sql", f"{repo.name}/x/b.sql"]


@pytest.mark.parametrize("revision", ["HEAD", WORKTREE, "folder"])
def test_links_inside_are_the_same_content(revision: str, repo: Path) -> None:
    (repo / "y").mkdir()
    (repo / "y" / "same.sql").symlink_to("../x/b.sql")
    (repo / "again.sql").symlink_to("y/same.sql")
    (repo / "z").symlink_to("x")
    (repo / "through.sql").symlink_to("z/b.sql")
    (repo / "kept.sql").symlink_to(".git/config")
    run_git(repo, "add", "-A")
    run_git(repo, "commit", "-q", "-m", "links")
    found = discover_folder(repo, RULES) if revision == "folder" else discover_revision(repo, revision, RULES)
    linked = dict.fromkeys(("again.sql", "through.sql", "y/same.sql"), NOW["x/b.sql"])
    assert texts_by_path(found) == NOW | linked
    if revision == "folder":
        assert texts_by_path(discover_folder(repo / "y", RULES)) == {"same.sql": NOW["x/b.sql"]}


@pytest.mark.parametrize("revision", ["HEAD", WORKTREE])
def test_names_of_all_kinds(revision: str, repo: Path) -> None:
    odd = [b"-rf", b"--help.sql", b"$(touch x).sql", b"a\nb.sql", b"\xff\xfe.sql", b" .sql", "ü.sql".encode(), b'".sql']
    for name in odd:
        (repo / os.fsdecode(name)).write_bytes(b"select 1")
    run_git(repo, "add", "-A")
    run_git(repo, "commit", "-q", "-m", "names")
    found = {file.path for file in discover_revision(repo, revision, Settings(include=("**",))).files}
    shown_names = {name.decode("utf-8", "backslashreplace") for name in odd}
    assert found == {"a.sql", "x/b.sql", *shown_names}
    assert not (repo / "x.sql").exists()


def test_links_out_of_the_tree_and_loops_are_not_followed(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.sql").write_text("select 'secret'")
    (repo / "out.sql").symlink_to("../secret.sql")
    (repo / "loop.sql").symlink_to("loop.sql")
    (repo / "round").symlink_to(".")
    (repo / "folder").symlink_to(tmp_path)
    run_git(repo, "add", "-A")
    run_git(repo, "commit", "-q", "-m", "links")
    for revision in ("HEAD", WORKTREE):
        assert texts_by_path(discover_revision(repo, revision, RULES)) == NOW


TRAPS = (
    "core.fsmonitor",
    "core.sshCommand",
    "core.pager",
    "core.editor",
    "core.askPass",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "credential.helper",
    "diff.external",
    "diff.evil.textconv",
    "diff.evil.command",
    "filter.evil.smudge",
    "filter.evil.clean",
    "filter.evil.process",
    "filter.lfs.process",
    "gpg.program",
    "sequence.editor",
    "uploadpack.packObjectsHook",
    "remote.origin.uploadpack",
    "alias.ls-tree",
)


def test_nothing_that_a_repository_names_is_run(repo: Path, tmp_path: Path) -> None:
    """Every setting that names a command names one that leaves a mark; so does every hook."""
    canary = tmp_path / "canary"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho \"$0\" >> '{canary}'\ncat\n")
    trap.chmod(0o755)
    write_files(repo, **{".gitattributes": "* filter=evil diff=evil\n*.sql filter=lfs\n"})
    run_git(repo, "add", "-A")
    run_git(repo, "commit", "-q", "-m", "trap")
    for hook in ("post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc", "fsmonitor-watchman"):
        (repo / ".git" / "hooks").mkdir(exist_ok=True)
        (repo / ".git" / "hooks" / hook).symlink_to(trap)
    with (repo / ".git" / "config").open("a") as config:
        for name in TRAPS:
            section, _, key = name.rpartition(".")
            first, _, rest = section.partition(".")
            named = f'{first} "{rest}"' if rest else first
            config.write(f'[{named}]\n\t{key} = "{trap}"\n')
        config.write('[remote "origin"]\n\turl = ssh://nowhere.invalid/x\n\tpromisor = true\n')
        config.write("[core]\n\tuntrackedCache = true\n\thooksPath = .git/hooks\n[log]\n\tshowSignature = true\n")
        config.write('[protocol "ext"]\n\tallow = always\n[extensions]\n\tpartialClone = origin\n')
    blob = run_git(repo, "rev-parse", "HEAD:x/b.sql").strip()
    canary.unlink(missing_ok=True)
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    write_files(repo, a_sql="select 9")
    assert texts_by_path(discover_revision(repo, "HEAD", RULES)) == {"a.sql": "select 3"}
    assert texts_by_path(discover_revision(repo, WORKTREE, RULES))["a.sql"] == "select 9"
    assert find_toplevel(repo) == repo
    assert not canary.exists(), canary.read_text()
    run_git(repo, "-c", "core.pager=cat", "status")
    assert canary.exists()  # the trap works: git itself falls into it


def test_a_repository_cannot_claim_another_folder(repo: Path, tmp_path: Path) -> None:
    write_files(tmp_path, other__secret_sql="select 'secret'")
    run_git(repo, "config", "core.worktree", str(tmp_path / "other"))
    with pytest.raises(LineageError, match="lead to"):
        discover_revision(repo, WORKTREE, RULES)


def test_a_remote_is_fetched_into_a_mirror_and_kept_up_to_date(repo: Path, tmp_path: Path) -> None:
    url = f"file://{repo}"
    mirror = fetch_mirror(url, tmp_path / "mirrors", {})
    assert texts_by_path(discover_revision(mirror, "HEAD", RULES)) == NOW
    assert discover_revision(mirror, "main", RULES).snapshot.repo == "shop"
    write_files(repo, a_sql="select 10")
    run_git(repo, "commit", "-q", "-a", "-m", "third")
    run_git(repo, "branch", "-m", "main", "trunk")
    assert fetch_mirror(url, tmp_path / "mirrors", {}) == mirror
    assert texts_by_path(discover_revision(mirror, "HEAD", RULES))["a.sql"] == "select 10"
    with pytest.raises(LineageError, match="not a revision"):
        discover_revision(mirror, "main", RULES)


def test_an_address_at_a_revision_is_a_side(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found, _ = discover_side(f"file://{repo}@HEAD~1", {})
    assert texts_by_path(found)["a.sql"] == "select 1"
    assert (tmp_path / ".lineage" / "mirrors").is_dir()


@pytest.mark.parametrize("revision", ["main@{1}", "@{1}", "{1}", "@~1", "main^", "t2"])
def test_a_revision_may_be_written_as_git_writes_it(revision: str, repo: Path, tmp_path: Path) -> None:
    run_git(repo, "tag", "-a", "-m", "one", "t1", "HEAD~1")
    run_git(repo, "tag", "-a", "-m", "a tag of a tag", "t2", "t1")
    run_git(repo, "pack-refs", "--all")
    found, _ = discover_side(f"{repo}@{revision}", {})
    assert texts_by_path(found)["a.sql"] == "select 1"


def test_every_query_command_accepts_a_remote_address(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    told = []
    for place in (f"file://{repo}@HEAD", f"{repo}@HEAD"):
        assert main(["scan", place, "--format", "json"]) == 0
        told.append(msgspec.json.decode(capsys.readouterr().out)["objects"])
        assert main(["search", "a", "--in", place]) in (0, 1)
        assert "neither" not in capsys.readouterr().err
    assert told[0] == told[1] != []


def test_a_row_of_the_settings_beats_the_file_that_a_mirrored_repository_has_on_its_default_branch(
    repo: Path, tmp_path: Path
) -> None:
    (tmp_path / "lineage.toml").write_text(
        f'[analysis]\ndialect = "mysql"\n[[repositories]]\nname = "shop"\npath = "file://{repo}"\n'
        '[repositories.analysis]\ndefault_schema = "row"\nschemas = ["s.json"]\n'
    )
    here = load_settings(tmp_path, {}, {})
    (row,) = here.repositories
    without, _, _ = open_repository(here, "shop", {})
    assert (without.analysis.dialect, without.analysis.default_schema) == ("mysql", "row")
    assert without.analysis.schemas == (str(tmp_path / "s.json"),)
    assert without.selects("x/b.sql"), "that its mirror lies in a folder that is left out is not its fault"
    (repo / "lineage.toml").write_text(
        'warehouse = "theirs"\n[analysis]\ndialect = "tsql"\ndefault_schema = "own"\ndefault_catalog = "c"\n'
    )
    run_git(repo, "add", "-A")
    run_git(repo, "commit", "-q", "-m", "settings")
    settings, mirror, _ = open_repository(here, "shop", {"analysis": {"default_catalog": "flag"}})
    analysis = settings.analysis
    assert (analysis.dialect, analysis.default_schema, analysis.default_catalog) == ("tsql", "row", "flag")
    assert settings.warehouse == here.warehouse
    (tmp_path / "s.json").write_text('{"core.t": ["id"]}')
    by_name, by_address = (open_repository(here, place, {})[0] for place in ("shop", row.path))
    assert compute_analysis_key(by_name) == compute_analysis_key(by_address)


def test_refs_are_chosen_by_patterns(repo: Path) -> None:
    run_git(repo, "branch", "release/1.0")
    run_git(repo, "branch", "release/0.9")
    run_git(repo, "tag", "v1", "HEAD~1")
    run_git(repo, "tag", "-a", "-m", "annotated", "v2")
    run_git(repo, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    head, before = resolve_commit(repo, "HEAD"), resolve_commit(repo, "HEAD~1")
    assert list_refs(repo) == {
        "main": head,
        "release/0.9": head,
        "release/1.0": head,
        "remotes/origin/main": before,
        "tags/v1": before,
        "tags/v2": head,
    }
    assert list(select_refs(repo, ["*", "!release/0*"], "")) == ["main", "release/1.0"]
    assert list(select_refs(repo, ["tags/v*", "remotes/*/main"], "")) == ["remotes/origin/main", "tags/v1", "tags/v2"]
    assert select_refs(repo, [], "") == {"main": head}
    assert select_refs(repo, [], "tags/v1") == {"tags/v1": before}
    assert list_gained_commits(repo, before, head) == [head]
    assert list_gained_commits(repo, "0" * 40, head) == [head]


def test_what_cannot_be_fetched_is_one_sentence_without_secrets(tmp_path: Path) -> None:
    with pytest.raises(LineageError, match="cannot be fetched"):
        fetch_mirror(f"file://{tmp_path}/none", tmp_path / "m", {})
    with pytest.raises(LineageError, match="leave secrets out") as error:
        fetch_mirror("https://me:hunter2@host.invalid/x.git", tmp_path / "m", {})
    assert "hunter2" not in str(error.value)
    assert redact_address("https://token@host/x") == "https://***@host/x"
    with pytest.raises(LineageError, match="cannot be fetched"):
        fetch_mirror("ext::sh -c touch% canary", tmp_path / "m", {})


@pytest.mark.parametrize(
    "address",
    [
        "http://hunter2@host.invalid/x.git",
        "https://hunter2@host.invalid/x.git",
        "ssh://me:hunter2@host.invalid/x.git",
        "https://host.invalid/x.git?private_token=hunter2",
        "https://host.invalid/x.git?ref=main&access_token=hunter2",
        "https://a@hunter2@host.invalid/x.git",
        "https://hunter2@[host.invalid/x.git",
    ],
)
def test_an_address_with_a_secret_is_refused_and_not_repeated(address: str, tmp_path: Path) -> None:
    with pytest.raises(LineageError, match=r"leave secrets out|is no address") as error:
        fetch_mirror(address, tmp_path / "m", {})
    assert "hunter2" not in str(error.value)
    assert "hunter2" not in redact_address(f"unable to access '{address}': the requested URL returned error: 403")


def test_an_address_without_a_secret_is_shown_as_it_is() -> None:
    for address in ("ssh://host/x.git", "git@host:a/b.git", "https://host/a@b.git", "file:///a/b", "a/b?c=d"):
        assert redact_address(address) == address
    assert redact_address("https://host/x?private_token=t&ref=main'") == "https://host/x?private_token=***&ref=***'"


def test_what_git_says_of_an_address_has_no_secret(tmp_path: Path) -> None:
    with pytest.raises(LineageError, match=r"cannot be fetched: unable to access 'http://127\.0\.0\.1:9/x") as error:
        _RemoteRepository("http://127.0.0.1:9/x", tmp_path, {}, time.monotonic() + 60).run(
            "ls-remote", "http://hunter2@127.0.0.1:9/x?private_token=hunter2"
        )
    assert "hunter2" not in str(error.value)


def test_addresses_and_folders_are_told_apart(tmp_path: Path) -> None:
    assert [
        is_remote_address(word) for word in ("https://h/x.git", "git@h:a/b", "ssh://h/x", "a/b", "main", "C:x")
    ] == [
        *(True, True, True),
        *(False, False, False),
    ]
    assert name_remote_repository("git@host:team/shop.git") == "shop"
    assert local_repository("a/b", tmp_path) == Path("a/b")


def test_the_time_of_a_commit_is_the_same_in_every_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, a_sql="select 1")
    run_git(tmp_path, "init", "-q", "-b", "main")
    run_git(tmp_path, "add", "-A")
    run_git(tmp_path, "commit", "-q", "-m", "all")
    told = set()
    for zone in ("UTC", "Asia/Kathmandu"):
        with monkeypatch.context() as patched:
            patched.setenv("TZ", zone)
            time.tzset()
            told.add(discover_revision(tmp_path, "HEAD", Settings()).snapshot.committed_at)
    time.tzset()
    (moment,) = told
    assert moment is not None
    assert moment.endswith("Z")
