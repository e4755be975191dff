"""One list of hostile names for everything that we write: a name stays a name wherever it is written."""

import ast
import contextlib
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import openpyxl
import pytest

from lineage_pipeline.alerts.sinks import format_log_line, format_mail, format_slack, format_title
from lineage_pipeline.cli.output import print_message
from lineage_pipeline.export.answers.answer import format_csv
from lineage_pipeline.export.escaping import FORMULA_PREFIXES
from lineage_pipeline.export.formats.lineage_text import write_lineage_text
from lineage_pipeline.export.subject import Subject
from lineage_pipeline.model import enums
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline_tests.alerts.test_alerts import HOSTILE_TEXT as ALERTING
from lineage_pipeline_tests.alerts.test_alerts import make_alert
from lineage_pipeline_tests.export.test_change_reports import write_report
from lineage_pipeline_tests.export.test_formats import HOSTILE_NAMES as DRAWN
from lineage_pipeline_tests.export.test_formats import export_file, export_text
from lineage_pipeline_tests.support.comparisons import HOSTILE_NAMES, make_hostile_comparison
from lineage_pipeline_tests.support.graph_parsers import parse_dot, parse_mermaid
from lineage_pipeline_tests.support.lineage_rows import (
    ORDERS_LINEAGE,
    SHOP_SNAPSHOT,
    make_edge,
    make_object,
    make_statement,
)
from lineage_pipeline_tests.support.lineage_rows import make_column as column_row
from lineage_pipeline_tests.support.paths import TESTS

ALL_HOSTILE_NAMES = tuple(dict.fromkeys((*HOSTILE_NAMES.values(), *DRAWN, ALERTING)))
CONTROL_CHARACTERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u202a-\u202e\u2066-\u2069\u3164\u115f\uffa0\u2800\u034f\ufe00\U0001d173\U000e0000-\U000e01ef]"
)
"""Characters that a terminal acts upon, that reverse a text, or that are invisible."""

LOG_COMMAND = re.compile(r"(?mi)^\s*::|##(?:vso|teamcity)?\[")
"""A line of a log that a build service would take as a command."""

URI = re.compile(r"(?:[A-Za-z0-9._~/:@!$&'()*+,;=-]|%[0-9A-F]{2})*")
ROOT = TESTS.parent / "lineage_pipeline"


def make_subject(*names: str) -> Subject:
    """A lineage in which every text from SQL, files or people is one of the names."""
    parts = [_lineage(name) for name in names]
    joined = {field: tuple(row for part in parts for row in getattr(part, field)) for field in NAMED_TABLES}
    texts = {f"{name}.sql": name for name in names}
    told = msgspec.structs.replace(SHOP_SNAPSHOT, repo=names[0], author=names[0], refs=names, commit=names[0])
    return Subject(LineageTables(**joined), told, texts=texts)


NAMED_TABLES = ("statements", "objects", "columns", "column_edges", "object_edges", "diagnostics")


def _lineage(name: str) -> LineageTables:
    held = msgspec.structs.replace(
        make_object("s.x", enums.ObjectKind.VIEW),
        object=f"s.{name}",
        name=name,
        written=name,
        path=f"{name}.sql",
        line=1,
    )
    column = msgspec.structs.replace(
        column_row("a.b", 1), object=held.object, name=name, written=name, type=name, description=name
    )
    made = make_edge(
        "a.b",
        "c.d",
        enums.Subtype.TRANSFORMATION,
        from_object="s.t",
        from_column=name,
        to_object=held.object,
        to_column=name,
        path=held.path,
        expression=name,
    )
    said = msgspec.structs.replace(ORDERS_LINEAGE.diagnostics[0], message=name, path=f"{name}.sql", line=1, column=1)
    return LineageTables(
        statements=(make_statement(f"{name}.sql", 0, "CREATE VIEW", held.object, ()),),
        objects=(held,),
        columns=(column,),
        column_edges=(made,),
        object_edges=(
            msgspec.structs.replace(ORDERS_LINEAGE.object_edges[0], from_object="s.t", to_object=held.object),
        ),
        diagnostics=(said,),
    )


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))


def _html(name: str, _: Path) -> object:
    page = _Tags()
    page.feed(export_text("html", make_subject(name)))
    return page.found


def _markdown(name: str, _: Path) -> object:
    text = export_text("markdown", make_subject(name))
    assert not CONTROL_CHARACTERS.search(text)
    prose = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", re.sub(r"(?ms)^```.*?^```$", "", text))
    assert not re.search(r"(?<!\\)<[a-zA-Z/!]", prose), prose
    return text.count("\n"), re.findall(r"(?m)^#+|^\||^```", text)


def _mermaid(name: str, _: Path) -> object:
    drawing = parse_mermaid(export_text("mermaid", make_subject(name)))
    return len(drawing.nodes), drawing.arrows


def _dot(name: str, _: Path) -> object:
    drawing = parse_dot(export_text("dot", make_subject(name)))
    return len(drawing.nodes), len(drawing.arrows)


def _csv(names: Sequence[str], place: Path) -> object:
    shape = {}
    for file in sorted(export_file("csv", make_subject(*names), place).iterdir()):
        rows = list(csv.reader(file.read_text(encoding="utf-8").splitlines(keepends=True)))
        texts = [value for row in rows for value in row if not re.fullmatch(r"-?\d+", value)]
        assert not [
            value for value in texts if value.lstrip().startswith(FORMULA_PREFIXES) or CONTROL_CHARACTERS.search(value)
        ]
        shape[file.name] = [len(row) for row in rows]
    return shape


def _answer(names: Sequence[str], _: Path) -> object:
    text = format_csv({"name": name, "names": [name], "number": -1} for name in names)
    assert not CONTROL_CHARACTERS.search(text)
    assert not LOG_COMMAND.search(text)
    rows = list(csv.reader(io.StringIO(text)))
    assert not [value for row in rows for value in row[:2] if value.lstrip().startswith(FORMULA_PREFIXES)]
    return [len(row) for row in rows]


def _xlsx(names: Sequence[str], place: Path) -> object:
    book = openpyxl.load_workbook(export_file("xlsx", make_subject(*names), place), read_only=True)
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value is not None]
    assert not [cell for cell in cells if cell.data_type == "f"]
    return len(cells)


def _terminal(name: str, _: Path) -> object:
    text = "".join(write_lineage_text(make_subject(name)))
    assert not CONTROL_CHARACTERS.search(text)
    assert not LOG_COMMAND.search(text), text
    assert "\u2028" not in text
    return None


def _report(name: str, _: Path) -> object:
    for format in ("text", "singleline"):
        text = write_report(format, make_hostile_comparison(name))
        assert not CONTROL_CHARACTERS.search(text)
        assert not LOG_COMMAND.search(text), text
    return None


def _told_message(name: str, _: Path) -> object:
    with contextlib.redirect_stderr(io.StringIO()) as stream:
        print_message(name)
    assert not CONTROL_CHARACTERS.search(stream.getvalue())
    assert not LOG_COMMAND.search(stream.getvalue()), stream.getvalue()
    return None


def _sarif(name: str, _: Path) -> object:
    found: list[str] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            found.extend(str(value) for key, value in node.items() if key == "uri")
            assert not re.search(r"(?<!\\)\]\(", str(node.get("text", ""))), node
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            walk(child)

    walk(json.loads(write_report("sarif", make_hostile_comparison(name))))
    assert all(URI.fullmatch(uri) for uri in found), found
    assert not [uri for uri in found if uri.lower().startswith("javascript:")]
    return len(found)


def _slack(name: str, _: Path) -> object:
    shown = format_slack(_alert(name))
    head = shown["blocks"][0]["text"]
    marked = [shown["text"], head["text"]]
    assert all("<" not in text for text in marked), marked
    assert all(not re.search(r":\w+:", text.removeprefix(":red_circle: ")) for text in marked), marked
    assert (head["verbatim"], shown["unfurl_links"], shown["unfurl_media"]) == (True, False, False)
    plain = [block["text"] for block in shown["blocks"][1:-1]] + shown["blocks"][-1]["elements"]
    assert {text["type"] for text in plain} == {"plain_text"}
    return len(shown["blocks"])


def _alert(name: str) -> Any:
    return make_alert(check=name, asset=name, partition=name, description=name, findings=name, owners=(name,))


def _mail(name: str, _: Path) -> object:
    message = format_mail(_alert(name), "lineage@example.org", ["a@example.org"])
    assert "\n" not in str(message["Subject"])
    return sorted(message.keys())


def _log(name: str, _: Path) -> object:
    for text in (format_log_line(_alert(name)), format_title(_alert(name))):
        assert text.isprintable(), text
        assert not LOG_COMMAND.search(text), text
    return None


def _duckdb(names: Sequence[str], place: Path) -> object:
    with duckdb.connect(str(export_file("duckdb", make_subject(*names), place)), read_only=True) as connection:
        kept = connection.execute("select object from objects").fetchall()
        assert [name for (name,) in kept] == [f"s.{name}" for name in names]
        return connection.execute("select table_name from information_schema.tables order by 1").fetchall()


SINKS: dict[str, Callable[[str, Path], object]] = {
    "HTML": _html,
    "Markdown": _markdown,
    "Mermaid": _mermaid,
    "DOT": _dot,
    "terminal": _terminal,
    "reports at a terminal": _report,
    "words on stderr": _told_message,
    "URIs of SARIF": _sarif,
    "Slack": _slack,
    "mail": _mail,
    "log lines": _log,
}
FILES: dict[str, Callable[[Sequence[str], Path], object]] = {
    "CSV": _csv,
    "CSV of answers": _answer,
    "XLSX": _xlsx,
    "DuckDB": _duckdb,
}
"""What is written as a file takes all names at once."""


@pytest.mark.parametrize("sink", SINKS)
def test_a_hostile_name_is_harmless_in_every_text_format(sink: str, tmp_path: Path) -> None:
    """Each writer says what is wrong, and gives a shape that is the same for every name."""
    expected = SINKS[sink]("plain", tmp_path)
    wrong = {}
    for name in ALL_HOSTILE_NAMES:
        try:
            found = SINKS[sink](name, tmp_path)
        except AssertionError as fault:
            wrong[name[:50]] = str(fault)[:300]
        else:
            if found != expected:
                wrong[name[:50]] = f"{found} instead of {expected}"[:300]
    assert wrong == {}


@pytest.mark.parametrize("sink", FILES)
def test_hostile_names_are_harmless_in_every_file_format(sink: str, tmp_path: Path) -> None:
    names = {"plain": [f"plain{number}" for number in range(len(ALL_HOSTILE_NAMES))], "nasty": [*ALL_HOSTILE_NAMES]}
    shapes = []
    for kind, listed in names.items():
        (tmp_path / kind).mkdir()
        shapes.append(FILES[sink](listed, tmp_path / kind))
    assert shapes[0] == shapes[1]


ASKING = {"sql", "expr", "selectExpr", "execute", "executemany", "ask"}
"""What takes the text of a query."""

TRUSTED = {
    "defs/assets/marts.py": (3, "names of our own models, from dbt's manifest"),
    "export/formats/duckdb.py": (3, "names of our own tables"),
    "quality/suites.py": (2, "our own questions, with names of our own tables"),
    "web/marts.py": (1, "what it is asked, with values beside it"),
    "web/neighborhood.py": (1, "a number of our own"),
    "web/page_routes.py": (1, "our own dashboards, with a mark for a value"),
    "web/mart_queries.py": (2, "as many marks for values as there are words"),
}
READERS = ("discover/embedded_sql", "engine/compile")
"""What reads SQL and asks nobody: `sql` is a part of a notebook there, and a text of the parser's."""


def test_no_query_for_spark_or_duckdb_is_built_from_strings() -> None:
    made: Counter[str] = Counter()
    for file in sorted(ROOT.rglob("*.py")):
        place = file.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
                continue
            asking = node.func.attr in ASKING and not place.startswith(READERS)
            if asking and not _is_fixed(node.args[0]):
                made[place] += 1
    assert made == {place: count for place, (count, _) in TRUSTED.items()}


def _is_fixed(node: ast.expr) -> bool:
    """Say whether a text is written as it is, or a constant."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.strip("_").isupper())
