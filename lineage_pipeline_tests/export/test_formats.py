"""Every format of `lineage export`, read by a real reader, with hostile names."""

import base64
import csv
import hashlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from markdown_it import MarkdownIt

from lineage_pipeline.cli import main
from lineage_pipeline.cli.lineage_export import build_arrow_tables
from lineage_pipeline.cli.options import EXPORT_FORMATS
from lineage_pipeline.export.escaping import FORMULA_PREFIXES, escape_formula, escape_hidden, shorten_middle
from lineage_pipeline.export.formats.lineage_formats import FORMATS, DrawingOptions
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.model import enums
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options
from lineage_pipeline_tests.support.graph_parsers import parse_dot, parse_mermaid
from lineage_pipeline_tests.support.lineage_rows import (
    ORDERS_LINEAGE,
    SHOP_SNAPSHOT,
    make_edge,
    make_object,
    make_statement,
)
from lineage_pipeline_tests.support.lineage_rows import make_column as column_row
from lineage_pipeline_tests.support.paths import ROOT

HOSTILE_NAMES = (
    *("=cmd|'/c calc'!A1", "+1", "-1", "@sum(a)", "\t=1", "two\nlines", "car\rriage", 'quo"te', "apo'strophe"),
    *("back`tick", "<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "]]>", "<!--", "&lt;&amp;"),
    *("a|b", "#35;", "\x1b[31mred\x1b[0m", "\x00nul", "right\u202eleft", "zero\u200bwidth", "n" * 10_000),
    *("ünïcödé 漢字 🙂", "{{ jinja }}", "%%{init}%%", "end", "subgraph x", "[link](javascript:alert(1))", "**bold**"),
    *("back\\slash", "back\\", " ", "$1", "`", "``"),
)


def make_hostile_subject() -> Subject:
    """A lineage in which every name is a hostile one."""
    names = {f"s.{name}": name for name in HOSTILE_NAMES}
    objects = [
        msgspec.structs.replace(
            make_object("s.x", enums.ObjectKind.VIEW), object=name, name=last, written=last, path=f"{last}.sql", line=1
        )
        for name, last in names.items()
    ]
    columns = [
        msgspec.structs.replace(column_row("a.b", place), object=name, name=last, written=last, description=last)
        for name in names
        for place, last in enumerate(HOSTILE_NAMES[:5] + (names[name],), 1)
    ]
    ends = list(names)
    edges = [
        make_edge("a.b", "c.d", enums.Subtype.TRANSFORMATION, from_object=one, from_column=names[one], to_object=other,
             to_column=names[other], path="x.sql", expression=names[other])
        for one, other in zip(ends, ends[1:], strict=False)
    ]  # fmt: skip
    lineage = LineageTables(
        statements=tuple(make_statement(f"{last}.sql", 0, "CREATE VIEW", name, ()) for name, last in names.items()),
        objects=tuple(objects),
        columns=tuple(columns),
        column_edges=tuple(edges),
        object_edges=tuple(
            msgspec.structs.replace(ORDERS_LINEAGE.object_edges[0], from_object=one, to_object=other)
            for one, other in zip(ends, ends[1:], strict=False)
        ),
        diagnostics=tuple(
            msgspec.structs.replace(ORDERS_LINEAGE.diagnostics[0], id=str(place), message=last, path=last)
            for place, last in enumerate(HOSTILE_NAMES)
        ),
    )
    return Subject(lineage, msgspec.structs.replace(SHOP_SNAPSHOT, author=HOSTILE_NAMES[10]))


@cache
def make_example_subject() -> Subject:
    """The lineage of the retail example."""
    from lineage_pipeline.pipeline import build_lineage

    folder = ROOT / "sql_assets" / "retail" / "head"
    paths = sorted(folder.rglob("*.sql"))
    files = [InputFile(path.relative_to(folder).as_posix(), path.read_text(), Options("tsql")) for path in paths]
    return Subject(build_lineage(files, reach=False), SHOP_SNAPSHOT)


@pytest.fixture(
    params=[make_example_subject, make_hostile_subject, lambda: Subject(LineageTables())],
    ids=["ordinary", "nasty", "nothing"],
)
def subject(request: pytest.FixtureRequest) -> Subject:
    found: Subject = request.param()
    return found


def export_text(name: str, subject: Subject, grain: enums.Grain | None = None, most: int = 10_000) -> str:
    format = FORMATS[name]
    if format.parts is not None:
        return "".join(format.parts(subject))
    assert format.write is not None
    return format.write(subject, DrawingOptions(grain or next(iter(format.grains), enums.Grain.TABLE), most)).text


def export_file(name: str, subject: Subject, folder: Path) -> Path:
    target = folder / ("tables" + FORMATS[name].suffix)
    save = FORMATS[name].save
    assert save is not None
    save(build_arrow_tables(subject), target)
    return target


def test_the_command_names_the_formats_of_the_table() -> None:
    assert list(FORMATS) == EXPORT_FORMATS


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_csv_is_read_by_the_csv_reader_and_holds_no_formula(subject: Subject, tmp_path: Path) -> None:
    folder = export_file("csv", subject, tmp_path)
    tables = build_arrow_tables(subject)
    assert {file.stem for file in folder.iterdir()} == set(tables)
    for name, content in tables.items():
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            head, *rows = list(csv.reader(file))
        assert head == content.column_names
        assert len(rows) == content.num_rows
        texts = [value for row in rows for value in row if not re.fullmatch(r"-?\d+", value) and value]
        assert [value for value in texts if value.startswith(FORMULA_PREFIXES)] == []
        assert [value for value in texts if re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", value)] == []


def test_xlsx_is_read_by_openpyxl_and_holds_no_formula(subject: Subject, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(export_file("xlsx", subject, tmp_path), read_only=True)
    tables = build_arrow_tables(subject)
    assert book.sheetnames == ["summary", *tables, "dependency matrix"]
    for name, content in tables.items():
        rows = list(book[name].iter_rows())
        assert [item.value for item in rows[0]] == content.column_names
        assert len(rows) == content.num_rows + 1
        assert {item.data_type for row in rows for item in row} <= {"s", "n", "b", "inlineStr"}
    matrix = list(book["dependency matrix"].iter_rows(values_only=True))
    edges = {(row.from_object, row.to_object) for row in subject.lineage.object_edges}
    assert sum(value is not None for row in matrix[1:] for value in row[1:]) == len(edges)


def test_duckdb_opens_the_file_with_all_tables_and_every_view_answers(subject: Subject, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    from lineage_pipeline.export.formats.duckdb import MACROS, VIEWS

    file = export_file("duckdb", subject, tmp_path)
    export_file("duckdb", subject, tmp_path)  # a file that is there is made anew
    with duckdb.connect(str(file), read_only=True) as connection:
        for name, content in build_arrow_tables(subject).items():
            assert connection.execute(f"select count(*) from {name}").fetchone() == (content.num_rows,)
        for name in VIEWS:
            connection.execute(f"select * from {name}").fetchall()
        lineage = connection.execute("select count(*) from column_lineage").fetchone()
        assert lineage == (len(subject.lineage.column_edges),)
        for name in MACROS:
            connection.execute(f"select * from {name}('a', 'b')").fetchall()
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_the_lineage_macros_of_the_duckdb_file_find_all_sources_of_a_column(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    from lineage_pipeline.engine.trace.column_graph import ColumnRef, build_column_graph, find_downstream, find_upstream

    subject = make_example_subject()
    graph = build_column_graph(subject.lineage)
    with duckdb.connect(str(export_file("duckdb", subject, tmp_path)), read_only=True) as connection:
        for walk, name, start in (
            (find_upstream, "upstream", ("mart.category_margin", "net_sales_eur")),
            (find_downstream, "downstream", ("raw.products", "product_id")),
        ):
            expected = walk(graph, [ColumnRef(*start)], direct_only=True)
            found = connection.execute(f"select * from {name}(?, ?)", start).fetchall()
            assert {(one, other): steps for one, other, steps in found} == {
                (ref.object, ref.column): steps for ref, steps in expected.items()
            }
            assert len(found) > 2


def test_parquet_is_read_with_the_types_of_the_warehouse(subject: Subject, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    folder = export_file("parquet", subject, tmp_path)
    for name, content in build_arrow_tables(subject).items():
        assert pq.read_table(folder / f"{name}.parquet").equals(content)


# ── drawings ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("grain", enums.Grain)
@pytest.mark.parametrize(("name", "read"), [("mermaid", parse_mermaid), ("dot", parse_dot)])
def test_dot_and_mermaid_hold_nothing_but_nodes_and_arrows(
    subject: Subject, name: str, read: Callable[[str], Any], grain: enums.Grain
) -> None:
    drawing = read(export_text(name, subject, grain))
    lineage = subject.lineage
    if grain is enums.Grain.SCRIPT:
        assert len(drawing.nodes) == len({row.path for row in lineage.statements})
        return
    columns = len(lineage.columns) if (name, grain) == ("mermaid", enums.Grain.COLUMN) else 0
    assert len(drawing.nodes) == len(lineage.objects) + columns
    if grain is enums.Grain.TABLE:
        assert len(drawing.arrows) == len({(row.from_object, row.to_object) for row in lineage.object_edges})
    else:
        known = {row.object for row in lineage.objects}
        ends = {
            (row.from_object, row.from_column, row.to_object, row.to_column, row.type)
            for row in lineage.column_edges
            if row.from_object in known
        }
        assert len(drawing.arrows) == len(ends)


@pytest.mark.parametrize("grain", enums.Grain)
def test_graphml_is_read_by_networkx_with_the_names_as_they_are(subject: Subject, grain: enums.Grain) -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.parse_graphml(export_text("graphml", subject, grain), force_multigraph=True)
    boxes = {item["name"] for _, item in graph.nodes(data=True) if item["kind"] != "column"}
    paths, objects = ({row.path for row in subject.lineage.statements}, {row.object for row in subject.lineage.objects})
    names = paths if grain is enums.Grain.SCRIPT else objects
    assert boxes == {escape_hidden(name) for name in names}
    if grain is enums.Grain.COLUMN:
        owned = sum(item["how"] == "owns" for *_, item in graph.edges(data=True))
        assert owned == len(subject.lineage.columns)
    if grain is enums.Grain.TABLE:
        assert graph.number_of_edges() == len(
            {(row.from_object, row.to_object) for row in subject.lineage.object_edges}
        )


def test_the_document_is_json(subject: Subject) -> None:
    document = json.loads(export_text("json", subject))
    assert len(document["objects"]) == len(subject.lineage.objects)


def test_markdown_holds_names_as_code_and_no_html(subject: Subject) -> None:
    text = export_text("markdown", subject)
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    kinds = {token.type for token in (*tokens, *inline)}
    assert not kinds & {"html_block", "html_inline", "link_open", "image", "strong_open", "em_open"}
    heads = [
        tokens[place + 1].children
        for place, token in enumerate(tokens)
        if (token.type, token.tag) == ("heading_open", "h2")
    ]
    names = [head[0].content for head in heads if head and [part.type for part in head] == ["code_inline"]]
    assert len(names) == len(subject.lineage.objects)
    rows = sum(token.type == "tr_open" for token in tokens)
    with_columns = {row.object for row in subject.lineage.columns}
    assert rows == len(subject.lineage.columns) + len(with_columns)
    parse_mermaid(next(token.content for token in tokens if token.type == "fence"))


class Elements(HTMLParser):
    """The elements of a page, and what its scripts hold."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.texts.append("")
        self.inside = True

    def handle_data(self, data: str) -> None:
        if self.texts and self.inside:
            self.texts[-1] += data

    def handle_endtag(self, tag: str) -> None:
        self.inside = False


@pytest.mark.parametrize("grain", enums.Grain)
def test_the_html_page_loads_nothing_and_runs_only_its_own_script(subject: Subject, grain: enums.Grain) -> None:
    page = Elements()
    page.feed(export_text("html", subject, grain))
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == 2
    assert not set(tags) & {"img", "iframe", "link", "object", "embed", "base", "form"}
    assert not any(key.startswith("on") or key in ("src", "href") for _, attributes in page.tags for key in attributes)
    data, script = (page.texts[place] for place, tag in enumerate(tags) if tag == "script")
    style = page.texts[tags.index("style")]
    policy = next(item["content"] or "" for _, item in page.tags if item.get("http-equiv") == "Content-Security-Policy")
    hashes = re.findall("'sha256-([^']+)'", policy)
    assert hashes == [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
    assert policy.startswith("default-src 'none'; ")
    content = json.loads(data)
    if grain is not enums.Grain.SCRIPT:
        assert [box["name"] for box in content["boxes"]] == [
            escape_hidden(row.object) for row in subject.lineage.objects
        ]


# ── how much ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["mermaid", "dot", "html", "graphml", "markdown"])
def test_a_drawing_is_bounded_and_says_what_was_cut(name: str) -> None:
    format = FORMATS[name]
    assert format.write is not None
    subject = make_example_subject()
    found = format.write(subject, DrawingOptions(enums.Grain.TABLE, 7))
    assert re.fullmatch(r"7 of \d+ objects and \d+ of \d+ arrows", found.cut)
    assert len(found.text) < len(format.write(subject, DrawingOptions(enums.Grain.TABLE, 1000)).text)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("LINEAGE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    chain = ["create table s.t0 (a int);"]
    chain += [f"create view s.t{place + 1} as select a from s.t{place};" for place in range(5)]
    (tmp_path / "chain.sql").write_text("\n".join(chain))
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--focus", "s.t2", "--depth", "1"], {"s.t1", "s.t2", "s.t3"}),
        (["--focus", "T2", "--direction", "up"], {"s.t0", "s.t1", "s.t2"}),
        (["--focus", "s.t4", "--direction", "down"], {"s.t4", "s.t5"}),
        (["--focus", "s.t3", "--depth", "0"], {"s.t3"}),
    ],
)
def test_a_focus_keeps_what_is_around_an_object(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], names: set[str]
) -> None:
    assert main(["export", "json", "chain.sql", *arguments]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {row["object"] for row in document["objects"]} == names
    assert {row["object"] for row in document["columns"]} == names
    ends = {row[end] for row in document["column_edges"] for end in ("from_object", "to_object")}
    assert ends <= names
    assert main(["export", "mermaid", "chain.sql", *arguments]) == 0
    assert set(parse_mermaid(capsys.readouterr().out).nodes.values()) == names


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["mermeid", "."], "there is no format mermeid; did you mean mermaid?"),
        (["csv", "."], "csv needs a folder to write to: -o PATH"),
        (["xlsx", "."], "xlsx needs a file to write to: -o PATH"),
        (["json", ".", "--level", "table"], "json takes no --level"),
        (["html", ".", "--profile", "run"], "html takes no --profile"),
        (["openlineage", ".", "--limit", "3"], "openlineage takes no --limit"),
        (["markdown", ".", "--level", "column"], "--level is table, script here"),
        (["dot", ".", "--depth", "1"], "--depth and --direction say how far around --focus OBJECT"),
        (["csv", ".", "-o", "chain.sql"], "chain.sql is a file; csv writes a folder of them"),
        (["duckdb", ".", "-o", "."], ". is a folder; name the file in it"),
    ],
)
def test_wrong_use_is_told(here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str) -> None:
    assert main(["export", *arguments]) == 2
    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.out == ""


def test_a_focus_that_is_not_there_is_told_with_what_is_near(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "dot", ".", "--focus", "s.t22"]) == 1
    assert "there is no object s.t22; did you mean s.t2" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["kept.json", "kept.lineage"])
def test_a_lineage_file_is_exported_as_what_it_was_made_of(
    here: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["scan", ".", "-o", name]) == 0
    for format in ("mermaid", "graphml", "openlineage"):
        shown = []
        for subject in (".", name):
            capsys.readouterr()
            assert main(["export", format, subject]) == 0
            shown.append(capsys.readouterr().out)
        if format == "openlineage":
            events = [[json.loads(line)["outputs"] for line in text.splitlines()] for text in shown]
            assert events[0] == events[1] != []
        else:
            assert shown[0] == shown[1]


class _Counting(io.StringIO):
    """A text that remembers the longest of the parts it was given."""

    longest = 0

    def write(self, text: str) -> int:
        self.longest = max(self.longest, len(text))
        return super().write(text)


def test_a_document_is_written_as_it_is_made(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_pipeline.export.documents.lineage_json.CHUNK", 1)
    for format in ("json", "openlineage"):
        monkeypatch.setattr("sys.stdout", stream := _Counting())
        assert main(["export", format, "."]) == 0
        assert stream.longest < len(stream.getvalue()) / 4


def test_what_was_cut_is_told_on_stderr(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "dot", ".", "--limit", "2"]) == 0
    shown = capsys.readouterr()
    assert len(parse_dot(shown.out).nodes) == 2
    assert "drawn are 2 of 6 objects" in shown.err


TEXTS = [f"{name}.{grain}" for name, format in FORMATS.items() for grain in format.grains]
TEXTS += [name for name, format in FORMATS.items() if format.save is None and not format.grains] + ["csv"]


def test_texts_are_the_same_bytes_whatever_the_hash_seed_the_zone_and_the_locale(here: Path) -> None:
    program = (
        "import sys; from lineage_pipeline.cli import main\n"
        "for name in sys.argv[2:]:\n"
        "    format, _, level = name.partition('.')\n"
        "    main(['export', format, sys.argv[1], '-o', f'{name}.out', *(['--level', level] if level else [])])"
    )
    odd = {"PYTHONHASHSEED": "4711", "TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONUTF8": "0"}
    plain = {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    source = ROOT / "sql_assets" / "marketing" / "head"
    for name, more in (("one", odd), ("two", plain)):
        (here / name).mkdir()
        command = [sys.executable, "-c", program, str(source), *TEXTS]
        subprocess.run(command, cwd=here / name, check=True, env=os.environ | more | {"PYTHONPATH": str(ROOT)})
    files = sorted(path.relative_to(here / "one") for path in (here / "one").rglob("*") if path.is_file())
    assert len(files) >= len(TEXTS)
    assert [file for file in files if (here / "one" / file).read_bytes() != (here / "two" / file).read_bytes()] == []


# ── escaping ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_displayed_names_are_escaped_and_shortened() -> None:
    assert escape_hidden("a\x1b[0m\u202e\n") == "a\\x1b[0m\\u202e\\n"
    assert shorten_middle("x" * 100, 10) == "xxxxxx…xxx"
    assert all(len(shorten_middle(name, 20)) <= 20 for name in HOSTILE_NAMES)
    assert escape_formula("=1") == "'=1"
    assert escape_formula("a=1") == "a=1"
