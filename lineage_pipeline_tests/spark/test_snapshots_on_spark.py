"""Spark gives the rows that one process gives, with a counted number of jobs."""

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from benchmarks.generate import generate
from lineage_pipeline import pipeline
from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.configured_schemas import compute_analysis_key, import_configured_schemas
from lineage_pipeline.discover.discovery import Discovery, build_input_files
from lineage_pipeline.discover.example.repository import build_example
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.discover.git.repository import discover_revision
from lineage_pipeline.discover.schemas.project_schemas import add_project_schemas
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import ObjectKind, Origin
from lineage_pipeline.model.plan import ObjectEntry, Plan
from lineage_pipeline.store.compiled_scripts import compact_compiled
from lineage_pipeline.store.file_store import FileStore
from lineage_pipeline.store.run import WarehouseRun
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.export.test_hostile_names import ALL_HOSTILE_NAMES
from lineage_pipeline_tests.support.cases import load_cases
from lineage_pipeline_tests.support.example_run import canonical_rows, run_example
from lineage_pipeline_tests.support.paths import FIXTURES, ROOT

pytestmark = pytest.mark.spark

HARD = {
    "01_tables.sql": "create table raw.a (id int not null, name varchar(9), total as id + 1);\ncreate table b (x int);",
    "02_open.sql": "create view v as select * from nowhere;\ncreate view w as select *, v.late from v;",
    "03_asked.sql": "create view u as select w.one, w.two, other.three from w join other on w.one = other.k;",
    "04_unknown_target.sql": "insert into made select id, name from raw.a;\ninsert into made select x, x + 1 from b;",
    "05_circle.sql": "create view p as select * from q;\ncreate view q as select p.id from p join raw.a on true;",
    "06_twice.sql": "create view v as select id from raw.a;\ncreate table b (x int, y int);",
    "07_broken.sql": "select from where;\nselect bogus, id from raw.a where nope = 1;",
    "08_alter.sql": "alter table b add column z int;\ncreate table c as select * from b;\ndrop table b;",
    "09_empty.sql": "-- nothing at all\n",
    "10_same_content.sql": "create table b (x int);",
    "11_same_content.sql": "create table b (x int);",
}
"""What is easy to get wrong when files are linked apart: order, circles, stars over strangers, names that meet."""


@dataclass(frozen=True)
class SparkSnapshot:
    """A warehouse of its own, on the session that all tests share."""

    settings: Settings

    def begin(self, found: Discovery, run: str) -> WarehouseRun:
        opened = Warehouse(self.settings.warehouse).begin(found.key, run, compute_analysis_key(self.settings))
        opened.write("snapshots", [found.snapshot])
        opened.write("sources", found.sources)
        opened.write("sql_files", found.files)
        opened.write("diagnostics", [], part="discovery")
        return opened

    def analyse(self, found: Discovery, run: str = "r1") -> LineageTables:
        from lineage_pipeline.spark import stages
        from lineage_pipeline.spark.session import get_session
        from lineage_pipeline.spark.workspace import Workspace

        opened = self.begin(found, run)
        imported = add_project_schemas(
            import_configured_schemas(self.settings), found.files, found.sources, self.settings
        ).schemas
        files = FileStore(self.settings.warehouse)
        work = Workspace(opened, files, self.settings, lambda: get_session(self.settings.spark), imported)
        stages.write_statements(work)
        stages.write_object_graph(work)
        stages.write_schemas(work)
        stages.write_column_graph(work)
        opened.publish()
        return Warehouse(self.settings.warehouse).load(found.key)


def make_spark_snapshot(folder: Path, files: dict[str, str], settings: str = "") -> SparkSnapshot:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "lineage.toml").write_text(settings, encoding="utf-8")
    return SparkSnapshot(load_settings(folder, {}, {}))


def fixture_files() -> Iterator[tuple[str, str]]:
    """Give every case of the engine's fixtures as a file, in a folder of its dialect, and one with nasty names."""
    for number, case in enumerate(load_cases("link")):
        yield f"{case.setting('dialect') or 'any'}/{number:04}.sql", case.sql
    nasty = (name.replace('"', '""') for name in ALL_HOSTILE_NAMES if not {"\0", "{"} & set(name))
    yield "postgres/nasty.sql", "".join(f'create view "v{name}" as select "{name}" from "{name}";\n' for name in nasty)


@pytest.mark.parametrize("side", [0, 1], ids=["base", "head"])
def test_the_example_has_the_same_rows_in_process_and_on_spark(side: int) -> None:
    made = run_example()
    commit = (made.example.base, made.example.head)[side]
    found = discover_revision(made.example.path, commit, made.settings, name="example")
    assert canonical_rows(made.warehouse.load(found.key)) == canonical_rows(
        pipeline.build_lineage(build_input_files(found, made.settings))
    )


def test_every_fixture_of_the_engine_has_the_same_rows_in_process_and_on_spark(tmp_path: Path) -> None:
    files = dict(fixture_files())
    dialects = sorted({name.partition("/")[0] for name in files})
    systems = [f'[[systems]]\nname = "{name}"\npaths = ["{name}/**"]\n' for name in dialects]
    lines = [
        line if "any" in line else f'{line}dialect = "{name}"\n' for name, line in zip(dialects, systems, strict=True)
    ]
    place = make_spark_snapshot(tmp_path, files, "".join(lines))
    found = discover_folder(tmp_path, place.settings)
    expected = canonical_rows(pipeline.build_lineage(build_input_files(found, place.settings)))
    got = canonical_rows(place.analyse(found))
    assert sum(b"nasty.sql" in row for row in got["column_edges"]) > 60
    assert {name: len(rows) for name, rows in got.items()} == {name: len(rows) for name, rows in expected.items()}
    assert got == expected


def test_a_dbt_project_has_the_same_rows_and_places_in_process_and_on_spark(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "projects" / "shop", tmp_path, dirs_exist_ok=True)
    place = make_spark_snapshot(tmp_path, {"jinja/a.sql": "create view v as\nselect {{ c }},\n  bogus.x from {{ t }}"})
    found = discover_folder(tmp_path, place.settings)
    imported = add_project_schemas(
        import_configured_schemas(place.settings), found.files, found.sources, place.settings
    ).schemas
    expected = pipeline.build_lineage(build_input_files(found, place.settings), imported)
    assert imported and any(row.path == "models/marts/orders.sql" and row.span for row in expected.statements)
    assert canonical_rows(place.analyse(found)) == canonical_rows(expected)


def test_a_file_over_its_limits_fails_alone_and_not_its_task(tmp_path: Path) -> None:
    hostile = {
        "1_good.sql": "create table t (a int, b int);\ncreate view one as select a from t;",
        "2_slow.sql": "create view early as select b from t;\nselect a" + "[0]" * 20_000 + " from t;",
        "3_deep.sql": "create view deep as select * from " + "(select * from " * 5_000 + "t" + ") x" * 5_000,
        "4_bare.sql": "create view bare as select * from t " + "join t x " * 60,
        "5_wide.sql": "create view wide as with "
        + ", ".join(f"c{n} as (select x.*, y.* from c{n - 1} x, c{n - 1} y)" for n in range(1, 40))
        + " select * from c39".replace("c0", "t"),
        "6_good.sql": "create view two as select b from early;",
    }
    place = make_spark_snapshot(
        tmp_path, hostile, '[analysis]\ndialect = "postgres"\n[analysis.limits]\nseconds = 1\nedges = 5000\n'
    )
    lineage = place.analyse(discover_folder(tmp_path, place.settings))
    told = {row.path: row.message for row in lineage.diagnostics if row.code == "LIMIT_EXCEEDED"}
    assert told["2_slow.sql"] == "the nesting is over the limit of 200 levels"
    assert told["3_deep.sql"] == "the nesting is over the limit of 200 levels"
    assert told["4_bare.sql"] == "the number of joins without a condition is over the limit of 14"
    assert ("t", "deep") in {(edge.from_object, edge.to_object) for edge in lineage.object_edges}
    assert {edge.to_object for edge in lineage.column_edges} >= {"one", "early", "two"}


def test_a_file_whose_linking_crashes_loses_only_its_own_edges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lineage_pipeline.model.plan import ScriptInterface
    from lineage_pipeline.sandbox.child_process import StepLimits
    from lineage_pipeline.spark import column_linking

    def link_file(row: dict[str, object]) -> column_linking.FileLinkResult:
        if row["path"] == "b.sql":
            os.kill(os.getpid(), signal.SIGKILL)
        return column_linking.FileLinkResult(notes=[str(row["path"]).encode()])

    monkeypatch.setattr(column_linking, "_link_file", link_file)
    face = msgspec.msgpack.encode(ScriptInterface((), (0,)))
    batch = pa.RecordBatch.from_pylist(
        [{"path": name, "face": face, "key": name, "batch": "x"} for name in ("a.sql", "b.sql", "c.sql")]
    )
    rows = pa.Table.from_batches(column_linking._link_batches(iter([batch]), StepLimits(5, 500_000_000))).to_pylist()
    assert [row["note"] for row in rows if row["note"]] == [b"a.sql", b"c.sql"]
    told = [(row["finding"]["path"], row["finding"]["message"]) for row in rows if row["finding"]]
    assert told == [("b.sql", "linking the file is over the limit of the memory of the machine")]


def test_an_empty_folder_is_a_snapshot_too(tmp_path: Path) -> None:
    place = make_spark_snapshot(tmp_path, {})
    assert place.analyse(discover_folder(tmp_path, place.settings)) == LineageTables()


def test_hard_files_take_few_jobs_and_known_files_are_not_compiled_again(tmp_path: Path) -> None:
    from lineage_pipeline.spark.session import count_jobs

    place = make_spark_snapshot(tmp_path, HARD)
    found = discover_folder(tmp_path, place.settings)
    expected = pipeline.build_lineage(build_input_files(found, place.settings))
    assert len({row.code for row in expected.diagnostics}) > 3
    assert any(row.origin is Origin.INFERRED for row in expected.columns)
    started = count_jobs()
    assert canonical_rows(place.analyse(found)) == canonical_rows(expected)
    first = count_jobs()
    assert 0 < first - started <= 14
    assert canonical_rows(place.analyse(found, "r2")) == canonical_rows(expected)
    assert count_jobs() - first <= 8  # projections to the public tables and reach: neither compiling nor linking
    (tmp_path / "12_new.sql").write_text("create view n as select id from raw.a;\n", encoding="utf-8")
    place.analyse(discover_folder(tmp_path, place.settings))
    assert sorted(count_compiled_batches(place)) == [1, len(set(HARD.values()))]
    assert count_linked_batches(place) == [1, len(HARD)]


def test_only_files_whose_inputs_changed_are_linked_again(tmp_path: Path) -> None:
    files = {
        "a.sql": "create table a (id int, n int);",
        "b.sql": "create view b as select id, n from a;",
        "c.sql": "create view c as select id from b;",
        "d.sql": "create view d as select id from c;",
        "e.sql": "insert into x select * from a;",
    }
    place = make_spark_snapshot(tmp_path, files)
    place.analyse(discover_folder(tmp_path, place.settings))
    (tmp_path / "0.sql").write_text("create table other (k int);", encoding="utf-8")  # other ranks, nothing else
    (tmp_path / "a.sql").write_text("create table a (id int, n varchar(3));", encoding="utf-8")
    found = discover_folder(tmp_path, place.settings)
    expected = pipeline.build_lineage(build_input_files(found, place.settings))
    assert canonical_rows(place.analyse(found)) == canonical_rows(expected)
    assert count_linked_batches(place) == [5, 5]  # the two, and those that name what changed: b, c and e, but not d


def test_jobs_do_not_grow_with_the_repository(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    from benchmarks.regressions import GROSS, recorded
    from benchmarks.stages import shuffled
    from lineage_pipeline.spark.session import count_jobs, get_session

    known, jobs, rows = recorded(), [], []
    for size in (20, 400):
        files = generate(size, dialect="postgres")
        place = make_spark_snapshot(tmp_path / str(size), files, '[analysis]\ndialect = "postgres"\n')
        found = discover_folder(tmp_path / str(size), place.settings)
        spark = get_session(place.settings.spark)
        started, moved = count_jobs(), shuffled(spark)[0]
        place.analyse(found)
        jobs.append(count_jobs() - started)
        rows.append((shuffled(spark)[0] - moved) / len(files))
    shown = f"{known.spark_jobs} and {known.shuffled_rows_a_file:.0f}"
    record_property(
        "figure", f"a snapshot: {jobs[1]} Spark jobs, {rows[1]:.0f} rows shuffled a file (recorded {shown})"
    )
    assert max(jobs) <= known.spark_jobs
    assert rows[1] <= GROSS * known.shuffled_rows_a_file


def test_the_example_takes_a_known_number_of_jobs(tmp_path: Path) -> None:
    from benchmarks.regressions import recorded
    from lineage_pipeline.spark.session import count_jobs

    example = build_example(ROOT / "sql_assets", tmp_path / "example")
    place = SparkSnapshot(load_settings(tmp_path, {}, {}).for_repository(example.path, {}, {}))
    found = discover_revision(example.path, example.head, place.settings, name="example")
    started = count_jobs()
    assert canonical_rows(place.analyse(found)) == canonical_rows(
        pipeline.build_lineage(build_input_files(found, place.settings))
    )
    assert count_jobs() - started == recorded().spark_jobs + 2  # it has tags, which travel along edges


def test_batches_of_a_cache_can_be_put_together(tmp_path: Path) -> None:
    place = make_spark_snapshot(tmp_path, HARD)
    place.analyse(discover_folder(tmp_path, place.settings))
    (tmp_path / "12_new.sql").write_text("create view n as select id from raw.a;\n", encoding="utf-8")
    found = discover_folder(tmp_path, place.settings)
    expected = canonical_rows(place.analyse(found))
    files = FileStore(place.settings.warehouse)
    assert compact_compiled(files)
    assert count_compiled_batches(place) == [len(set(HARD.values())) + 1]
    assert compact_compiled(files) == []
    assert canonical_rows(place.analyse(found, "r2")) == expected
    assert len(count_compiled_batches(place)) == 1  # nothing had to be compiled again


def test_imported_schemas_win_on_spark_as_they_do_in_process(tmp_path: Path) -> None:
    known = {"raw.a": {"id": "bigint", "more": "int"}, "nowhere": ["one"], "b": {"x": "int", "y": "int"}, "v": ["id"]}
    table = {"name": "other", "columns": ["k"], "partial": True}
    labels = '[[labels]]\nobjects = ["RAW.*", "OTHER"]\ncolumns = ["ID", "THREE"]\ntags = ["t"]\nowners = ["me"]\n'
    files = {
        **HARD,
        "known.json": json.dumps(known),
        "part.json": json.dumps({"tables": [table]}),
        "CODEOWNERS": "* @x",
    }
    names = 'case_sensitivity = "upper"\nschemas = ["known.json", "part.json"]\n'
    place = make_spark_snapshot(tmp_path, files, f"{labels}[analysis]\n{names}")
    found = discover_folder(tmp_path, place.settings)
    expected = pipeline.build_lineage(
        build_input_files(found, place.settings), import_configured_schemas(place.settings).schemas
    )
    assert "SCHEMA_CONFLICT" in {row.code for row in expected.diagnostics}
    assert {("me", "@x"), ("@x",), ("me",), ()} == {row.owners for row in expected.objects}
    assert len({row.object for row in expected.columns if row.tags}) > 3
    assert {row.origin for row in expected.columns} == {Origin.IMPORTED, Origin.IMPLIED, Origin.INFERRED}
    assert canonical_rows(place.analyse(found)) == canonical_rows(expected)


def count_compiled_batches(place: SparkSnapshot) -> list[int]:
    """Count the contents of each batch of the compile cache."""
    import pyarrow.parquet as pq

    folders = Path(place.settings.warehouse, "_cache/compiled").iterdir()
    return [sum(pq.read_metadata(file).num_rows for file in folder.glob("*/*.parquet")) for folder in folders]


def count_linked_batches(place: SparkSnapshot) -> list[int]:
    """Count the files of each batch of the link cache."""
    import pyarrow.parquet as pq

    files = Path(place.settings.warehouse, "_cache/linked").glob("*/keys.parquet")
    return sorted(pq.read_metadata(file).num_rows for file in files)


def test_objects_that_need_each_other_share_a_bundle() -> None:
    from lineage_pipeline.spark.object_plan import assign_bundles

    needs = {"a": (), "b": ("a",), "c": ("b",), "x": (), "y": ("x",)}
    numbers = assign_bundles(plan(needs))
    assert numbers.keys() == needs.keys()
    assert len({numbers["a"], numbers["b"], numbers["c"]}) == 1


def plan(needs: dict[str, tuple[str, ...]]) -> Plan:
    from lineage_pipeline.model.tables import ObjectRow

    rows = {
        name: ObjectRow(
            name, "", "", "", name, name, ObjectKind.VIEW, Origin.IMPLIED, 0, False, False, None, None, (), ()
        )
        for name in needs
    }
    known = {name: ObjectEntry(rows[name], ObjectKind.VIEW, Origin.IMPLIED, (), need) for name, need in needs.items()}
    return Plan(known, {}, tuple((name,) for name in needs), (), (), ())
