"""The command line: data on stdout, messages on stderr, exit codes 0, 1 and 2."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from lineage_pipeline import __version__
from lineage_pipeline.cli import main
from lineage_pipeline.cli.app import VERBS, format_error
from lineage_pipeline.cli.run_summary_text import write_next_commands, write_run_summary
from lineage_pipeline.cli.verbs.doctor import MachineCheck, format_check
from lineage_pipeline.model.findings import CODES
from lineage_pipeline.model.summary import FailedCheck, RunSummary, TableCount
from lineage_pipeline_tests.support.paths import ROOT

HEAVY = "sqlglot pyarrow pyspark dagster dbt great_expectations pandas duckdb pydantic rich".split()
SQL = """
create table raw.orders (id int, amount int);
create view core.orders as select id, amount as total from raw.orders;
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("LINEAGE_"):
            monkeypatch.delenv(name)
    return tmp_path


def run_lineage(*arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "lineage_pipeline.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, **options)


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_version_and_help_import_nothing_heavy(flag: str) -> None:
    program = (
        "import sys; from lineage_pipeline.cli import main; code = main(sys.argv[1:]); "
        f"print(sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program, flag], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "[]\n")
    assert (__version__ if flag == "--version" else "Commands:") in done.stdout


def test_the_help_of_no_command_imports_anything_heavy() -> None:
    program = (
        "import sys; from lineage_pipeline.cli import main; "
        "codes = {main([verb, '--help']) for verb in sys.argv[1:]}; "
        f"print(codes, sorted((set({HEAVY}) & set(sys.modules)) - {{'pydantic'}}), file=sys.stderr)"
    )  # typer itself reads the options of a command with pydantic
    done = subprocess.run([sys.executable, "-c", program, *VERBS], capture_output=True, text=True, cwd=ROOT)
    assert done.stderr == "{0} []\n"
    assert done.stdout.count("Usage: lineage") == len(VERBS)


@pytest.mark.parametrize("verb", [*VERBS, ""])
def test_every_verb_has_help_with_no_line_over_80_columns(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"] if verb else []) == 0
    shown = capsys.readouterr().out
    assert "Usage: lineage" in shown
    assert [text for text in shown.splitlines() if len(text) > 80] == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["anlyze"], "there is no command anlyze; did you mean analyze?"),
        (["scan", "--dialct", "x"], "No such option: --dialct"),
        (["analyze"], "Missing argument"),
        (["analyze", "none.sql"], "none.sql: No such file or directory"),
        (["analyze", "-", "--schema", "none.json"], "none.json: No such file or directory"),
        (["scan", "nowhere"], "nowhere: No such file or directory"),
        (["scan", "nowhere@main"], "nowhere@main is neither a folder nor a file nor REPO@REV"),
        (["scan", "--format", "lineage"], "--format lineage needs a file"),
        (["diff", "a", "b"], "a is neither a folder nor a file, nor a revision of a git repository here"),
        (["explain", "AMBIGUOUS_COLUM"], "did you mean AMBIGUOUS_COLUMN?"),
        (["scan", "--format", "yaml"], "'yaml' is not one of 'text', 'json', 'lineage'"),
    ],
)
def test_wrong_use_is_one_line_on_stderr_and_exit_2(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("lineage: ")
    assert told in shown.err
    assert shown.err.count("\n") == 1


def test_a_wrong_settings_file_is_told_and_debug_shows_the_traceback(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "lineage.toml").write_text("dialekt = 1")
    assert main(["scan"]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert main(["scan", "--debug"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_missing_extra_says_what_to_install() -> None:
    error = ModuleNotFoundError("No module named 'pyspark'", name="pyspark.sql")
    assert format_error(error) == "this needs pyspark: pip install 'lineage-pipeline[pipeline]'"
    assert format_error(ZeroDivisionError("x\ny")).startswith("internal error: ZeroDivisionError: x y")


def test_analyze_writes_the_document_of_the_contract(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.sql").write_text(SQL)
    assert main(["analyze", "a.sql", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema_version"] == 2
    edges = {(e["from_column"], e["to_object"], e["to_column"]) for e in document["column_edges"]}
    assert edges == {("id", "core.orders", "id"), ("amount", "core.orders", "total")}
    assert document["summary"]["statements"] == {"analysed": 2, "partial": 0, "failed": 0}
    assert [statement["path"] for statement in document["statements"]] == ["a.sql", "a.sql"]


def test_analyze_reads_standard_input_and_an_imported_schema(here: Path) -> None:
    (here / "s.json").write_text('{"raw.orders": {"id": "int", "amount": "int"}}')
    arguments = ["analyze", "-", "--schema", str(here / "s.json"), "--format", "json", "--strict"]
    done = run_lineage(*arguments, input="create view v as select * from raw.orders")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert {e["from_column"] for e in document["column_edges"]} == {"id", "amount"}
    assert document["statements"][0]["path"] == "-"


def test_analyze_prints_the_graph_of_each_statement_or_of_all(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.sql").write_text(SQL)
    assert main(["analyze", "a.sql", "--graph", "statement"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document) == ["schema_version", "graphs"]
    assert [(graph["path"], graph["statement"]) for graph in document["graphs"]] == [("a.sql", 0), ("a.sql", 1)]
    assert list(document["graphs"][1]) == ["path", "statement", "nodes", "edges"]
    assert main(["analyze", "a.sql", "--graph", "global"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document) == ["schema_version", "nodes", "edges"]
    assert " ".join(document["nodes"][0]) == (
        "id type label qualified_name expression span resolution_source statement_refs"
    )
    assert " ".join(document["edges"][0]) == "id from to type operation expression approximate statements from_path"
    (crossing,) = [edge for edge in document["edges"] if edge["type"] == "cross_statement"]
    assert crossing["statements"] == [{"path": "a.sql", "statement": 0}, {"path": "a.sql", "statement": 1}]


def test_what_is_printed_is_utf_8_whatever_the_locale(here: Path) -> None:
    (here / "a.sql").write_text('create view "größe 漢字" as select "naïve" from "Ωmega"', encoding="utf-8")
    odd = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "latin-1:replace"}
    command = [sys.executable, "-m", "lineage_pipeline.cli", "analyze", str(here / "a.sql"), "-d", "postgres"]
    shown = [
        subprocess.run(command, capture_output=True, cwd=ROOT, env={**os.environ, **more}).stdout
        for more in (odd, {"LC_ALL": "C.UTF-8"})
    ]
    assert shown[0] == shown[1]
    assert '"größe 漢字"' in shown[0].decode("utf-8")


@pytest.mark.parametrize("graph", ["statement", "global"])
def test_graphs_are_the_same_bytes_whatever_the_hash_seed(here: Path, graph: str) -> None:
    (here / "a.sql").write_text("with c as (select a, b from t join u using (k)) select * from c where a in (select 1)")
    arguments = ["analyze", str(here / "a.sql"), "--graph", graph]
    shown = [run_lineage(*arguments, env={**os.environ, "PYTHONHASHSEED": seed}).stdout for seed in ("1", "4711")]
    assert shown[0] == shown[1] != ""


@pytest.mark.parametrize(
    ("sql", "dialect", "code"),
    [
        ("create view v as select a from nowhere", "postgres", 0),  # a table that nobody knows hides nothing
        ("create view v as select 1 as a; select from where", "postgres", 1),
        ("insert into t (a, b) select 1", "postgres", 1),
        ("exec (@sql)", "tsql", 1),
        ("-- lineage: dialect=postgers\ncreate view v as select 1 as a", "postgres", 1),
    ],
)
def test_strict_turns_findings_into_an_exit_code(here: Path, sql: str, dialect: str, code: int) -> None:
    (here / "a.sql").write_text(sql)
    assert main(["analyze", "a.sql", "--dialect", dialect]) == 0
    assert main(["analyze", "a.sql", "--dialect", dialect, "--strict"]) == code


@pytest.mark.parametrize(
    ("dialect", "hint"), [("postgers", "did you mean postgres?"), ("xyzzy", "known are ansi, athena, bigquery,")]
)
def test_an_unknown_dialect_is_an_error_that_says_which_was_meant(
    here: Path, capsys: pytest.CaptureFixture[str], dialect: str, hint: str
) -> None:
    (here / "a.sql").write_text("create view v as select a from t")
    for command in (["analyze", "a.sql"], ["scan", "."], ["diff", ".", "."], ["impact", "t.a"]):
        assert main([*command, "--dialect", dialect]) == 2
        assert f"there is no dialect {dialect}: {hint}" in capsys.readouterr().err
    (here / "lineage.toml").write_text(f'[analysis]\ndialect = "{dialect}"\n')
    assert main(["scan", "."]) == 2
    assert f"there is no dialect {dialect}: {hint}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("dialect", "hint"), [("postgers", "did you mean postgres?"), ("xyzzy", "known are ansi, athena, bigquery,")]
)
def test_an_unknown_dialect_in_a_header_falls_back_and_says_which_was_meant(
    here: Path, capsys: pytest.CaptureFixture[str], dialect: str, hint: str
) -> None:
    (here / "a.sql").write_text(f"-- lineage: dialect={dialect}\ncreate view v as select a from t")
    assert main(["analyze", "a.sql", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (finding,) = [row for row in document["diagnostics"] if row["code"] == "DIALECT_FALLBACK"]
    assert finding["severity"] == "warning"
    assert finding["message"].startswith(f"{dialect} is not a known dialect; read as generic SQL; {hint}")
    assert [edge["to_column"] for edge in document["column_edges"]] == ["a"]


def test_scan_reads_a_folder_into_a_file_twice_the_same(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "sql").mkdir()
    (here / "sql" / "a.sql").write_text(SQL)
    (here / "sql" / "b.sql").write_bytes(b"\0")
    for name in ("1.json", "2.json"):
        assert main(["scan", "sql", "--dialect", "duckdb", "--format", "json", "-o", name]) == 0
    assert capsys.readouterr().out == ""
    assert (here / "1.json").read_bytes() == (here / "2.json").read_bytes()
    document = json.loads((here / "1.json").read_text())
    assert [one["code"] for one in document["diagnostics"]] == ["ENCODING_ERROR"]
    assert document["summary"]["bytes"]["failed"] == 1


def test_scan_says_so_when_there_is_nothing_to_read(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", "."]) == 0
    assert "no file below . fits" in capsys.readouterr().err


@pytest.mark.parametrize("format", ["text", "json", "markdown"])
def test_diff_compares_folders(here: Path, capsys: pytest.CaptureFixture[str], format: str) -> None:
    for name, text in (("old", SQL), ("new", SQL.replace(", amount as total", ""))):
        (here / name).mkdir()
        (here / name / "a.sql").write_text(SQL if name == "old" else text)
    assert main(["diff", "old", "new", "--format", format]) == 0
    assert "COL001" in capsys.readouterr().out


def test_diff_compares_revisions_of_the_repository_here(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from lineage_pipeline.discover.example.repository import build_example

    built = build_example(ROOT / "sql_assets", here / "example")
    os.chdir(built.path)
    assert main(["diff", "HEAD~1", "HEAD", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["base"], document["head"]) == (f"example@{built.base}", f"example@{built.head}")
    assert document["summary"]["roots"]["BREAKING"] >= 2


def test_diff_compares_revisions_of_a_repository_elsewhere(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from lineage_pipeline.discover.example.repository import build_example

    built = build_example(ROOT / "sql_assets", here / "example")
    assert main(["diff", "example@HEAD", "example@WORKTREE", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["base"] == f"example@{built.head}"
    assert set(document["summary"]["roots"].values()) == {0}


def test_explain_knows_every_code_and_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    from lineage_pipeline.cli.verbs.explain import collect_explanations

    known = collect_explanations()
    assert set(CODES) < set(known)
    assert main(["explain", "col001"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("COL001: ")
    assert "What to do: " in shown


def test_doctor_lists_what_is_installed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor"])
    shown = capsys.readouterr().out
    for name in ("git", "settings", "warehouse", "disk", "Spark", "dbt", "Java"):
        assert f" {name}: " in shown


def test_doctor_reports_broken_settings(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "lineage.toml").write_text("dialekt = 1")
    assert main(["doctor"]) == 1
    assert "problem  settings: " in capsys.readouterr().out
    assert format_check(MachineCheck("x", "", "it is gone", "get it", needed=False)) == "absent   x: it is gone; get it"


def test_a_closed_pipe_ends_quietly() -> None:
    command = f"{quote(sys.executable)} -m lineage_pipeline.cli explain PARSE_ERROR | true"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=ROOT)
    assert done.stderr == ""


def test_the_summary_says_where_everything_is_and_what_to_type_next(here: Path) -> None:
    summary = RunSummary(
        snapshots=("example@a", "example@b"),
        tables=(TableCount("columns", 12),),
        findings={"warning": 3},
        changes={"BREAKING": 2},
        checks_passed=40,
        failed=(FailedCheck("example@b", "column_edges", "key_is_unique", "2 of 9 rows"),),
        withheld=("example@b",),
        spark_jobs=17,
        warehouse=str(here / ".lineage" / "my warehouse"),
        marts=str(here / ".lineage" / "marts.duckdb"),
    )
    text = write_run_summary(summary) + write_next_commands(summary, here / ".lineage" / "example")
    assert "12 columns" in text
    assert "0 error, 3 warning, 0 info" in text
    assert "2 breaking, 0 potentially breaking" in text
    assert "Checks:    40 passed, 1 failed\n  failed:  key_is_unique of column_edges, example@b: 2 of 9 rows\n" in text
    assert "  not published: example@b\n" in text
    assert "'.lineage/my warehouse'" in text
    assert "(cd .lineage/example && " in text
    assert " diff HEAD~1 HEAD)" in text
    assert "Nothing had to be done" in write_run_summary(RunSummary(skipped=True))


def test_a_group_is_ended_with_all_its_children(tmp_path: Path) -> None:
    command = ["sh", "-c", "sh -c 'echo $$ > child; exec sleep 60'; true"]
    program = (
        "import os; from pathlib import Path; from lineage_pipeline.cli.verbs.ui import run_group; "
        f"run_group({command!r}, Path({str(tmp_path)!r}), os.environ)"
    )
    process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
    child = tmp_path / "child"
    deadline = time.monotonic() + 30
    while not (child.exists() and child.read_text().strip()) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    status = Path("/proc", child.read_text().strip(), "status")
    assert not status.exists() or "State:\tZ" in status.read_text()
