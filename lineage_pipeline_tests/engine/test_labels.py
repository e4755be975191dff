"""Tags, owners and descriptions from settings, DDL, imports and CODEOWNERS; tags travel up to masking expressions."""

import json
import subprocess
from pathlib import Path

import pytest

from lineage_pipeline.api import diff, scan
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.discover.code_owners import parse_code_owners
from lineage_pipeline.discover.git.repository import discover_revision
from lineage_pipeline.model.analysis import InputFile, Label, LineageTables, Options
from lineage_pipeline.pipeline import build_lineage

SNOWFLAKE = """
create table t (a int with tag (pii = 'email', cost = 'x') comment 'An address', b int)
with tag (team = 'q') comment = 'T';
alter table t set tag level = 'gold', gov.owner = 'me';
alter table t modify column b set tag fin = '1', column a set tag geo = 'eu';
alter table t modify column a unset tag cost;
create view v (x comment 'First', y) comment = 'V' as select a, b from t;
"""
BIGQUERY = """
create table d.t (a int64 options (description = 'An address', policy_tags = ['pii']))
options (description = 'T', labels = [('team', 'q')]);
alter table d.t set options (description = 'New', labels = [('level', 'gold')]);
"""
DATABRICKS = """
create table t (a int comment 'An address', b int) comment 'T';
alter table t set tags ('team' = 'q', 'level');
alter table t alter column a set tags ('pii' = 'email');
"""
POSTGRES = """
create table t (a int, b int);
comment on table t is 'T';
comment on column t.a is 'An address';
create materialized view m as select a from t;
comment on materialized view m is 'M';
"""


def analyze_labeled(sql: str, dialect: str = "postgres", labels: tuple[Label, ...] = ()) -> LineageTables:
    return build_lineage([InputFile("-", sql, Options(dialect, labels=labels))], reach=False)


def objects(lineage: LineageTables) -> dict[str, tuple[tuple[str, ...], str | None]]:
    return {row.object: (row.tags, row.description) for row in lineage.objects}


def columns(lineage: LineageTables) -> dict[str, tuple[tuple[str, ...], str | None]]:
    found = {f"{row.object}.{row.name}": (row.tags, row.description) for row in lineage.columns}
    return {name: said for name, said in found.items() if said != ((), None)}


@pytest.mark.parametrize(
    ("dialect", "sql", "of_objects", "of_columns"),
    [
        (
            "snowflake",
            SNOWFLAKE,
            {"T": (("gov.owner=me", "level=gold", "team=q"), "T"), "V": ((), "V")},
            {
                "T.A": (("geo=eu", "pii=email"), "An address"),
                "T.B": (("fin=1",), None),
                "V.X": (("geo=eu", "pii=email"), "First"),
                "V.Y": (("fin=1",), None),
            },
        ),
        ("bigquery", BIGQUERY, {"d.t": (("level=gold", "team=q"), "New")}, {"d.t.a": (("pii",), "An address")}),
        ("databricks", DATABRICKS, {"t": (("level", "team=q"), "T")}, {"t.a": (("pii=email",), "An address")}),
        ("postgres", POSTGRES, {"t": ((), "T"), "m": ((), "M")}, {"t.a": ((), "An address")}),
    ],
)
def test_statements_say_what_objects_and_columns_are(
    dialect: str, sql: str, of_objects: dict[str, object], of_columns: dict[str, object]
) -> None:
    lineage = analyze_labeled(sql, dialect)
    assert lineage.diagnostics == ()
    assert objects(lineage) == of_objects
    assert columns(lineage) == of_columns


def test_a_definition_made_anew_has_only_what_it_says_itself() -> None:
    sql = "create table t (a int with tag (x = '1')) comment = 'old'; create or replace table t (a int);"
    lineage = analyze_labeled(sql, "snowflake")
    assert objects(lineage) == {"T": ((), None)}
    assert columns(lineage) == {}


def test_tags_travel_with_values_and_stop_at_what_masks_them() -> None:
    sql = """
    create table customers (id int, email text, born date);
    create temp table step as select id, lower(email) as mail from customers;
    create view plain as select mail, concat(mail, '!') as loud, id from step;
    create view hidden as select md5(email) as hash, count(email) as emails, max(born) as youngest from customers;
    create view filtered as select id from customers where email like '%.org';
    create view asked as select p.mail from plain p;
    """
    lineage = analyze_labeled(sql, labels=(Label(("customers",), ("email", "b*"), ("pii",)),))
    assert {name for name, (tags, _) in columns(lineage).items() if "pii" in tags} == {
        "customers.email",
        "customers.born",
        "step.mail",
        "plain.mail",
        "plain.loud",
        "hidden.youngest",
        "asked.mail",
    }


def test_patterns_of_labels_fit_however_a_dialect_folds_names() -> None:
    labels = (Label(("raw.*",), ("*Email*",), ("pii",)), Label(("Mart.V",), (), ("gold",), ("@team",)))
    sql = "create table raw.t (email varchar, n int); create view mart.v as select email as mail, n from raw.t;"
    for dialect in ("snowflake", "postgres", "tsql", "bigquery"):
        found = analyze_labeled(sql, dialect, labels)
        assert {(row.name.lower(), row.tags) for row in found.columns if row.tags} == {
            ("email", ("pii",)),
            ("mail", ("pii",)),
        }
        assert [row.owners for row in found.objects if row.tags == ("gold",)] == [("@team",)]


def test_a_temporary_table_gives_its_readers_the_tags_of_its_own_columns() -> None:
    sql = """
    create temporary table step (mail varchar with tag (pii = 'mail'), town varchar);
    insert into step select a, b from letters;
    create table kept as select mail as address, town, md5(mail) as hash from step;
    """
    lineage = analyze_labeled(sql, "snowflake")
    assert {name for name, (tags, _) in columns(lineage).items() if tags} == {"STEP.MAIL", "KEPT.ADDRESS"}


def test_tags_spread_once_around_a_cycle_of_loads() -> None:
    sql = "create table a (x int); create table b (x int); insert into a select x from b; insert into b select x from a"
    lineage = analyze_labeled(sql, labels=(Label(("a",), ("x",), ("t",)),))
    assert columns(lineage) == {"a.x": (("t",), None), "b.x": (("t",), None)}


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("README.md", ("@all",)),
        ("sql/core/a.sql", ("@core", "me@example.com")),
        ("deep/sql/core/a.sql", ("@all",)),
        ("sql/free/a.sql", ()),
        ("x/y/special.sql", ("@special",)),
        ("sql/with space/a.sql", ("@space",)),
    ],
)
def test_the_last_line_that_fits_owns_a_file(path: str, owners: tuple[str, ...]) -> None:
    text = """# who
*       @all
/sql/core/  @core me@example.com   # both
[Section]
special.sql @special
/sql/free
/sql/with\\ space/ @space
"""
    assert parse_code_owners(text).of(path) == owners


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


FILES = {
    "lineage.toml": """
[analysis]
dialect = "postgres"
schemas = ["manifest.json"]
[[labels]]
objects = ["raw.*"]
owners = ["ingest"]
tags = ["source"]
[[labels]]
objects = ["*"]
columns = ["*mail*"]
tags = ["pii"]
""",
    "manifest.json": json.dumps(
        {
            "child_map": {},
            "nodes": {
                "model.p.v": {
                    "resource_type": "model",
                    "schema": "core",
                    "name": "v",
                    "meta": {"owner": "analytics"},
                    "tags": ["nightly"],
                    "description": "All there is",
                    "columns": {"total": {"name": "total", "meta": {"finance": True}, "description": "In euro"}},
                }
            },
            "sources": {},
        }
    ),
    ".github/CODEOWNERS": "sql/ @warehouse\n",
    "sql/1.sql": "create table raw.t (id int, email text, total int);",
    "sql/2.sql": "create view core.v as select email, total from raw.t;",
    "sql/3.sql": "create view core.w as select total from core.v;",
}


def test_labels_of_all_sources_are_combined(tmp_path: Path) -> None:
    lineage = scan(write(tmp_path, FILES)).lineage
    assert {row.object: (row.tags, row.owners, row.description) for row in lineage.objects} == {
        "raw.t": (("source",), ("ingest", "@warehouse"), None),
        "core.v": (("nightly",), ("analytics", "@warehouse"), "All there is"),
        "core.w": ((), ("@warehouse",), None),
    }
    assert columns(lineage) == {
        "raw.t.email": (("pii",), None),
        "core.v.email": (("pii",), None),
        "core.v.total": (("finance",), "In euro"),
        "core.w.total": (("finance",), None),
    }


def test_reports_name_the_owners_of_broken_consumers(tmp_path: Path) -> None:
    base = scan(write(tmp_path / "base", FILES))
    changed = {"sql/1.sql": "create table raw.t (id int, email text);"}
    head = scan(write(tmp_path / "head", FILES | changed))
    consumers = {
        (reader.object, reader.owners)
        for change in diff(base, head)
        if (change.rule, change.object) == ("COL001", "raw.t")
        for reader in change.consumers
    }
    assert ("core.v", ("analytics", "@warehouse")) in consumers
    document = base.to_dict()
    assert document["objects"][0]["owners"] == ("analytics", "@warehouse")
    assert [row["tags"] for row in document["columns"] if row["object"] == "core.w"] == [("finance",)]


def test_a_revision_has_the_owners_of_its_own_time(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        names = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *names, *arguments], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)

    write(tmp_path, {"a.sql": "select 1", "CODEOWNERS": "* @before\n"})
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "one")
    write(tmp_path, {"CODEOWNERS": "* @after\n"})
    found = discover_revision(tmp_path, "HEAD", load_settings(tmp_path, {}, {}))
    assert [file.owners for file in found.files] == [("@before",)]
