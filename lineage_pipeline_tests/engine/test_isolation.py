"""Isolation: analyses in threads give the rows of one thread, and sqlglot is unchanged for its other users."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from lineage_pipeline.api import analyze
from lineage_pipeline.engine.compile.compiler import compile_source
from lineage_pipeline.model.analysis import InputFile
from lineage_pipeline_tests.support.cases import case_inputs, load_cases
from lineage_pipeline_tests.support.paths import ROOT

THREADS = 4


@pytest.fixture(params=[None, 1e-6], ids=["default switch interval", "tiny switch interval"])
def switch_interval(request: pytest.FixtureRequest) -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(request.param or before)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("switch_interval")
def test_all_fixtures_compiled_in_four_threads_equal_the_sequential_bytes() -> None:
    files = [case_inputs(case)[0][0] for case in load_cases("link")]
    expected = [_compile_to_bytes(file) for file in files]
    with ThreadPoolExecutor(THREADS) as threads:
        found = list(threads.map(_compile_to_bytes, files))
    differing = [file.text for file, one, other in zip(files, expected, found, strict=True) if one != other]
    assert differing == []


def _compile_to_bytes(file: InputFile) -> bytes:
    return msgspec.msgpack.encode(compile_source(file.text, file.options))


@pytest.mark.usefixtures("switch_interval")
def test_analyses_in_threads_give_the_edges_of_their_own_text() -> None:
    texts = [
        f"create view v{n} as select t.a{n}, sum(u.b{n}) as s from t{n} t join u{n} u on t.k = u.k group by t.a{n}"
        for n in range(120)
    ]
    expected = [analyze(text, dialect="snowflake").to_dict() for text in texts]
    with ThreadPoolExecutor(THREADS) as threads:
        found = list(threads.map(lambda text: analyze(text, dialect="snowflake").to_dict(), texts))
    assert found == expected


OTHERS = """
import logging, sys
import sqlglot
from sqlglot.dialects.dialect import Dialects

class Recorder(logging.Handler):
    def emit(self, record):
        seen.append(record.getMessage())

logging.getLogger("sqlglot").addHandler(Recorder())
TEXTS = [
    "select APPLY(a, b) from t",
    "select +a, @ b, |/ c from t",
    "select date_part('year', d), square(x), zeroifnull(y), nullifzero(z), translate(a, b, c), sysdatetime() from t",
    "select x from t, t.items",
    "table t",
    "create view v as select json_object('a', b), xmlparse(content c) from t",
    "create masking policy p as (v varchar) returns varchar -> v",
    "select * from t pivot (sum(a) + 1 for b in (1, 2))",
    "update t set a = :x, b = @y where c = $1",
    "select overlaps(a, b), a.b.c from t as t(a, b)",
    "shuffle(a, b, c) select",
]

def trees():
    global seen
    found = []
    for dialect in Dialects:
        for text in TEXTS:
            seen = []
            try:
                tree = repr(sqlglot.parse_one(text, dialect=dialect.value or None))
            except Exception as error:
                tree = f"{type(error).__name__}: {error}"
            found.append((dialect.value, text, tree, seen))
    return found

before = trees()
from lineage_pipeline import analyze
from lineage_pipeline_tests.support.cases import load_cases
for dialect in Dialects:
    for text in TEXTS:
        seen = []
        analyze(text, dialect=dialect.value)
        assert seen == [], seen
for case in load_cases("link")[::10]:
    analyze(case.sql, dialect=case.setting("dialect"))
changed = [(old, new) for old, new in zip(before, trees()) if old != new]
for old, new in changed[:5]:
    print("before:", old, "after:", new, file=sys.stderr)
print(len(before), len(changed), sum(bool(logged) for _, _, _, logged in before))
"""


def test_an_analysis_leaves_the_trees_and_logs_of_sqlglot_unchanged() -> None:
    ended = subprocess.run([sys.executable, "-c", OTHERS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    texts, changed, logging = map(int, ended.stdout.split())
    assert changed == 0, ended.stderr
    assert texts > 300 and logging > 10  # the corpus has what sqlglot parses, refuses and warns of


@pytest.mark.pipeline
def test_pages_read_by_eight_clients_at_once_equal_the_sequential_ones() -> None:
    import duckdb
    import httpx

    from lineage_pipeline_tests.support.example_history import build_history
    from lineage_pipeline_tests.support.explorer_browser import serve_explorer

    built = build_history()
    assert (built.failed, built.message) == (set(), "None")
    with duckdb.connect(str(built.marts), read_only=True) as marts:
        rows = marts.execute(
            "select snapshot, path from staging.stg_lineage__sql_files order by snapshot desc, path limit 60"
        ).fetchall()
    asked = [{"snapshot": snapshot, "path": path} for snapshot, path in rows]
    assert len(asked) == 60
    with serve_explorer(built.marts) as address:
        expected = [httpx.get(f"{address}/file", params=one, timeout=60).text for one in asked]
    assert all("<html" in page for page in expected)
    with serve_explorer(built.marts) as address, ThreadPoolExecutor(8) as clients:
        for _ in ("computed", "remembered"):
            found = clients.map(lambda one: httpx.get(f"{address}/file", params=one, timeout=60).text, asked)
            assert [one["path"] for one, page, want in zip(asked, found, expected, strict=True) if page != want] == []


COLD = """
import threading, time
import sqlglot.dialects.dialect as dialect_module

slow = dialect_module.new_trie  # a dialect class is registered before its tries are built
def build_slowly(*given):
    time.sleep(0.02)
    return slow(*given)
dialect_module.new_trie = build_slowly

from lineage_pipeline import analyze
found = []
def run():
    found.append(analyze("select [a b].x from [s].[t] as [a b]", dialect="tsql").to_dict())
threads = [threading.Thread(target=run) for _ in range(8)]
[one.start() for one in threads]
[one.join() for one in threads]
assert all(one["summary"]["statements"]["analysed"] == 1 for one in found), found[0]["diagnostics"]
print(len(found), sum(one != found[0] for one in found))
"""


def test_threads_that_load_a_dialect_at_once_wait_for_it() -> None:
    ended = subprocess.run([sys.executable, "-c", COLD], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == ["8", "0"]
