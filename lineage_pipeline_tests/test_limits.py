"""Size and depth are findings, never a crash, and cost nothing but the statement they stand in."""

import pytest

from lineage_pipeline import analyze
from lineage_pipeline.vocabulary.analysis import Limits

GOOD = "; create view v as select 1 as a"


@pytest.mark.parametrize(
    "bad",
    [
        "select " + "(" * 10_000 + "1" + ")" * 10_000,
        "select " * 300 + "1" + " from (" * 250 + "t" + ")" * 250,
        "select * from " + "(select * from " * 5_000 + "t" + ")" * 5_000,
        "select " + "case when a then " * 400 + "1" + " end" * 400,
    ],
    ids=["brackets", "unbalanced", "subqueries", "cases"],
)
def test_nesting_is_cut_before_the_parser(bad: str) -> None:
    document = analyze(bad + GOOD, dialect="postgres").to_dict()
    assert [finding["code"] for finding in document["diagnostics"]][:1] == ["LIMIT_EXCEEDED"]
    assert document["summary"]["statements"] == {"analysed": 1, "partial": 0, "failed": 1}


def test_a_union_of_5000_branches_is_one_relation() -> None:
    sql = "create view v as " + " union all ".join(f"select {n} as a" for n in range(5_000))
    assert analyze(sql, dialect="postgres").to_dict()["summary"]["statements"]["analysed"] == 1


def test_a_file_over_its_limit_is_not_read() -> None:
    document = analyze("select 1 as a", limits=Limits(bytes=5)).to_dict()
    assert document["diagnostics"][0]["message"] == "the file is over the limit of 5 characters"


def test_a_statement_over_its_limit_is_said_and_the_next_one_goes_on() -> None:
    document = analyze("select a, b, c, d from t" + GOOD, limits=Limits(tokens=8)).to_dict()
    assert document["summary"]["statements"]["failed"] == 1
    assert document["diagnostics"][0]["message"] == "the statement is over the limit of 8 tokens"


@pytest.mark.parametrize(
    "text", ["", "   \n", ";;;", "-- nothing", "\x00\x01\x02", "'unclosed", "/* unclosed", "\ufffd", "go", "$$"]
)
@pytest.mark.parametrize("dialect", ["", "tsql", "snowflake", "bigquery", "nonsense"])
def test_no_text_is_a_crash(text: str, dialect: str) -> None:
    document = analyze(text, dialect=dialect).to_dict()
    assert document["schema_version"] == 1


def test_every_prefix_of_a_script_is_read() -> None:
    script = (
        "create procedure p @a int = 1 as begin try if exists (select 1 from t) begin select a, b into #x from t "
        "end else update u set a = case when b = 1 then 2 end from u where c in (1, 2) "
        "end try begin catch throw end catch"
    )
    for end in range(len(script)):
        analyze(script[:end], dialect="tsql")


@pytest.mark.parametrize("count", [150, 500, 5_000])
@pytest.mark.parametrize("joined", [" + ", " || ", " - ", " * "])
def test_a_chain_of_operands_of_any_length_is_followed(joined: str, count: int) -> None:
    sql = f"create view v as select {joined.join(f'c{number % 50}' for number in range(count))} as x from t"
    document = analyze(sql, dialect="postgres").to_dict()
    assert document["summary"]["statements"]["analysed"] == 1
    assert {edge["from_column"] for edge in document["column_edges"]} == {f"c{number}" for number in range(50)}


@pytest.mark.parametrize("count", [150, 5_000])
def test_a_condition_of_any_length_is_followed(count: int) -> None:
    sql = f"create view v as select a from t where {' and '.join(f'c{number % 50} > 1' for number in range(count))}"
    document = analyze(sql, dialect="tsql").to_dict()
    assert len(document["column_edges"]) == 51
