"""We warn of exactly those comparisons, unions and writes that engines refuse; the engines are the judges."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import permutations, product
from pathlib import Path

import duckdb
import pytest

from lineage_pipeline.api import analyze, scan
from lineage_pipeline.dialects.registry import DIALECTS
from lineage_pipeline.dialects.types.conversions import ALL_KINDS, is_operation_refused, is_refused
from lineage_pipeline_tests.oracles import engine
from lineage_pipeline_tests.oracles.answers import questions
from lineage_pipeline_tests.oracles.generator.duckdb import DUCKDB as duckdb_grammar
from lineage_pipeline_tests.oracles.generator.postgres import POSTGRES as postgres_grammar
from lineage_pipeline_tests.oracles.generator.scopes import tables
from lineage_pipeline_tests.oracles.generator.spark import SPARK as spark_grammar
from lineage_pipeline_tests.oracles.generator.writer import generate
from lineage_pipeline_tests.oracles.server import installed, running
from lineage_pipeline_tests.support.paths import FIXTURES, ROOT

WAYS = {
    "compares": "select 1 as x from t where c_{0} = c_{1}",
    "unites": "select c_{0} from t union all select c_{1} from t",
    "branches": "select case when c_boolean then c_{0} else c_{1} end as x from t",
    "stores": "insert into t (c_{1}) select c_{0} from t",
}
OPERATORS = {"ADD": "+", "SUB": "-", "MUL": "*", "DIV": "/", "MOD": "%"}
DUCKDB = {
    "number": ("INTEGER", "1"),
    "string": ("VARCHAR", "'1'"),
    "boolean": ("BOOLEAN", "true"),
    "date": ("DATE", "date '2024-01-01'"),
    "time": ("TIME", "time '10:00'"),
    "moment": ("TIMESTAMP", "timestamp '2024-01-01'"),
    "interval": ("INTERVAL", "interval 1 day"),
    "binary": ("BLOB", "'1'::blob"),
    "uuid": ("UUID", "uuid()"),
    "array": ("INTEGER[]", "[1]"),
}
POSTGRES = {name: kind for name, (kind, _) in DUCKDB.items()} | {"string": "TEXT", "binary": "BYTEA"}
SPARK = {"number": "INT", "string": "STRING", "boolean": "BOOLEAN", "date": "DATE", "moment": "TIMESTAMP"}
SPARK["array"] = "ARRAY<INT>"

Refuses = Callable[[str], bool]


def compare_with_engine(
    refuses: Refuses, types: dict[str, str], dialect: str, spared: frozenset[str] = frozenset()
) -> None:
    """Hold our rows against an engine, for every pair of kinds and every way."""
    conversions = DIALECTS[dialect].types.conversions
    assert conversions is not None
    for way, query in WAYS.items():
        for pair in permutations(types, 2):
            if way == "compares" and spared == {*pair}:
                continue
            expected = refuses(query.format(*pair))
            assert is_refused(types[pair[0]], types[pair[1]], conversions, way) == expected, (way, *pair)
    calculable = [name for name in types if name != "array"]
    for op, sign in OPERATORS.items():
        for one, two in product(calculable, repeat=2):
            expected = refuses(f"select c_{one} {sign} c_{two} as x from t")
            assert is_operation_refused(op, types[one], types[two], conversions) == expected, (op, one, two)


def test_duckdb_refuses_what_we_warn_of() -> None:
    assert set(DUCKDB) == set(ALL_KINDS)
    with duckdb.connect() as connection:
        columns = ", ".join(f"c_{name} {kind}" for name, (kind, _) in DUCKDB.items())
        connection.execute(f"create table t ({columns})")
        connection.execute(f"insert into t values ({', '.join(value for _, value in DUCKDB.values())})")

        def refuses(sql: str) -> bool:
            connection.execute("begin")
            try:
                connection.execute(sql).fetchall()
            except duckdb.Error as error:
                # What the binder refuses it refuses for every value; any other error depends on it.
                return isinstance(error, duckdb.BinderException) or "Unimplemented type for cast" in str(error)
            finally:
                connection.execute("rollback")
            return False

        compare_with_engine(refuses, {name: kind for name, (kind, _) in DUCKDB.items()}, "duckdb")


@contextmanager
def connect_postgres() -> Iterator[Refuses]:
    import psycopg

    with running(installed()) as home, psycopg.connect(host=home, user="lineage", dbname="postgres") as connection:
        connection.autocommit = True
        connection.execute(f"create table t ({', '.join(f'c_{name} {kind}' for name, kind in POSTGRES.items())})")

        def refuses(sql: str) -> bool:
            try:
                connection.execute(f"explain {sql}".encode())
            except (psycopg.errors.UndefinedFunction, psycopg.errors.DatatypeMismatch, psycopg.errors.CannotCoerce):
                return True
            except psycopg.errors.AmbiguousFunction:
                return True
            return False

        yield refuses


@pytest.mark.postgres
def test_postgres_refuses_what_we_warn_of() -> None:
    with connect_postgres() as refuses:
        compare_with_engine(refuses, POSTGRES, "postgres")


@pytest.mark.spark
def test_spark_refuses_what_we_warn_of(tmp_path: Path) -> None:
    from pyspark.errors import AnalysisException

    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.spark.session import get_session

    spark = get_session(load_settings(tmp_path, {}, {}).spark)
    columns = ", ".join(f"c_{name} {kind}" for name, kind in SPARK.items())
    spark.sql(f"create table fitting ({columns}) using parquet location '{tmp_path}/fitting'")

    def refuses(sql: str) -> bool:
        try:
            spark.sql(sql.replace(" t ", " fitting ").removesuffix(" t") + (" fitting" if sql.endswith(" t") else ""))
        except AnalysisException:
            return True
        return False

    try:
        compare_with_engine(refuses, SPARK, "spark", frozenset({"number", "boolean"}))
    finally:
        spark.sql("drop table fitting")


@pytest.mark.parametrize("name", sorted(name for name, one in DIALECTS.items() if one.types.conversions is not None))
def test_every_type_family_fits_itself_and_any(name: str) -> None:
    conversions = DIALECTS[name].types.conversions
    for way in WAYS:
        assert not is_refused("INT", "BIGINT", conversions, way)
        assert not is_refused("JSON", "DATE", conversions, way)
        assert not is_refused(None, "DATE", conversions, way)


def test_queries_that_spark_accepts_have_no_type_mismatch() -> None:
    for question in questions("spark"):
        found = analyze(question.sql, dialect="spark").lineage.diagnostics
        assert [row.message for row in found if row.code == "TYPE_MISMATCH"] == [], question.title


GRAMMARS = {"spark": spark_grammar, "duckdb": duckdb_grammar, "postgres": postgres_grammar}


@pytest.mark.parametrize("dialect", sorted(GRAMMARS))
def test_generated_queries_that_an_engine_accepts_have_no_type_mismatch(dialect: str) -> None:
    grammar = GRAMMARS[dialect]
    given = engine.schemas(tables(grammar, 3), dialect)
    for query in generate(grammar, 3, 120):
        found = engine.lineage(query.sql, dialect, given).diagnostics
        assert [row.message for row in found if row.code == "TYPE_MISMATCH"] == [], query.sql


FINDINGS = FIXTURES / "findings.txt"


def test_the_example_warehouses_have_exactly_these_findings(request: pytest.FixtureRequest) -> None:
    lines = []
    for folder in sorted(ROOT.glob("sql_assets/*/*/")):
        for row in scan(folder).lineage.diagnostics:
            place = f"{folder.relative_to(ROOT / 'sql_assets').as_posix()}/{row.path}:{row.line}:{row.column}"
            lines.append(f"{place} {row.severity} {row.code} {row.message}\n")
    if request.config.getoption("--accept"):
        FINDINGS.write_text("".join(lines))
    assert FINDINGS.read_text() == "".join(lines)


def test_type_and_arity_mismatches_of_a_scan_have_positions(tmp_path: Path) -> None:
    (tmp_path / "lineage.toml").write_text('[analysis]\ndialect = "tsql"\n')
    (tmp_path / "1.sql").write_text("create table t (d date, n int);\ninsert into t select n from t;\n")
    (tmp_path / "2.sql").write_text("select d from t union all select n from t union select n, n from t;\n")
    found = [(row.path, row.line, row.column, row.code) for row in scan(tmp_path).lineage.diagnostics]
    assert found == [
        ("1.sql", 2, 22, "INSERT_ARITY_MISMATCH"),
        ("1.sql", 2, 22, "TYPE_MISMATCH"),
        ("2.sql", 1, 34, "TYPE_MISMATCH"),
        ("2.sql", 1, 56, "SET_OPERATION_MISMATCH"),
    ]
