"""The JSON output of commands follows the schemas that `lineage schema` prints."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from lineage_pipeline.cli import main
from lineage_pipeline.export import SCHEMAS
from lineage_pipeline_tests.support.paths import ROOT

ODD = """
create table dbo.t (a int primary key, b varchar(10) default 'x' check (b <> ''));
create view dbo.v as select t.a, u.c from dbo.t t join dbo.unknown u on u.a = t.a where t.b like 'a%';
create procedure dbo.p @x int as begin select a into #k from dbo.t; insert into dbo.o select a from #k; exec (@x); end
select from where;
"""
RETAIL, MARKETING = (str(ROOT / "sql_assets" / name) for name in ("retail", "marketing"))
COMMANDS = {
    "scan": ("lineage", ["scan", f"{RETAIL}/head", "--format", "json"]),
    "scan of snowflake": ("lineage", ["scan", f"{MARKETING}/head", "--format", "json"]),
    "analyze": ("lineage", ["analyze", "odd.sql", "--dialect", "tsql", "--format", "json"]),
    "analyze nothing": ("lineage", ["analyze", "empty.sql", "--format", "json"]),
    "export": ("lineage", ["export", "json", "odd.sql", "--dialect", "tsql"]),
    "import": ("lineage", ["import", "openlineage", "events.ndjson", "odd.sql", "--dialect", "tsql", "-f", "json"]),
    "runs": ("runs", ["import", "openlineage", "events.ndjson", "odd.sql", "-d", "tsql", "--compare", "-f", "json"]),
    "graphs": ("graphs", ["analyze", "odd.sql", "--dialect", "tsql", "--graph", "statement"]),
    "graph": ("graph", ["analyze", "odd.sql", "--dialect", "tsql", "--graph", "global"]),
    "changes": ("changes", ["diff", f"{RETAIL}/base", f"{RETAIL}/head", "--format", "json"]),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    for name in [name for name in os.environ if name.startswith("LINEAGE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    Path("odd.sql").write_text(ODD)
    Path("empty.sql").write_text("")
    assert main(["export", "openlineage", f"{RETAIL}/head", "-o", "events.ndjson"]) == 0
    capsys.readouterr()
    return tmp_path


def read_json_output(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(list(arguments)) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("here")
def test_what_a_command_writes_follows_its_schema(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, arguments = COMMANDS[command]
    schema = read_json_output(capsys, "schema", name)
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(read_json_output(capsys, *arguments))


def test_the_output_of_verify_follows_its_schema(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    duckdb = pytest.importorskip("duckdb")
    (here / "sql").mkdir()
    (here / "sql" / "a.sql").write_text("create table t (a int, b int); create view v as select a from t;")
    with duckdb.connect(str(here / "w.duckdb")) as connection:
        connection.execute("create table t (a int, b varchar)")
    assert main(["verify", "sql", "--catalog", "duckdb:///w.duckdb", "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    Draft202012Validator(SCHEMAS["verification"]()).validate(document)
    assert len(document["differences"]) == 2


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("columns", 0, "ordinal"), "1"),
        (("column_edges", 0, "type"), "MAYBE"),
        (("objects", 0, "kind"), "thing"),
        (("statements", 0, "span"), {"line": 1}),
        (("schema_version",), 1),
    ],
)
@pytest.mark.usefixtures("here")
def test_a_schema_rejects_other_documents(
    capsys: pytest.CaptureFixture[str], path: tuple[Any, ...], value: object
) -> None:
    document = read_json_output(capsys, "analyze", "odd.sql", "--dialect", "tsql", "--format", "json")
    inside = document
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    with pytest.raises(ValidationError):
        Draft202012Validator(SCHEMAS["lineage"]()).validate(document)


def test_every_key_of_a_document_is_described(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = read_json_output(capsys, "scan", f"{RETAIL}/head", "--format", "json")
    schema = SCHEMAS["lineage"]()
    assert list(document) == list(schema["properties"])
    for name, described in schema["properties"].items():
        if described.get("type") == "array" and document[name]:
            row = schema["$defs"][described["items"]["$ref"].rpartition("/")[2]]
            assert set(document[name][0]) == set(row["properties"]), name


def test_the_schemas_are_listed_and_a_wrong_name_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == sorted(SCHEMAS)
    assert main(["schema", "linaege"]) == 2
    assert "did you mean lineage?" in capsys.readouterr().err
