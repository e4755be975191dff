"""Wrong arguments and odd names in SQL end in one sentence that says what would have been right."""

import csv
import importlib
import io
import json
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lineage_pipeline import cli
from lineage_pipeline.cli import command_tree, main
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.queries.lineage import Lineage
from lineage_pipeline_tests.support.paths import ROOT

SHOP = """\
create table raw.orders (id int, amount int, note varchar(10));
create view stg.orders as select id, amount from raw.orders;
insert into mart.sales (id, total)
with big as (select id, amount from stg.orders
             where amount > 10)
select id, sum(amount) from big group by id;
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("LINEAGE_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "shop.sql").write_text(SHOP)
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.parametrize(
    ("typed", "code", "told"),
    [
        ("analyze shop/shop.sql --format xml", 2, "'--format' / '-f': 'xml' is not one of 'text', 'json', 'csv'; see"),
        ("catalog push duckdb:///x", 2, "'push' is not one of 'list', 'pull'"),
        ("analyze shop/shop.sql -c nope", 1, "no statement writes a column nope; written are id, total, amount"),
        ("search ''", 2, "say what to look for"),
        ("search zzzzqqqq --in shop", 1, "no object and no column is called anything like zzzzqqqq"),
        ("impact + --in shop", 2, "+ names no column and no table"),
        ("impact . --in shop", 2, ". names no column and no table"),
        ("show stg.order --in shop", 1, "did you mean stg.orders"),
        ("tables overview shop --table stg.order", 1, "did you mean stg.orders"),
        ("tables scrape shop --table zzzz", 1, "there is no object zzzz; there are mart.sales"),
        ("dissect shop/shop.sql --name huge", 1, "no part is called huge; there are raw.orders, stg.orders, big"),
        ("dissect shop/shop.sql --kind main_query", 1, "no part is a MAIN_QUERY"),
        ("export mermaid nowhere", 2, "nowhere is neither a folder nor a file, nor a revision"),
        ("export mermaid shop@HEAD", 2, "shop is not in a git repository"),
        ("graph export shop.lineage --format mermaidd", 2, "there is no format mermaidd; did you mean mermaid?"),
        ("diff shop shop -o xml=x", 2, "xml is no format"),
    ],
)
@pytest.mark.usefixtures("shop")
def test_a_wrong_argument_is_named_in_the_message(
    typed: str, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word.strip("'") for word in typed.split()]) == code
    shown = capsys.readouterr().err
    assert told in shown
    assert "Traceback" not in shown
    assert "Value error" not in shown


@pytest.mark.parametrize("group", ["graph", "tables", "config"])
def test_a_group_without_a_command_shows_its_commands(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([group]) == 0
    shown = capsys.readouterr()
    assert (shown.out.startswith(f"Usage: lineage {group}"), shown.err) == (True, "")


@pytest.mark.parametrize("typed", ["diff shop shop", "check shop --base HEAD"])
@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ("-o xml=x", "xml is no format"),
        ("-o a.txt -o b.txt", "names two files"),
        ("--today tomorrow", "tomorrow is not a day"),
    ],
)
@pytest.mark.usefixtures("shop")
def test_wrong_comparison_flags_fail_before_anything_is_read(
    typed: str, flags: str, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object, **__: object) -> None:
        raise AssertionError("something was read")

    for module in pkgutil.walk_packages(cli.__path__, f"{cli.__name__}."):  # or one keeps what is patched below
        importlib.import_module(module.name)
    monkeypatch.setattr("lineage_pipeline.discover.folder.discover_folder", read)
    monkeypatch.setattr("lineage_pipeline.discover.git.repository.find_toplevel", read)
    assert main([*typed.split(), *flags.split()]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "header"),
    [
        ("analyze empty.sql", "path,statement,to_object"),
        ("impact mart.sales.total --in shop", "direction,hops,object"),
        ("path mart.sales.id raw.orders.id --in shop", "path_number,hop,from_object"),
        ("search zzzzqqqq --in shop", "object,column,match"),
        ("tables overview empty.sql", "object,usage"),
        ("tables scrape empty.sql", "catalog,schema,table,column,ordinal"),
        ("dissect empty.sql", "path,statement,statement_kind"),
    ],
)
def test_csv_without_rows_has_its_header(
    typed: str, header: str, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop.parent / "empty.sql").write_text("")
    assert main([*typed.split(), "-f", "csv"]) in (0, 1)
    (columns,) = csv.reader(io.StringIO(capsys.readouterr().out))
    assert columns[: header.count(",") + 1] == header.split(",")


def test_a_csv_has_the_same_header_with_rows_and_without(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop.parent / "empty.sql").write_text("")
    for command in ("analyze", "tables overview", "tables scrape", "dissect"):
        heads = []
        for file in ("empty.sql", "shop/shop.sql"):
            assert main([*command.split(), file, "-f", "csv"]) == 0
            heads.append(capsys.readouterr().out.splitlines()[0])
        assert heads[0] == heads[1]


def test_a_lineage_merged_with_its_own_json_is_that_lineage(shop: Path) -> None:
    for name in ("a.lineage", "a.json"):
        assert main(["scan", str(shop), "-q", "-o", name]) == 0
    rows, told = Lineage.load("a.lineage").rows, Lineage.load("a.json")
    for merged in (Lineage.load("a.lineage").merge(told), told.merge(Lineage.load("a.lineage"))):
        for table in ("statements", "objects", "columns", "column_edges", "object_edges", "diagnostics"):
            assert len(getattr(merged.rows, table)) == len(getattr(rows, table)), table


@pytest.mark.parametrize(
    "format",
    ["openlineage", "csv", "xlsx", "duckdb", "parquet", "mermaid", "dot", "graphml", "json", "html", "markdown"],
)
def test_a_lineage_file_is_exported_in_every_format(format: str, shop: Path, tmp_path: Path) -> None:
    assert main(["scan", str(shop), "-q", "-o", "a.lineage"]) == 0
    assert main(["graph", "export", "a.lineage", "--format", format, "-q", "-o", "one"]) == 0
    assert main(["export", format, "a.lineage", "-q", "-o", "two"]) == 0
    if format in ("mermaid", "dot", "graphml", "json", "html", "markdown", "openlineage"):
        assert (tmp_path / "one").read_text() == (tmp_path / "two").read_text()
    assert (tmp_path / "one").exists()


def test_a_scan_into_a_file_says_what_is_in_it(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", str(shop), "-o", "a.lineage"]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.search(r"3 statements analyzed, .* 3 objects, .*; in a\.lineage$", shown.err.strip())


def test_variables_reach_every_command_that_reads_sql(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "shop.sql").write_text("create view v as select a from {{ source_table }};")
    flags = ["--var", "source_table=raw.told"]
    asked = {
        "analyze": ["shop/shop.sql"],
        "scan": ["shop"],
        "impact": ["+v.a", "--in", "shop"],
        "path": ["raw.told.a", "v.a", "--in", "shop"],
        "formula": ["v.a", "--in", "shop"],
        "show": ["v", "--in", "shop"],
        "search": ["told", "--in", "shop"],
        "dissect": ["shop"],
        "graph build": ["shop", "-o", "built.json"],
        "tables overview": ["shop"],
        "tables scrape": ["shop"],
        "export": ["mermaid", "shop"],
        "render": ["shop/shop.sql"],
    }
    for title, arguments in asked.items():
        assert main([*title.split(), *arguments, *flags]) == 0, title
        written = Path("built.json").read_text() if title == "graph build" else capsys.readouterr().out
        assert "told" in written, title
    takes = {
        command.title
        for command in command_tree.iterate_commands()
        if any("--var" in flag.names for flag in command.flags)
    }
    assert takes == {*asked, "tables pull", "check", "diff", "rebuild", "run", "verify"}


def test_statements_are_shown_on_one_line_without_signs_of_ours(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dissect", str(shop), "--kind", "cte"]) == 0
    assert "select id, amount from stg.orders where amount > 10\n" in capsys.readouterr().out


NAMES = ("a\x1b[31mb", "new\nline", "tab\tbed", "\x9b2J", "\u202eturned", "bell\x07")


@pytest.mark.parametrize(
    "typed",
    [
        *("scan shop", "analyze shop/shop.sql", "impact t.* --in shop", "formula v.* --in shop", "show v --in shop"),
        *("path t v --in shop", "search e --in shop", "dissect shop", "tables overview shop", "tables scrape shop"),
        *("show nothing --in shop", "impact t.nothing --in shop", "analyze shop/shop.sql --level column"),
    ],
)
def test_names_are_escaped_on_a_terminal(typed: str, shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = ", ".join(f'"{name}"' for name in NAMES)
    defined = ", ".join(f'"{name}" int' for name in NAMES)
    views = "".join(f'create view "v{name}" as select {columns} from t where "no{name}" = 1;\n' for name in NAMES)
    sql = f"create table t ({defined});\ncreate view v as select {columns} from t;\n{views}"
    (shop / "shop.sql").write_text(sql, encoding="utf-8", newline="")
    assert main([*typed.split()]) in (0, 1)
    shown = capsys.readouterr()
    assert len(shown.out + shown.err) > 10
    steering = [sign for sign in shown.out + shown.err if not sign.isprintable() and sign != "\n"]
    assert [sign for sign in steering if sign != "\t"] == []
    assert "\nline" not in shown.out


def test_a_folder_that_cannot_be_entered_is_a_finding(shop: Path) -> None:
    (shop / "locked").mkdir()
    (shop / "locked" / "b.sql").write_text("create table b (x int);")
    (shop / "locked").chmod(0)
    code = (
        "import sys; from pathlib import Path; from lineage_pipeline.discover.folder import discover_folder;"
        "from lineage_pipeline.config.load import load_settings; folder = Path(sys.argv[1]);"
        "found = discover_folder(folder, load_settings(folder, {}, {}));"
        "print([(row.path, row.code, row.message) for row in found.diagnostics], len(found.files))"
    )
    powerless = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    try:
        done = subprocess.run(
            [*powerless, sys.executable, "-W", "ignore", "-c", code, str(shop)],
            capture_output=True,
            text=True,
            cwd=ROOT,
        )
    finally:
        (shop / "locked").chmod(0o755)
    assert "('locked', 'ENCODING_ERROR'" in done.stdout, done.stderr
    assert "the folder cannot be read: Permission denied" in done.stdout
    whole = discover_folder(shop, load_settings(shop, {}, {}))
    assert (whole.diagnostics, len(whole.files)) == ((), 2)


def test_warnings_of_libraries_are_not_shown(shop: Path) -> None:
    (shop / "shop.sql").write_text("select regexp_extract(a, '[[]b') as b from t;")
    command = [sys.executable, "-m", "lineage_pipeline.cli", "scan", str(shop), "--dialect", "bigquery", "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "Dialect: bigquery (--dialect)\n")


def test_an_incomplete_clause_is_a_readable_finding(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "shop.sql").write_text("select a from t where")
    assert main(["analyze", "shop/shop.sql", "-f", "json"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert finding["message"] == "cannot parse this statement: something is missing for WHERE"


def test_a_folder_at_a_revision_reports_that_the_whole_repository_is_read(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=shop.parent, check=True)
    assert main(["tables", "overview", f"{shop}@HEAD"]) == 0
    assert f"is all of {shop.parent}" in capsys.readouterr().err
    assert main(["tables", "overview", f"{shop.parent}@HEAD"]) == 0
    assert capsys.readouterr().err == ""
