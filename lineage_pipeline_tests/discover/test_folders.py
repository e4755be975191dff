"""Folders: which files are read and in which dialect; git itself is the judge of ignored files."""

import random
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lineage_pipeline.api import scan
from lineage_pipeline.cli.app import app
from lineage_pipeline.config.file_manifest import parse_file_manifest
from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.configured_schemas import compute_analysis_key
from lineage_pipeline.dialects.registry import DIALECTS
from lineage_pipeline.discover.dialect_detection import guess_dialect
from lineage_pipeline.discover.discovery import build_input_files
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline_tests.support.git_repositories import run_git, write_files
from lineage_pipeline_tests.support.paths import ROOT

NAMES = ("a", "b", "ab", "x.sql", "y.sql", "a b", "z[1]", "d.d", "é", ".h")
LINES = (
    r"* ? a b *.sql !*.sql a/ /a a/b **/b a/** a/**/b !a !a/ [ab] [!a]* x.* \!a #a \# a\ b d.? /**/x.sql ** !b/x.sql "
    r"ab/* !ab/x.sql [[:alpha:]] [a- z\[1\] []a] */ !*/ **/a/** a**b a/*/b é [b-a] foo\ /* !/a */* !.h *a* [^b] a-c"
).split(" ")
LINES[14:16] = ["a\\ b", "a b  "]
EVERYTHING = Settings(include=("**",), exclude=())


def grow_tree(folder: Path, chance: random.Random, depth: int = 3) -> None:
    """A tree of folders, files and ignore files, none of them foreseen."""
    for name in chance.sample(NAMES, chance.randint(2, 5)):
        if depth and "." not in name and chance.random() < 0.5:
            (folder / name).mkdir()
            grow_tree(folder / name, chance, depth - 1)
        else:
            (folder / name).write_text("select 1")
    if chance.random() < 0.6:
        (folder / ".gitignore").write_text("\n".join(chance.choices(LINES, k=chance.randint(1, 4))) + "\n")


@pytest.mark.parametrize("seed", range(25))
def test_what_git_ignores_is_ignored(seed: int, tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    grow_tree(tmp_path, random.Random(seed))
    (tmp_path / ".git" / "info" / "exclude").write_text("y.sql\n")
    listed = run_git(tmp_path, "ls-files", "--others", "--exclude-standard", "-z").split("\0")
    found = {file.path for file in discover_folder(tmp_path, EVERYTHING).files}
    assert found == {path for path in listed if path}


def test_lineageignore_overrides_gitignore_in_folders_and_revisions(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "-b", "main")
    write_files(tmp_path, a_sql="select 1", old__b_sql="select 2", gen__c_sql="select 3", gen__keep_sql="select 4")
    (tmp_path / ".lineageignore").write_text("old/\ngen/*\n!gen/keep.sql\n")
    run_git(tmp_path, "add", "-A")
    run_git(tmp_path, "commit", "-q", "-m", "x")
    (tmp_path / ".gitignore").write_text("keep.sql\na.sql\n")
    (tmp_path / ".lineageignore").write_text("old/\ngen/*\n!gen/keep.sql\n!a.sql\n")
    from lineage_pipeline.discover.git.repository import discover_revision

    for found in (discover_revision(tmp_path, "main", Settings()), discover_folder(tmp_path, Settings())):
        assert [file.path for file in found.files] == ["a.sql", "gen/keep.sql"]


def test_the_ignore_files_of_the_repository_count_in_its_folders(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("/sql/gen/\n*.tmp.sql\nsql\n")
    write_files(tmp_path, sql__a_sql="select 1", sql__gen__b_sql="select 2")
    (tmp_path / "sql" / "c.tmp.sql").write_text("select 3")
    assert [file.path for file in discover_folder(tmp_path / "sql", Settings()).files] == ["a.sql"]


def test_a_manifest_says_what_is_read_and_how(tmp_path: Path) -> None:
    write_files(tmp_path, a_sql="select 1", x__b_sql="select 2", other_sql="select 3")
    (tmp_path / "files.csv").write_text("File;Dialect;Schema\na.sql;tsql;dbo\nx\\b.sql;snowflake;\nnone.sql;tsql;\n")
    (tmp_path / "lineage.toml").write_text('manifest = "files.csv"\n[analysis]\ndefault_schema = "core"\n')
    settings = load_settings(tmp_path, {}, {})
    found = discover_folder(tmp_path, settings)
    read = [
        (file.path, file.options.dialect, file.options.default_schema) for file in build_input_files(found, settings)
    ]
    assert read == [("a.sql", "tsql", "dbo"), ("x/b.sql", "snowflake", "core")]
    assert [(one.code, one.path) for one in found.diagnostics] == [("FILE_MISSING", "none.sql")]
    assert load_settings(tmp_path / "x", {}, {}).list_required_files() == ("b.sql",)
    before = compute_analysis_key(settings)
    (tmp_path / "files.csv").write_text("file,dialect\na.sql,oracle\n")
    assert compute_analysis_key(load_settings(tmp_path, {}, {})) != before
    with pytest.raises(LineageError, match="line 2 names no file"):
        parse_file_manifest("dialect\ntsql\n", "files.csv")
    (tmp_path / "files.csv").unlink()
    with pytest.raises(LineageError, match=r"files.csv: No such file"):
        load_settings(tmp_path, {}, {}).list_required_files()


def test_a_file_says_itself_how_it_is_read(tmp_path: Path) -> None:
    header = '-- Orders.\n-- lineage: dialect=snowflake, schema=CORE catalog=DB system="wh"\n'
    write_files(tmp_path, a_sql=header + "create table t (a int)", b_sql="create table t (a int)")
    (tmp_path / "c.py").write_text('# lineage: dialect=postgres\ncur.execute("create table u (a int)")\n')
    settings = Settings(analysis={"dialect": "tsql"})
    found = discover_folder(tmp_path, settings)
    read = {file.path: file.options for file in build_input_files(found, settings)}
    assert (read["a.sql"].dialect, read["a.sql"].default_schema, read["a.sql"].system) == ("snowflake", "CORE", "wh")
    assert (read["b.sql"].dialect, read["c.py"].dialect) == ("tsql", "postgres")
    assert [file.evidence for file in found.files] == ["header comment", "settings", "header comment"]


def test_an_unknown_word_in_an_options_comment_is_a_finding(tmp_path: Path) -> None:
    write_files(
        tmp_path, a_sql="-- lineage: dialekt=tsql schema=dbo\nselect 1", b_sql="/* lineage: snowflake */\nselect 1"
    )
    write_files(tmp_path, c_sql="-- lineage: orders feed revenue\nselect 1")
    told = discover_folder(tmp_path, Settings()).diagnostics
    assert [(row.code, row.path, row.line, row.column) for row in told] == [
        ("HEADER_UNKNOWN", "a.sql", 1, 13),
        ("HEADER_UNKNOWN", "b.sql", 1, 13),
    ]
    assert told[0].message.startswith("the comment at the top says dialekt, which nobody reads; it may say catalog,")


def test_the_dialect_is_detected_where_it_is_not_given(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        a_sql="create table [dbo].[T] ([Id] int);\nGO\n",
        b_sql="set nocount on; select top 3 * from dbo.t",
        c_sql="select id from t",
        d_sql="create table u (v variant); copy into u from @stage",
    )
    found = discover_folder(tmp_path, Settings())
    assert [file.dialect for file in found.files] == ["tsql", "tsql", "tsql", "snowflake"]
    told = "2 of 3 files: GO on a line of its own, SET NOCOUNT ON, names in brackets"
    assert [file.evidence for file in found.files[:3]] == [told] * 3
    said = CliRunner().invoke(app, ["scan", str(tmp_path), "-v"]).stderr
    assert "d.sql: snowflake (detected: VARIANT columns, COPY INTO from a stage), utf-8" in said


PROGRAMS = {
    "a_notebook.py": ("# Databricks notebook source\nspark.sql('drop table t')", "databricks", "a Databricks notebook"),
    "b_spark.py": ("spark.sql('drop table t')", "spark", "spark.sql"),
    "c_snowflake.py": ("SnowflakeOperator(sql='drop table t')", "snowflake", "a connector for Snowflake"),
    "d_asyncpg.py": ("import asyncpg\nawait conn.execute('drop table t')", "postgres", "a connector for PostgreSQL"),
    "e_bigquery.py": ("from google.cloud import bigquery\nbq.query('drop table t')", "bigquery", "BigQuery"),
    "f_address.py": ("e = create_engine('mssql+pyodbc://h/d')\ne.execute('drop table t')", "tsql", "SQL Server"),
    "g_magic.ipynb": (
        '{"cells": [{"cell_type": "code", "source": "%%bigquery\\nselect 1"}]}',
        "bigquery",
        "%%bigquery",
    ),
    "h_words.py": (
        "import psycopg2\ncur.execute('create table t (v variant) ;copy into t from @s')",
        "snowflake",
        "stage",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_dialect_of_a_program_is_detected_from_its_database_client(name: str, tmp_path: Path) -> None:
    content, dialect, evidence = PROGRAMS[name]
    (tmp_path / name).write_text(content)
    (file,) = discover_folder(tmp_path, Settings()).files
    assert (file.dialect, evidence in (file.evidence or "")) == (dialect, True)


SPOKEN = {
    "select v:k.l[0]::string as k from raw": "snowflake",
    "select f.value from t, lateral flatten(input => t.v) as f": "snowflake",
    "select f.value from t, table(flatten(t.v)) as f qualify row_number() over (order by 1) = 1": "snowflake",
    "insert overwrite table t partition (ds = '2020-01-01') select a from b": "spark",
    "set hive.exec.dynamic.partition = true; insert overwrite table t partition (ds) select a, ds from b": "hive",
    "select safe_divide(a, b) as c from t": "bigquery",
    "select * except (a) from t": "bigquery",
    "select a.x from a, b where a.id = b.id(+)": "oracle",
    "select x from a where rownum < 10": "oracle",
    "select x from a start with x is null connect by prior id = parent": "oracle",
    "select id, row_number() over (order by a) as rownum from t where rownum2 = 1": "",
    "select a from t where b = :c::int and d = '12:30'::time": "",
    "select a from t except (select a from u)": "",
}


@pytest.mark.parametrize("text", SPOKEN)
def test_characteristic_keywords_identify_a_dialect(text: str) -> None:
    guess = guess_dialect(text)
    assert (guess.dialect if guess is not None else "") == SPOKEN[text]


def test_a_few_files_do_not_decide_the_dialect_of_a_folder(tmp_path: Path) -> None:
    plain = {f"p{number}_sql": f"select {number} as a from t" for number in range(5)}
    write_files(tmp_path, **plain, o_sql="select a.x from a, b where a.id = b.id(+)")
    files = {file.path: file for file in discover_folder(tmp_path, Settings()).files}
    assert {path: file.dialect for path, file in files.items() if file.dialect} == {"o.sql": "oracle"}
    assert files["p0.sql"].evidence == "too few signs: 1 of 6 files look like oracle"


def test_a_file_is_read_like_those_in_its_folder(tmp_path: Path) -> None:
    for folder, text in (("erp", "select a.x from a, b where a.id = b.id(+)"), ("wh", "select v:k::string from t")):
        (tmp_path / folder).mkdir()
        write_files(tmp_path / folder, a_sql=text, b_sql=text, c_sql="select a from t")
    files = discover_folder(tmp_path, Settings()).files
    assert [file.dialect for file in files] == ["oracle"] * 3 + ["snowflake"] * 3


def test_the_files_of_a_database_project_are_of_its_dialect(tmp_path: Path) -> None:
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "Sales.sqlproj").write_text("<Project/>")
    write_files(tmp_path / "db", a_sql="create table t (a int)")
    write_files(tmp_path, b_sql="create table u (a int)")
    files = discover_folder(tmp_path, Settings()).files
    told = [(file.path, file.dialect) for file in files]
    assert told == [("b.sql", "tsql"), ("db/a.sql", "tsql")]
    assert files[1].evidence == "the project db/Sales.sqlproj"


def test_a_project_that_says_its_dialect_is_the_evidence(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "dbt_project.yml").write_text("name: p\nprofile: p\n")
    (tmp_path / "profiles.yml").write_text("p: {target: d, outputs: {d: {type: snowflake}}}\n")
    (tmp_path / "models" / "a.sql").write_text("select 1 as a")
    (tmp_path / "b.sqlx").write_text("config {type: 'view'}\nselect 1 as a")
    write_files(tmp_path, c_sql="MODEL (name c, dialect duckdb); select 1 as a")
    files = {file.path: (file.dialect, file.evidence) for file in discover_folder(tmp_path, Settings()).files}
    assert files["models/a.sql"] == ("snowflake", "dbt profile")
    assert files["b.sqlx"] == ("bigquery", "Dataform writes for BigQuery")
    assert files["c.sql"] == ("duckdb", "the SQLMesh model or its project")


@pytest.mark.parametrize("name", ["profiles.yml.template", "profiles.example.yml", "profiles/sample_profiles.yml"])
def test_a_profile_to_copy_tells_the_dialect_and_no_names(name: str, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "profiles").mkdir()
    (tmp_path / "dbt_project.yml").write_text("name: p\n")
    (tmp_path / name).write_text("p: {outputs: {d: {type: redshift, schema: your_schema}}}\n")
    (tmp_path / "models" / "m.sql").write_text("select 1 as a")
    (file,) = [one for one in discover_folder(tmp_path, Settings()).files if one.path == "models/m.sql"]
    assert (file.dialect, file.evidence) == ("redshift", "dbt profile")
    assert [row.object for row in scan(tmp_path).lineage.columns] == ["m"]


def test_a_file_says_itself_who_renders_it(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        a_sql="-- lineage: templater=brace\ncreate view v as select a from {schema}.t",
        b_sql="-- lineage: templater=none\ncreate view w as select '{{ x }}' as a",
        c_sql="-- lineage: templater=nobody\ncreate view u as select 1 as a",
    )
    settings = Settings(templating={"variables": {"schema": "core"}})
    found = discover_folder(tmp_path, settings)
    assert [file.templater for file in found.files] == ["brace", "", ""]
    assert [file.text.split("\n")[1] for file in build_input_files(found, settings)][0].endswith("from core.t")
    (finding,) = found.diagnostics
    assert (finding.code, finding.path, finding.line, finding.column) == ("TEMPLATE_ERROR", "c.sql", 1, 13)


def test_plain_sql_has_no_detected_dialect(tmp_path: Path) -> None:
    write_files(tmp_path, a_sql="create view v as select a, count(*) as n from t group by a")
    assert discover_folder(tmp_path, Settings()).files[0].dialect == ""
    assert guess_dialect("select a::int from t qualify 1 = 1") is None


def test_every_dialect_with_types_of_its_own_has_signs() -> None:
    typed = {name for name, traits in DIALECTS.items() if traits.types.name == name and name}
    assert typed - {name for name, traits in DIALECTS.items() if traits.signs} == set()


def test_the_dialects_of_the_example_warehouses_are_detected() -> None:
    for folder in sorted(path.parent for path in (ROOT / "sql_assets").rglob("lineage.toml")):
        settings = load_settings(folder, {}, {})
        told = [
            (file.path, guess.dialect, file.dialect)
            for file in discover_folder(folder, settings).files
            if (guess := guess_dialect((folder / file.path).read_text(encoding="utf-8"))) is not None
        ]
        assert [row for row in told if row[1] != row[2]] == []


def test_link_loops_and_pipes_in_a_folder_are_skipped(tmp_path: Path) -> None:
    write_files(tmp_path, a_sql="select 1")
    (tmp_path / "pipe.sql").symlink_to(tmp_path / "pipe.sql")
    subprocess.run(["mkfifo", str(tmp_path / "fifo.sql")], check=True)
    assert [file.path for file in discover_folder(tmp_path, Settings()).files] == ["a.sql"]
