"""Reports of changes: their content, their validity for real parsers, and that no name acts as anything but a name."""

import json
import os
import re
import shutil
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

import msgspec
import pytest
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt
from markdown_it.token import Token

from lineage_pipeline.cli import main
from lineage_pipeline.cli.change_reports import ReportColor, ReportFormat, wants_report_color
from lineage_pipeline.engine.diff.rules.registry import RULES
from lineage_pipeline.export import REPORTERS, SCHEMAS
from lineage_pipeline.export.escaping import escape_hidden, format_code, format_fenced
from lineage_pipeline.export.reports.causes import LONGEST_PATH, diff_lines, shorten_snapshot_key
from lineage_pipeline.export.reports.comment import COMMENT_MARKER, MOST_DIAGRAM_NODES, MOST_OPEN
from lineage_pipeline.export.subject import Comparison, ReportStyle, with_base
from lineage_pipeline.model import enums
from lineage_pipeline.model.file_account import FileAccount
from lineage_pipeline_tests.support.comparisons import (
    HOSTILE_NAMES,
    SMALL_COMPARISON,
    make_change,
    make_consumer,
    make_finding,
    make_hostile_comparison,
)
from lineage_pipeline_tests.support.report_schemas import JUNIT, SARIF, find_junit_faults

CHROMIUM = shutil.which("chromium")
COMMENT_LIMIT = 65_536
EMPTY = Comparison("shop@a", "shop@b", ())
WAIVED = "agreed with the readers (the core team, until 2026-12-31, T-1)"


def write_report(format: str, comparison: Comparison = SMALL_COMPARISON, **style: Any) -> str:
    return REPORTERS[format].write(comparison, ReportStyle(**style))


# ── what they tell ───────────────────────────────────────────────────────────────────────────────────────────────


def test_the_command_line_knows_every_format() -> None:
    assert [format.value for format in ReportFormat] == list(REPORTERS)


@pytest.mark.parametrize("format", REPORTERS)
def test_every_report_accepts_an_empty_comparison(format: str) -> None:
    text = write_report(format, EMPTY)
    assert text.endswith("\n") or not text
    assert "Traceback" not in text


def test_the_text_lists_the_most_severe_first_with_readers_and_positions() -> None:
    expected = """\
Breaking (1)

  COL001 column removed: core.orders.id  core/orders.sql:3
    - INT
    what to do: Change the readers that are listed, or keep the column until they are.
    read by
      mart.sales.id  mart.sales.sql:7    breaks  @team
      mart.returns   mart.returns.sql:7  breaks  @team
    further down
      mart.year.id   mart.year.sql:1     breaks (2 steps)

Potentially breaking (1)

  ROW004 filter changed: core.orders  core/orders.sql:3
      (a = 1)
    + (b = 2)
    what to do: Tell the readers which rows came or went.

Not breaking (1)

  COL003 column added: core.orders.note  core/orders.sql:3
    + note TEXT

Waived (1)

  EXP001 expression changed: core.orders.total  core/orders.sql:3
    - INT
    waived: agreed with the readers (the core team, until 2026-12-31, T-1)

Waivers (1)

  lineage-waivers.toml:2: a waiver ran out [WAIVER_EXPIRED]

Not analyzed, in or near this change (1)

  broken.sql:2: cannot parse this statement [PARSE_ERROR]

shop@aaaaaaaaaaaa → shop@bbbbbbbbbbbb: 1 breaking, 1 potentially breaking, 1 not breaking, 1 waived; 3 objects affected
"""
    assert write_report("text") == expected


@pytest.mark.parametrize("format", ["text", "singleline", "github", "gitlab"])
def test_lists_leave_out_what_is_waived_unless_they_are_asked(format: str) -> None:
    hidden = msgspec.structs.replace(SMALL_COMPARISON, show_waived=False)
    assert "EXP001" in write_report(format)
    assert "EXP001" not in write_report(format, hidden)
    assert "1 waived" in write_report("text", hidden)


def test_colors_do_not_change_the_text() -> None:
    painted = write_report("text", color=True)
    assert "\x1b[1;31mBreaking (1)\x1b[0m" in painted
    assert re.sub(r"\x1b\[[\d;]*m", "", painted).replace(" \n", "\n") == write_report("text").replace(" \n", "\n")


@pytest.mark.parametrize(
    ("color", "environ", "terminal", "expected"),
    [
        (ReportColor.AUTO, {}, True, True),
        (ReportColor.AUTO, {}, False, False),
        (ReportColor.AUTO, {"NO_COLOR": "1"}, True, False),
        (ReportColor.AUTO, {"NO_COLOR": ""}, True, True),
        (ReportColor.AUTO, {"TERM": "dumb"}, True, False),
        (ReportColor.AUTO, {"FORCE_COLOR": "1"}, False, True),
        (ReportColor.AUTO, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        (ReportColor.ALWAYS, {"NO_COLOR": "1"}, False, True),
        (ReportColor.NEVER, {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colors_are_for_terminals_unless_configured_otherwise(
    color: ReportColor, environ: dict[str, str], terminal: bool, expected: bool
) -> None:
    assert wants_report_color(color, environ, terminal) is expected


def test_a_one_line_change_has_position_severity_rule_and_readers() -> None:
    first, *_ = write_report("singleline").splitlines()
    told = "column removed: core.orders.id; affects mart.sales, mart.returns, mart.year [COL001]"
    assert first == f"core/orders.sql:3: breaking: {told}"
    assert len(write_report("singleline").splitlines()) == 5


def test_a_one_line_change_names_a_missing_source_and_an_added_join() -> None:
    missing = make_change("1", rule="SRC002", column=None, before=None, after="t.note is not a column of t")
    joined = make_change("2", rule="ROW003", column=None, before=None, after="inner raw.c")
    told = write_report("singleline", msgspec.structs.replace(SMALL_COMPARISON, changes=(missing, joined), findings=()))
    assert "(t.note is not a column of t)" in told
    assert "(+ inner raw.c)" in told


@pytest.mark.parametrize("format", ["text", "singleline", "github"])
def test_lists_say_what_is_wrong_with_waivers(format: str) -> None:
    assert "WAIVER_EXPIRED" in write_report(format)
    assert "WAIVER_EXPIRED" not in write_report(format, msgspec.structs.replace(SMALL_COMPARISON, findings=()))


def test_annotations_name_file_line_and_title() -> None:
    lines = write_report("github").splitlines()
    assert lines[0].startswith(
        "::error file=core/orders.sql,line=3,endLine=3,title=COL001 column removed::core.orders.id;"
    )
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::warning", "::notice", "::notice", "::warning"]
    assert "::waived: agreed with the readers (the core team, until 2026-12-31, T-1)%0A" in next(
        line for line in lines if "EXP001" in line
    )


def test_gitlab_gets_a_fingerprint_of_its_own_for_each_issue() -> None:
    twins = tuple(make_change(str(number), fingerprint="same") for number in range(3))
    issues = json.loads(write_report("gitlab", msgspec.structs.replace(SMALL_COMPARISON, changes=twins)))
    assert len({issue["fingerprint"] for issue in issues}) == 3
    (issue, *_) = json.loads(write_report("gitlab"))
    assert issue["location"] == {"path": "core/orders.sql", "lines": {"begin": 3}}
    assert (issue["severity"], issue["check_name"]) == ("critical", "COL001")


def test_junit_fails_what_the_gate_fails() -> None:
    suite = ET.fromstring(write_report("junit"))[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "1", "1")
    stricter = ET.fromstring(write_report("junit", fail_on=enums.Severity.POTENTIALLY_BREAKING))[0]
    assert stricter.get("failures") == "2"
    assert [case.get("name") for case in ET.fromstring(write_report("junit", EMPTY))[0]] == ["nothing changed"]


def test_sarif_has_rules_fingerprints_suppressions_and_places_below_the_top() -> None:
    (run,) = json.loads(write_report("sarif"))["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [rule.id for rule in RULES]
    first, waived = run["results"][0], next(one for one in run["results"] if "suppressions" in one)
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == first["ruleId"] == "COL001"
    assert first["partialFingerprints"] == {"lineageChange/v1": "f2"}
    place = first["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "core/orders.sql", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3},
    }
    assert [one["physicalLocation"]["artifactLocation"]["uri"] for one in first["relatedLocations"]] == [
        "mart.sales.sql",
        "mart.returns.sql",
        "mart.year.sql",
    ]
    assert waived["suppressions"] == [{"kind": "external", "status": "accepted", "justification": WAIVED}]
    assert run["invocations"][0]["toolExecutionNotifications"][1]["descriptor"] == {"id": "PARSE_ERROR"}


def test_the_document_has_the_keys_of_the_contract() -> None:
    document = json.loads(write_report("json"))
    keys = (
        "id rule object column intrinsic effective confidence scope root root_id consumers before after path line "
        "fingerprint waiver"
    )
    assert set(keys.split()) <= set(document["changes"][0])
    assert list(document["changes"][1]["consumers"][0]) == ["object", "column", "path", "line", "owners"]
    assert document["summary"]["roots"]["BREAKING"] == 1
    assert document["summary"]["changes"]["BREAKING"] == 3


def test_the_comment_can_be_found_again_and_says_who_is_concerned() -> None:
    comment = write_report("markdown", link="https://git.example/shop/blob/bbb/")
    assert comment.startswith(
        f"{COMMENT_MARKER}\n## Lineage changes: 1 breaking, 1 potentially breaking, 1 not breaking, 1 waived\n"
    )
    assert "3 objects affected. Owners: `@team`." in comment
    link = "[`mart.sales.sql:7`](https://git.example/shop/blob/bbb/mart.sales.sql#L7)"
    assert f"| `mart.sales.id` | **breaks** | {link} | 1 | `@team` |" in comment
    assert comment.index("### Breaking") < comment.index("### Potentially breaking") < comment.index("### Not breaking")
    assert f"* EXP001 expression changed: `core.orders.total`: `{WAIVED}`" in comment
    assert "<summary>Not analyzed, in or near this change: 1</summary>" in comment


def test_files_that_head_does_not_have_are_not_linked() -> None:
    known = msgspec.structs.replace(SMALL_COMPARISON, files=frozenset({"mart.sales.sql"}))
    comment = write_report("markdown", known, link="https://git.example")
    assert "[`mart.sales.sql:7`]" in comment
    assert "[`core/orders.sql:3`]" not in comment


@pytest.mark.parametrize("format", ["markdown", "html"])
def test_a_path_as_long_as_a_book_is_not_linked(format: str) -> None:
    assert "https://git.example" not in write_report(
        format, make_hostile_comparison("x" * 10_000), link="https://git.example"
    )


def test_a_comment_that_is_too_long_drops_whole_root_changes_and_says_so() -> None:
    readers = tuple(make_consumer(f"mart.t{number}" + "x" * 150) for number in range(40))
    many = tuple(make_change(str(number), column=f"c{number}", consumers=readers) for number in range(500))
    comment = write_report("markdown", Comparison("a", "b", many), link="https://git.example/" + "y" * 100)
    shown = comment.count("<summary><b>COL001")
    cut = re.search(r"\*\*Cut here:\*\* (\d+) breaking \(COL001 × (\d+)\)", comment)
    assert len(comment) < COMMENT_LIMIT
    assert cut is not None and shown > 0
    assert shown + int(cut[1]) == 500
    assert cut[1] == cut[2]


def test_the_comment_unfolds_the_five_gravest_causes_each_in_25_lines() -> None:
    readers = tuple(make_consumer(f"mart.t{number}") for number in range(12))
    edit: dict[str, Any] = {
        "sql_before": "\n".join(f"a{n}" for n in range(12)),
        "sql_after": "\n".join(f"b{n}" for n in range(12)),
    }
    many = tuple(make_change(str(n), object=f"core.o{n}", consumers=readers, **edit) for n in range(7))
    comment = write_report("markdown", Comparison("a", "b", many))
    causes = comment.split("<summary><b>COL001")
    assert comment.count("<details open>") == MOST_OPEN
    assert [len(cause.partition("<details")[0].splitlines()) <= 25 for cause in causes[1:]] == [True] * 7
    assert comment.count("<summary>8 more</summary>") == 7


def test_one_edit_that_does_the_same_to_several_columns_is_one_entry() -> None:
    edit: dict[str, Any] = {"sql_before": "a, b", "sql_after": "c"}
    same = [make_change(column, column=column, **edit) for column in ("a", "b")]
    added = [make_change(column, "COL003", enums.Severity.NON_BREAKING, column=column) for column in ("c", "d")]
    other = make_change("e", column="e", sql_before="e", sql_after=None)
    comment = write_report("markdown", Comparison("a", "b", (*same, *added, other)))
    assert "<b>COL001 column removed</b>: <code>core.orders (a, b)</code>" in comment
    assert "<b>COL001 column removed</b>: <code>core.orders.e</code>" in comment
    assert "* COL003 column added: `core.orders (c, d)` at" in comment


def test_the_edited_lines_come_before_canonical_text_and_a_sentence_stays() -> None:
    missing = make_change("1", "SRC002", before=None, after="k is not a column of t", sql_after="select k from t")
    text = write_report("text", Comparison("a", "b", (missing,)))
    assert "    k is not a column of t\n    + select k from t\n" in text


@pytest.mark.parametrize("format", ["text", "markdown", "html", "sarif"])
def test_reports_say_what_could_not_be_analyzed_near_the_change_or_newly(format: str) -> None:
    near, new, old = (make_finding(f"{word} fault", f"{word}.sql") for word in ("near", "new", "old"))
    comparison = with_base(Comparison("a", "b", (), unanalyzed=(near, new, old)), (near, old))
    account = FileAccount(1, 1, (), ("near.sql",))
    text = write_report(format, msgspec.structs.replace(comparison, account=account))
    assert ["near fault" in text, "new fault" in text, "old fault" in text] == [True, True, False]


def test_the_diagram_has_a_bounded_number_of_nodes() -> None:
    readers = tuple(make_consumer(f"mart.t{number}") for number in range(100))
    comment = write_report("markdown", Comparison("a", "b", (make_change("1", consumers=readers),)))
    assert len(re.findall(r"^  n\d+[\[(]", comment, flags=re.MULTILINE)) == MOST_DIAGRAM_NODES
    assert "71 more objects would not fit." in comment


def test_the_diagram_connects_the_affected_objects() -> None:
    comment = write_report("markdown")
    nodes = dict(re.findall(r'^  (n\d+)[\[(]+"([^"]+)"', comment, flags=re.MULTILINE))
    edges = {(nodes[one], nodes[two]) for one, two in re.findall(r"^  (n\d+) --> (n\d+)$", comment, flags=re.MULTILINE)}
    assert edges == {
        ("core.orders", "mart.sales"),
        ("core.orders", "mart.returns"),
        ("mart.sales", "mart.year"),
    }


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a\nb", "a\nc", [(" ", "a"), ("-", "b"), ("+", "c")]),
        (None, "a", [("+", "a")]),
        ("a", None, [("-", "a")]),
        (None, None, []),
    ],
)
def test_text_common_to_both_sides_is_shown_once(
    before: str | None, after: str | None, expected: list[tuple[str, str]]
) -> None:
    assert diff_lines(make_change("1", before=before, after=after), 20) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("shop@0123456789abcdef0123", "shop@0123456789ab"),
        ("shop@tree-0123456789abcdef0123", "shop@tree-0123456789ab"),
        ("shop@a release", "shop@a release"),
        ("shop", "shop"),
    ],
)
def test_snapshot_keys_are_shortened(key: str, expected: str) -> None:
    assert shorten_snapshot_key(key) == expected


# ── real parsers take them, whatever the names ───────────────────────────────────────────────────────────────────


def lines_of(text: str) -> list[str]:
    """The lines as anybody might count them."""
    assert "\x1b" not in text
    hidden = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # they drive terminals, turn writing around or end lines
    assert [sign for sign in text if sign != "\n" and unicodedata.category(sign) in hidden] == []
    return text.splitlines()


def read_text(text: str, name: str) -> Any:
    # What was and what is may have several lines; all else has as many as with a plain name.
    return len([line for line in lines_of(text) if not re.match(r"    [-+] ", line)])


def read_single(text: str, name: str) -> Any:
    severity = r"(breaking|potentially breaking|not breaking)( \(waived\))?|warning"
    assert all(re.search(rf": ({severity}): .* \[\w+\]$", line) for line in lines_of(text))
    return len(lines_of(text))


def read_github(text: str, name: str) -> Any:
    """Read as the runner does: a command is a line that begins with two colons."""
    commands = []
    for line in lines_of(text):
        found = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line)
        assert found, line
        properties = dict(part.split("=", 1) for part in found[2].split(","))
        file = properties["file"].replace("%2C", ",").replace("%3A", ":").replace("%0A", "\n").replace("%25", "%")
        assert escape_hidden(name).startswith(file.rstrip("…"))
        commands.append((found[1], *properties))
    return commands


def read_markdown(text: str, name: str) -> Any:
    assert len(text) < COMMENT_LIMIT
    assert text.count(COMMENT_MARKER) == 1 or COMMENT_MARKER in name
    for _, tag, attributes in tags(token.content for token in tokens(text) if token.type.startswith("html")):
        assert tag in {"details", "summary", "b", "code"}
        assert attributes in ([], ["open"])
    for label in re.findall(r"^  n\d+[\[(]+(.*?)[\])]+:::\w+$", text, flags=re.MULTILINE):
        assert re.fullmatch(r'"(?:[\w .,()/@…-]|#\d+;)*"', label), label
    return Counter((token.type, token.tag) for token in tokens(text) if token.type != "text")


def tokens(text: str) -> Iterator[Token]:
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        yield token
        yield from token.children or ()


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, list[str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(("start", tag, [name for name, _ in attrs]))

    def handle_endtag(self, tag: str) -> None:
        self.found.append(("end", tag, []))


def tags(pieces: Iterable[str]) -> list[tuple[str, str, list[str]]]:
    parser = Tags()
    for piece in pieces:
        parser.feed(piece)
    parser.close()
    return parser.found


def read_html(text: str, name: str) -> Any:
    lines_of(text)
    found = tags([text])
    assert not {"script", "img", "h3", "iframe", "link", "object", "svg"} & {tag for _, tag, _ in found}
    assert not [attributes for _, _, attributes in found if any(word.startswith("on") for word in attributes)]
    return Counter((kind, tag, *attributes) for kind, tag, attributes in found if tag not in ("del", "ins", "span"))


def read_json(text: str, name: str) -> Any:
    document = json.loads(text)
    Draft202012Validator(SCHEMAS["changes"]()).validate(document)
    assert document["changes"][0]["object"] == name
    assert document["changes"][0]["consumers"][0]["owners"] == [name]
    return len(document["changes"])


def read_sarif(text: str, name: str) -> Any:
    document = json.loads(text)
    Draft202012Validator(SARIF).validate(document)
    (first, *_) = results = document["runs"][0]["results"]
    (place,) = first["locations"]
    assert place["logicalLocations"][0]["fullyQualifiedName"] == f"{name}.{name}"
    uri = place["physicalLocation"]["artifactLocation"]["uri"]
    assert unquote(uri) == name
    assert re.fullmatch(r"[A-Za-z0-9%/._~-]*", uri)
    return len(results)


def read_junit(text: str, name: str) -> Any:
    root = ET.fromstring(text)
    assert find_junit_faults(root, JUNIT) == []
    assert root[0][0].get("classname") == escape_hidden(name)
    return [[case.tag, *case.attrib, *(part.tag for part in case)] for case in root[0]]


def read_gitlab(text: str, name: str) -> Any:
    issues = json.loads(text)
    assert all(issue["location"]["path"] == name for issue in issues)
    assert all(set(issue) == {"description", "check_name", "fingerprint", "severity", "location"} for issue in issues)
    return [(issue["severity"], issue["check_name"]) for issue in issues]


READERS: dict[str, Callable[[str, str], Any]] = {
    "text": read_text,
    "singleline": read_single,
    "markdown": read_markdown,
    "html": read_html,
    "json": read_json,
    "sarif": read_sarif,
    "junit": read_junit,
    "github": read_github,
    "gitlab": read_gitlab,
}


def test_every_format_has_a_parser_here() -> None:
    assert list(READERS) == list(REPORTERS)


@pytest.mark.parametrize("name", HOSTILE_NAMES.values(), ids=HOSTILE_NAMES)
@pytest.mark.parametrize("format", REPORTERS)
def test_a_name_stays_a_name(format: str, name: str) -> None:
    """The shape of a document does not depend on the names in it."""
    read = READERS[format]
    for link in (None, "https://git.example/x") if len(name) <= LONGEST_PATH else (None,):
        found, expected = (
            read(write_report(format, make_hostile_comparison(one), link=link), one) for one in (name, "plain")
        )
        assert found == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("a", "`a`"), ("a `b`", "`` a `b` ``"), ("a\n  b", "`a\\n  b`"), ("`", "`` ` ``")]
)
def test_code_stays_code_whatever_it_holds(text: str, expected: str) -> None:
    assert format_code(text) == expected


def test_a_code_block_cannot_be_closed_by_its_content() -> None:
    body = "  ```\n<b>x</b>\n  `````\n# y"
    (block,) = MarkdownIt("commonmark").parse(format_fenced("diff", body))
    assert (block.type, block.content) == ("fence", body + "\n")


# ── the command ──────────────────────────────────────────────────────────────────────────────────────────────────

BASE = "create table t (id int not null, name varchar(20));\ncreate view v as select id, name from t;\n"
HEAD = "create table t (id int not null);\ncreate view v as select id, name from t;\n"


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for side, text in (("base", BASE), ("head", HEAD)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "all.sql").write_text(text)
        (tmp_path / side / "CODEOWNERS").write_text("*.sql @data/core @anna\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_run_writes_many_files(sides: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = [f"--output={format}=out/{format}{reporter.suffix}" for format, reporter in REPORTERS.items()]
    assert main(["diff", "base", "head", "--dialect", "postgres", *outputs]) == 0
    assert len(list((sides / "out").iterdir())) == len(REPORTERS)
    assert capsys.readouterr().out == (sides / "out/text.txt").read_text()
    assert "v.name  all.sql:2  breaks  @data/core  @anna" in (sides / "out/text.txt").read_text()


def test_a_file_without_a_format_takes_the_place_of_stdout(sides: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "base", "head", "-f", "json", "-o", "./a=b.json", "-o", "junit=j.xml"]) == 0
    assert capsys.readouterr().out == ""
    assert json.loads((sides / "a=b.json").read_text())["schema_version"] == 1
    assert (sides / "j.xml").read_text().startswith("<?xml")


@pytest.mark.usefixtures("sides")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "a.json", "-o", "b.json"], "--output names two files for one format"),
        (["-o", "sarif="], "--output sarif= names no file"),
        (["--link-base", "javascript:alert(1)"], "is not an address"),
        (["--format", "pdf"], "pdf"),
    ],
)
def test_wrong_use_is_told_in_a_sentence(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "base", "head", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_the_published_schema_takes_what_is_written(sides: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "changes"]) == 0
    schema = json.loads(capsys.readouterr().out)
    Draft202012Validator.check_schema(schema)
    main(["diff", "base", "head", "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    Draft202012Validator(schema).validate(document)
    assert document["changes"]
    for key in ("rule", "effective", "consumers"):
        broken = json.loads(json.dumps(document))
        del broken["changes"][0][key]
        assert list(Draft202012Validator(schema).iter_errors(broken))


def test_an_unknown_schema_is_told_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "change"]) == 2
    assert "changes" in capsys.readouterr().err


def test_the_bytes_do_not_depend_on_hash_seeds(sides: Path) -> None:
    views = "".join(f"create view w{number} as select v.name, t.id from v join t using (id);\n" for number in range(9))
    for side in ("base", "head"):
        (sides / side / "more.sql").write_text(views)
    written = []
    for seed in ("0", "4711"):
        outputs = [f"--output={format}={seed}/{format}" for format in REPORTERS]
        command = [sys.executable, "-m", "lineage_pipeline.cli", "diff", "base", "head", *outputs]
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed})
        written.append({file.name: file.read_bytes() for file in sorted((sides / seed).iterdir())})
    assert written[0] == written[1]
    assert len(written[0]) == len(REPORTERS)


# ── the page, in a browser ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.browser
@pytest.mark.skipif(
    CHROMIUM is None and not os.environ.get("LINEAGE_REQUIRE_BROWSER"), reason="Chromium is not installed"
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_renders_the_html_report(tmp_path: Path, scheme: Literal["light", "dark"]) -> None:
    """The policy lets our style through and nothing else; no name becomes an element, a script or a request."""
    from playwright.sync_api import sync_playwright

    file = tmp_path / "page.html"
    everything = [make_hostile_comparison(name) for name in HOSTILE_NAMES.values()]
    changes = tuple(one for comparison in everything for one in comparison.changes)
    file.write_text(write_report("html", msgspec.structs.replace(everything[0], changes=changes)), encoding="utf-8")
    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--headless", "--no-sandbox"])
        page = browser.new_page(color_scheme=scheme)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: complaints.append(request.url) if request.url != file.as_uri() else None)
        page.goto(file.as_uri())
        elements = page.evaluate("[...new Set([...document.body.querySelectorAll('*')].map(one => one.localName))]")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        text = page.inner_text("body")
        browser.close()
    assert complaints == []
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}[scheme]
    assert not {"img", "script", "iframe", "svg", "a", "style"} & set(elements)
    assert HOSTILE_NAMES["image"] in text


@pytest.mark.parametrize("format", ["text", "markdown"])
def test_indirectly_affected_objects_are_named_with_their_owners(format: str) -> None:
    owned = msgspec.structs.replace(SMALL_COMPARISON, owners={"mart.year": ("@yearly",)})
    assert "@yearly" in REPORTERS[format].write(owned)
    assert "@yearly" not in REPORTERS[format].write(SMALL_COMPARISON)
