"""A query after an edit: unchanged files are neither read nor linked, and the rows equal those of a full analysis."""

import multiprocessing
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.generate import edit, generate, write
from lineage_pipeline.cli import lineage_cache
from lineage_pipeline.cli.folder_stamp import WRITE_TICK_NS
from lineage_pipeline.cli.inputs import ReadingFlags
from lineage_pipeline.discover import folder as reading
from lineage_pipeline.discover.discovery import RawFile
from lineage_pipeline.engine.graph.plan_builder import build_plan
from lineage_pipeline.incremental import analyze
from lineage_pipeline.incremental.analyze import IncrementalResult
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.plan import Plan
from lineage_pipeline.model.tables import TABLES, SqlFile

FILES = {f"views/v{number}.sql": f"create view v{number} as select * from t{number};" for number in range(1, 15)}
FILES |= {f"tables/t{number}.sql": f"create table t{number} (a int, b int);" for number in range(1, 8)}
FILES |= {"wide.sql": "create view wide as select v1.a, v2.b from v1 join v2 on v1.a = v2.a;"}
FILES |= {f"twice/d{number}.sql": "create table d (a int);" for number in (1, 2)}
FILES |= {"lines.sql": "create view l1 as select a from t9; create view l2 as select b from t9 where a > 0;"}
FILES |= {"lineage.toml": '[analysis]\ndialect = "postgres"\nschemas = ["catalog.csv"]\n'}
FILES |= {"catalog.csv": "table,column,type\nt8,a,int\nt8,b,int\nt2,a,bigint\n"}

EDITS: dict[str, Callable[[Path], object]] = {
    "a column more": lambda at: write({"tables/t1.sql": "create table t1 (a int, b int, c int);"}, at),
    "a remark": lambda at: write({"tables/t1.sql": "-- new\n" + FILES["tables/t1.sql"]}, at),
    "a remark before a stranger": lambda at: write({"views/v8.sql": "-- new\n" + FILES["views/v8.sql"]}, at),
    "no star any more": lambda at: write({"views/v8.sql": "create view v8 as select a, b from t8;"}, at),
    "a condition": lambda at: write({"wide.sql": FILES["wide.sql"].replace(";", " where v1.b > 0;")}, at),
    "a remark at one of two definitions": lambda at: write({"twice/d1.sql": "-- new\ncreate table d (a int);"}, at),
    "a line becomes two": lambda at: write({"lines.sql": FILES["lines.sql"].replace("; ", ";\n")}, at),
    "renamed": lambda at: (at / "views/v2.sql").rename(at / "views/w2.sql"),
    "removed": lambda at: (at / "tables/t1.sql").unlink(),
    "another definition": lambda at: write({"more/t2.sql": "create table t2 (b bigint);"}, at),
    "altered elsewhere": lambda at: write({"z.sql": "alter table t2 add column later date;"}, at),
    "swapped": lambda at: write({"tables/t1.sql": FILES["tables/t2.sql"], "tables/t2.sql": FILES["tables/t1.sql"]}, at),
    "a circle": lambda at: write({"tables/t1.sql": "create view t1 as select * from wide;"}, at),
    "asked through a star": lambda at: write({"wide.sql": "create view wide as select z from v14;"}, at),
    "no SQL any more": lambda at: write({"wide.sql": "select from where"}, at),
    "a template": lambda at: write({"wide.sql": "create view wide as select {{ 1 }} as one from v1;"}, at),
    "a model of another tool": lambda at: write({"wide.sql": "MODEL (name a.b); select a from t3"}, at),
    "a program": lambda at: write({"load.py": 'spark.sql("insert into t1 select * from t2")'}, at),
    "a dbt project": lambda at: write({"dbt_project.yml": "name: it\nmodel-paths: [views]\n"}, at),
    "ignored": lambda at: write({".gitignore": "v1*.sql"}, at),
    "owners": lambda at: write({"CODEOWNERS": "*.sql @us"}, at),
    "an imported column more": lambda at: write({"catalog.csv": FILES["catalog.csv"] + "t8,c,date\n"}, at),
    "an import that yields to nothing": lambda at: write({"catalog.csv": "table,column,type\nt9,a,int\n"}, at),
    "settings": lambda at: write({"lineage.toml": FILES["lineage.toml"] + 'default_schema = "s"\n'}, at),
    "few are left": lambda at: shutil.rmtree(at / "views"),
}


@pytest.fixture(autouse=True)
def caching(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINEAGE_CACHE", "true")
    monkeypatch.setattr(lineage_cache, "MIN_CACHED_FILES", 15)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository that was asked about."""
    write(FILES, tmp_path)
    wait_for_clock()
    query_folder(tmp_path)
    return tmp_path


@pytest.fixture
def linked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[set[str]]]:
    """The files that each analysis linked."""
    found: list[set[str]] = []

    def watched(*given: object) -> IncrementalResult | None:
        done = analyze.update_analysis(*given)  # type: ignore[arg-type]
        found.append(set(done.made) if done is not None else {"everything"})
        return done

    monkeypatch.setattr("lineage_pipeline.incremental.refresh.update_analysis", watched)
    yield found


def wait_for_clock() -> None:
    time.sleep(2 * WRITE_TICK_NS / 1e9)


def query_folder(folder: Path, *, cache: bool = True) -> tuple[LineageTables, tuple[SqlFile, ...]]:
    """All rows that a question may see, in the order of their keys."""
    found = lineage_cache.load_or_analyze([str(folder)], ReadingFlags(cache=cache))
    rows = {
        name: sorted(getattr(found.rows, name), key=lambda row: [str(getattr(row, key)) for key in TABLES[name].key])
        for name in LineageTables.__struct_fields__
    }
    files = sorted(found.facts.files(), key=lambda file: file.path)
    return LineageTables(**{name: tuple(listed) for name, listed in rows.items()}), tuple(files)


@pytest.mark.parametrize("made", EDITS.values(), ids=EDITS)
def test_the_rows_after_an_edit_equal_a_full_analysis(folder: Path, made: Callable[[Path], object]) -> None:
    made(folder)
    assert query_folder(folder) == query_folder(folder, cache=False)
    wait_for_clock()
    write({"again.sql": "create view again as select * from wide;"}, folder)
    assert query_folder(folder) == query_folder(folder, cache=False)


def test_only_what_changed_is_read_and_only_who_reads_it_is_linked(
    folder: Path, linked: list[set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def watched(path: Path, relative: str, *others: Any) -> RawFile | None:
        read.append(relative)
        return READ_FILE(path, relative, *others)

    monkeypatch.setattr(reading, "_read_file", watched)
    EDITS["a remark"](folder)
    query_folder(folder)
    wait_for_clock()
    EDITS["a column more"](folder)
    query_folder(folder)
    assert read == ["tables/t1.sql"] * 2
    assert linked == [{"tables/t1.sql"}, {"tables/t1.sql", "views/v1.sql", "wide.sql"}]


READ_FILE = reading._read_file


@pytest.mark.parametrize(
    ("made", "planned"),
    [
        ("a remark", 0),
        ("a remark before a stranger", 0),
        ("a condition", 0),
        ("a column more", 0),
        ("no star any more", 1),
        ("a remark at one of two definitions", 1),
        ("a line becomes two", 1),
        ("swapped", 1),
        ("owners", 1),
    ],
)
def test_the_plan_is_reused_while_script_interfaces_are_unchanged(
    folder: Path, monkeypatch: pytest.MonkeyPatch, made: str, planned: int
) -> None:
    built: list[int] = []

    def watched(*given: object) -> Plan:
        built.append(1)
        return build_plan(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(analyze, "build_plan", watched)
    EDITS[made](folder)
    query_folder(folder)
    assert len(built) == planned


def test_damaged_state_is_computed_again(folder: Path, linked: list[set[str]]) -> None:
    whole = query_folder(folder, cache=False)
    for suffix in ("*.index", "*.kept"):
        (file,) = (folder / ".lineage").rglob(suffix)
        content = file.read_bytes()
        for damaged in (b"", content[: len(content) // 2], content[:2000] + bytes(9) + content[2009:], b"x" + content):
            file.write_bytes(damaged)
            for note in (folder / ".lineage").rglob("*.seen"):
                note.unlink()
            assert query_folder(folder) == whole
            wait_for_clock()
    assert linked


def test_two_processes_may_query_at_once(folder: Path) -> None:
    context = multiprocessing.get_context("fork")
    write({f"views/v{number}.sql": f"create view v{number} as select a from t{number};" for number in (1, 2)}, folder)
    with context.Pool(2) as pool:
        answers = pool.map(query_folder, [folder] * 4, chunksize=1)
        pool.close()
        pool.join()
    assert all(answer == query_folder(folder, cache=False) for answer in answers)


def test_a_repository_after_many_edits_has_the_rows_of_a_new_one(tmp_path: Path) -> None:
    texts = generate(60, 0, "snowflake")
    write(texts | {"lineage.toml": '[analysis]\ndialect = "snowflake"\n'}, tmp_path)
    for number in range(4):
        assert query_folder(tmp_path) == query_folder(tmp_path, cache=False)
        texts = edit(texts, 5, number)
        write(texts, tmp_path)


VOTES = {
    f"s{number}.sql": f"\\cd x\ncreate view S{number} as select a::int as A from T{number};" for number in range(3)
}
VOTES |= {f"p{number}.sql": f"create view V{number} as select A, b from S{number};" for number in range(15)}

VOTE_EDITS: dict[str, Callable[[Path], object]] = {
    "one file votes otherwise": lambda at: write({"s0.sql": "create table [dbo].[S0] (A int);\nGO\n"}, at),
    "all files that speak vote otherwise": lambda at: write(
        {f"s{number}.sql": "create transient table S0 (v variant); copy into S0 from @s" for number in range(3)}, at
    ),
    "nobody votes any more": lambda at: write({f"s{number}.sql": "create table S0 (A int)" for number in range(3)}, at),
    "sqlfluff says it": lambda at: write({".sqlfluff": "[sqlfluff]\ndialect = snowflake\n"}, at),
    "a folder votes apart": lambda at: write(
        {f"tsql/t{number}.sql": f"create table [dbo].[T{number}] (A int);\nGO\n" for number in range(3)}, at
    ),
}


@pytest.mark.parametrize("made", VOTE_EDITS.values(), ids=VOTE_EDITS)
def test_an_edit_changes_the_dialect_of_a_folder_as_a_full_analysis_does(
    tmp_path: Path, made: Callable[[Path], object]
) -> None:
    write(VOTES, tmp_path)
    wait_for_clock()
    assert {file.dialect for file in query_folder(tmp_path)[1]} == {"postgres"}
    wait_for_clock()
    made(tmp_path)
    assert query_folder(tmp_path) == query_folder(tmp_path, cache=False)
