"""Statements and files over a size or depth limit are findings, never a crash, and cost only their own statement."""

import time

import pytest

from lineage_pipeline.api import analyze
from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.model.analysis import Limits

GOOD = "; create view v as select 1 as a"


DEEP = "(" * 10_000 + "1" + ")" * 10_000


@pytest.mark.parametrize(
    ("bad", "reads", "target"),
    [
        (f"select {DEEP}", [], None),
        ("select " * 300 + "1" + " from (" * 250 + "t" + ")" * 250, [], None),
        ("select * from " + "(select * from " * 5_000 + "t" + ") x" * 5_000, ["t"], None),
        (
            "create view a.v as select * from " + "(select * from " * 5_000 + "t join u on 1=1" + ") x" * 5_000,
            ["t", "u"],
            "a.v",
        ),
        ("select " + "case when a then " * 400 + "1" + " end" * 400 + " from t", ["t"], None),
        (f"insert into z with c as (select {DEEP} from s, r as q) select * from c", ["r", "s"], "z"),
        (f"merge into t using s on {DEEP} = 1 when matched then delete", ["s"], "t"),
        (f"update a set b = {DEEP} from tt as a, s", ["s"], "tt"),
        ("select * from a " + "join b " * 60, ["a", "b"], None),
        (f"select a{'[1]' * 5_000} from t", ["t"], None),
        (f"select a{'[b[1]]' * 2_000} from t", ["t"], None),
        ("select " + "char(" * 40 + "a" + ")" * 40 + " from t", ["t"], None),
        ("select * from a as as " + "cross join b as " * 60, ["a", "b"], None),
        ("select * from a " + ", cross join b" * 60, ["a", "b", "cross"], None),
    ],
    ids=[
        "brackets",
        "unbalanced",
        "subqueries",
        "view",
        "cases",
        "insert",
        "merge",
        "update",
        "joins without conditions",
        "subscripts",
        "subscripts with subscripts",
        "functions that may be types",
        "joins whose CROSS is an alias",
        "joins whose CROSS is a table",
    ],
)
def test_deep_nesting_is_caught_before_parsing_and_its_tables_are_read_from_tokens(
    bad: str, reads: list[str], target: str | None
) -> None:
    document = analyze(bad + GOOD, dialect="postgres").to_dict()
    assert "LIMIT_EXCEEDED" in {finding["code"] for finding in document["diagnostics"]}
    first, good = document["statements"]
    assert (sorted(first["reads"]), first["target"]) == (reads, target)
    assert first["status"] == ("partial" if reads or target else "failed")
    assert good["status"] == "analysed"


@pytest.mark.parametrize("count", [12, 40])
@pytest.mark.parametrize(
    "step",
    [
        "select x.a from c{0} x join c{0} y on x.a = y.a",
        "select a from c{0} union all select a from c{0}",
        "select x.*, y.* from c{0} x, c{0} y",
        "select a from c{0} x full join c{0} y using (a)",
        "select struct(a, a) as a from c{0}",
        "select case when a > 1 then a else a + 1 end as a from c{0}",
        "select a from c{0} where a in (select a from c{0} where a > (select max(a) from c{0}))",
    ],
)
@pytest.mark.parametrize("first", ["select a from t", "select * from nowhere"])
def test_ctes_that_double_their_input_neither_hang_nor_fill_memory(first: str, step: str, count: int) -> None:
    ctes = [f"c0 as ({first})", *(f"c{n} as ({step.format(n - 1)})" for n in range(1, count))]
    sql = f"create table t (a int); create view v as with {', '.join(ctes)} select * from c{count - 1}"
    document = analyze(sql, dialect="bigquery", limits=Limits(edges=20_000)).to_dict()
    assert document["statements"][1]["reads"]
    assert len(document["column_edges"]) < 10_000


def test_a_temporary_table_that_feeds_itself_does_not_grow_without_end() -> None:
    step = "insert into #t select x.a + y.a from #t x join #t y on x.a = y.a; "
    document = analyze("select a into #t from s; " + step * 60 + "select a into z from #t", dialect="tsql").to_dict()
    assert {(edge["from_object"], edge["to_object"]) for edge in document["column_edges"]} == {("s", "z")}


def test_a_statement_with_too_many_edges_keeps_its_tables() -> None:
    sql = (
        "create table t ("
        + ", ".join(f"c{n} int" for n in range(60))
        + "); create view v as select * from t"
        + GOOD.replace("view v", "view w")
    )
    document = analyze(sql, limits=Limits(edges=50)).to_dict()
    assert "the statement is over the limit of 50 column edges" in {row["message"] for row in document["diagnostics"]}
    assert {(edge["from_object"], edge["to_object"]) for edge in document["object_edges"]} == {("t", "v")}
    assert not [edge for edge in document["column_edges"] if edge["to_object"] == "v"]


def test_each_of_many_alterations_of_a_table_is_applied_once() -> None:
    sql = (
        "create table t (a int);"
        + "".join(f"alter table t add column c{n} int;" for n in range(900))
        + "select * from t"
    )
    started = time.process_time()
    document = analyze(sql, dialect="postgres").to_dict()
    assert len([column for column in document["columns"] if column["object"] == "t"]) == 901
    assert time.process_time() - started < 30  # each state anew takes minutes


def test_beyond_the_alteration_limit_statements_see_the_final_table() -> None:
    step = "alter table t add column c{0} int; insert into z select c{0} from t;"
    sql = "create table t (a int);" + "".join(step.format(number) for number in range(2_000))
    started = time.process_time()
    document = analyze(sql, dialect="postgres").to_dict()
    assert [row["message"] for row in document["diagnostics"] if row["code"] != "UNKNOWN_TABLE"] == [
        "the number of changes of t is over the limit of 1000"
    ]
    assert len([column for column in document["columns"] if column["object"] == "t"]) == 2_001
    assert len(document["column_edges"]) == 2_000
    assert time.process_time() - started < 20  # a state for each grows with the square


def test_nested_types_are_spelled_in_linear_time() -> None:
    started = time.process_time()
    document = analyze(f"create table t (a {'struct<a ' * 700}int{'>' * 700}){GOOD}", dialect="spark").to_dict()
    assert document["statements"][-1]["target"] == "v"
    assert time.process_time() - started < 15  # to print the tree takes the cube of their number


def test_a_union_of_5000_branches_is_one_relation() -> None:
    sql = "create view v as " + " union all ".join(f"select {n} as a" for n in range(5_000))
    assert analyze(sql, dialect="postgres").to_dict()["summary"]["statements"]["analysed"] == 1


def test_a_file_over_its_limit_is_not_read() -> None:
    document = analyze("select 1 as a", limits=Limits(bytes=5)).to_dict()
    assert document["diagnostics"][0]["message"] == "the file is over the limit of 5 characters"


def test_a_statement_over_its_limit_is_a_finding_and_the_next_is_analyzed() -> None:
    document = analyze("select a, b, c, d from t" + GOOD, limits=Limits(tokens=8)).to_dict()
    assert document["summary"]["statements"] == {"analysed": 1, "partial": 1, "failed": 0}
    assert document["diagnostics"][0]["message"] == "the statement is over the limit of 8 tokens"


@pytest.mark.parametrize(
    "text", ["", "   \n", ";;;", "-- nothing", "\x00\x01\x02", "'unclosed", "/* unclosed", "\ufffd", "go", "$$"]
)
@pytest.mark.parametrize("dialect", ["", "tsql", "snowflake", "bigquery", "nonsense"])
def test_no_text_is_a_crash(text: str, dialect: str) -> None:
    document = analyze(text, dialect=dialect).to_dict()
    assert document["schema_version"] == 2


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


def test_a_file_whose_views_come_to_too_much_keeps_the_tables_of_the_rest() -> None:
    wide = ", ".join(f"c{number} int" for number in range(100))
    views = "".join(f"create view v{number + 1} as select * from v{number};\n" for number in range(20))
    loads = "select * into #t from v0;\n" + "insert into sink select * from #t;\n" * 20
    limits = Limits(edges=200)
    for text in (f"create table v0 ({wide});\n{views}", f"create table v0 ({wide});\n{loads}"):
        document = analyze(text, dialect="tsql", limits=limits).to_dict()
        said = [row["message"] for row in document["diagnostics"] if row["code"] == "LIMIT_EXCEEDED"]
        assert set(said) == {"the file is over the limit of 1000 column edges"}
        assert len(document["column_edges"]) < 1_500
        assert document["statements"][-1]["target"] in ("v20", "sink")
        assert document["statements"][-1]["reads"]


def _sums_of_sums(columns: int, levels: int) -> str:
    """Queries of queries of which each column is made of all columns of the one before."""
    every = "+".join(f"c{number}" for number in range(columns))
    listed = ", ".join(f"{every} as c{number}" for number in range(columns))
    queries = [f"q{level} as (select {listed} from {f'q{level - 1}' if level else 't'})" for level in range(levels)]
    return f"create view v as with {', '.join(queries)} select * from q{levels - 1}"


LONG_WAYS = {
    "sums of sums": (_sums_of_sums(20, 8), {"t"}),
    "a recursion in a recursion, each with a longer path": (
        "create view v as with recursive r as (select a from t union all select r.a.b as a from r union all select x.a "
        "from (with recursive s as (select a from r union all select s.a.c as a from s) select a from s) x) "
        "select a from r",
        {"t"},
    ),
    "joins that merge all columns of all before them": (
        "create view v as select * from (select "
        + ", ".join(f"1 as c{number}" for number in range(60))
        + ") x"
        + "".join(f" natural full join (select a as c1, b as c2 from t) x{number}" for number in range(150)),
        {"t"},
    ),
    "names that any of three hundred tables may have": (
        f"create view v as select {', '.join(f'c{number}' for number in range(300))} from t "
        + "".join(f"join u{number} on u{number}.a = t.a " for number in range(300)),
        {"t", *(f"u{number}" for number in range(300))},
    ),
}


@pytest.mark.parametrize("name", LONG_WAYS)
def test_expensive_linking_is_cut_by_counted_steps_and_not_by_time(name: str) -> None:
    sql, read = LONG_WAYS[name]
    document = analyze(sql + GOOD.replace("view v", "view w"), dialect="bigquery", limits=Limits(edges=1_500)).to_dict()
    said = [row["message"] for row in document["diagnostics"] if row["code"] == "LIMIT_EXCEEDED"]
    assert len(said) == 1
    assert said[0].startswith("the statement is over the limit of ")
    assert set(document["statements"][0]["reads"]) == read
    assert document["statements"][1]["status"] == "analysed"


def test_variables_that_accumulate_too_many_inputs_are_cut_for_the_rest_of_the_file() -> None:
    names = [f"@v{number}" for number in range(60)]
    steps = "".join(
        f"set @v{number % 60} = {' + '.join(names)} + (select max(a) from t{number}); " for number in range(400)
    )
    sql = f"create procedure p as begin declare {', '.join(f'{name} int' for name in names)}; {steps} end"
    document = analyze(sql, dialect="tsql", limits=Limits(edges=1_500)).to_dict()
    said = {row["message"] for row in document["diagnostics"] if row["code"] == "LIMIT_EXCEEDED"}
    assert said == {"the file is over the limit of 375000 steps on the ways of columns"}


@pytest.mark.parametrize(
    ("sets", "said"), [(50, []), (51, [(51, "the number of result sets of p is over the limit of 50")])]
)
def test_skipped_result_sets_are_a_finding_at_the_first_of_them(sets: int, said: list[tuple[int, str]]) -> None:
    sql = "create procedure p as\n" + "".join(f"select a as a{number} from s\n" for number in range(sets))
    document = analyze(f"{sql}go\ninsert into r (x) exec p", dialect="tsql").to_dict()
    found = [(row["line"] - 1, row["message"]) for row in document["diagnostics"] if row["code"] == "LIMIT_EXCEEDED"]
    assert found == said


def test_a_procedure_that_is_called_again_and_again_hides_no_result_set() -> None:
    called = "create procedure said as print 1\ngo\ncreate procedure p as\n" + "exec said\n" * 80
    document = analyze(f"{called}select a from s\ngo\ninsert into r (x) exec p", dialect="tsql").to_dict()
    assert not [row for row in document["diagnostics"] if row["code"] == "LIMIT_EXCEEDED"]
    assert ("p", "r") in {(edge["from_object"], edge["to_object"]) for edge in document["column_edges"]}


HUGE = "9" * 5_000
NUMBERED = {
    "postgres": "create table t (a int); create view v as select a from t order by {0}; select {0} + a from t;",
    "tsql": "create table t (a decimal({0}, 2), b varchar({0})); create view v as select left(b, {0}) as c from t;",
    "clickhouse": "create table t (a Int32); create view v as select a + {0} as a, -{0} as b from t;",
    "snowflake": "create table t (a variant); create view v as select a from t; select a:b[{0}], ${0} from t;",
    "spark": "create table t (a int); create view v as select stack({0}, a, 1) from t; select round(a, {0}) from t;",
    "duckdb": "create table t (a decimal(4, 2)); create view v as select round(a, {0}) as a from t;",
    "mysql": "create table t (a decimal(4, 2)); create view v as select round(a, {0}) from t union select 1;",
}


@pytest.mark.parametrize("dialect", NUMBERED)
def test_a_number_may_have_any_number_of_digits(dialect: str) -> None:
    """Python makes none of more than 4,300 digits; types that have them are compared as well."""
    found = analyze(NUMBERED[dialect].format(HUGE), dialect=dialect).lineage
    assert [row.message for row in found.diagnostics if "Error in the" in row.message] == []
    assert "v" in {row.object.split(".")[-1].lower() for row in found.objects}
    diff(analyze(NUMBERED[dialect].format(3), dialect=dialect).lineage, found)


def test_edges_through_shared_temporary_tables_beyond_a_limit_are_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "create procedure a_user as insert into r (x) select v from #w\ngo\n"
        "create procedure b_user as insert into r (x) select v from #w\ngo\n"
        "create procedure main as begin create table #w (v int); insert into #w (v) select a from s;"
        " exec a_user; exec b_user end\n"
    )
    whole = analyze(text, dialect="tsql").lineage
    assert {edge.from_object for edge in whole.column_edges} == {"s"}
    monkeypatch.setattr("lineage_pipeline.engine.link.shared_temp_tables.MAX_COMPOSED_EDGES", 1)
    cut = analyze(text, dialect="tsql").lineage
    (finding,) = [row for row in cut.diagnostics if row.code == "LIMIT_EXCEEDED"]
    assert (finding.line, finding.object) == (3, "main.#w")
    assert "temporary tables that modules share" in finding.message
    assert [(edge.from_object, edge.approximate) for edge in cut.column_edges] == [("s", False), ("main.#w", True)]
