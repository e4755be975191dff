"""`lineage check` on a plain git clone: which base, which exit code, which waivers, and which packages it needs."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lineage_pipeline.cli import lineage_cache, main, side_comparison
from lineage_pipeline.discover.git.base_commit import CI_VARIABLES
from lineage_pipeline.discover.git.repository import open_revision
from lineage_pipeline.incremental.analyze import IncrementalResult, update_analysis
from lineage_pipeline_tests.support.paths import ROOT

ORDERS = "create table raw.orders (id int not null, note varchar(20));\n"
VIEW = "create view core.orders as\nselect id, note from raw.orders;\n"
SHORT = "create table raw.orders (id int not null);\n"
HEAVY = "pyspark dagster dbt great_expectations pandas duckdb psycopg starlette".split()

Git = Callable[..., str]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a branch that removes a column that is read."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith("LINEAGE_")] + [one.variable for one in CI_VARIABLES]:
        monkeypatch.delenv(name, raising=False)
    git("init", "-q", "-b", "main")
    commit({"orders.sql": ORDERS, "view.sql": VIEW}, "base")
    git("checkout", "-q", "-b", "change")
    commit({"orders.sql": SHORT}, "drop the note")
    return folder


def git(*arguments: str, folder: Path | None = None) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def commit(files: dict[str, str], message: str) -> str:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    git("add", "-A")
    git("commit", "-q", "-m", message)
    return git("rev-parse", "HEAD")


def changes(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    main(["check", "--format", "json", *arguments])
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)["changes"]
    return found


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 1),
        (("--fail-on", "potentially"), 1),
        (("--exit-zero",), 0),
        (("--exit-style", "infotracker"), 2),
        (("--base", "nowhere"), 2),
        (("--today", "soon"), 2),
    ],
)
def test_the_exit_code_says_whether_it_may_be_merged(arguments: tuple[str, ...], code: int) -> None:
    assert main(["check", "--base", "main", *arguments]) == code


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize(
    ("fail_on", "style", "code"),
    [("breaking", "plain", 0), ("potentially", "plain", 0), ("any", "plain", 1), ("breaking", "infotracker", 1)],
)
def test_a_non_breaking_change_passes_unless_fail_on_includes_it(fail_on: str, style: str, code: int) -> None:
    commit({"orders.sql": ORDERS, "more.sql": "create table raw.more (id int);\n"}, "put it back")
    assert main(["check", "--base", "main", "--fail-on", fail_on, "--exit-style", style]) == code


@pytest.mark.usefixtures("clone")
def test_what_is_not_committed_is_checked_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    Path("orders.sql").write_text(ORDERS)
    assert main(["check", "--base", "main"]) == 1
    assert main(["check", "--base", "main", "--head", "WORKTREE"]) == 0
    assert "the merge base of main and WORKTREE" in capsys.readouterr().err


@pytest.mark.usefixtures("clone")
def test_later_commits_on_the_base_are_not_changes_of_the_head(capsys: pytest.CaptureFixture[str]) -> None:
    git("checkout", "-q", "main")
    first = git("rev-parse", "HEAD")
    tip = commit({"other.sql": "create table raw.other (id int);\n"}, "elsewhere")
    git("checkout", "-q", "change")
    assert {change["object"] for change in changes(capsys, "--base", "main")} == {"raw.orders", "core.orders"}
    main(["check", "--base", "main"])
    assert f"the base is {first[:12]}: the merge base of main and HEAD" in capsys.readouterr().err
    assert "raw.other" in {change["object"] for change in changes(capsys, "--base", "main", "--exact-base")}
    main(["check", "--base", "main", "--exact-base"])
    assert f"the base is {tip[:12]}: --base names it" in capsys.readouterr().err


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize("teller", CI_VARIABLES, ids=lambda teller: teller.variable)
def test_in_a_pull_request_the_service_names_the_base(
    teller: "tuple[str, str, bool]", monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    variable, service, exact = teller
    monkeypatch.setenv(variable, git("rev-parse", "main") if exact else "refs/heads/main")
    assert main(["check"]) == 1
    assert f"{variable} of {service} names it" in capsys.readouterr().err


@pytest.mark.usefixtures("clone")
def test_the_default_base_is_the_remote_default_branch_or_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"]) == 2
    assert capsys.readouterr().err == "lineage: nothing says what to compare with; name it: --base origin/main\n"
    git("update-ref", "refs/remotes/origin/main", "main")
    git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    assert main(["check"]) == 1
    assert "nobody names another" in capsys.readouterr().err


@pytest.mark.usefixtures("clone")
def test_a_merged_head_has_no_changes_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    git("checkout", "-q", "main")
    git("merge", "-q", "--ff-only", "change")
    tip = git("rev-parse", "HEAD")
    assert main(["check", "--base", "main"]) == 0
    told = capsys.readouterr()
    assert f"the base is {tip[:12]}: HEAD is part of main, so that there is nothing to merge" in told.err
    assert "nothing changed" in told.out
    assert main(["check", "--base", f"{tip[:12]}~1"]) == 1
    capsys.readouterr()
    assert main(["check", "--base", "main", "--head", git("rev-list", "--max-parents=0", "HEAD")]) == 0
    assert "--base names it\n" in capsys.readouterr().err


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("", '[diff.levels]\nCOL001 = "off"', ["diff.levels.COL001: as found became off"]),
        ('[diff.levels]\nCOL001 = "error"', "", ["diff.levels.COL001: error became as found"]),
        ('[diff]\nleaf = "public"', '[diff]\nleaf = "private"', ["diff.leaf: public became private"]),
        ("", 'exclude = ["core/**"]', ["exclude: nothing of that became core/**"]),
        ('[diff]\npublic = ["raw.*"]', "", ["diff.public: raw.* became nothing of that"]),
        ("", '[diff]\ntests = ["core"]', ["diff.tests: nothing of that became core"]),
        ("", '[diff]\nprivate_layers = ["core"]', ["diff.private_layers: nothing of that became core"]),
        ('[diff]\npublic_layers = ["ore"]', "", ["diff.public_layers: ore became nothing of that"]),
        ("", '[diff.levels]\nCOL003 = "error"', []),
        ('[diff]\nhops = 3', "[diff]\nhops = 4", []),
    ],
)  # fmt: skip
def test_relaxed_settings_are_a_finding(
    capsys: pytest.CaptureFixture[str], before: str, after: str, told: list[str]
) -> None:
    git("checkout", "-q", "main")
    commit({"lineage.toml": before}, "how we judge")
    git("checkout", "-q", "-b", "milder")
    commit({"lineage.toml": after}, "judge in another way")
    main(["check", "--base", "main", "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    found = [one for one in document["diagnostics"] if one["code"] == "SETTINGS_RELAXED"]
    assert [one["message"].replace(" is milder than at the base", "") for one in found] == told
    main(["check", "--base", "main"])
    assert ("Milder settings (1)" in capsys.readouterr().out) == bool(told)


def test_the_settings_of_two_commits_are_compared_for_whoever_has_no_work_tree(clone: Path) -> None:
    from lineage_pipeline.diff_settings import report_relaxed_between

    commit({"pyproject.toml": '[tool.lineage.diff.levels]\nCOL001 = "off"\n'}, "milder")
    bare = clone.parent / "bare.git"
    git("clone", "-q", "--bare", str(clone), str(bare))
    milder, stricter = (report_relaxed_between(bare, *two, {}) for two in (("main", "change"), ("change", "main")))
    assert [one.message for one in milder] == ["diff.levels.COL001 is milder than at the base: as found became off"]
    assert stricter == ()


@pytest.mark.usefixtures("clone")
def test_a_shallow_clone_says_in_one_line_what_to_fetch(
    clone: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    git("checkout", "-q", "main")
    commit({"a.sql": "create table raw.a (id int);\n"}, "on")
    shallow = clone.parent / "shallow"
    git("clone", "-q", "--depth", "1", "--no-single-branch", "-b", "change", f"file://{clone}", str(shallow))
    monkeypatch.chdir(shallow)
    assert main(["check", "--base", "origin/main"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "this shallow clone lacks the merge base of origin/main and HEAD" in told
    assert "fetch-depth: 0" in told
    assert main(["check", "--base", "origin/gone"]) == 2
    assert "git fetch origin gone" in capsys.readouterr().err
    assert main(["check", "--base", "HEAD~1"]) == 2
    told = capsys.readouterr().err
    assert "does not reach back to the base HEAD~1; fetch its history: git fetch --unshallow" in told
    assert "git fetch origin" not in told
    git("fetch", "-q", "--unshallow")
    assert main(["check", "--base", "origin/main"]) == 1
    assert main(["check", "--base", "HEAD~99"]) == 2
    assert "there is no commit HEAD~99 to compare with" in capsys.readouterr().err


def test_a_base_without_its_blobs_is_an_error_and_not_empty(
    clone: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    git("config", "uploadpack.allowFilter", "true", folder=clone)
    git("clone", "-q", "--filter=blob:none", f"file://{clone}", str(tmp_path / "partial"), folder=tmp_path)
    monkeypatch.chdir(tmp_path / "partial")
    for words in (["check", "--base", "origin/main"], ["diff", "origin/main", "HEAD"]):
        assert main(words) == 2, words
        said = capsys.readouterr().err
        assert "partial clone without the contents" in said and "git archive" in said


@pytest.mark.parametrize("output", ["markdwn=x", "foo=x"])
@pytest.mark.usefixtures("clone")
def test_an_unknown_output_format_is_an_error_and_not_a_file_name(
    output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--base", "main", "--output", output]) == 2
    assert "is no format; " in capsys.readouterr().err
    assert not Path(output).exists()


@pytest.mark.usefixtures("clone")
def test_unrelated_histories_are_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    git("checkout", "-q", "--orphan", "island")
    commit({"z.sql": "create table z (id int);\n"}, "alone")
    assert main(["check", "--base", "main"]) == 2
    assert "main and HEAD have no common history" in capsys.readouterr().err
    assert main(["check", "--base", "main", "--exact-base"]) in (0, 1)


@pytest.mark.usefixtures("clone")
def test_the_gate_needs_only_the_light_install() -> None:
    program = (
        f"import sys\nfor name in {HEAVY}: sys.modules[name] = None\n"
        "from lineage_pipeline.cli import main; code = main(['check', '--base', 'main'])\n"
        f"print(sorted(name for name in {HEAVY} if sys.modules.get(name)), file=sys.stderr); sys.exit(code)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "[]")


WAIVER = """
# agreed with the readers
[[waiver]]
rule = "COL001"
object = "raw.*"
column = "note"
reason = "nobody uses it"
owner = "data@example.org"
expires = 2026-12-31
"""


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize(("today", "code"), [("2026-12-30", 0), ("2026-12-31", 0), ("2027-01-01", 1)])
def test_a_waiver_holds_to_the_end_of_its_day(today: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    commit({"lineage-waivers.toml": WAIVER}, "waive")
    assert main(["check", "--base", "main", "--today", today, "--format", "json"]) == code
    document = json.loads(capsys.readouterr().out)
    [waiver] = document["waivers"]
    assert (waiver["used"], waiver["expired"]) == (code == 0, code == 1)
    marked = {change["waiver"] for change in document["changes"]}
    assert marked == ({waiver["id"]} if code == 0 else {None})
    assert [one["code"] for one in document["diagnostics"]] == (["WAIVER_EXPIRED"] if code else [])
    assert document["summary"]["waived"] == (0 if code else len(document["changes"]))


@pytest.mark.usefixtures("clone")
def test_a_comment_at_the_line_of_a_column_covers_that_column(capsys: pytest.CaptureFixture[str]) -> None:
    table = "create table raw.wide (\n  id int,\n  amount {}\n  day date{}\n);"
    git("checkout", "-q", "main")
    commit({"wide.sql": table.format("bigint,", "")}, "a table")
    git("checkout", "-q", "-b", "narrow")
    ignored = "int, -- lineage: ignore TYP002 until=2999-12-31 reason=small owner=me"
    commit({"wide.sql": table.format(ignored, "")}, "narrow it")
    [found] = changes(capsys, "--base", "main", "--show-waived")
    assert (found["rule"], found["column"], found["path"], found["line"]) == ("TYP002", "amount", "wide.sql", 3)
    assert found["waiver"] is not None


@pytest.mark.usefixtures("clone")
def test_waived_changes_are_still_shown(capsys: pytest.CaptureFixture[str]) -> None:
    commit({"lineage-waivers.toml": WAIVER}, "waive")
    main(["check", "--base", "main", "--today", "2026-01-01"])
    shown = capsys.readouterr().out
    assert "COL001" not in shown
    assert ": 1 waived; 1 of 1 changed file compared\n" in shown
    main(["check", "--base", "main", "--today", "2026-01-01", "--show-waived"])
    assert "COL001 column removed: raw.orders.note" in capsys.readouterr().out


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (("COL001", "COL999"), "there is no rule COL999"),
        (("expires = 2026-12-31", "expires = 'soon'"), "line 3: expires: "),
        (('reason = "nobody uses it"\n', ""), "line 3: reason: field required"),
        (("owner", "owners"), "owner: field required"),
        (("[[waiver]]", "[[waiver"), "lineage-waivers.toml: "),
    ],
)
def test_a_waiver_that_cannot_be_read_is_an_error(
    edit: tuple[str, str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    commit({"lineage-waivers.toml": WAIVER.replace(*edit)}, "waive")
    assert main(["check", "--base", "main"]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.usefixtures("clone")
@pytest.mark.parametrize(
    ("text", "code", "findings"),
    [
        ("-- lineage: ignore COL001 until=2026-12-31 reason=nobody uses it\n" + SHORT, 0, []),
        ("--lineage:ignore COL001 until=2026-12-31 reason=x\n" + SHORT, 0, []),
        ("--  Lineage :  ignore  COL001 until=2026-12-31 reason=x\n" + SHORT, 0, []),
        ("-- lineage ignore COL001 until=2026-12-31 reason=x\n" + SHORT, 1, ["WAIVER_INVALID"]),
        ("-- what lineage ignores, and whatever lineage ignore means\n" + SHORT, 1, []),
        ("-- lineage: ignore COL001,COL003 until=2026-12-31 reason=x\n" + SHORT, 0, ["WAIVER_UNUSED"]),
        ("-- lineage: ignore COL* column=note until=2026-12-31 reason=x\n\n-- the orders\n" + SHORT, 0, []),
        (SHORT.strip() + " -- lineage: ignore COL001 until=2026-12-31 reason=x\n", 0, []),
        ('/* lineage: ignore COL001 until=2026-12-31 reason="two words" */\n' + SHORT, 0, []),
        ("-- lineage: ignore COL001 column=id until=2026-12-31 reason=x\n" + SHORT, 1, ["WAIVER_UNUSED"]),
        ("-- lineage: ignore COL001 until=2025-12-31 reason=x\n" + SHORT, 1, ["WAIVER_EXPIRED"]),
        ("-- lineage: ignore COL001 reason=x\n" + SHORT, 1, ["WAIVER_INVALID"]),
        ("-- lineage: ignore COL001 until=2026-12-31\n" + SHORT, 1, ["WAIVER_INVALID"]),
        ("-- lineage: ignore until=2026-12-31 reason=x\n" + SHORT, 1, ["WAIVER_INVALID"]),
        ("-- lineage: ignore COL999 until=2026-12-31 reason=x\n" + SHORT, 1, ["WAIVER_INVALID"]),
        (SHORT + "-- lineage: ignore COL001 until=2026-12-31 reason=too late\n", 1, ["WAIVER_UNUSED"]),
    ],
)
def test_a_comment_waives_what_stands_below_or_beside_it(
    text: str, code: int, findings: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    commit({"orders.sql": text}, "waive")
    assert main(["check", "--base", "main", "--today", "2026-06-01", "--format", "json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert [one["code"] for one in document["diagnostics"]] == findings
    assert all(one["path"] == "orders.sql" and one["line"] for one in document["diagnostics"])


@pytest.mark.usefixtures("clone")
def test_a_comment_inside_a_statement_waives_its_line_alone() -> None:
    view = "create view core.x as\nselect\n    id + {} as a{},\n    id + {} as b\nfrom raw.orders;\n"
    note = " -- lineage: ignore EXP001 until=2999-12-31 reason=agreed"
    commit({"orders.sql": ORDERS, "x.sql": view.format(1, "", 2)}, "more")
    git("branch", "-f", "main")
    check = ["check", "--base", "main", "--fail-on", "potentially"]
    commit({"x.sql": view.format(3, "", 2)}, "one")
    assert main(check) == 1
    commit({"x.sql": view.format(3, "", 2).replace("as a,", "as a," + note)}, "waived")
    assert main(check) == 0
    commit({"x.sql": view.format(3, "", 2).replace("select\n", f"select\n   {note}\n")}, "on a line of its own")
    assert main(check) == 0
    commit({"x.sql": view.format(3, "", 4).replace("as a,", "as a," + note)}, "and another")
    assert main(check) == 1


OLD = WAIVER.replace("2026", "2020").replace("agreed", "was agreed").replace("note", "gone")


@pytest.mark.usefixtures("clone")
def test_waivers_are_listed_checked_and_pruned(capsys: pytest.CaptureFixture[str]) -> None:
    unused = WAIVER.replace("note", "nothing")
    commit({"lineage-waivers.toml": WAIVER + OLD + unused}, "waive")
    assert main(["waivers", "list", "--today", "2026-06-01"]) == 0
    shown = capsys.readouterr().out
    assert "lineage-waivers.toml:3: COL001 raw.*.note until 2026-12-31: nobody uses it (data@example.org)" in shown
    assert "raw.*.gone expired 2020-12-31" in shown
    assert main(["waivers", "lint", "--today", "2026-06-01", "--format", "json"]) == 1
    assert [one["code"] for one in json.loads(capsys.readouterr().out)["diagnostics"]] == ["WAIVER_EXPIRED"]
    assert main(["waivers", "prune", "--today", "2026-06-01"]) == 0
    assert "raw.*.gone" in capsys.readouterr().out
    assert Path("lineage-waivers.toml").read_text() == WAIVER + unused
    assert main(["waivers", "lint", "--today", "2026-06-01"]) == 0
    assert main(["waivers", "lint", "--today", "2026-06-01", "--base", "main"]) == 1
    assert main(["waivers", "prune", "--today", "2026-06-01", "--base", "main"]) == 0
    assert Path("lineage-waivers.toml").read_text() == WAIVER


@pytest.mark.usefixtures("clone")
def test_levels_of_rules_are_settings(capsys: pytest.CaptureFixture[str]) -> None:
    Path("lineage.toml").write_text('[diff.levels]\nCOL001 = "warn"\n')
    assert main(["check", "--base", "main"]) == 0
    assert main(["check", "--base", "main", "--fail-on", "potentially"]) == 1
    Path("lineage.toml").write_text('[diff.levels]\nCOL01 = "warn"\n')
    capsys.readouterr()
    assert main(["check", "--base", "main"]) == 2
    assert "there is no rule COL01; did you mean COL001?" in capsys.readouterr().err


@pytest.mark.usefixtures("clone")
def test_rules_are_listed_with_their_levels(capsys: pytest.CaptureFixture[str]) -> None:
    Path("lineage.toml").write_text('[diff.levels]\nCOL001 = "warn"\n')
    assert main(["rules", "--format", "json"]) == 0
    rules = {rule["id"]: rule for rule in json.loads(capsys.readouterr().out)["rules"]}
    assert (rules["COL001"]["level"], rules["COL002"]["level"]) == ("warn", None)
    assert main(["rules"]) == 0
    assert "COL001  column removed  (level: warn)\n" in capsys.readouterr().out


def test_ignored_settings_and_submodules_are_reported(
    clone: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit({"shop/lineage.toml": '[diff]\nleaf = "private"\n'}, "settings of a folder")
    git("update-index", "--add", "--cacheinfo", f"160000,{git('rev-parse', 'HEAD')},module")
    git("commit", "-q", "-m", "another repository inside")
    assert main(["check", "shop", "--base", "main"]) == 1
    said = capsys.readouterr()
    assert f"{clone / 'shop' / 'lineage.toml'} is not read" in said.err
    assert "module: this is another repository, which is not followed [SUBMODULE]" in said.out
    git("clone", "-q", str(clone), str(tmp_path / "plain"), folder=tmp_path)
    monkeypatch.chdir(tmp_path / "plain")
    assert main(["check", "--base", "main"]) == 2
    assert "its remote has one: --base origin/main" in capsys.readouterr().err


@pytest.mark.usefixtures("clone")
def test_a_comparison_is_narrowed_to_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "main", "HEAD", "--object", "Raw.Orders"]) == 0
    assert "COL001 column removed: raw.orders.note" in capsys.readouterr().out
    assert main(["diff", "main", "HEAD", "--object", "orderz"]) == 1
    assert "there is no object orderz; did you mean" in capsys.readouterr().err


@pytest.mark.usefixtures("clone")
def test_a_writer_of_a_removed_column_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    git("checkout", "-q", "main")
    commit({"load.sql": "insert into raw.orders (id, note) values (1, 'x');\n"}, "a writer")
    git("checkout", "-q", "-b", "again")
    commit({"orders.sql": SHORT}, "drop the note")
    assert main(["check", "--base", "main"]) == 1
    assert capsys.readouterr().out.count("load.sql") == 1


@pytest.mark.usefixtures("clone")
def test_two_commits_are_compared_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(lineage_cache, "MIN_CACHED_FILES", 1)
    commit({"orders.sql": SHORT, "lineage-waivers.toml": WAIVER}, "waived")
    check = ["check", "--base", "main", "--format", "json", "--show-waived"]
    assert main([*check, "--today", "2026-06-01"]) == 0
    first = capsys.readouterr()
    (kept,) = Path().glob(".lineage/**/*.compared")
    with monkeypatch.context() as apart:
        apart.setattr(side_comparison, "find_differences", lambda *sides: pytest.fail("compared again"))
        assert main([*check, "--today", "2026-06-01"]) == 0
        assert capsys.readouterr() == first
        assert main([*check, "--today", "2027-01-01"]) == 1  # the waiver has run out by then
    capsys.readouterr()
    kept.write_bytes(kept.read_bytes()[:-1])
    assert main([*check, "--today", "2026-06-01"]) == 0  # what is damaged is made again
    assert capsys.readouterr() == first
    assert main([*check, "--dialect", "postgres", "--today", "2026-06-01"]) == 0
    assert len(list(Path().glob(".lineage/**/*.compared"))) == 2


@pytest.mark.usefixtures("clone")
def test_the_next_commit_continues_from_a_restored_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lineage_cache, "MIN_CACHED_FILES", 1)
    git("checkout", "-q", "main")
    catalog = {
        "catalog.csv": "table,column,type\nraw.paid,id,int\n",
        "lineage.toml": '[analysis]\nschemas = ["catalog.csv"]\n',
    }
    views = {f"views/v{number}.sql": f"create view mart.v{number} as select * from raw.paid;" for number in range(4)}
    first = commit({**catalog, **views, "wide.sql": "create view mart.wide as select * from mart.v1;"}, "first")
    second = commit({"views/v1.sql": "create view mart.v1 as select id, id + 1 as next from raw.paid;"}, "second")
    third = commit({"catalog.csv": catalog["catalog.csv"] + "raw.paid,note,text\n"}, "third")
    check = ["check", "--exact-base", "--exit-zero", "--format", "json"]
    assert main([*check, "--base", first, "--head", second]) == 0
    capsys.readouterr()
    # Another machine, which has the folder that the first one kept and nothing else of it.
    restored = tmp_path / "machine" / "shop"
    git("clone", "-q", ".", str(restored))
    shutil.copytree(Path(".lineage/warehouse/_cache"), restored / ".lineage/warehouse/_cache")
    shutil.rmtree(restored / ".lineage/warehouse/_cache/comparisons")
    monkeypatch.chdir(restored)
    monkeypatch.setenv("LINEAGE_CACHE", "false")
    assert main([*check, "--base", second, "--head", third]) == 0
    plain = json.loads(capsys.readouterr().out)
    monkeypatch.delenv("LINEAGE_CACHE")
    linked: list[set[str]] = []

    def watched(*given: object) -> IncrementalResult | None:
        done = update_analysis(*given)  # type: ignore[arg-type]
        linked.append(set(done.made) if done is not None else {"everything"})
        return done

    monkeypatch.setattr("lineage_pipeline.incremental.refresh.update_analysis", watched)
    opened: list[str] = []

    def opening(top: Path, revision: str, *given: object, **named: object) -> object:
        opened.append(revision)
        return open_revision(top, revision, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("lineage_pipeline.discover.git.repository.open_revision", opening)
    assert main([*check, "--base", second, "--head", third]) == 0
    again = json.loads(capsys.readouterr().out)
    assert {**again, "base": "", "head": ""} == {**plain, "base": "", "head": ""}
    assert len(again["changes"]) > 3
    assert opened == [third]
    assert linked == [{f"views/v{number}.sql" for number in range(4)}]  # the base is as it was kept
