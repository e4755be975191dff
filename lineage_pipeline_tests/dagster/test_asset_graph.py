"""The asset graph: its dependencies, its definitions without starting anything, and checks that block readers."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.configured_schemas import compute_analysis_key
from lineage_pipeline.defs.runs.watched_repositories import ensure_watched
from lineage_pipeline.model.enums import Level, Stage
from lineage_pipeline.model.tables import TABLES, Diagnostic
from lineage_pipeline.quality.suites import SUITES
from lineage_pipeline.store.manifest_files import manifest_path
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.support.branch_project import collect_evaluations
from lineage_pipeline_tests.support.example_run import ExampleRun, run_example

pytestmark = pytest.mark.spark

ARROWS = """
    sources sql_files                                                             -> statements
    statements                                                                    -> objects
    statements                                                                    -> object_statements
    statements                                                                    -> object_edges
    objects statements                                                            -> columns
    objects statements                                                            -> constraints
    columns objects                                                               -> column_edges
    columns objects                                                               -> facets
    column_edges columns                                                          -> column_reach
    column_edges objects sql_files statements                                     -> diagnostics
    column_reach constraints diagnostics facets object_edges object_statements snapshots -> manifests
    manifests                                                                     -> changes
    manifests                                                                     -> waivers
    manifests                                                                     -> openlineage_events
    changes                                                                       -> change_report
"""

QUIETLY = """
import sys, warnings
import dagster  # asks the system about itself
started = []
sys.addaudithook(lambda event, arguments: started.append(arguments[0]) if event == "subprocess.Popen" else None)
warnings.simplefilter("ignore")
from lineage_pipeline.definitions import defs
from pyspark import SparkContext
assert defs.resolve_job_def("snapshot_job")
assert SparkContext._gateway is None, "a JVM was started"
assert not started, started
assert "dbt.cli.main" not in sys.modules, "dbt was started"
assert "great_expectations" not in sys.modules
"""

WITHOUT_MANIFEST = """
import warnings
from pathlib import Path
import lineage_pipeline.defs.assets.marts as marts
marts.DBT_MANIFEST = Path("nowhere.json")
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    from lineage_pipeline.definitions import defs
assert defs.resolve_job_def("snapshot_job")
assert marts.MISSING_MANIFEST in [str(one.message) for one in said]
"""


def test_the_dependencies_of_the_assets() -> None:
    from lineage_pipeline.definitions import defs

    found = {
        spec.key.path[-1]: {dep.asset_key.path[-1] for dep in spec.deps}
        for spec in defs.resolve_all_asset_specs()
        if spec.key.path[0] == "lineage"
    }
    wanted: dict[str, set[str]] = {"snapshots": set(), "sources": set(), "sql_files": set()}
    for line in ARROWS.strip().splitlines():
        sources, target = line.split("->")
        wanted[target.strip()] = set(sources.split())
    assert found == wanted


def test_every_table_is_an_asset_with_its_stage_columns_and_checks() -> None:
    import dagster as dg

    from lineage_pipeline.definitions import defs

    dg.Definitions.validate_loadable(defs)
    specs = {spec.key.path[-1]: spec for spec in defs.resolve_all_asset_specs() if spec.key.path[0] == "lineage"}
    described = [spec for definition in defs.asset_checks or () for spec in definition.check_specs]
    checks = {spec.asset_key.path[-1] for spec in described if spec.asset_key.path[0] == "lineage"}
    assert set(TABLES) <= set(specs)
    assert set(SUITES) <= checks
    named = {spec.name for definition in defs.asset_checks or () for spec in definition.check_specs}
    assert {"no_breaking_changes", "parse_success", "lineage_coverage", "approximate_share"} <= named
    for name, table in TABLES.items():
        spec = specs[name]
        assert (spec.group_name, spec.partitions_def is not None) == (table.stage.value, True)
        assert spec.description
        assert spec.code_version
        assert spec.owners
        assert "dagster/column_schema" in spec.metadata


@pytest.mark.parametrize("program", [QUIETLY, WITHOUT_MANIFEST], ids=["quietly", "without dbt's manifest"])
def test_definitions_are_imported(program: str, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)


def test_the_graph_is_one_piece_from_files_to_marts() -> None:
    from lineage_pipeline.defs.compose import compose_definitions
    from lineage_pipeline.defs.resources import Project

    run_example()  # prepares dbt's manifest
    specs = compose_definitions(Project()).resolve_all_asset_specs()
    deps = {spec.key.to_user_string(): {dep.asset_key.to_user_string() for dep in spec.deps} for spec in specs}
    assert deps["staging/stg_lineage__column_edges"] == {"lineage/column_edges"}
    assert "staging/stg_lineage__column_edges" in deps["marts/column_lineage"]


def copy_run(made: ExampleRun, folder: Path) -> Settings:
    """Give settings over a copy of the materialised warehouse, which a test may spoil."""
    shutil.copytree(made.settings.home, folder / ".lineage")
    return load_settings(folder, {}, {}).for_repository(folder / ".lineage/example", {}, {})


def execute_assets(settings: Settings, folder: Path, snapshot: str, *names: str) -> Any:
    """Materialise some assets of a snapshot in this process."""
    import dagster as dg

    from lineage_pipeline.defs.compose import compose_definitions
    from lineage_pipeline.defs.jobs import SNAPSHOT_JOB
    from lineage_pipeline.defs.resources import Project
    from lineage_pipeline.defs.specs import SNAPSHOT_PARTITIONS, make_asset_key

    job = compose_definitions(Project(settings, lambda line: None)).resolve_job_def(SNAPSHOT_JOB)
    with dg.DagsterInstance.ephemeral(tempdir=str(folder)) as instance:
        instance.add_dynamic_partitions(SNAPSHOT_PARTITIONS, [snapshot])
        return job.execute_in_process(
            instance=instance,
            partition_key=snapshot,
            asset_selection=[make_asset_key(name) for name in names],
            raise_on_error=False,
        )


def test_a_failed_check_blocks_downstream_assets(tmp_path: Path) -> None:
    made = run_example()
    settings, _ = ensure_watched(copy_run(made, tmp_path), tmp_path / ".lineage/example")
    key = f"example@{made.example.head}"
    warehouse = Warehouse(settings.warehouse)
    before = warehouse.manifest(key)
    bad = Diagnostic("1", "NO_SUCH_CODE", Level.ERROR, "by hand", None, None, None, None, Stage.PARSING)
    warehouse.begin(key, "broken", compute_analysis_key(settings)).write("diagnostics", [bad], part="parsing")
    result = execute_assets(settings, tmp_path, key, "diagnostics", "manifests")
    failed = [check.check_name for check in result.get_asset_check_evaluations() if not check.passed]
    assert (result.success, failed) == (False, ["code_is_a_known_word"])
    assert warehouse.manifest(key) == before


def test_a_missing_base_is_a_finding_until_it_is_there(tmp_path: Path) -> None:
    made = run_example()
    settings, _ = ensure_watched(copy_run(made, tmp_path), tmp_path / ".lineage/example")
    base, head = made.snapshots
    warehouse = Warehouse(settings.warehouse)
    manifest = Path(settings.warehouse, manifest_path((base,)))
    kept = manifest.read_bytes()
    manifest.unlink()
    missing = execute_assets(settings, tmp_path, head, "changes", "waivers")
    assert missing.success
    assert "BASE_MISSING" in {row.code for row in warehouse.load(head).diagnostics}
    verdict = collect_evaluations(missing)["changes.no_breaking_changes"]
    assert (verdict.passed, verdict.severity.value) == (False, "WARN"), "nobody knows what breaks"
    assert base in str(verdict.description)
    manifest.write_bytes(kept)
    compared = execute_assets(settings, tmp_path, head, "changes", "waivers")
    assert collect_evaluations(compared)["changes.no_breaking_changes"].metadata["base"].value == base
    assert "BASE_MISSING" not in {row.code for row in warehouse.load(head).diagnostics}


LAYERS = {"lineage", "staging", "marts"}
ALWAYS = {"dagster/uri", "preview"}
OF_TABLES = {
    *("dagster/partition_row_count", "dagster/column_schema", "dagster/column_lineage", "dagster/table_name"),
    *("dagster/storage_kind", "files", "seconds"),
}
OF_MODELS = {"dagster/row_count", "dagster/column_schema", "dagster/column_lineage", "dagster/table_name"}
SHARES = {"statements": {"parsed_percent"}, "column_edges": {"covered_percent", "approximate_percent"}}


def test_every_materialization_has_rows_columns_path_time_and_preview() -> None:
    import dagster as dg

    from lineage_pipeline.defs.compose import compose_definitions
    from lineage_pipeline.defs.resources import Project

    made = run_example()  # prepares dbt's manifest
    defs = compose_definitions(Project())
    with dg.DagsterInstance.from_config(str(made.settings.home / "dagster")) as instance:
        assert set(instance.get_dynamic_partitions("snapshots")) == set(made.snapshots)
        seen = set()
        for spec in (spec for spec in defs.resolve_all_asset_specs() if spec.key.path[0] in LAYERS):
            name = spec.key.path[-1]
            wanted = OF_MODELS if spec.key.path[0] != "lineage" else OF_TABLES if name in TABLES else {"seconds"}
            records = instance.fetch_materializations(spec.key, limit=len(made.snapshots)).records
            assert records, spec.key
            for record in records:
                assert record.asset_materialization is not None
                metadata = record.asset_materialization.metadata
                lacking = ALWAYS | wanted | SHARES.get(name, set())
                assert lacking - set(metadata) == set(), spec.key
            seen.add(spec.key.path[0])
        assert seen == LAYERS


def test_every_asset_has_owners_kinds_a_group_a_version_and_its_code() -> None:
    from lineage_pipeline.defs.compose import compose_definitions
    from lineage_pipeline.defs.resources import Project

    run_example()  # prepares dbt's manifest
    for spec in (
        spec for spec in compose_definitions(Project()).resolve_all_asset_specs() if spec.key.path[0] in LAYERS
    ):
        said = (spec.owners, spec.kinds, spec.group_name, spec.code_version, spec.description)
        assert all(said), (spec.key, said)
        assert spec.metadata["dagster/code_references"].code_references, spec.key


def test_retention_says_what_it_did_where_and_how_long_it_took(tmp_path: Path) -> None:
    import dagster as dg

    from lineage_pipeline.defs.compose import compose_definitions
    from lineage_pipeline.defs.resources import Project

    defs = compose_definitions(Project(copy_run(run_example(), tmp_path), lambda line: None))
    (spec,) = (spec for spec in defs.resolve_all_asset_specs() if spec.key.path[0] == "operations")
    assert all((spec.owners, spec.kinds, spec.group_name, spec.code_version, spec.description))
    with dg.DagsterInstance.ephemeral(tempdir=str(tmp_path)) as instance:
        assert defs.resolve_job_def("retention_job").execute_in_process(instance=instance).success
        (record,) = instance.fetch_materializations(spec.key, limit=9).records
    assert record.asset_materialization is not None
    metadata = record.asset_materialization.metadata
    assert ALWAYS | {"seconds", "snapshots", "files", "cached_files", "removed", "problems"} <= set(metadata)
    assert metadata["dagster/uri"].value == str(tmp_path / ".lineage/warehouse")
    assert metadata["preview"].value == "nothing was removed"


@pytest.mark.slow
def test_dagster_validates_the_definitions_as_it_loads_them(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("dagster")
    command = [str(program), "definitions", "validate", "-m", "lineage_pipeline.definitions"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "DAGSTER_HOME": ""})
    assert done.returncode == 0, done.stderr
    assert "Validation successful" in done.stdout + done.stderr


def test_column_lineage_of_our_tables_names_existing_columns() -> None:
    from lineage_pipeline.defs.assets.metadata import COLUMN_SOURCES
    from lineage_pipeline.store.table_schemas import arrow_schema

    for table, columns in COLUMN_SOURCES.items():
        assert set(columns) <= set(arrow_schema(table).names), table
        for source in (source for sources in columns.values() for source in sources):
            feeding, _, column = source.partition(".")
            assert column in arrow_schema(feeding).names, source
    assert set(TABLES) - set(COLUMN_SOURCES) == {"snapshots", "sources", "sql_files"}, "what is read from files"


def test_column_lineage_of_marts_leads_to_our_tables() -> None:
    import dagster as dg

    from lineage_pipeline.defs.assets.marts import analyze_marts

    found = analyze_marts()
    deps = found["marts.waivers"].deps_by_column["expires_on"]
    assert deps == [dg.TableColumnDep(dg.AssetKey(["staging", "stg_lineage__waivers"]), "expires")]
    renamed = found["staging.stg_lineage__waivers"].deps_by_column["column_name"]
    assert renamed == [dg.TableColumnDep(dg.AssetKey(["lineage", "waivers"]), "column")]
