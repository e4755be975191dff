"""Schemas that files beside a query declare: read with the repository, compared, and held against the query."""

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from lineage_pipeline.api import diff, scan
from lineage_pipeline.cli import main
from lineage_pipeline.model.analysis import LineageTables

QUERY = "select id, total, extra, s.a as tags from raw.orders"
FIELDS = """fields:
- {name: id, type: INTEGER, mode: REQUIRED, description: the order}
- {name: total, type: FLOAT, mode: NULLABLE}
- name: tags
  type: RECORD
  mode: REPEATED
  fields: [{name: key, type: STRING}, {name: at, type: RECORD, fields: [{name: day, type: DATE}]}]
"""


def read(folder: Path, files: dict[str, str], dialect: str = "bigquery") -> LineageTables:
    """The lineage of a folder with these files."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return scan(folder, dialect=dialect).lineage


def columns(lineage: LineageTables, name: str) -> list[tuple[str, str | None, bool]]:
    """The columns of an object."""
    return [(row.name, row.type, row.nullable) for row in lineage.columns if row.object == name]


REPOSITORY = {
    "sql/p1/core/orders_v1/query.sql": QUERY,
    "sql/p1/core/orders_v1/schema.yaml": FIELDS,
    "sql/p1/mart/sales/view.sql": "create view `p1.mart.sales` as select * from `p1.core.orders_v1`",
}


def test_a_declared_schema_gives_types_to_the_table_of_the_query_beside_it(tmp_path: Path) -> None:
    lineage = read(tmp_path, REPOSITORY)
    known = [
        ("id", "INT64", False),
        ("total", "FLOAT64", True),
        ("tags", "ARRAY<STRUCT<key STRING,at STRUCT<day DATE>>>", True),
    ]
    assert columns(lineage, "p1.core.orders_v1")[:3] == known
    assert columns(lineage, "p1.mart.sales") == known
    assert ("raw.orders", "id") in {
        (edge.from_object, edge.from_column) for edge in lineage.column_edges if edge.to_object == "p1.core.orders_v1"
    }
    assert [row.description for row in lineage.columns if row.name == "id" and row.object == "p1.core.orders_v1"] == [
        "the order"
    ]


def test_a_difference_between_a_query_and_its_declared_schema_is_a_finding(tmp_path: Path) -> None:
    fields = FIELDS + "- {name: gone, type: STRING}\n"
    lineage = read(tmp_path, {**REPOSITORY, "sql/p1/core/orders_v1/schema.yaml": fields})
    said = [row.message for row in lineage.diagnostics if row.code == "SCHEMA_CONFLICT"]
    assert len(said) == 2
    assert any("has no column extra" in one for one in said)
    assert any("has column gone, which is not defined here" in one for one in said)


def test_a_change_of_a_declared_schema_is_a_change(tmp_path: Path) -> None:
    base, head = tmp_path / "base", tmp_path / "head"
    read(base, REPOSITORY)
    fields = FIELDS.replace("name: total, type: FLOAT", "name: total, type: STRING")
    read(head, {**REPOSITORY, "sql/p1/core/orders_v1/schema.yaml": fields})
    found = diff(scan(base, dialect="bigquery"), scan(head, dialect="bigquery"))
    roots = {(one.rule[:3], one.object, one.column) for one in found if one.root}
    assert ("TYP", "p1.core.orders_v1", "total") in roots
    assert diff(scan(base, dialect="bigquery"), scan(base, dialect="bigquery")) == ()


def test_avro_and_json_beside_a_file_describe_the_table_of_its_stem(tmp_path: Path) -> None:
    avro = {
        "type": "record",
        "name": "orders",
        "doc": "all orders",
        "fields": [
            {"name": "id", "type": "long", "doc": "the key"},
            {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
            {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
            {"name": "tags", "type": {"type": "array", "items": "string"}},
            {"name": "either", "type": ["null", "string", "int"]},
        ],
    }
    lineage = read(
        tmp_path,
        {
            "q/core/orders.sql": "select id, at, price, tags, either from raw.orders",
            "q/core/orders.avsc": json.dumps(avro),
            "q/core/users.sql": "select id from raw.users",
            "q/core/users.schema.json": json.dumps([{"name": "id", "type": "STRING", "mode": "REQUIRED"}]),
            "q/mart.sql": "select o.*, u.id as user from core.orders as o cross join core.users as u",
        },
        "spark",
    )
    assert columns(lineage, "core.orders") == [
        ("id", "BIGINT", False),
        ("at", "TIMESTAMP", True),
        ("price", "DECIMAL(9,2)", False),
        ("tags", "ARRAY<STRING>", False),
        ("either", None, True),
    ]
    assert columns(lineage, "core.users") == [("id", "STRING", False)]
    assert not [row for row in lineage.diagnostics if row.code == "SCHEMA_CONFLICT"]


def test_files_that_declare_nothing_are_left_alone_and_damaged_ones_are_reported(tmp_path: Path) -> None:
    lineage = read(
        tmp_path,
        {
            "a/t/query.sql": "select id from raw.t",
            "a/t/schema.yaml": "friendly_name: T\n",
            "b/t/query.sql": "select id from raw.t",
            "b/t/schema.yaml": "fields: [\n",
            "c/schema.yaml": FIELDS,
            "d/t/query.sql": "select id from raw.t",
            "d/t/schema.yaml": "fields: !include-fields {table: a.t}\n",
        },
    )
    assert [(row.code, row.path) for row in lineage.diagnostics if row.code == "TEMPLATE_ERROR"] == [
        ("TEMPLATE_ERROR", "b/t/schema.yaml")
    ]
    assert not [row for row in lineage.objects if row.origin.value == "imported"]


def test_a_schema_alone_describes_a_table_where_others_beside_it_have_queries(tmp_path: Path) -> None:
    lineage = read(
        tmp_path,
        {
            **REPOSITORY,
            "sql/p1/ext/sheet/schema.yaml": "- {name: a, type: STRING}\n",
            "sql/p1/mart/sheets/view.sql": "create view p1.mart.sheets as select * from p1.ext.sheet",
        },
    )
    assert columns(lineage, "p1.mart.sheets") == [("a", "STRING", True)]


def test_fields_that_a_program_includes_leave_the_schema_open(tmp_path: Path) -> None:
    fields = "fields:\n- {name: id, type: STRING, description: !from other}\n- !include-field {table: a.t}\n"
    lineage = read(tmp_path, {**REPOSITORY, "sql/p1/core/orders_v1/schema.yaml": fields})
    assert {name for name, *_ in columns(lineage, "p1.core.orders_v1")} == {"id", "total", "extra", "tags"}
    assert not [row for row in lineage.diagnostics if row.code in ("SCHEMA_CONFLICT", "TEMPLATE_ERROR")]


HOME = "sql/p/core/orders_v1"
ORDERS = "select id, total from raw.orders"
VIEW = {"v.sql": f"create view core.v as {ORDERS}"}
DBT = {
    "dbt_project.yml": "name: p\nprofile: p\n",
    "profiles.yml": "p:\n  target: x\n  outputs:\n    x: {type: postgres, dbname: d, schema: core}\n",
    "models/orders.sql": "select id, total from {{ source('raw', 'orders') }}",
}
SOURCES = "sources:\n- name: raw\n  tables:\n  - name: orders\n"
BIGQUERY = {
    "lineage.toml": "[analysis]\ndialect = 'bigquery'\n",
    f"{HOME}/query.sql": ORDERS,
    "sql/p/mart/s/view.sql": "create view `p.mart.s` as select * from `p.core.orders_v1`",
}


class Declared(NamedTuple):
    """A repository, the file that declares the column `total`, and two types of it."""

    files: dict[str, str]
    path: str
    text: str
    types: tuple[str, str]
    object: str

    @classmethod
    def import_file(cls, path: str, text: str) -> "Declared":
        """A file that the settings name."""
        settings = f"[analysis]\ndialect = 'postgres'\nschemas = ['{path}']\n"
        return cls({**VIEW, "lineage.toml": settings}, path, text, ("numeric", "text"), "raw.orders")


DECLARED = {
    "fields in YAML": Declared(
        BIGQUERY,
        f"{HOME}/schema.yaml",
        "fields:\n- {name: id, type: INTEGER}\n- {name: total, type: TYPE}\n",
        ("FLOAT", "STRING"),
        "p.core.orders_v1",
    ),
    "fields in JSON": Declared(
        BIGQUERY,
        f"{HOME}/schema.json",
        '[{"name": "id", "type": "INTEGER"}, {"name": "total", "type": "TYPE"}]',
        ("FLOAT", "STRING"),
        "p.core.orders_v1",
    ),
    "Avro": Declared(
        {
            "lineage.toml": "[analysis]\ndialect = 'spark'\n",
            "q/core/orders.sql": ORDERS,
            "q/m.sql": "create view m.s as select * from core.orders",
        },
        "q/core/orders.avsc",
        '{"type": "record", "name": "o", "fields": '
        '[{"name": "id", "type": "long"}, {"name": "total", "type": "TYPE"}]}',
        ("double", "string"),
        "core.orders",
    ),
    "a dbt source": Declared(
        DBT,
        "models/s.yml",
        f"{SOURCES}    columns:\n    - {{name: id, data_type: int}}\n    - {{name: total, data_type: TYPE}}\n",
        ("numeric", "text"),
        "d.raw.orders",
    ),
    "a dbt model": Declared(
        DBT,
        "models/s.yml",
        f"{SOURCES}models:\n- name: orders\n  config: {{contract: {{enforced: true}}}}\n  columns:\n"
        "  - {name: id, data_type: int}\n  - {name: total, data_type: TYPE}\n",
        ("numeric", "text"),
        "d.core.orders",
    ),
    "a dump of information_schema": Declared.import_file(
        "dump.csv",
        "table_schema,table_name,column_name,ordinal_position,data_type\nraw,orders,id,1,integer\nraw,orders,total,2,TYPE\n",
    ),
    "a dump in JSON": Declared.import_file(
        "dumps/dump.json",
        '[{"table_schema": "raw", "table_name": "orders", "column_name": "id", "data_type": "integer"}, '
        '{"table_schema": "raw", "table_name": "orders", "column_name": "total", "data_type": "TYPE"}]',
    ),
    "a table of SQL Glider": Declared.import_file(
        "tables.csv", "table,column,type\nraw.orders,id,integer\nraw.orders,total,TYPE\n"
    ),
    "definitions": Declared.import_file("ddl/orders.ddl", "create table raw.orders (id int, total TYPE);"),
}


@pytest.mark.parametrize("kind", DECLARED)
@pytest.mark.parametrize("by_check", [False, True], ids=["diff", "check"])
def test_a_schema_is_compared_as_each_commit_has_it(
    kind: str, by_check: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = DECLARED[kind]
    first, second = (case.text.replace("TYPE", found) for found in case.types)
    commit_all(tmp_path, {**case.files, case.path: first})
    commit_all(tmp_path, {case.path: second})
    commit_all(tmp_path, {case.path: first})  # what stands in the folder is none of the two
    monkeypatch.chdir(tmp_path)
    command = (
        ["check", "--base", "HEAD~2", "--head", "HEAD~1", "--exact-base"] if by_check else ["diff", "HEAD~2", "HEAD~1"]
    )
    main([*command, "--format", "json"])
    changes = json.loads(capsys.readouterr().out)["changes"]
    assert (case.object, "total") in {(one["object"], one["column"]) for one in changes if one["rule"] == "TYP003"}


def commit_all(folder: Path, files: dict[str, str]) -> None:
    """Write files and commit them."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "x"], check=True)
