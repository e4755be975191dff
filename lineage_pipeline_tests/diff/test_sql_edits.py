"""From SQL to changes: one small shop, edited in one way at a time."""

import pytest

from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.engine.diff.policy import Policy
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options
from lineage_pipeline.model.tables import Change
from lineage_pipeline.pipeline import build_lineage

SHOP = {
    "raw.sql": """
        create table raw.orders
            (id int not null primary key, customer_id int, amount decimal(10,2), note text, day date);
        create table raw.customers (id int not null primary key, name varchar(50) not null);""",
    "core.sql": """
        create view core.orders as
        select o.id, o.customer_id, c.name as customer, o.amount * 2 as total, o.note
        from raw.orders o
        join raw.customers c on c.id = o.customer_id
        where o.amount > 0;""",
    "mart.sql": """
        create view mart.daily as
        select customer, sum(total) as total
        from core.orders
        group by customer;
        create view mart.all_orders as select * from core.orders;""",
}

EDITS: dict[str, tuple[str, str, str, set[str]]] = {
    "another layout is no change": ("core.sql", "o.amount * 2 as", "(O.AMOUNT\n  *   2) AS /* net */", set()),
    "a column that is still named": (
        "raw.sql", " note text,", "",
        {"COL001 raw.orders.note BREAKING"},
    ),
    "a column that a group still names": (
        "core.sql", " c.name as customer,", "",
        {"COL001 core.orders.customer BREAKING"},
    ),
    "a column under another name": ("core.sql", "as total", "as gross", {"COL002 core.orders.total BREAKING"}),
    "a wider key": (
        "raw.sql", "(id int not null primary key, cust", "(id bigint not null primary key, cust",
        {"TYP001 raw.orders.id NON_BREAKING"},
    ),
    "a shorter name": ("raw.sql", "varchar(50)", "varchar(20)", {"TYP002 raw.customers.name BREAKING"}),
    "a name that may be missing": (
        "raw.sql", "name varchar(50) not null", "name varchar(50)",
        {"NUL001 raw.customers.name POTENTIALLY_BREAKING"},
    ),
    "a key that is gone": (
        "raw.sql", "id int not null primary key, customer_id", "id int not null, customer_id",
        {"CON001 raw.orders POTENTIALLY_BREAKING"},
    ),
    "rows without a partner": ("core.sql", "join raw", "left join raw", {"ROW001 core.orders POTENTIALLY_BREAKING"}),
    "another filter": ("core.sql", "> 0", "> 10", {"ROW004 core.orders POTENTIALLY_BREAKING"}),
    "another grain": ("mart.sql", "by customer", "by customer, note", {"ROW005 mart.daily POTENTIALLY_BREAKING"}),
    "another aggregate": ("mart.sql", "sum(", "avg(", {"EXP003 mart.daily.total POTENTIALLY_BREAKING"}),
    "another formula": ("core.sql", "o.amount * 2", "o.amount * 3", {"EXP001 core.orders.total POTENTIALLY_BREAKING"}),
    "an emptied column": ("core.sql", "o.note", "null as note", {"EXP004 core.orders.note BREAKING"}),
    "one more, for a star": ("core.sql", "o.note", "o.note, o.day", {"COL004 core.orders.day POTENTIALLY_BREAKING"}),
    "one more, for nobody": ("raw.sql", "day date", "day date, x int", {"COL003 raw.orders.x NON_BREAKING"}),
    "another order, for a star": (
        "core.sql", "o.id, o.customer_id", "o.customer_id, o.id",
        {"POS001 core.orders POTENTIALLY_BREAKING"},
    ),
    "a view that cannot be read": ("core.sql", "orders as", "orders as as ((", {"ANL002 core.orders BREAKING"}),
}  # fmt: skip


def analyze_shop(files: dict[str, str]) -> LineageTables:
    options = Options(dialect="postgres")
    return build_lineage([InputFile(path, text, options) for path, text in files.items()])


def render_roots(changes: tuple[Change, ...]) -> set[str]:
    shown = ((change, f".{change.column}" if change.column else "") for change in changes if change.root)
    return {f"{change.rule} {change.object}{column} {change.effective}" for change, column in shown}


@pytest.mark.parametrize("title", EDITS)
def test_one_edit_is_one_cause(title: str) -> None:
    path, old, new, expected = EDITS[title]
    assert old in SHOP[path]
    head = SHOP | {path: SHOP[path].replace(old, new)}
    assert render_roots(diff(analyze_shop(SHOP), analyze_shop(head))) == expected


def test_a_rename_that_all_readers_follow_breaks_nothing() -> None:
    head = {path: text.replace("raw.customers", "raw.clients") for path, text in SHOP.items()}
    changes = diff(analyze_shop(SHOP), analyze_shop(head), Policy(leaf="private"))
    assert render_roots(changes) == {"OBJ002 raw.customers NON_BREAKING"}


def test_files_that_moved_and_statements_that_changed_places_are_no_change() -> None:
    first, second = SHOP["mart.sql"].split(";")[:2]
    head = {"x/raw.sql": SHOP["raw.sql"], "x/mart.sql": f"{second};{first};", "core.sql": SHOP["core.sql"]}
    assert diff(analyze_shop(SHOP), analyze_shop(head)) == ()


def test_a_broken_reader_is_found_in_its_file() -> None:
    head = SHOP | {"raw.sql": SHOP["raw.sql"].replace(" note text,", "")}
    [removed] = [
        change
        for change in diff(analyze_shop(SHOP), analyze_shop(head), Policy())
        if change.rule == "COL001" and change.root
    ]
    assert [(one.object, one.column, one.path, one.line) for one in removed.consumers] == [
        ("core.orders", "note", "core.sql", 3)
    ]


@pytest.mark.parametrize(
    ("migration", "rule"),
    [
        ("alter table raw.orders drop column note", "COL001"),
        ("alter table raw.orders rename column note to remark", "COL002"),
        ("alter table raw.orders alter column note type varchar(5)", "TYP002"),
        ("alter table raw.orders alter column id drop not null", "NUL001"),
        ("alter table raw.orders drop constraint orders_pkey", "CON001"),
        ("alter table raw.orders rename to sales", "OBJ002"),
        ("drop table raw.orders", "OBJ001"),
    ],
)
def test_a_change_by_a_migration_points_to_the_migration(migration: str, rule: str) -> None:
    head = SHOP | {"zz_migration.sql": f"select 1;\n{migration};"}
    [cause] = [change for change in diff(analyze_shop(SHOP), analyze_shop(head)) if change.root and change.rule == rule]
    assert (cause.path, cause.line) == ("zz_migration.sql", 2)


def test_a_column_that_a_migration_reads_and_then_drops_is_removed() -> None:
    before = "create table t (a int, b int);"
    after = before + " create table kept as select a from t; alter table t drop column a;"
    options = Options(dialect="duckdb")
    base, head = (build_lineage([InputFile("t.sql", text, options)]) for text in (before, after))
    assert {(change.rule, change.object, change.column) for change in diff(base, head, Policy())} == {
        ("COL001", "t", "a"),
        ("OBJ003", "kept", None),
        ("POS002", "t", None),
    }


def test_columns_missing_from_a_shadowing_table_are_derived_from_the_new_table() -> None:
    options = Options(dialect="postgres", search_path=("app", "public"))
    before = "create table public.t (a int, b int); create view public.v as select a, b from t;"
    after = f"{before} create table app.t (a int);"
    base, head = (build_lineage([InputFile("t.sql", text, options)]) for text in (before, after))
    assert render_roots(diff(base, head)) == {"OBJ003 app.t BREAKING"}


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (("s.a + 60 as r60", "s.a - 60 as r60"), {("EXP001", "r60")}),
        (("s.a + 60 as r60", "s.a + 60 as r61"), {("COL001", "r60"), ("COL003", "r61")}),
    ],
)
def test_a_result_set_beyond_those_that_are_listed_is_compared(
    edit: tuple[str, str], told: set[tuple[str, str]]
) -> None:
    sets = "; ".join(f"select s.a + {number} as r{number} from dbo.s as s" for number in range(10, 61))
    base = f"create procedure dbo.p as begin {sets}; end"
    before, after = (
        build_lineage([InputFile("p.sql", text, Options("tsql"))], reach=False) for text in (base, base.replace(*edit))
    )
    assert {(one.rule, one.column) for one in diff(before, after)} == told
