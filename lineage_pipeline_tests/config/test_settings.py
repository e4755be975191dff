"""Settings: one frozen value from file, environment and flags."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.configured_schemas import compute_analysis_key
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline_tests.support.paths import ROOT


def load_from_text(folder: Path, text: str = "", flags: dict[str, Any] | None = None, **environ: str) -> Settings:
    if text:
        (folder / "lineage.toml").write_text(text)
    return load_settings(folder, flags or {}, environ)


def test_flags_beat_environment_beats_file_beats_defaults(tmp_path: Path) -> None:
    file = '[analysis]\ndialect = "tsql"\ndefault_schema = "dbo"\ndefault_catalog = "shop"'
    flags = {"analysis": {"dialect": "duckdb", "default_catalog": None}}
    settings = load_from_text(tmp_path, file, flags, LINEAGE_DIALECT="mysql", LINEAGE_DEFAULT_SCHEMA="env")
    analysis = settings.analysis
    assert (analysis.dialect, analysis.default_schema, analysis.default_catalog) == ("duckdb", "env", "shop")
    assert analysis.case_sensitivity == "dialect"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('dialect = "tsql"', "unknown key dialect; did you mean analysis.dialect?"),
        ('[analysis]\ndialct = "tsql"', "unknown key analysis.dialct; did you mean dialect?"),
        ('[[systems]]\nname = "a"\npath = ["x"]', "unknown key systems.0.path; did you mean paths?"),
        ('zzz = "a"', "unknown key zzz; known are alerts, analysis, cache, checks, dbt, diff, exclude"),
        ("[analysis.limits]\ntoken = 3", "unknown key analysis.limits.token; did you mean tokens?"),
        ("[analysis.limits]\ntokens = 'many'", "analysis.limits.tokens: input should be a valid integer"),
        ("[analysis]\ncase_sensitivity = 'loud'", "analysis.case_sensitivity: input should be 'dialect'"),
        ("analysis = 3", "analysis: input should be a valid dictionary"),
        ("[systems]\nname = 'a'", "systems: input should be a valid tuple"),
        ("= 3", "lineage.toml:1:1: "),
        ("[[repositories]]\nname = 'a'\npath = 'x'\nref = ['y']", "repositories.0.ref; did you mean refs?"),
        ("[[repositories]]\nname = 'a'\npath = 'x'\n" * 2, "two repositories have the name a"),
        ("[[repositories]]\nname = 'a@b'\npath = 'x'", "repositories.0.name: string should match"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(LineageError) as caught:
        load_from_text(tmp_path, text)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "lineage.toml") in str(caught.value)


def test_a_misspelled_environment_variable_is_an_error_and_others_are_ignored(tmp_path: Path) -> None:
    with pytest.raises(LineageError, match="LINEAGE_DIALCT; did you mean LINEAGE_DIALECT"):
        load_from_text(tmp_path, LINEAGE_DIALCT="tsql")
    assert load_from_text(tmp_path, LINEAGE_OF_KINGS="long") == load_from_text(tmp_path)


def test_variables_hold_lists_and_nested_settings(tmp_path: Path) -> None:
    settings = load_from_text(
        tmp_path, LINEAGE_SEARCH_PATH="a, b", LINEAGE_SPARK_MASTER="local[1]", LINEAGE_LIMITS_DEPTH="7"
    )
    assert settings.analysis.search_path == ("a", "b")
    assert (settings.spark.master, settings.analysis.limits.depth) == ("local[1]", 7)


def test_the_file_is_searched_upwards_and_a_project_file_does_as_well(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.lineage.analysis]\ndialect = "bigquery"')
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]")
    settings = load_settings(deep, {}, {})
    assert settings.analysis.dialect == "bigquery"
    assert settings.root == tmp_path
    assert settings.warehouse == str(tmp_path / ".lineage" / "warehouse")


def test_paths_choose_the_system_and_are_relative_to_the_file(tmp_path: Path) -> None:
    text = """
        [analysis]
        default_schema = "public"
        [[systems]]
        name = "mssql"
        paths = ["retail/**"]
        dialect = "tsql"
        default_schema = "dbo"
        [[systems]]
        name = "snowflake"
        paths = ["marketing/**"]
        dialect = "snowflake"
    """
    (tmp_path / "retail" / "views").mkdir(parents=True)
    settings = load_from_text(tmp_path, text)
    retail, marketing, other = map(settings.options_for, ("retail/a.sql", "marketing/x/b.sql", "c.sql"))
    assert (retail.system, retail.dialect, retail.default_schema) == ("mssql", "tsql", "dbo")
    assert (marketing.system, marketing.dialect, marketing.default_schema) == ("snowflake", "snowflake", "public")
    assert (other.system, other.dialect) == ("", "")
    below = load_settings(tmp_path / "retail" / "views", {}, {})
    assert below.options_for("a.sql") == retail


def test_a_dialect_flag_beats_the_dialect_of_every_system(tmp_path: Path) -> None:
    text = '[[systems]]\nname = "mssql"\ndialect = "tsql"\ndefault_schema = "dbo"'
    options = load_from_text(tmp_path, text, {"analysis": {"dialect": "mysql"}}).options_for("a.sql")
    assert (options.dialect, options.default_schema) == ("mysql", "dbo")


def test_the_name_of_an_only_system_is_not_part_of_ids(tmp_path: Path) -> None:
    assert load_from_text(tmp_path, '[[systems]]\nname = "mssql"').options_for("a.sql").system == ""


def test_the_analysis_key_changes_only_with_settings_that_affect_results(tmp_path: Path) -> None:
    plain = compute_analysis_key(load_from_text(tmp_path))
    assert (
        compute_analysis_key(load_from_text(tmp_path, "[spark]\nmaster = 'spark://x:7077'\n[diff]\nleaf = 'public'"))
        == plain
    )
    assert compute_analysis_key(load_from_text(tmp_path, "[analysis]\ndialect = 'tsql'")) != plain
    assert compute_analysis_key(load_from_text(tmp_path, "exclude = ['old/**']")) != plain


def test_include_and_exclude_choose_the_files(tmp_path: Path) -> None:
    settings = load_from_text(tmp_path, 'exclude = ["old/", "*_test.sql"]')
    chosen = [path for path in ("a.sql", "x/b.SQL", "old/y/c.sql", "x/d_test.sql", "e.txt") if settings.selects(path)]
    assert chosen == ["a.sql", "x/b.SQL"]


def test_endings_fit_in_any_case_and_defaults_can_be_extended(tmp_path: Path) -> None:
    settings = load_from_text(
        tmp_path, 'include = ["defaults", "*.Txt", "lib/Run"]\nexclude = ["defaults", "*.bak.sql"]'
    )
    asked = ("a.SQL", "b.TXT", "c.PkB", "lib/Run", "lib/run", "d.BAK.SQL", "node_modules/e.sql", "f.md")
    assert [path for path in asked if settings.selects(path)] == ["a.SQL", "b.TXT", "c.PkB", "lib/Run"]
    assert settings.exclude[:-1] == Settings().exclude


def test_spark_settings_may_be_written_with_and_without_quotes(tmp_path: Path) -> None:
    text = '[spark.config]\nspark.executor.memory = "2g"\n"spark.ui.enabled" = false\nspark.cores.max = 4'
    expected = {"spark.executor.memory": "2g", "spark.ui.enabled": "false", "spark.cores.max": "4"}
    assert load_from_text(tmp_path, text).spark.config == expected


def test_a_repository_says_how_it_is_read_and_the_deployment_where_to_work(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "lineage.toml").write_text('warehouse = "elsewhere"\n[analysis]\ndialect = "tsql"')
    here = load_from_text(tmp_path, '[spark]\nmaster = "local[1]"')
    joint = here.for_repository(repo, {}, {})
    assert (joint.analysis.dialect, joint.spark.master, joint.warehouse) == ("tsql", "local[1]", here.warehouse)
    assert compute_analysis_key(joint) == compute_analysis_key(load_settings(repo, {}, {}))


OUTWARDS = {
    "[dbt]\ntrust = true": "dbt.trust",
    '[analysis]\nschemas = ["../secret.json"]': "analysis.schemas",
    '[analysis]\nschemas = ["/etc/passwd"]': "analysis.schemas",
    '[analysis]\nschemas = ["link.json"]': "analysis.schemas",
    '[[systems]]\nname = "a"\nschemas = ["postgresql://elsewhere/db"]': "systems.schemas",
    '[templating]\nvariables_file = "../secret.json"': "templating.variables_file",
    'manifest = "../files.csv"': "manifest",
    '[analysis]\nschemas = ["snapshot:../warehouse#shop@1"]': "analysis.schemas",
    '[analysis]\nschemas = ["duckdb:///../w.duckdb"]': "analysis.schemas",
}


@pytest.mark.parametrize("text", OUTWARDS)
def test_settings_of_a_foreign_repository_reach_no_outside_file_and_run_nothing(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = tmp_path / "repo"
    (repo / "deep").mkdir(parents=True)
    (tmp_path / "secret.json").write_text("{}")
    (tmp_path / "files.csv").write_text("path\n")
    (repo / "link.json").symlink_to("../secret.json")
    (repo / "lineage.toml").write_text(text)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(LineageError, match=OUTWARDS[text]):
        load_settings(repo, {}, {})
    with pytest.raises(LineageError, match=OUTWARDS[text]):
        Settings().for_repository(repo, {}, {})
    assert load_settings(repo, {}, {"LINEAGE_CONFIG": str(repo / "lineage.toml")}).file == repo / "lineage.toml"
    monkeypatch.chdir(repo / "deep")  # whoever starts us there has read them
    assert load_settings(repo, {}, {}).file == repo / "lineage.toml"


def test_a_foreign_repository_cannot_choose_the_warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("repo", "here"):
        (tmp_path / name).mkdir()
    (tmp_path / "repo" / "lineage.toml").write_text('warehouse = "../elsewhere"')
    monkeypatch.chdir(tmp_path / "here")
    assert load_settings(tmp_path / "repo", {}, {}).warehouse == str(tmp_path / "repo" / ".lineage" / "warehouse")


def test_namespaces_fall_back_to_the_names_of_systems(tmp_path: Path) -> None:
    text = '[openlineage.namespaces]\nmssql = "mssql://h:1"\n[[systems]]\nname = "mssql"\n[[systems]]\nname = "pg"'
    assert load_from_text(tmp_path, text).namespaces() == {"mssql": "mssql://h:1", "pg": "pg", "": "mssql://h:1"}


def test_settings_are_frozen(tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        load_from_text(tmp_path).warehouse = "x"  # type: ignore[misc]


def test_a_named_file_is_taken_and_must_exist(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text('[analysis]\ndialect = "hive"')
    named = load_settings(tmp_path, {}, {"LINEAGE_CONFIG": str(tmp_path / "other.toml")})
    assert named.analysis.dialect == "hive"
    with pytest.raises(LineageError, match="No such file"):
        load_settings(tmp_path, {}, {"LINEAGE_CONFIG": str(tmp_path / "none.toml")})


def test_the_projects_own_file_is_valid_and_every_commented_default_is_true() -> None:
    root = ROOT
    own = load_settings(root, {}, {})
    assert own.file == root / "lineage.toml"
    assert own.repositories[0].path == ".lineage/example"
    defaults = Settings()
    assert (own.analysis, own.include, own.exclude) == (defaults.analysis, defaults.include, defaults.exclude)
    assert (own.spark, own.diff, own.watch) == (defaults.spark, defaults.diff, defaults.watch)
    assert own.retention == defaults.retention
