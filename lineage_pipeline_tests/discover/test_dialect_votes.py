"""The dialect of a project or tree: declared, or voted on by the signs of all files."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from lineage_pipeline.cli import main
from lineage_pipeline.cli.command_tree import iterate_commands
from lineage_pipeline.cli.inputs import ReadingFlags, discover_inputs
from lineage_pipeline.cli.revisions import discover_sides
from lineage_pipeline.config.load import Settings
from lineage_pipeline.dialects.registry import DIALECTS
from lineage_pipeline.discover.dialect_detection import find_path_dialect, find_signs
from lineage_pipeline.discover.discovery import Discovery
from lineage_pipeline.discover.folder import discover_folder, open_folder
from lineage_pipeline.discover.git.repository import discover_revision, open_revision
from lineage_pipeline.discover.tree_dialects import vote_on_tree

PLAIN = "create view v{0} as select a, b from t{0}"
SNOWFLAKE_SIGNS = "select id, v:k::string as k from {{ ref('m0') }} qualify row_number() over (order by id) = 1"
PSQL = "\\cd data\n\\COPY orders FROM 'orders.csv' CSV\ncreate view v{0} as select a::int from orders;"
BIGQUERY = "create view v{0} as select safe_divide(a, b) as c from `p-x.d.t{0}`"
TSQL = "create table [dbo].[T{0}] ([Id] int);\nGO\n"


def write_tree(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def commit_tree(folder: Path, files: Mapping[str, str]) -> str:
    write_tree(folder, files)
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run([*git[:3], "init", "-q", "-b", "main"], check=True)
    subprocess.run([*git[:3], "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    found = subprocess.run([*git[:3], "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return found.stdout.strip()


def read_dialects(found: Discovery) -> dict[str, str]:
    return {file.path: file.dialect for file in found.files}


def build_dbt_project(models: int = 12, speaking: int = 2) -> dict[str, str]:
    """A dbt project without a profile: few of its models have signs of Snowflake."""
    plain = {f"models/m{number}.sql": f"select {number} as id, 1 as v" for number in range(models)}
    telling = {f"models/s{number}.sql": SNOWFLAKE_SIGNS for number in range(speaking)}
    return {"dbt_project.yml": "name: shop\nprofile: shop\n", **plain, **telling}


def test_a_dbt_project_with_few_signs_has_one_dialect(tmp_path: Path) -> None:
    found = discover_folder(write_tree(tmp_path, build_dbt_project()), Settings())
    assert {file.dialect for file in found.files} == {"snowflake"}
    (vote,) = found.votes
    assert (vote.folder, vote.dialect, vote.is_clear) == ("", "snowflake", True)
    evidence = {file.evidence for file in found.files}
    assert evidence == {"2 of 15 files: paths into VARIANT with a cast, QUALIFY, ::casts"}


@pytest.mark.parametrize(
    ("files", "dialect", "evidence"),
    [
        ({"requirements.txt": "dbt-core==1.7\ndbt-redshift~=1.7\n"}, "redshift", "dbt-redshift in requirements.txt"),
        ({"requirements.txt": "dbt-redshift\ndbt-bigquery\n"}, "snowflake", "2 of 15 files"),
        (
            {"packages.yml": "packages:\n  - package: get-select/dbt_snowflake_monitoring\n"},
            "snowflake",
            "packages for snowflake in packages.yml",
        ),
        ({"packages.yml": "packages:\n  - package: dbt-labs/spark_utils\n"}, "snowflake", "2 of 15 files"),
        ({".sqlfluff": "[sqlfluff]\ndialect = databricks\n"}, "databricks", ".sqlfluff"),
        ({"tests/profiles.yml": "x: {outputs: {a: {type: duckdb}}}\n"}, "duckdb", "dbt profile"),
        (
            {"profiles.yml": "shop: {outputs: {a: {type: trino}}}\n", ".sqlfluff": "[sqlfluff]\ndialect = mysql\n"},
            "trino",
            "dbt profile",
        ),
    ],
)
def test_what_is_declared_for_a_dbt_project_wins(
    tmp_path: Path, files: Mapping[str, str], dialect: str, evidence: str
) -> None:
    found = discover_folder(write_tree(tmp_path, {**build_dbt_project(), **files}), Settings())
    assert {file.dialect for file in found.files} == {dialect}
    assert all((file.evidence or "").startswith(evidence) for file in found.files)


@pytest.mark.parametrize(
    ("name", "text", "dialect"),
    [
        (".sqlfluff", "[sqlfluff]\ndialect = snowflake\n[sqlfluff:rules]\nx = 1\n", "snowflake"),
        (".sqlfluff", "[sqlfluff]\ndialect = ansi\n", ""),
        (".sqlfluff", "[sqlfluff]\ndialect = klingon\n", ""),
        (".sqlfluff", "not an ini file with sqlfluff", ""),
        ("setup.cfg", "[metadata]\nname = x\n[sqlfluff]\ndialect = sparksql\n", "spark"),
        ("pyproject.toml", '[tool.sqlfluff.core]\ndialect = "oracle"\n', "oracle"),
        ("pyproject.toml", "[tool.sqlfluff.core\n", ""),
        ("config.yaml", "model_defaults:\n  dialect: duckdb\n", "duckdb"),
        ("workflow_settings.yaml", "defaultProject: p\n", "bigquery"),
        ("dataform.json", "{}", "bigquery"),
        ("db.sqlproj", "<Project/>", "tsql"),
    ],
)
def test_project_files_declare_the_dialect_of_silent_files(tmp_path: Path, name: str, text: str, dialect: str) -> None:
    write_tree(tmp_path, {"a.sql": PLAIN.format(1), "b/c.sql": PLAIN.format(2), name: text})
    assert read_dialects(discover_folder(tmp_path, Settings())) == {"a.sql": dialect, "b/c.sql": dialect}


def test_psql_scripts_are_postgres_and_so_are_the_silent_files_beside(tmp_path: Path) -> None:
    scripts = {f"load/s{number}.sql": PSQL.format(number) for number in range(4)}
    plain = {f"views/p{number}.sql": PLAIN.format(number) for number in range(6)}
    commit = commit_tree(tmp_path, {**scripts, **plain})
    for found in (discover_folder(tmp_path, Settings()), discover_revision(tmp_path, commit, Settings())):
        assert set(read_dialects(found).values()) == {"postgres"}
        assert found.files[0].evidence == "4 of 10 files: psql commands, ::casts"


def test_folders_with_signs_of_their_own_have_dialects_of_their_own(tmp_path: Path) -> None:
    files = {f"pg/s{number}.sql": PSQL.format(number) for number in range(3)}
    files |= {f"bq/s{number}.sql": BIGQUERY.format(number) for number in range(3)}
    files |= {"pg/plain.sql": PLAIN.format(1), "bq/plain.sql": PLAIN.format(2)}
    found = discover_folder(write_tree(tmp_path, files), Settings())
    assert {path.split("/")[0]: dialect for path, dialect in read_dialects(found).items()} == {
        "pg": "postgres",
        "bq": "bigquery",
    }
    assert len({(path.split("/")[0], dialect) for path, dialect in read_dialects(found).items()}) == 2


def test_a_folder_named_after_a_dialect_is_read_as_that(tmp_path: Path) -> None:
    files = {f"ddl/{name}/t.sql": PLAIN.format(1) for name in ("postgresql", "sql_server", "big_query")}
    files |= {f"etl/s{number}.sql": BIGQUERY.format(number) for number in range(3)}
    found = read_dialects(discover_folder(write_tree(tmp_path, files), Settings()))
    assert [found[f"ddl/{name}/t.sql"] for name in ("postgresql", "sql_server")] == ["postgres", "tsql"]
    assert found["etl/s1.sql"] == "bigquery"


def test_files_that_exist_for_several_dialects_are_read_as_their_names_say(tmp_path: Path) -> None:
    files = {f"ddl/schema-{name}.sql": PLAIN.format(1) for name in ("mysql", "oracle", "postgres")}
    files |= {f"s{number}.sql": PSQL.format(number) for number in range(3)}
    files |= {"load_snowflake.sql": PLAIN.format(4)}  # there is no other file of this kind: it may be about Snowflake
    found = read_dialects(discover_folder(write_tree(tmp_path, files), Settings()))
    assert {path: dialect for path, dialect in found.items() if dialect != "postgres"} == {
        "ddl/schema-mysql.sql": "mysql",
        "ddl/schema-oracle.sql": "oracle",
    }


@pytest.mark.parametrize(
    ("part", "dialect"),
    [
        ("postgres-sakila-db", "postgres"),
        ("sql-server", "tsql"),
        ("Chinook_Oracle.sql", "oracle"),
        ("load.hql", "hive"),
        ("apache-doris", "doris"),
        ("ddl_singlestore", "singlestore"),
        ("oracle_to_snowflake", ""),
        ("orders", ""),
    ],
)
def test_names_of_folders_and_files_tell_a_dialect(part: str, dialect: str) -> None:
    assert find_path_dialect(part) == dialect


def test_one_odd_file_does_not_decide(tmp_path: Path) -> None:
    odd = "select a.x, nvl2(a, b, c) from a, b where a.id = b.id(+) and rownum < 3 connect by prior a = b"
    files = {f"p{number}.sql": PSQL.format(number) for number in range(3)}
    found = discover_folder(write_tree(tmp_path, {**files, "odd.sql": odd, "plain.sql": PLAIN.format(9)}), Settings())
    assert [(vote.dialect, vote.is_clear) for vote in found.votes] == [("postgres", True)]
    assert {path: dialect for path, dialect in read_dialects(found).items() if dialect != "postgres"} == {
        "odd.sql": "oracle"
    }
    weak = "select a from t where rownum < 3"
    found = discover_folder(write_tree(tmp_path, {**files, "odd.sql": weak}), Settings())
    assert set(read_dialects(found).values()) == {"postgres"}


REFINED = {
    "exasol": "--/\ncreate or replace lua script s{0}() returns table as\n  query([[select 1]])\n/\n",
    "materialize": "create source s{0} from kafka connection k (topic 't') format json;\nselect a::jsonb from s{0};",
    "risingwave": "create source s{0} (a jsonb) with (connector = 'kafka') format plain encode json;",
    "starrocks": "create table `t{0}` (`a` int) duplicate key(`a`) distributed by hash(`a`) buckets 3;",
    "athena": "create table t{0} with (external_location = 's3://b/t') as select date_parse(a, '%Y') as a from u",
}


@pytest.mark.parametrize("dialect", REFINED)
def test_signs_of_an_engine_tell_it_from_the_one_whose_language_it_speaks(tmp_path: Path, dialect: str) -> None:
    family = DIALECTS[dialect].family
    known = {
        "oracle": "create table t{0} (a varchar2(9))\n/\n",
        "postgres": "create table t{0} (a jsonb, b serial);",
        "mysql": "create table `t{0}` (`a` int auto_increment) engine=InnoDB;",
        "trino": "select date_parse(a, '%Y') as a, approx_distinct(b) as b from t{0}",
    }
    shared = {f"s{number}.sql": known[family].format(number) for number in range(4)}
    own = {f"o{number}.sql": REFINED[dialect].format(number) for number in range(3)}
    refined = discover_folder(write_tree(tmp_path / "refined", {**shared, **own}), Settings())
    assert {file.dialect for file in refined.files} == {dialect}
    (vote,) = refined.votes
    assert not vote.other
    plain = discover_folder(write_tree(tmp_path / "plain", shared), Settings())
    assert {file.dialect for file in plain.files} == {family}


def test_texts_beside_programs_have_the_dialect_of_the_programs(tmp_path: Path) -> None:
    texts = {f"resources/q{number}.sql": PLAIN.format(number) for number in range(60)}
    named = {f"spark/p{number}.sql": PLAIN.format(number) for number in range(6)}
    programs = {f"spark/p{number}.py": "spark.sql('select a from t')\n" for number in range(2)}
    found = discover_folder(write_tree(tmp_path / "one", {**texts, **named, **programs}), Settings())
    assert {file.dialect for file in found.files} == {"spark"}
    other = {f"oracle/s{number}.sql": "create table t (a varchar2(9))\n/\n" for number in range(2)}
    for name, files in (("a name alone", named), ("two families", {**named, **programs, **other})):
        mixed = read_dialects(discover_folder(write_tree(tmp_path / name, {**texts, **files}), Settings()))
        assert {mixed[path] for path in texts} == {""}, name


def test_a_header_comment_decides_for_its_own_file_alone(tmp_path: Path) -> None:
    files = {f"p{number}.sql": PSQL.format(number) for number in range(3)}
    files["a.sql"] = "-- lineage: dialect=snowflake\n" + PLAIN.format(1)
    assert read_dialects(discover_folder(write_tree(tmp_path, files), Settings())) == {
        "a.sql": "snowflake",
        **dict.fromkeys(("p0.sql", "p1.sql", "p2.sql"), "postgres"),
    }


def test_a_header_comment_in_a_model_does_not_decide_for_its_dbt_project(tmp_path: Path) -> None:
    files = build_dbt_project() | {"models/a.sql": "-- lineage: dialect=bigquery\nselect 1 as a"}
    found = read_dialects(discover_folder(write_tree(tmp_path, files), Settings()))
    assert {path: dialect for path, dialect in found.items() if dialect != "snowflake"} == {"models/a.sql": "bigquery"}


def test_systems_vote_apart(tmp_path: Path) -> None:
    files = {f"a/s{number}.sql": PSQL.format(number) for number in range(2)}
    files |= {f"b/s{number}.sql": PLAIN.format(number) for number in range(2)}
    systems = [{"name": "one", "paths": ["a/**"]}, {"name": "two", "paths": ["b/**"]}]
    found = discover_folder(write_tree(tmp_path, files), Settings(systems=systems))
    assert [file.dialect for file in found.files] == ["postgres", "postgres", "", ""]


def test_doubt_is_a_finding_with_the_other_dialect(tmp_path: Path) -> None:
    files = {f"p{number}.sql": PSQL.format(number) for number in range(3)}
    files |= {f"t{number}.sql": "create table t (a int);\nGO\n" for number in range(2)}
    found = discover_folder(write_tree(tmp_path, files), Settings())
    (finding,) = [row for row in found.diagnostics if row.code == "DIALECT_UNCERTAIN"]
    assert "but tsql is possible; --dialect tsql reads it so" in finding.message
    assert discover_folder(tmp_path, Settings(analysis={"dialect": "postgres"})).diagnostics == ()


def test_signs_that_dialects_share_decide_nothing(tmp_path: Path) -> None:
    files = {f"a{number}.sql": "select a::int as a from t" for number in range(4)}
    found = discover_folder(write_tree(tmp_path, files), Settings())
    assert set(read_dialects(found).values()) == {""}
    assert found.files[0].evidence == "as many signs of postgres as of snowflake"
    (finding,) = found.diagnostics
    assert finding.message.startswith("these files: read as generic SQL (as many signs of postgres as of snowflake)")


def test_files_that_are_read_one_by_one_get_the_same_rows(tmp_path: Path) -> None:
    commit = commit_tree(tmp_path, {f"s{number}.sql": PSQL.format(number) for number in range(3)})
    streamed = open_revision(tmp_path, commit, Settings())
    for _ in streamed.sources():
        pass
    assert streamed.done().files == discover_revision(tmp_path, commit, Settings()).files


@pytest.mark.parametrize("places", [("a/s1.sql",), ("a", "b"), ("a/s1.sql", "b"), ("a/s1.sql", "a/plain.sql")])
def test_named_files_and_several_folders_vote_like_a_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, places: tuple[str, ...]
) -> None:
    files = {f"{folder}/s{number}.sql": BIGQUERY.format(number) for folder in "ab" for number in range(2)}
    write_tree(tmp_path, {**files, "a/plain.sql": PLAIN.format(1)})
    monkeypatch.chdir(tmp_path)
    found = discover_inputs(places, ReadingFlags()).discovery
    assert set(read_dialects(found).values()) == {"bigquery"}
    assert [vote.dialect for vote in found.votes] == ["bigquery"]
    whole = discover_inputs([str(tmp_path / place) for place in places], ReadingFlags()).discovery
    assert set(read_dialects(whole).values()) == {"bigquery"}
    said = discover_inputs(places, ReadingFlags("trino")).discovery
    assert set(read_dialects(said).values()) == {"trino"}


def test_the_order_of_files_does_not_matter() -> None:
    folders = {"a": PSQL, "b": BIGQUERY, "c": TSQL, "d": PLAIN}
    texts = {f"{name}/s{number}.sql": text.format(number) for name, text in folders.items() for number in range(4)}
    signs = {path: find_signs(text) for path, text in texts.items()}
    expected = vote_on_tree(signs)
    for seed in range(5):
        paths = random.Random(seed).sample(sorted(signs), len(signs))
        shuffled = {path: tuple(random.Random(seed).sample(signs[path], len(signs[path]))) for path in paths}
        again = vote_on_tree(shuffled)
        assert again.votes == expected.votes
        assert {path: one[0] for path, one in again.files.items()} == {
            path: one[0] for path, one in expected.files.items()
        }


def test_the_hash_seed_does_not_matter(tmp_path: Path) -> None:
    files = {f"p{number}.sql": PSQL.format(number) for number in range(2)}
    files |= {f"t{number}.sql": TSQL.format(number) for number in range(2)} | {"x.sql": PLAIN.format(3)}
    write_tree(tmp_path, files)
    code = (
        "import sys; from pathlib import Path; from lineage_pipeline.config.load import Settings;"
        "from lineage_pipeline.discover.folder import discover_folder;"
        "found = discover_folder(Path(sys.argv[1]), Settings()); print(found.files, found.votes, found.diagnostics)"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1


def run_lineage(*arguments: str, cwd: Path) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "lineage_pipeline.cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment)
    return done.returncode, done.stdout, done.stderr


def test_commands_say_the_dialect_first_unless_quiet(tmp_path: Path) -> None:
    files = {f"s{number}.sql": PSQL.format(number) for number in range(3)}
    commit_tree(tmp_path, files)
    commit_tree(tmp_path, {"s9.sql": PLAIN.format(9)})
    line = "Dialect: postgres (3 of 4 files: psql commands, ::casts)"
    for command in (["scan", "."], ["diff", "HEAD~1", "HEAD"], ["check", "--base", "HEAD~1", "--exact-base"]):
        code, _, told = run_lineage(*command, cwd=tmp_path)
        assert (code, told.split("\n")[0]) == (0, line)
        assert "Dialect:" not in run_lineage(*command, "--quiet", cwd=tmp_path)[2]
    assert "Dialect: mysql (--dialect)\n" in run_lineage("scan", "-d", "mysql", cwd=tmp_path)[2]
    code, said, _ = run_lineage("scan", "--format", "json", cwd=tmp_path)
    assert json.loads(said)["summary"]["dialects"] == [
        {"dialect": "postgres", "folder": "", "files": 4, "evidence": "3 of 4 files: psql commands, ::casts"}
    ]


def test_many_dialects_are_five_lines(tmp_path: Path) -> None:
    names = ("postgres", "mysql", "oracle", "snowflake", "bigquery", "tsql", "sqlite")
    write_tree(tmp_path, {f"{name}/t.sql": PLAIN.format(1) for name in names})
    _, _, told = run_lineage("scan", ".", cwd=tmp_path)
    lines = [line for line in told.split("\n") if line.startswith("Dialect:")]
    assert lines[0] == "Dialect: bigquery (1 of 1 files in bigquery: the name bigquery)"
    assert lines[4:] == ["Dialect: others in 3 more files; lineage scan -v lists them"]


def test_a_scan_in_doubt_compares_both_dialects(tmp_path: Path) -> None:
    files = {f"p{number}.sql": PSQL.format(number) for number in range(3)}
    files |= {f"t{number}.sql": "create table t (a int);\nGO\n" for number in range(2)}
    _, _, told = run_lineage("scan", ".", cwd=write_tree(tmp_path, files))
    (line,) = [line for line in told.split("\n") if "may also be" in line]
    assert line.startswith("lineage: the dialect may also be tsql. As postgres there are ")
    assert line.endswith(" To read it so: --dialect tsql")


def test_a_misspelt_dialect_is_an_error(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.sql": PLAIN.format(1)})
    code, _, told = run_lineage("scan", "-d", "snowflke", cwd=tmp_path)
    assert (code, told) == (2, "lineage: there is no dialect snowflke: did you mean snowflake?\n")


ARGUMENTS = {
    "analyze": ("a.sql",),
    "backfill": ("--since", "HEAD~1"),
    "diff": ("HEAD~1", "HEAD"),
    "dissect": ("a.sql",),
    "export": ("json",),
    "formula": ("v1.a",),
    "graph build": ("--output", "x.lineage"),
    "impact": ("v1.a",),
    "import": ("openlineage", "events.json", "."),
    "path": ("t1.a", "v1.a"),
    "render": ("a.sql",),
    "search": ("v1",),
    "show": ("v1",),
    "tables pull": ("--catalog", "duckdb:///x.duckdb"),
    "verify": ("--catalog", "duckdb:///x.duckdb"),
    "waivers": ("lint",),
}
"""What commands need beside a dialect."""


def test_every_command_refuses_a_misspelt_dialect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commit_tree(tmp_path, {"a.sql": PLAIN.format(1)})
    commit_tree(tmp_path, {"b.sql": PLAIN.format(2), "events.json": "[]"})
    monkeypatch.chdir(tmp_path)
    asked = [command for command in iterate_commands() if any("--dialect" in flag.names for flag in command.flags)]
    assert len(asked) > 15
    for command in asked:
        code = main([*command.words, *ARGUMENTS.get(command.title, ()), "--dialect", "snowflke"])
        told = capsys.readouterr().err.strip().split("\n")[-1]
        assert (command.title, code, told) == (
            command.title,
            2,
            "lineage: there is no dialect snowflke: did you mean snowflake?",
        )


def test_both_sides_of_a_comparison_are_read_in_one_dialect(tmp_path: Path) -> None:
    commit_tree(tmp_path, {"a.sql": PLAIN.format(1), "b.sql": PLAIN.format(2), "c.sql": PSQL.format(3)})
    commit_tree(tmp_path, {"d.sql": PSQL.format(4), "e.sql": PSQL.format(5)})
    alone = discover_revision(tmp_path, "HEAD~1", Settings())
    assert alone.files[0].dialect == ""
    for base, head in (("HEAD~1", "HEAD"), ("HEAD", "HEAD~1")):
        sides = discover_sides(f"{tmp_path}@{base}", f"{tmp_path}@{head}", {})
        assert [set(read_dialects(found).values()) for found, _ in sides] == [{"postgres"}, {"postgres"}]


def test_both_sides_of_a_dbt_project_are_rendered_for_one_adapter(tmp_path: Path) -> None:
    commit_tree(tmp_path, build_dbt_project(models=30, speaking=1))
    commit_tree(tmp_path, {"models/s9.sql": SNOWFLAKE_SIGNS, "models/s8.sql": SNOWFLAKE_SIGNS})
    sides = discover_sides(f"{tmp_path}@HEAD~1", f"{tmp_path}@HEAD", {})
    assert [set(read_dialects(found).values()) for found, _ in sides] == [{"snowflake"}, {"snowflake"}]


def test_two_clear_votes_that_differ_are_a_migration(tmp_path: Path) -> None:
    commit_tree(tmp_path, {f"s{number}.sql": PSQL.format(number) for number in range(3)})
    commit_tree(tmp_path, {f"s{number}.sql": BIGQUERY.format(number) for number in range(3)})
    sides = discover_sides(f"{tmp_path}@HEAD~1", f"{tmp_path}@HEAD", {})
    assert [set(read_dialects(found).values()) for found, _ in sides] == [{"postgres"}, {"bigquery"}]


def test_recalled_files_vote_as_if_they_were_read(tmp_path: Path) -> None:
    files = {f"s{number}.sql": PSQL.format(number) for number in range(3)} | {"p.sql": PLAIN.format(1)}
    first = open_folder(write_tree(tmp_path, files), Settings())
    first.whole()
    recalled = first.to_recall()
    (tmp_path / "s0.sql").write_text(BIGQUERY.format(0))
    (tmp_path / "s1.sql").write_text(BIGQUERY.format(1))
    changed = {path: found for path, found in recalled.items() if path not in ("s0.sql", "s1.sql")}
    again = open_folder(tmp_path, Settings(), recalled=changed).whole()
    whole = discover_folder(tmp_path, Settings())
    assert again.files == whole.files
    assert again.votes == whole.votes
