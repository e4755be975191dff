"""Schemas come from many kinds of files and catalogs, and mean the same from each of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from lineage_pipeline.api import analyze, diff, scan
from lineage_pipeline.cli import main
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.configured_schemas import compute_analysis_key, import_configured_schemas
from lineage_pipeline.discover.schemas.catalog_registry import open_catalog
from lineage_pipeline.discover.schemas.normalize import normalize_tables
from lineage_pipeline.discover.schemas.schema_sources import import_schemas, read_schema_source
from lineage_pipeline.model.analysis import InputFile, Options
from lineage_pipeline.model.enums import Origin
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.pipeline import build_lineage

POSTGRES = Options("postgres", default_schema="public")

Shown = dict[str, list[tuple[str, str | None, bool]]]

ORDERS: Shown = {
    "shop.orders": [("id", "INT", False), ("note", "VARCHAR(20)", True), ("total", "DECIMAL(10,2)", True)],
    "shop.stores": [("id", "INT", True)],
}

FILES = {
    "document.json": json.dumps(
        {
            "tables": [
                {
                    "schema": "shop",
                    "name": "orders",
                    "columns": [
                        {"name": "id", "data_type": "integer", "nullable": False},
                        {"name": "note", "type": "character varying(20)"},
                        {"name": "total", "dataType": "numeric(10, 2)"},
                    ],
                },
                {"schema": "shop", "name": "stores", "columns": [{"name": "id", "type": "int"}]},
            ]
        }
    ),
    "document.yaml": """
tables:
  - {schema: shop, name: orders, columns: [{name: id, type: int4, nullable: false}, {name: note, type: varchar(20)},
     {name: total, type: "numeric(10,2)"}]}
  - {schema: shop, name: stores, columns: [{name: id, type: int}]}
""",
    "dump.csv": """table_schema,table_name,column_name,ordinal_position,data_type,is_nullable,character_maximum_length,\
numeric_precision,numeric_scale
shop,orders,total,3,numeric,YES,,10,2
shop,orders,id,1,integer,NO,,32,0
shop,orders,note,2,character varying,YES,20,,
shop,stores,id,1,integer,YES,,32,0
""",
    "dump.json": json.dumps(
        [
            {"TABLE_SCHEMA": "shop", "TABLE_NAME": name, "COLUMN_NAME": column, "ORDINAL_POSITION": at, **more}
            for name, column, at, more in (
                ("orders", "note", 2, {"DATA_TYPE": "character varying", "CHARACTER_MAXIMUM_LENGTH": 20}),
                ("orders", "id", 1, {"DATA_TYPE": "integer", "IS_NULLABLE": "NO"}),
                ("orders", "total", 3, {"DATA_TYPE": "numeric", "NUMERIC_PRECISION": 10, "NUMERIC_SCALE": 2}),
                ("stores", "id", 1, {"DATA_TYPE": "integer", "IS_NULLABLE": "YES"}),
            )
        ]
    ),
    "tables.sql": """
create table shop.orders (id int not null, note varchar(20));
create table shop.gone (a int);
alter table shop.orders add column total numeric(10, 2);
create table shop.stores (id int);
drop table shop.gone;
""",
}


def render_schemas(schemas: Mapping[str, Any]) -> Shown:
    return {name: [(c.name, c.type, c.nullable) for c in schema.columns] for name, schema in schemas.items()}


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_kind_of_file_gives_the_same_schemas(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name])
    found = import_schemas([name], POSTGRES, tmp_path, {})
    assert render_schemas(found.schemas) == ORDERS
    assert {schema.source for schema in found.schemas.values()} == {name}
    assert found.findings == ()


def test_a_folder_of_definitions(tmp_path: Path) -> None:
    for name in ("a", "b/c"):
        (tmp_path / "ddl" / name).mkdir(parents=True)
        (tmp_path / "ddl" / name / "t.sql").write_text(f"create table {name[-1]}.t (id int)")
    found = import_schemas(["ddl"], POSTGRES, tmp_path, {})
    assert {name: schema.source for name, schema in found.schemas.items()} == {
        "a.t": "ddl/a/t.sql",
        "c.t": "ddl/b/c/t.sql",
    }


MANIFEST: dict[str, Any] = {
    "child_map": {},
    "groups": {"group.p.sales": {"name": "sales", "owner": {"name": "Sales team", "email": "s@example.com"}}},
    "nodes": {
        "model.p.orders": {
            "resource_type": "model",
            "database": "prod",
            "schema": "core",
            "name": "orders_v2",
            "alias": "orders",
            "description": "One row an order",
            "group": "sales",
            "tags": ["nightly"],
            "config": {"materialized": "view", "meta": {"tier": "gold", "critical": True}},
            "columns": {
                "id": {"name": "id", "data_type": "bigint", "constraints": [{"type": "not_null"}]},
                "email": {"name": "email", "description": "Whom to write to", "meta": {"pii": True, "tags": ["gdpr"]}},
            },
        },
        "model.p.tmp": {"resource_type": "model", "name": "tmp", "config": {"materialized": "ephemeral"}},
        "test.p.unique": {"resource_type": "test", "name": "unique"},
    },
    "sources": {
        "source.p.raw.orders": {
            "resource_type": "source",
            "database": "prod",
            "schema": "raw",
            "name": "orders",
            "identifier": "orders_raw",
            "meta": {"owner": "ingest"},
            "columns": {},
        }
    },
}
CATALOG: dict[str, Any] = {
    "nodes": {
        "model.p.orders": {
            "metadata": {"type": "VIEW", "database": "prod", "schema": "core", "name": "orders", "comment": None},
            "columns": {
                "email": {"name": "email", "type": "character varying(80)", "index": 2, "comment": None},
                "id": {"name": "id", "type": "bigint", "index": 1, "comment": "The key"},
                "late": {"name": "late", "type": "boolean", "index": 3, "comment": None},
            },
        }
    },
    "sources": {},
}


def test_dbt_manifest_and_catalog_complete_each_other(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(MANIFEST))
    (tmp_path / "catalog.json").write_text(json.dumps(CATALOG))
    for order in (["manifest.json", "catalog.json"], ["catalog.json", "manifest.json"]):
        found = import_schemas(order, POSTGRES, tmp_path, {})
        assert found.findings == ()
        orders, raw = found.schemas["prod.core.orders"], found.schemas["prod.raw.orders_raw"]
        kinds = [("id", "BIGINT", False), ("email", "VARCHAR(80)", True), ("late", "BOOLEAN", True)]
        assert [(c.name, c.type, c.nullable) for c in orders.columns] == kinds
        assert (orders.open, orders.kind, orders.description) == (False, "view", "One row an order")
        assert (orders.tags, orders.owners) == (("critical", "nightly"), ("Sales team",))
        assert [(c.tags, c.description) for c in orders.columns][:2] == [
            ((), "The key"),
            (("gdpr", "pii"), "Whom to write to"),
        ]
        assert (raw.columns, raw.open, raw.owners) == ((), True, ("ingest",))


def test_a_live_duckdb_is_a_catalog(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        connection.execute("create schema shop; create table shop.orders (id integer not null, total decimal(10, 2))")
        connection.execute("comment on column shop.orders.total is 'in euro'")
        connection.execute("create view shop.v as select total from shop.orders")
    catalog = open_catalog("duckdb:///w.duckdb", {}, tmp_path)
    assert catalog.list() == ("shop.orders", "shop.v")
    assert catalog.get("shop.v").kind == "view"
    found = import_schemas(["duckdb:///w.duckdb"], Options("duckdb"), tmp_path, {})
    assert render_schemas(found.schemas) == {
        "shop.orders": [("id", "INTEGER", False), ("total", "DECIMAL(10,2)", True)],
        "shop.v": [("total", "DECIMAL(10,2)", True)],
    }
    assert found.schemas["shop.orders"].columns[1].description == "in euro"
    with pytest.raises(LineageError, match="has no shop.x"):
        catalog.get("shop.x")


EMPTY = (
    ("rows.csv", "table_name,column_name\n,2\n"),
    ("head.csv", "a,b\n"),
    ("empty.csv", "table_name,column_name\n"),
    ("list.json", "[]"),
    ("folder/readme.txt", ""),
)


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("none.json", "No such file"),
        ("a.xlsx", "schemas are read from files that end in"),
        ("bad.json", "bad.json: Input data was truncated"),
        ("rows.csv", "rows.csv: row 1 names no table and column"),
        ("odd.yaml", "odd.yaml: Expected the columns of t"),
        ("nosuch://host/db", "there is no catalog nosuch"),
        ("head.csv", "head.csv: no heading names tables and columns; known headings are table_name"),
        ("empty.csv", "empty.csv: it describes no table"),
        ("list.json", "list.json: it describes no table"),
        ("folder", "folder: no file in this folder describes tables"),
        ("duckdb:///none.duckdb", "there is no file"),
        ("postgresql://me:secret@host/db", r"postgresql://me:\*\*\*@host/db: leave the password out.*PGPASSWORD"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(place: str, says: str, tmp_path: Path) -> None:
    for name, text in (("bad.json", "{"), ("a.xlsx", ""), ("odd.yaml", "t: 3\n"), *EMPTY):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.raises(LineageError, match=says) as error:
        read_schema_source(place, Options(), tmp_path, {})
    assert "secret" not in str(error.value)


def test_of_names_that_fold_to_one_the_first_counts_with_a_warning() -> None:
    given = {"Raw.T": ["A", "a", "b"], "raw.t": ["z"], '"RAW".t': ["y"]}
    analysis = analyze("select * from raw.t", dialect="postgres", schema=given)
    assert [(c.name, c.origin) for c in analysis.lineage.columns if c.object == "raw.t"] == [
        ("a", Origin.IMPORTED),
        ("b", Origin.IMPORTED),
    ]
    assert [row.message for row in analysis.lineage.diagnostics if row.code == "DUPLICATE_IMPORT"] == [
        "Raw.T.a and Raw.T.A are both raw.t.a; the first one counts",
        "raw.t and Raw.T are both raw.t; the first one counts",
    ]


def test_hints_of_a_schema_complete_names() -> None:
    given = {
        "defaultSchema": "core",
        "searchPath": [{"schema": "raw"}],
        "allowImplied": False,
        "tables": [{"schema": "raw", "name": "t", "columns": ["id"]}],
    }
    document = analyze("create view v as select * from t; create table x (a int)", schema=given).to_dict()
    assert document["object_edges"][0]["from_object"] == "raw.t"
    assert {row["object"]: row["origin"] for row in document["objects"]} == {
        "core.v": "unknown",
        "core.x": "unknown",
        "raw.t": "imported",
    }


def test_resolved_schema_says_where_each_schema_comes_from() -> None:
    sql = "create table t (a int primary key); create temp table x as select a from t; drop table if exists s;"
    schema = analyze(sql + "create view v as select u.b from u", dialect="postgres", schema={"u": {"b": "int"}})
    assert json.loads(json.dumps(schema.to_dict()["resolved_schema"])) == [
        {
            "object": "t",
            "origin": "implied",
            "source_statement": {"path": "-", "statement": 0},
            "updated_at": None,
            "temporary": False,
            "constraints": [{"kind": "primary key", "name": None, "columns": ["a"], "expression": None}],
            "columns": [{"ordinal": 1, "name": "a", "type": "INT", "nullable": False, "origin": "implied"}],
        },
        {
            "object": "u",
            "origin": "imported",
            "source_statement": None,
            "updated_at": None,
            "temporary": False,
            "constraints": [],
            "columns": [{"ordinal": 1, "name": "b", "type": "INT", "nullable": True, "origin": "imported"}],
        },
        {
            "object": "v",
            "origin": "implied",
            "source_statement": {"path": "-", "statement": 3},
            "updated_at": None,
            "temporary": False,
            "constraints": [],
            "columns": [{"ordinal": 1, "name": "b", "type": "INT", "nullable": True, "origin": "implied"}],
        },
        {
            "object": "x",
            "origin": "implied",
            "source_statement": {"path": "-", "statement": 1},
            "updated_at": None,
            "temporary": True,
            "constraints": [],
            "columns": [{"ordinal": 1, "name": "a", "type": "INT", "nullable": True, "origin": "implied"}],
        },
    ]


def test_a_column_that_is_known_from_use_alone_says_so_in_the_schema() -> None:
    given = {"tables": [{"name": "u", "partial": True, "columns": [{"name": "b", "type": "int"}]}]}
    document = analyze("create view v as select b, c from u", dialect="postgres", schema=given).to_dict()
    found = {
        row["object"]: {column["name"]: column["origin"] for column in row["columns"]}
        for row in json.loads(json.dumps(document["resolved_schema"]))
    }
    assert found == {"u": {"b": "imported", "c": "inferred"}, "v": {"b": "implied", "c": "implied"}}


def test_a_dropped_table_has_no_schema_any_more() -> None:
    document = analyze("create table t (a int); create table u (b int); drop table t", dialect="duckdb").to_dict()
    assert [row["object"] for row in document["resolved_schema"]] == ["u"]


# ── settings and commands ────────────────────────────────────────────────────────────────────────────────────────


def repository(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_settings_name_the_schemas_of_each_system(tmp_path: Path) -> None:
    settings = """
[analysis]
dialect = "postgres"
schemas = ["all.json"]
[[systems]]
name = "shop"
paths = ["shop/**"]
schemas = ["shop.json"]
[[systems]]
name = "rest"
"""
    files = {"lineage.toml": settings, "all.json": '{"t": ["a"]}', "shop.json": '{"t": {"b": "int"}, "T": ["c"]}'}
    found = load_settings(repository(tmp_path, files), {}, {})
    assert {
        name: [c.name for c in schema.columns] for name, schema in import_configured_schemas(found).schemas.items()
    } == {
        "shop.t": ["b"],
        "rest.t": ["a"],
    }
    assert [(row.code, row.path) for row in import_configured_schemas(found).findings] == [
        ("DUPLICATE_IMPORT", "shop.json")
    ]
    before = compute_analysis_key(found)
    (tmp_path / "all.json").write_text('{"t": ["z"]}')
    assert compute_analysis_key(load_settings(tmp_path, {}, {})) != before


def test_a_definition_that_head_changed_beats_the_catalog(tmp_path: Path) -> None:
    common = {
        "lineage.toml": '[analysis]\ndialect = "postgres"\nschemas = ["prod.json"]\n',
        "prod.json": json.dumps({**dict.fromkeys("tv", {"a": "int", "b": "text"}), "same": {"x": "int", "z": "int"}}),
        "2_v.sql": "create view v as select * from t;",
        "3_w.sql": "create view w as select b from v;",
        "4_same.sql": "create table same (x int, y int);",
    }
    for side, columns in (("base", "a int, b text"), ("head", "a bigint")):
        repository(tmp_path / side, {**common, "1_t.sql": f"create table t ({columns});"})
    base, head = (scan(tmp_path / side) for side in ("base", "head"))
    assert [(c.object, c.name) for c in head.lineage.columns if c.object in "tv"] == [
        ("t", "a"),
        ("t", "b"),
        ("v", "a"),
        ("v", "b"),
    ]
    found = {(change.rule, change.object, change.column) for change in diff(base, head) if change.root}
    assert found == {("COL001", "t", "b"), ("TYP001", "t", "a")}
    assert diff(base, base) == ()


def test_flags_bring_schemas_and_turn_implied_ones_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository(tmp_path, {"a.sql": "create table t (a int);\nselect * from t, u;\n", "u.csv": "table,column\nu,x\n"})
    for command in (["analyze", str(tmp_path / "a.sql")], ["scan", str(tmp_path)]):
        flags = ["--schema", str(tmp_path / "u.csv"), "--no-implied", "--dialect", "postgres", "--format", "json"]
        assert main([*command, *flags]) == 0
        document = json.loads(capsys.readouterr().out)
        assert {row["object"]: row["origin"] for row in document["objects"]} == {
            "a": "implied",
            "t": "unknown",
            "u": "imported",
        }
        assert [row["code"] for row in document["diagnostics"]] == ["APPROXIMATE_LINEAGE"]


def test_another_source_fills_gaps_without_a_finding() -> None:
    tables = [
        *read_tables('{"t": ["a", "b"]}', "one"),
        *read_tables('{"t": {"a": "int", "c": "int"}}', "two"),
    ]
    found = normalize_tables(tables, Options("postgres"))
    assert render_schemas(found.schemas) == {"t": [("a", "INT", True), ("b", None, True), ("c", "INT", True)]}
    assert found.findings == ()


def test_a_definition_gives_the_nullability_that_an_import_leaves_out() -> None:
    sql = "create table t (id int primary key, n int not null, m int, k int not null); select * from t;"
    document = {"tables": [{"name": "t", "columns": ["id", "n", "m", {"name": "k", "nullable": True}]}]}
    lineage = analyze(sql, dialect="postgres", schema=document).lineage
    assert [(c.name, c.nullable) for c in lineage.columns if c.object == "query"] == [
        ("id", False),
        ("n", False),
        ("m", True),
        ("k", True),
    ]
    assert [row.message for row in lineage.diagnostics if row.code == "SCHEMA_CONFLICT"] == [
        "t: the imported schema and the definition differ: k may be null in the import and is never null here"
    ]


def test_the_first_source_that_states_nullability_counts() -> None:
    unsaid, never, may = (
        read_tables(json.dumps({"tables": [{"name": "t", "columns": [{"name": "a", "nullable": said}]}]}), str(said))
        for said in (None, False, True)
    )
    for order, nullable in (((unsaid, never), False), ((never, may), False), ((may, never), True), ((unsaid,), True)):
        found = normalize_tables([table for tables in order for table in tables], Options("postgres"))
        assert found.schemas["t"].columns[0].nullable is nullable


def test_constraints_of_imported_definitions_are_carried(tmp_path: Path) -> None:
    (tmp_path / "t.sql").write_text("create table t (id int primary key, n int check (n > 0));")
    found = import_schemas(["t.sql"], Options("postgres"), tmp_path, {})
    lineage = build_lineage([InputFile("q.sql", "select * from t", Options("postgres"))], found.schemas)
    assert [(row.object, row.kind, row.columns) for row in lineage.constraints] == [
        ("t", "primary key", ("id",)),
        ("t", "check", ("n",)),
    ]


def test_each_unreadable_definition_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "t.sql").write_text("create table t (id int);\ncreate table (((;\ncreate table u (id int);\n")
    found = import_schemas(["t.sql"], Options("postgres"), tmp_path, {})
    assert sorted(found.schemas) == ["t", "u"]
    assert [(row.code, row.path, row.line) for row in found.findings] == [("PARSE_ERROR", "t.sql", 2)]


def read_tables(text: str, source: str) -> Any:
    from lineage_pipeline.discover.schemas.schema_documents import parse_schema_document

    return parse_schema_document(json.loads(text), source).tables
