"""Queries: selectors, names, paths and formulas, and the same results wherever a lineage is stored."""

import csv
import io
import itertools
import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from lineage_pipeline.api import analyze, scan
from lineage_pipeline.cli import main
from lineage_pipeline.engine.trace.column_graph import ColumnRef, build_column_graph
from lineage_pipeline.engine.trace.facts import RowFacts
from lineage_pipeline.engine.trace.impact import Direction, Follow, reach_columns
from lineage_pipeline.engine.trace.routes import find_routes
from lineage_pipeline.engine.trace.selectors import UNLIMITED_DEPTH, SelectorPart, parse_selector
from lineage_pipeline.model import analysis
from lineage_pipeline.model.errors import LineageError, NotThere
from lineage_pipeline.queries.lineage import Lineage
from lineage_pipeline.store.lineage_file import LineageFileTables, write_lineage_file
from lineage_pipeline.store.stored_facts import load_column_graph
from lineage_pipeline_tests.engine.test_trace import lineage as rows_of
from lineage_pipeline_tests.support.paths import ROOT

RETAIL = ROOT / "sql_assets" / "retail"
QUESTIONS = [
    ["impact", "+mart.daily_sales.net_sales_eur+"],
    ["impact", "raw.customers.*", "--type", "direct"],
    ["impact", "raw.web_orders.*", "--type", "indirect", "--depth", "3"],
    ["impact", "*.customer_id", "--direction", "both", "--leaves"],
    ["impact", "+core.dim_customer+", "--level", "table"],
    ["impact", "core.fact_sales", "--level", "table", "--type", "direct"],
    ["path", "raw.pos_sales.qty", "mart.daily_sales.units"],
    ["path", "raw.web_orders", "mart.daily_sales", "--max-paths", "3"],
    ["formula", "mart.daily_sales.*"],
    ["formula", "mart.store_month.*"],
    ["show", "core.dim_customer"],
    ["show", "mart.usp_close_month"],
    ["search", "cust"],
    ["search", "custmer_id"],
]


def lineage_of_sql(text: str, dialect: str = "postgres") -> Lineage:
    return Lineage(analyze(text, dialect=dialect).lineage)


SHOP = lineage_of_sql(
    """
    create table raw.orders (id int, amount int, rate int, kind text);
    create view stg.orders as select id as order_id, amount * rate as total, kind from raw.orders where kind <> 'x';
    create view mart.sales as select order_id, total + 1 as total_plus, kind from stg.orders;
    """
)


# ── selectors and names ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "parts", "up", "down"),
    [
        ("s.t.c", "s t c", None, None),
        ("s.t.c+", "s t c", None, UNLIMITED_DEPTH),
        ("+s.t.c", "s t c", UNLIMITED_DEPTH, None),
        ("+s.t.c+2", "s t c", UNLIMITED_DEPTH, 2),
        ("3+s.t.c+", "s t c", 3, UNLIMITED_DEPTH),
        ("..email*", "* email*", None, None),
        (".email", "* email", None, None),
        ("mssql://localhost/DB.s.t.c", "DB s t c", None, None),
        ('"a+b".c', "a+b c", None, None),
        ("[Order Details].c", "Order~Details c", None, None),
    ],
)
def test_a_selector_has_a_name_and_two_sides(text: str, parts: str, up: int | None, down: int | None) -> None:
    found = parse_selector(text)
    assert [part.text for part in found.parts] == [part.replace("~", " ") for part in parts.split()]
    assert (found.up, found.down) == (up, down)


def test_a_quoted_star_is_not_a_pattern() -> None:
    assert parse_selector('"a*".b').parts == (SelectorPart("a*", True), SelectorPart("b"))
    assert not parse_selector('"a*".b').is_pattern


@pytest.mark.parametrize("name", ["stg.orders.total", "STG.Orders.Total", "*.Total", "st?.*.total"])
def test_a_name_may_be_a_suffix_and_its_case_follows_the_system(name: str) -> None:
    found = SHOP.upstream(name, follow="direct")
    assert {(row.object, row.column) for row in found} == {("raw.orders", "amount"), ("raw.orders", "rate")}


def test_names_in_another_case_are_other_names_where_the_system_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("create table Orders (id int); create view v as select id from Orders;")
    main(["scan", str(tmp_path), "--dialect", "mysql", "-o", str(tmp_path / "x.json")])
    exact = Lineage.load(tmp_path / "x.json")
    assert [row.object for row in exact.downstream("Orders.ID")] == ["v"]  # its columns have no case
    with pytest.raises(NotThere, match="did you mean Orders"):
        exact.downstream("ORDERS.id")


def test_an_ambiguous_name_is_an_error_and_a_pattern_matches_all() -> None:
    with pytest.raises(LineageError, match=r"could be in raw\.orders, stg\.orders") as told:
        SHOP.downstream("orders.kind")
    assert not isinstance(told.value, NotThere)
    assert [row.object for row in SHOP.downstream("*.orders.kind", follow="direct")] == ["mart.sales"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("stg.orders.totl", "stg.orders has no column totl; did you mean total? it has kind, order_id, total"),
        ("stg.order.total", "there is no object stg.order; did you mean stg.orders?"),
        ("mart.sale", "there is no object mart.sale; did you mean mart.sales?"),
        ("zzz.qqq.www", "there is no object zzz.qqq.www; there are mart.sales, raw.orders, stg.orders"),
    ],
)
def test_an_unknown_name_is_an_error_with_suggestions(name: str, told: str) -> None:
    with pytest.raises(NotThere) as error:
        SHOP.downstream(name)
    assert told in str(error.value)


# ── reach, paths, formulas ───────────────────────────────────────────────────────────────────────────────────────


def test_reach_says_hops_roots_leaves_and_over_which_edge() -> None:
    first, second = SHOP.downstream("raw.orders.amount")
    assert (first.object, first.column, first.hops, first.leaf, first.root) == ("stg.orders", "total", 1, False, False)
    assert first.via is not None
    assert (first.via.column, first.via.subtype, first.via.expression) == ("amount", "TRANSFORMATION", "amount * rate")
    assert (second.object, second.hops, second.leaf) == ("mart.sales", 2, True)
    roots = [row for row in SHOP.upstream("mart.sales.total_plus", follow="direct") if row.root]
    assert [row.column for row in roots] == ["amount", "rate"]


def test_indirect_and_direct_readers_are_distinguished() -> None:
    indirect = {(row.object, row.column) for row in SHOP.downstream("raw.orders.kind", follow="indirect")}
    assert indirect == {
        ("stg.orders", "order_id"),
        ("stg.orders", "total"),
        ("mart.sales", "order_id"),
        ("mart.sales", "total_plus"),
    }
    assert [row.column for row in SHOP.downstream("raw.orders.kind", follow="direct")] == ["kind", "kind"]
    assert SHOP.downstream("raw.orders.kind", depth=0) == ()


def test_reach_over_every_edge_is_what_the_walk_says() -> None:
    graph = rows_of("a.x a.y b.x c.x", "a.x -> b.x", "b.x -> c.x", "c.x -> a.x", "a.y ~> b.*")
    facts = RowFacts(graph)
    found = reach_columns(facts, [ColumnRef("a", "x")], Direction.DOWNSTREAM, UNLIMITED_DEPTH, Follow.ALL)
    assert [(row.object, row.hops) for row in found] == [("b", 1), ("c", 2)]  # the cycle ends where it began


@pytest.mark.parametrize("seed", range(20))
def test_paths_are_all_simple_paths_short_ones_first(seed: int) -> None:
    chance = random.Random(seed)
    nodes = [f"t{number}.x" for number in range(7)]
    edges = sorted({(a, b) for a in nodes for b in nodes if a != b and chance.random() < 0.3})
    facts = RowFacts(rows_of(" ".join(nodes), *(f"{a} -> {b}" for a, b in edges)))
    expected = [
        way
        for length in range(2, 8)
        for way in itertools.permutations(nodes, length)
        if way[0] == nodes[0] and way[-1] == nodes[-1] and all(pair in edges for pair in itertools.pairwise(way))
    ]
    found = find_routes(facts, [ColumnRef("t0", "x")], [ColumnRef("t6", "x")], 1000)
    ways = [
        tuple(f"{ref.object}.x" for ref in (legs[0].source, *(leg.target for leg in legs))) for legs in found.routes
    ]
    assert ways == sorted(expected, key=lambda way: (len(way), way))
    assert found.cut == ""
    few = find_routes(facts, [ColumnRef("t0", "x")], [ColumnRef("t6", "x")], 1)
    assert few.routes == found.routes[:1]
    assert bool(few.cut) == (len(expected) > 1)


def test_a_search_for_paths_that_would_never_end_is_given_up_and_says_so() -> None:
    nodes = [f"t{number:02}.x" for number in range(30)]
    edges = [f"{a} -> {b}" for a in nodes for b in nodes if a < b and b != nodes[-1]]
    facts = RowFacts(rows_of(" ".join(nodes), *edges, f"{nodes[-2]} -> {nodes[-1]}"))
    found = find_routes(facts, [ColumnRef("t00", "x")], [ColumnRef("t29", "x")], 1 << 40)
    assert "given up" in found.cut


def test_a_path_shows_expression_and_place_of_each_hop() -> None:
    ((first, second),) = SHOP.paths("raw.orders.amount", "mart.sales.total_plus").routes
    assert [edge.expression for leg in (first, second) for edge in leg.edges] == ["amount * rate", "total + 1"]
    assert [edge.span.line for leg in (first, second) for edge in leg.edges if edge.span] == [3, 4]


@pytest.mark.parametrize(
    ("column", "change", "text"),
    [
        ("mart.sales.order_id", "renamed", "raw.orders.id"),
        ("mart.sales.kind", "passthrough", "raw.orders.kind"),
        ("mart.sales.total_plus", "transformed", "(1 + (raw.orders.amount * raw.orders.rate))"),
        ("raw.orders.id", "source", "raw.orders.id"),
    ],
)
def test_a_formula_goes_down_to_the_sources(column: str, change: str, text: str) -> None:
    (found,) = SHOP.formula(column)
    assert (found.change, found.formula, found.exact) == (change, text, True)


def test_formulas_of_unions_constants_cycles_and_strings() -> None:
    found = lineage_of_sql(
        """
        create table t (a int, b int); create table u (a int);
        create view v as select a, 'v.a' as s, 1 as one from t union all select a, b, 2 from u;
        create view w as select a + 1 as a, s || ' v.a ' as s, one from v;
        insert into t (a) select a from w;
        """
    )
    (one,) = found.formula("w.one")
    assert (one.change, one.formula) == ("constant", "{1 | 2}")
    (s,) = found.formula("w.s")
    assert "' v.a '" in s.formula
    (a,) = found.formula("w.a")
    assert a.formula == "(1 + {w.a | u.a})"  # what comes back to itself keeps its name
    assert a.sources == (ColumnRef("u", "a"), ColumnRef("w", "a"))


def test_a_search_finds_names_parts_and_likenesses() -> None:
    assert [(hit.object, hit.column, hit.match) for hit in SHOP.search("total")] == [
        ("stg.orders", "total", "is"),
        ("mart.sales", "total_plus", "begins with"),
    ]
    assert SHOP.search("ordr_id")[0].column == "order_id"
    assert SHOP.search("orders")[0] == SHOP.search("ORDERS")[0]
    assert SHOP.search("qqqqqq") == ()


# ── one subject for all questions ────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    top = tmp_path_factory.mktemp("places")
    repo = top / "retail"
    shutil.copytree(RETAIL / "base", repo)
    shutil.copy(RETAIL / "lineage.toml", repo)
    for command in ("init -q", "add -A", "-c user.name=a -c user.email=a@b commit -qm one"):
        subprocess.run(["git", *command.split()], cwd=repo, check=True)
    for output in ("a.json", "a.lineage"):
        assert main(["scan", str(repo), "-o", str(top / output)]) == 0
    assert main(["scan", f"{repo}@HEAD", "--into", str(top / "warehouse")]) == 0
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True).stdout
    return {
        "folder": str(repo),
        "revision": f"{repo}@HEAD",
        "json": str(top / "a.json"),
        "bundle": str(top / "a.lineage"),
        "warehouse": str(top / "warehouse"),
        "snapshot": f"{top / 'warehouse'}@{head[:8]}",
    }


@pytest.mark.parametrize("format", ["json", "csv", "text"])
@pytest.mark.parametrize("question", QUESTIONS, ids=" ".join)
def test_the_same_answer_from_every_place(
    question: list[str], format: str, places: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {}
    for name, place in places.items():
        if format == "json" or name in ("folder", "json"):
            assert main([*question, "--in", place, "--format", format]) == 0
            answers[name] = capsys.readouterr().out
    assert set(answers.values()) == {answers["folder"]}
    if format == "json":
        assert json.loads(answers["folder"])["schema_version"] == 1
    elif format == "csv":
        rows = list(csv.reader(io.StringIO(answers["folder"])))
        assert len(rows) > 1
        assert {len(row) for row in rows} == {len(rows[0])}
    assert answers["folder"].strip()


def test_files_give_what_their_folder_gives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in {
        "a.sql": "create table t (a int);",
        "b.sql": "create view v as select a + 1 as b from t;",
    }.items():
        (tmp_path / name).write_text(text)
    answers = []
    for place in ([str(tmp_path)], [str(tmp_path / "a.sql"), str(tmp_path / "b.sql")]):
        assert main(["formula", "v.b", *(word for one in place for word in ("--in", one)), "-f", "json"]) == 0
        answers.append(json.loads(capsys.readouterr().out)["formulas"][0])
    assert answers[0]["formula"] == answers[1]["formula"] == "(1 + t.a)"


@pytest.mark.parametrize("example", ["retail", "marketing"])
def test_the_stored_graph_is_the_graph_of_the_rows(example: str, tmp_path: Path) -> None:
    rows = scan(ROOT / "sql_assets" / example / "base").lineage
    tables = {name: getattr(rows, name) for name in analysis.LineageTables.__struct_fields__}
    write_lineage_file(tmp_path / "x.lineage", "a@1", tables)
    assert load_column_graph(LineageFileTables(tmp_path / "x.lineage")) == build_column_graph(rows)


@pytest.mark.parametrize(
    "edges", [(), ("a.x -> b.x",), ("a.x ~> b.*", "a.* -> c.x"), ("q.* ~> r.*",), ("a.x -> a.x", "n.k -> n.l")]
)
def test_the_stored_graph_has_the_hidden_nodes(edges: tuple[str, ...], tmp_path: Path) -> None:
    rows = rows_of("a.x a.y b.x", *edges)
    write_lineage_file(tmp_path / "x.lineage", "a@1", {"columns": rows.columns, "column_edges": rows.column_edges})
    assert load_column_graph(LineageFileTables(tmp_path / "x.lineage")) == build_column_graph(rows)


def test_a_lineage_file_is_the_same_bytes_twice_and_others_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("1.lineage", "2.lineage"):
        assert main(["scan", str(RETAIL / "base"), "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "1.lineage").read_bytes() == (tmp_path / "2.lineage").read_bytes()
    for name, content in {"x.lineage": b"no zip", "x.json": b"{}", "y.json": b"[", "z.json": b"[]"}.items():
        (tmp_path / name).write_bytes(content)
        assert main(["show", "t", "--in", str(tmp_path / name)]) == 2
        assert "not" in capsys.readouterr().err
    torn = (tmp_path / "1.lineage").read_bytes()
    (tmp_path / "torn.lineage").write_bytes(torn[: len(torn) // 2])
    assert main(["show", "t", "--in", str(tmp_path / "torn.lineage")]) == 2


def test_several_lineages_become_one(tmp_path: Path) -> None:
    one = lineage_of_sql("create table raw.t (a int, b int); create view stg.v as select a, b from raw.t")
    two = lineage_of_sql("create view mart.w as select a + 1 as c from stg.v")
    joint = one.merge(two)
    assert [(row.object, row.column) for row in joint.upstream("mart.w.c", follow="direct")] == [
        ("stg.v", "a"),
        ("raw.t", "a"),
    ]
    assert {statement.path for statement in joint.rows.statements} == {"-", "2:-"}
    assert {row.object: row.origin for row in joint.rows.objects} == {
        "raw.t": "implied",
        "stg.v": "implied",
        "mart.w": "implied",
    }
    assert one.merge(one).rows.column_edges == one.rows.column_edges
    assert [column.name for column in joint.columns("stg.v")] == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["show", "mart.daily_sale"], 1, "did you mean retail.mart.daily_sales"),
        (["impact", "mart.daily_sales.unts"], 1, "did you mean units? it has"),
        (["path", "mart.daily_sales.units", "raw.pos_sales.qty"], 1, ""),
        (["search", "qqqqqqqq"], 1, ""),
        (["show", "customers"], 2, "could be in retail.raw.customers, retail.staging.customers"),
        (["impact", "a", "--in", "nowhere@x"], 2, "there is neither such a folder"),
        (["impact", "a", "--in", "nowhere"], 2, "nowhere: No such file or directory"),
    ],
)
def test_exit_codes_of_questions(
    arguments: list[str],
    code: int,
    told: str,
    places: dict[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(Path(places["folder"]))
    assert main(arguments) == code
    assert told in capsys.readouterr().err


def test_a_warehouse_with_several_snapshots_needs_a_choice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.sql").write_text(f"create table {name} (id int);")
        assert main(["scan", str(tmp_path / name), "--into", str(tmp_path / "w")]) == 0
    capsys.readouterr()
    assert main(["show", "a", "--in", str(tmp_path / "w")]) == 2
    assert "say which snapshot" in capsys.readouterr().err
    assert main(["show", "a", "--in", f"{tmp_path / 'w'}@a@tree-"]) == 0
    assert main(["show", "a", "--in", f"{tmp_path / 'w'}@zzzz"]) == 1
