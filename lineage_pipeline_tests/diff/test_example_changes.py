"""The head of the example warehouses has exactly the changes that are listed in a file."""

import random
import re

import pytest

from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.engine.diff.policy import list_failing_changes
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options
from lineage_pipeline.model.enums import Severity
from lineage_pipeline.model.tables import Change
from lineage_pipeline.pipeline import AnalysisCache, analyze_files
from lineage_pipeline_tests.engine.test_invariants import ASSETS, EXAMPLES
from lineage_pipeline_tests.support.diff_extent import reduce_to_extent
from lineage_pipeline_tests.support.paths import FIXTURES
from lineage_pipeline_tests.support.token_layouts import respace_tokens

EXPECTED = FIXTURES / "example_changes.txt"

GAPS = (" ", "\n", "  /* set anew */ ", "\n    ")


def read_revision(revision: str) -> list[InputFile]:
    return [
        InputFile(f"{name}/{file.relative_to(ASSETS / name / revision).as_posix()}", file.read_text(), options)
        for name, options in EXAMPLES.items()
        for file in sorted((ASSETS / name / revision).rglob("*.sql"))
    ]


@pytest.fixture(scope="module")
def memory() -> AnalysisCache:
    return AnalysisCache()


@pytest.fixture(scope="module")
def base(memory: AnalysisCache) -> LineageTables:
    return analyze_files(read_revision("base"), memory=memory).lineage


@pytest.fixture(scope="module")
def head(memory: AnalysisCache) -> LineageTables:
    return analyze_files(read_revision("head"), memory=memory).lineage


def render_example_change(change: Change) -> str:
    name = f"{change.object}.{change.column}" if change.column else change.object
    line = f"{'cause' if change.root else 'then '} {change.effective} {change.rule} {name} {change.path}:{change.line}"
    readers = [f"{one.object}.{one.column}" if one.column else one.object for one in change.consumers]
    return line + "".join(f"\n    {reader}" for reader in readers)


def test_the_head_of_the_example_has_exactly_these_changes(
    base: LineageTables, head: LineageTables, request: pytest.FixtureRequest
) -> None:
    text = "\n".join(render_example_change(change) for change in diff(base, head)) + "\n"
    if request.config.getoption("--accept"):
        EXPECTED.write_text(text)
    assert EXPECTED.read_text() == text


def test_one_changed_file_needs_a_small_part_of_the_rows(base: LineageTables, memory: AnalysisCache) -> None:
    changed = {file.path: file for file in read_revision("head")}["marketing/01_raw/campaigns.sql"]
    mixed = [changed if file.path == changed.path else file for file in read_revision("base")]
    after = analyze_files(mixed, memory=memory).lineage
    cut = reduce_to_extent(base, after)
    assert diff(*cut) == diff(base, after) != ()
    assert len(cut[0].column_edges) < len(base.column_edges) / 10


def test_the_gate_stops_the_two_that_break(base: LineageTables, head: LineageTables) -> None:
    breaking = list_failing_changes(diff(base, head), Severity.BREAKING)
    assert sorted(change.rule for change in breaking) == ["COL001", "TYP004"]


def test_another_layout_other_aliases_and_other_files_are_no_change(head: LineageTables) -> None:
    chance = random.Random(1)
    shuffled = [
        InputFile(
            f"moved/{file.path}", respace_tokens(rename_aliases(file.text), file.options.dialect, GAPS), file.options
        )
        for file in read_revision("head")
    ]
    assert sum(file.text != rename_aliases(file.text) for file in read_revision("head")) > 20
    chance.shuffle(shuffled)
    assert diff(head, analyze_files(shuffled).lineage) == ()


def rename_aliases(text: str) -> str:
    """A text in which the aliases of tables are other ones: words that qualify columns and nothing else."""
    for alias in set(re.findall(r"\b(?:FROM|JOIN)\s+[\w.\[\]]+\s+AS\s+([a-z]{1,3})\b", text)):
        plain = re.findall(rf"(?<![\w.@#\[]){alias}(?![\w.])", text)
        declared = re.findall(rf"\bAS\s+{alias}\b", text)
        if len(plain) == len(declared):
            text = re.sub(rf"(?<![\w.@#\[]){alias}(?=\.)", f"{alias}_other", text)
            text = re.sub(rf"(\bAS\s+){alias}\b", rf"\g<1>{alias}_other", text)
    return text


VIEW = "create view dbo.v as select id, amount, day, amount * 2 as twice from dbo.t where amount > 0;"
TABLE = "create table dbo.t (id int not null, amount decimal(10,2) not null, day date, note varchar(10));\ngo\n"
SUM = "create view dbo.s as select day, sum(amount) as total from dbo.t group by day;"
BLIND: dict[str, tuple[str, str, str, str]] = {
    "a column of a view is removed": (VIEW, "day, ", "", "COL001 dbo.v.day"),
    "a column of a view is added": (VIEW, "day, ", "day, note, ", "COL003 dbo.v.note"),
    "a column of a view is renamed": (VIEW, "as twice", "as double", "COL002 dbo.v.twice"),
    "columns of a view change places": (VIEW, "id, amount", "amount, id", "POS001 dbo.v"),
    "a filter of a view is removed": (VIEW, " where amount > 0", "", "ROW004 dbo.v"),
    "a sum of a view becomes an average": (SUM, "sum(", "avg(", "EXP003 dbo.s.total"),
    "a column of a view comes from another one": (VIEW, "amount * 2", "id * 2", "EXP002 dbo.v.twice"),
    "a column of a view is computed in another way": (VIEW, "select id,", "select -id as id,", "EXP001 dbo.v.id"),
    "a column of a table may be null": (TABLE, "(10,2) not null", "(10,2)", "NUL001 dbo.t.amount"),
    "a column of a table must not be null": (TABLE, "day date", "day date not null", "NUL003 dbo.t.day"),
    "a decimal loses digits": (TABLE, "decimal(10,2)", "decimal(8,2)", "TYP002 dbo.t.amount"),
    "a date goes, a number comes": (TABLE, "day date, note varchar(10)", "note varchar(10), n int", "COL001 dbo.t.day"),
}  # fmt: skip
"""What the elder tool does not see, or takes for something else."""


@pytest.mark.parametrize("title", BLIND)
def test_changes_that_other_tools_miss_are_found(title: str) -> None:
    text, written, instead, expected = BLIND[title]
    whole = TABLE + (text if text != TABLE else VIEW)
    assert written in text
    edited = whole.replace(text, text.replace(written, instead))
    before, after = (analyze_files([InputFile("a.sql", one, Options("tsql"))]).lineage for one in (whole, edited))
    changes = diff(before, after)
    names = [f"{one.rule} {one.object}" + (f".{one.column}" if one.column else "") for one in changes if one.root]
    assert expected in names
    assert not [one for one in changes if one.rule == "COL002" and "a date goes" in title]
