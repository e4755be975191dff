"""Endings: every file with SQL in it is read, or somebody says that it is not."""

import gzip
import tracemalloc
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lineage_pipeline.api import scan
from lineage_pipeline.cli.app import app
from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.dialects.registry import DIALECTS
from lineage_pipeline.discover.discovery import Discovery
from lineage_pipeline.discover.file_selection import MAX_FOLDERS_REPORTED, MAX_SNIFFED_IN_FOLDER, UnreadReason
from lineage_pipeline.discover.folder import discover_folder, open_folder
from lineage_pipeline.discover.git.repository import WORKTREE, discover_revision, open_revision
from lineage_pipeline.discover.sql_sniffing import HEAD_BYTES, looks_like_sql, unpack_gzip, unpack_head
from lineage_pipeline.discover.templating.templaters import TEMPLATERS
from lineage_pipeline.files.sql_endings import KINDS_BY_ENDING, OTHER_ENDINGS, SQL_FILE_KINDS, name_ending
from lineage_pipeline.model.enums import Status
from lineage_pipeline.model.tables import Diagnostic
from lineage_pipeline_tests.support.git_repositories import run_git

VIEW = "-- orders by day\ncreate view v_{0} as select a, b from raw.t_{0};\n"
ENDINGS = [ending for kind in SQL_FILE_KINDS for ending in kind.endings if ending != ".sqlx"]
WAYS = ("folder", "HEAD", WORKTREE)


def commit_all(folder: Path) -> None:
    run_git(folder, "init", "-q", "-b", "main")
    run_git(folder, "add", "-A", "-f")
    run_git(folder, "commit", "-q", "-m", "first")


def discover(folder: Path, way: str, settings: Settings | None = None) -> Discovery:
    rules = settings or Settings()
    return discover_folder(folder, rules) if way == "folder" else discover_revision(folder, way, rules)


def list_unread(found: Discovery) -> list[Diagnostic]:
    return [finding for finding in found.diagnostics if finding.code == "UNREAD_FILES"]


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def every_ending(tmp_path: Path) -> Path:
    """A file with a view for each ending: as it is, in upper case, in mixed case, and compressed where that is read."""
    for number, ending in enumerate(ENDINGS):
        write(tmp_path, {f"plain/f{number}{ending}": VIEW.format(f"p{number}")})
        write(tmp_path, {f"upper/F{number}{ending.upper()}": VIEW.format(f"u{number}")})
        write(tmp_path, {f"mixed/F{number}{ending.title()}": VIEW.format(f"m{number}")})
        if KINDS_BY_ENDING[ending].zipped:
            write(tmp_path, {f"gz/f{number}{ending}.gz": gzip.compress(VIEW.format(f"z{number}").encode())})
    return tmp_path


@pytest.mark.parametrize("way", WAYS)
def test_every_ending_is_read_in_any_case(every_ending: Path, way: str) -> None:
    commit_all(every_ending)
    found = discover(every_ending, way)
    written = {
        path.relative_to(every_ending).as_posix() for path in every_ending.glob("*/*") if ".git" not in path.parts
    }
    assert len(ENDINGS) >= 45
    assert {file.path for file in found.files} == written
    assert {file.status for file in found.files} == {Status.ANALYSED}
    assert (found.unread, found.diagnostics) == ((), ())


def test_the_view_of_every_file_is_analyzed(every_ending: Path) -> None:
    names = {row.object.lower().rpartition(".")[2] for row in scan(every_ending).lineage.objects}
    for number, ending in enumerate(ENDINGS):
        ways = "pumz" if KINDS_BY_ENDING[ending].zipped else "pum"
        assert {f"v_{way}{number}" for way in ways} <= names, ending


@pytest.mark.parametrize(
    ("name", "text", "dialect"),
    [
        ("a.pkb", "create or replace package body p is end;", "oracle"),
        ("a.vw", "create view v as select 1 from t", "oracle"),
        ("a.prc", "create procedure [dbo].[p] as\nselect 1\nGO\n", "tsql"),
        ("a.psql", "select 1", "postgres"),
        ("a.psql", "create table t (a int) distkey(a) sortkey(a);", "postgres"),
        ("a.tsql", "select 1", "tsql"),
        ("a.mysql", "select 1", "mysql"),
        ("a.bteq", ".LOGON x\nselect 1;", "teradata"),
        ("a.HQL", "select 1", "hive"),
        ("a.pks.gz", "create or replace package p is end;", "oracle"),
        ("a.ddl", "create table t (a int)", ""),
        ("load", "#!/usr/bin/env -S psql -f\nselect 1", "postgres"),
        ("load", "#!/opt/oracle/bin/sqlplus -s\nselect 1", "oracle"),
        ("load", "#!/usr/bin/mysql\nselect 1", "mysql"),
        ("load", "#!/usr/bin/duckdb\nselect 1", "duckdb"),
        ("load", "#!/usr/bin/sqlite3 -init\nselect 1", "sqlite"),
    ],
)
def test_an_ending_or_a_first_line_suggests_the_dialect(tmp_path: Path, name: str, text: str, dialect: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    (file,) = discover_folder(tmp_path, Settings()).files
    assert file.dialect == dialect
    (told,) = discover_folder(tmp_path, load_settings(tmp_path, {"analysis": {"dialect": "snowflake"}}, {})).files
    assert told.dialect == "snowflake", "settings override any sign"


def test_a_script_with_a_client_in_its_first_line_parses(tmp_path: Path) -> None:
    (tmp_path / "load").write_text("#!/usr/bin/env -S psql -f\ncreate view v as select a from t;\n")
    found = scan(tmp_path).lineage
    assert [edge.to_column for edge in found.column_edges] == ["a"]
    assert [finding.code for finding in found.diagnostics] == ["UNKNOWN_TABLE"]
    assert found.statements[0].span is not None
    assert found.statements[0].span.line == 2


def test_a_template_by_its_ending_is_rendered(tmp_path: Path) -> None:
    text = "{# no braces that tell #}create view v as select a from {{ 'raw' }}.t;"
    write(tmp_path, {"a.sql.j2": text, "b.j2.sql": "create view w as select 1 as one;"})
    found = discover_folder(tmp_path, Settings())
    assert [file.templater for file in found.files] == ["jinja", "jinja"]
    assert "from raw.t" in found.sources[0].rendered + found.sources[1].rendered


@pytest.mark.parametrize("way", WAYS)
def test_only_dumps_in_plain_text_are_read(tmp_path: Path, way: str) -> None:
    header = "--\n-- PostgreSQL database dump\n--\n\n\\restrict x\n\nSET statement_timeout = 0;\n"
    header += "SELECT pg_catalog.set_config('search_path', '', false);\n\nCREATE TABLE public.t (\n    a integer\n);\n"
    write(tmp_path, {"plain.dump": header, "custom.dump": b"PGDMP\x01\x0e\x00\x04\x08\x01CREATE TABLE t (a int);"})
    write(tmp_path, {"oracle.dmp": b"\x03\x01EXPORT:V11.02.00\nDSCOTT\nCREATE TABLE t (a int);\n"})
    write(tmp_path, {"crash.dmp": b"MDMP\x93\xa7\x00\x00", "wide.DUMP": "create table w (a int);".encode("utf-16")})
    commit_all(tmp_path)
    found = discover(tmp_path, way)
    assert [file.path for file in found.files] == ["plain.dump", "wide.DUMP"]
    assert (found.unread, found.diagnostics) == ((), ())


def test_dumps_follow_the_files_around_them(tmp_path: Path) -> None:
    for number in range(20):
        write(tmp_path, {f"{number}.dump": "insert into t values (1);"})
    write(tmp_path, {"a.sql": "delimiter $$\nselect 1$$", "b.sql": "select 1"})
    assert {file.dialect for file in discover_folder(tmp_path, Settings()).files} == {"mysql"}


def test_a_partial_clone_misses_what_may_be_sql(tmp_path: Path) -> None:
    repo = tmp_path / "shop"
    write(repo, {"a.sql": VIEW, "b.vw": VIEW, "c.dump": VIEW, "d.txt": VIEW})
    commit_all(repo)
    run_git(repo, "config", "uploadpack.allowFilter", "true")
    run_git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", repo.as_uri(), "clone")
    found = discover_revision(tmp_path / "clone", "HEAD", Settings())
    missing = [finding.path for finding in found.diagnostics if finding.code == "CONTENT_MISSING"]
    assert (missing, [file.path for file in found.unread]) == (["a.sql", "b.vw"], ["c.dump"])
    assert list_unread(found)[0].message == (
        "1 file looks like SQL and is not read: 1 .dump (may be SQL, content not in this clone); "
        "see `lineage explain UNREAD_FILES`"
    )


@pytest.mark.parametrize("way", WAYS)
def test_an_ending_with_other_uses_is_read_only_where_it_is_sql(tmp_path: Path, way: str) -> None:
    write(
        tmp_path,
        {
            "paper.typ": "#let x = 1\n= Heading\nselect text from here",
            "list.pls": "[playlist]\nFile1=a.mp3",
            "data.tab": "id\tname\n1\tx\n",
            "rows.tbl": "1|goldenrod|7\n",
            "plugin.sp": "/* SourcePawn */\n#include <sourcemod>\npublic void OnPluginStart() {}",
            "app.pkg": b"xar!\x00\x1c\x00\x01",
            "t.q": "trades:([]time:`time$())",
            "only_comments.vw": "-- to be written\n/* and so on */\n",
            "licence.tps": "/*\n" + "  words\n" * 2 * HEAD_BYTES + "*/\ncreate type t as object (a number);",
            "grant.syn": "prompt x\nset echo on\nwhenever sqlerror exit\ncreate or replace public synonym s for t;",
        },
    )
    commit_all(tmp_path)
    found = discover(tmp_path, way)
    assert [file.path for file in found.files] == ["grant.syn", "licence.tps", "only_comments.vw"]
    assert list_unread(found) == []


# ── compressed files ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("way", WAYS)
def test_a_compressed_file_is_read_as_what_is_in_it(tmp_path: Path, way: str) -> None:
    text = "create view v as select a from t;\n"
    parts = gzip.compress(text[:9].encode()) + gzip.compress(text[9:].encode())
    write(tmp_path, {"a.sql": text, "b.sql.gz": gzip.compress(text.encode()), "c.SQL.GZ": parts})
    write(tmp_path, {"pointer.sql.gz": "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"})
    write(tmp_path, {"broken.sql.gz": gzip.compress(b"select 1" * 1000)[:-20], "named.sql.gz": text})
    commit_all(tmp_path)
    found = discover(tmp_path, way)
    sources = {source.source_hash: source.text for source in found.sources}
    texts = {file.path: sources[file.source_hash] for file in found.files if file.status is not Status.FAILED}
    assert texts == dict.fromkeys(("a.sql", "b.sql.gz", "c.SQL.GZ", "named.sql.gz"), text)
    assert len({file.source_hash for file in found.files if file.path in texts}) == 1, "one content, four files"
    told = {finding.path: (finding.code, finding.message) for finding in found.diagnostics}
    assert told["pointer.sql.gz"][0] == "LFS_POINTER"
    assert told["broken.sql.gz"] == (
        "ENCODING_ERROR",
        "cannot decode the file: it cannot be unpacked: it ends too early",
    )


BOMB = gzip.compress(b"select 1;" + b" " * 300_000_000)


@pytest.mark.parametrize("way", WAYS)
def test_a_gzip_bomb_is_over_the_limit(tmp_path: Path, way: str) -> None:
    write(tmp_path, {"a.sql": "select 1", "bomb.sql.gz": BOMB, "bomb.dump.gz": BOMB, "bomb.txt.gz": BOMB})
    commit_all(tmp_path)
    found = discover(tmp_path, way, load_settings(tmp_path, {"analysis": {"limits": {"bytes": 1_000_000}}}, {}))
    told = {(finding.path, finding.code) for finding in found.diagnostics}
    assert told == {("bomb.sql.gz", "LIMIT_EXCEEDED"), ("bomb.dump.gz", "LIMIT_EXCEEDED")}
    assert {(file.path, file.reason) for file in found.unread} == {
        ("bomb.sql.gz", UnreadReason.TOO_LARGE),
        ("bomb.dump.gz", UnreadReason.TOO_LARGE),
    }


def test_a_gzip_bomb_is_not_unpacked_beyond_the_limit() -> None:
    many = gzip.compress(b"select 1;" * 100) * 10_000
    tracemalloc.start()
    assert unpack_gzip(BOMB, 1_000_000) is None
    assert unpack_head("x.dump.gz", BOMB)[:8] == b"select 1"
    assert unpack_gzip(many, 1_000_000) is None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000
    assert unpack_gzip(gzip.compress(b"") * 100_000, 1_000_000) == b"", "one after the other, and each read once"


# ── what is not read ─────────────────────────────────────────────────────────────────────────────────────────────

LOOKS = (
    "create or replace view v as select 1",
    "-- x\n/* y */\nCREATE TABLE [dbo].[t] (a int)",
    "# mysql\ninsert into t values (1);",
    "with a as (select 1) select * from a",
    "SELECT a.x, b.y\nFROM a JOIN b ON a.id = b.id",
    "select 1;",
    "merge into t using s on t.a = s.a when matched then delete",
    "USE shop\nGO\nSET ANSI_NULLS ON\nGO\nALTER PROCEDURE dbo.p @a int AS select 1",
    ".LOGON x/y,z\nDATABASE d;\nREPLACE VIEW v AS LOCKING ROW FOR ACCESS SELECT * FROM t;",
    "IF OBJECT_ID('t') IS NOT NULL DROP TABLE t",
    "{{ config(materialized='table') }}\nselect * from {{ ref('a') }}",
    "\\set ON_ERROR_STOP on\nbegin;\nupdate t set a = 1;",
    "grant select on t to public;",
    "comment on table t is 'x';",
    "delete from t where a = 1",
    "create package p as end;",
    "DECLARE\n  n number;\nBEGIN\n  null;\nEND;",
    "COPY public.t (a, b) FROM stdin;\n1\t2\n",
)
DOES_NOT = (
    "#!/bin/bash\nset -e\nexec ./server query\n",
    "#!/usr/bin/env python3\nselect = 1\n",
    "",
    "Select the files from the list.",
    "select one of the options from any menu",
    "Create a table of contents, then\nselect a chapter.",
    "Insert into the slot",
    "Update your settings, set them = 1",
    "Drop table support was removed",
    "With regards as ever",
    "delete from this list what is old",
    "def f():\n    return 'select a from t'",
    "<?php $q = 'select a from t';",
    '{"sql": "select a from t"}',
    "set number\nset background=dark\n",
    "some notes\ncreate table t (a int);",
    "create table t (a int);\0\1\2",
    "version https://git-lfs.github.com/spec/v1\n",
    "CREATE (n:Person {name: 'x'})",
)


@pytest.mark.parametrize("text", LOOKS)
def test_what_looks_like_sql(text: str) -> None:
    for content in (text.encode(), text.upper().encode(), ("\ufeff" + text).encode(), text.encode("utf-16")):
        assert looks_like_sql(content)
        assert looks_like_sql(content, expected=True)


@pytest.mark.parametrize("text", DOES_NOT)
def test_what_does_not_look_like_sql(text: str) -> None:
    assert not looks_like_sql(text.encode())


@pytest.mark.parametrize("way", WAYS)
def test_unread_files_give_one_finding_for_their_folder(tmp_path: Path, way: str) -> None:
    write(tmp_path, {"a.sql": "select 1", "old/a.txt": VIEW, "old/b.TXT": VIEW, "old/c.sql.zip": b"PK\x03\x04"})
    write(tmp_path, {"old/d.foo": VIEW, "old/e": VIEW, "old/notes.txt": "nothing", "new/x.sql": "select 2"})
    commit_all(tmp_path)
    found = discover(tmp_path, way)
    assert [file.path for file in found.files] == ["a.sql", "new/x.sql"]
    (told,) = list_unread(found)
    assert (told.path, told.severity.value, told.stage.value) == ("old", "warning", "discovery")
    assert told.message == (
        "5 files look like SQL and are not read: 2 .txt (unknown ending), "
        "1 .sql.zip (compressed, and not with gzip), 1 .foo (unknown ending), 1 without an ending (unknown ending); "
        'to read them, set include = ["defaults", "*.foo", "*.txt", "old/e"]'
    )
    wider = load_settings(tmp_path, {"include": ["defaults", "*.foo", "*.txt", "old/e"]}, {})
    assert [file.path for file in discover(tmp_path, way, wider).files] == [
        "a.sql", "new/x.sql", "old/a.txt", "old/b.TXT", "old/d.foo", "old/e", "old/notes.txt",
    ]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_pages_programs_and_vendored_files_are_never_reported(tmp_path: Path, way: str) -> None:
    write(tmp_path, {"a.py": "TEXT = 'create a view'\n# create view v as select a from t\n"})
    for path in ("README.md", "x.php", "x.sh", "x.json", "x.yml", "x.csv", "x.log", ".hidden", ".psqlrc"):
        write(tmp_path, {path: VIEW})
    for folder in (
        "node_modules/x",
        "sub/node_modules",
        ".venv/lib",
        "py/lib",
        "x/site-packages",
        ".tox/y",
        ".lineage",
    ):
        write(tmp_path, {f"{folder}/a.txt": VIEW, f"{folder}/b": VIEW})
    write(tmp_path, {"py/pyvenv.cfg": "home = /usr", "a.sql": "select 1"})
    commit_all(tmp_path)
    found = discover(tmp_path, way)
    assert ([file.path for file in found.files], list_unread(found), found.unread) == (["a.sql"], [], ())


@pytest.mark.parametrize("way", WAYS)
def test_a_folder_that_is_excluded_by_default_is_reported_unless_a_tool_made_it(tmp_path: Path, way: str) -> None:
    write(tmp_path, {"a.sql": "select 1", "target/b.sql": VIEW, "target/x/c.pkb": VIEW, "target/d.js": "x"})
    write(tmp_path, {"shop/dbt_project.yml": "name: shop\n", "shop/target/compiled/e.sql": VIEW})
    commit_all(tmp_path)
    found = discover(tmp_path, way)
    assert [(file.path, file.reason) for file in found.unread] == [
        ("target/b.sql", UnreadReason.EXCLUDED),
        ("target/x/c.pkb", UnreadReason.EXCLUDED),
    ]
    assert [finding.path for finding in list_unread(found)] == ["target", "target/x"]
    assert not list_unread(discover(tmp_path, way, load_settings(tmp_path, {"exclude": ["defaults", "z/**"]}, {})))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("flags", [{"exclude": ["old/**"]}, {"include": ["*.sql"]}, {"exclude": ["*.txt"]}])
def test_what_the_user_excludes_is_not_reported(tmp_path: Path, way: str, flags: dict[str, list[str]]) -> None:
    write(tmp_path, {"a.sql": "select 1", "old/a.txt": VIEW})
    commit_all(tmp_path)
    assert len(list_unread(discover(tmp_path, way))) == 1
    found = discover(tmp_path, way, load_settings(tmp_path, flags, {}))
    assert (found.unread, list_unread(found)) == ((), [])
    write(tmp_path, {".lineageignore": "old/\n"})
    run_git(tmp_path, "add", "-A")
    run_git(tmp_path, "commit", "-q", "-m", "second")
    assert list_unread(discover(tmp_path, way)) == []


def test_a_manifest_says_all(tmp_path: Path) -> None:
    write(tmp_path, {"a.sql": "select 1", "b.txt": VIEW, "files.csv": "file\na.sql\n"})
    assert discover_folder(tmp_path, load_settings(tmp_path, {"manifest": "files.csv"}, {})).unread == ()


def test_only_so_many_files_of_a_folder_are_opened(tmp_path: Path) -> None:
    for number in range(MAX_SNIFFED_IN_FOLDER + 20):
        write(tmp_path, {f"many/{number}.txt": VIEW, f"few/{number % 3}.txt": VIEW})
    few, many = list_unread(discover_folder(tmp_path, Settings()))
    assert few.message.startswith("3 files look like SQL and are not read: 3 .txt (unknown ending); ")
    assert f"{MAX_SNIFFED_IN_FOLDER} .txt (unknown ending) ({MAX_SNIFFED_IN_FOLDER} of " in many.message
    assert f" of {MAX_SNIFFED_IN_FOLDER + 20} files with unknown endings were looked at)" in many.message


def test_many_folders_are_reported_together(tmp_path: Path) -> None:
    for number in range(MAX_FOLDERS_REPORTED + 5):
        write(tmp_path, {f"top/x{number}/a.txt": VIEW, f"top/x{number}/y/b.txt": VIEW})
    (told,) = list_unread(discover_folder(tmp_path, Settings()))
    assert (told.path, told.message.split(" ")[0]) == ("top", str(2 * (MAX_FOLDERS_REPORTED + 5)))


def test_a_reader_that_streams_knows_the_unread_files_at_its_end(tmp_path: Path) -> None:
    write(tmp_path, {"a.pkb": VIEW, "b.txt": VIEW})
    commit_all(tmp_path)
    for reader in (open_folder(tmp_path, Settings()), open_revision(tmp_path, "HEAD", Settings())):
        assert len(list(reader.sources())) == 1
        assert [finding.path for finding in list_unread(reader.done())] == ["."]


# ── what commands say ────────────────────────────────────────────────────────────────────────────────────────────


def test_commands_say_what_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path,
        {"one/a.sql": "create view v as select a from t;", "one/b.txt": VIEW, "two/c.pkb": VIEW, "two/d": VIEW},
    )
    commit_all(tmp_path)
    summary = (
        "lineage: 2 files look like SQL and are not read: 1 .txt (unknown ending), 1 without an ending (unknown ending)"
    )
    for places in ((".",), (".@HEAD",), ("one", "two"), ("one", ".@HEAD")):
        said = CliRunner().invoke(app, ["scan", *places])
        lines = said.stderr.splitlines()
        assert ([line for line in lines if "look like SQL" in line] == [f"{summary}; -v lists them"]) is (
            places != ("one", ".@HEAD")
        ), said.stderr
        assert said.stdout.count("[UNREAD_FILES]") == (3 if len(places) == 2 and "@" in places[1] else 2)
    for words in (["scan", ".", "-v"], ["-v", "scan", "."], ["scan", ".@HEAD", "--verbose"]):
        lines = CliRunner().invoke(app, words).stderr.splitlines()
        assert any(line.startswith("one/a.sql: ") for line in lines)
        assert "two/c.pkb: oracle (1 of 2 files: the ending .pkb), utf-8" in lines
        assert "one/b.txt: not read (unknown ending)" in lines
        assert "two/d: not read (unknown ending)" in lines
        assert summary in lines
    assert "look like SQL" not in CliRunner().invoke(app, ["scan", ".", "-q"]).stderr


@pytest.mark.parametrize("words", [["diff", "HEAD", "WORKTREE"], ["impact", "t.a"], ["show", "v"]])
def test_verbose_lists_the_files_of_other_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"a.sql": "create view v as select a from t;", "b.txt": VIEW})
    commit_all(tmp_path)
    said = CliRunner().invoke(app, [*words, "-v"]).stderr
    assert "a.sql: generic SQL" in said
    assert "b.txt: not read (unknown ending)" in said
    assert "b.txt: not read" not in CliRunner().invoke(app, words).stderr


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_table_of_endings_names_what_exists() -> None:
    listed = [ending for kind in SQL_FILE_KINDS for ending in kind.endings]
    assert len(listed) == len(set(listed))
    assert OTHER_ENDINGS.isdisjoint(listed)
    assert all(ending == ending.lower() and name_ending(f"x{ending}") == ending for ending in listed)
    assert {kind.dialect for kind in SQL_FILE_KINDS} <= set(DIALECTS)
    assert {kind.templater for kind in SQL_FILE_KINDS} <= {"", *TEMPLATERS}
    assert all(bool(kind.dialect) == bool(kind.worth) for kind in SQL_FILE_KINDS)
