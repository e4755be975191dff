"""Invariants for every SQL: exact positions, no influence of layout and file order, equal results for equal input."""

import os
import subprocess
import sys

import msgspec
import pytest

from lineage_pipeline.export.documents.lineage_json import build_lineage_document, dump_json
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options, TableSchema
from lineage_pipeline.model.plan import Plan, ScriptInterface
from lineage_pipeline.pipeline import analyze_files, build_lineage
from lineage_pipeline_tests.support.cases import Case, analyze_case, case_inputs
from lineage_pipeline_tests.support.engine_properties import LAYOUT_FREE_CASES, layout_free_rows
from lineage_pipeline_tests.support.paths import ROOT
from lineage_pipeline_tests.support.soundness import assert_sound
from lineage_pipeline_tests.support.token_layouts import respace_tokens

ASSETS = ROOT / "sql_assets"
EXAMPLES = {
    "retail": Options("tsql", "mssql", "retail", "dbo"),
    "marketing": Options("snowflake", "snowflake", "MARKETING"),
}


def read_example_files(revision: str) -> list[InputFile]:
    return [
        InputFile(file.relative_to(ASSETS).as_posix(), file.read_text(), options)
        for name, options in EXAMPLES.items()
        for file in sorted((ASSETS / name / revision).rglob("*.sql"))
    ]


@pytest.fixture(scope="module")
def head() -> LineageTables:
    return build_lineage(read_example_files("head"))


def test_the_rows_of_the_examples_are_sound(head: LineageTables) -> None:
    assert sum(edge.span is not None for edge in head.column_edges) > 300
    assert_sound(head, {file.path: file.text for file in read_example_files("head")})


def test_the_order_of_files_does_not_matter(head: LineageTables) -> None:
    assert build_lineage(reversed(read_example_files("head"))) == head


def test_paths_with_equal_numbers_have_a_fixed_order() -> None:
    files = [
        InputFile(f"{n}.sql", f"create table t ({c} int)", Options("postgres")) for n, c in (("1", "a"), ("01", "b"))
    ]
    odd = InputFile("1²2.sql", "create table u (a int)", Options("postgres"))
    assert build_lineage([*files, odd]) == build_lineage([odd, *reversed(files)])


RESPACEABLE_CASES = [case for case in LAYOUT_FREE_CASES if case.file.stem not in ("clients", "unnamed")]
"""Cases whose layout may change: client commands end with their line, and some columns are named by their text."""


@pytest.mark.parametrize("case", RESPACEABLE_CASES, ids=lambda case: f"{case.file.stem}: {case.title}")
def test_layout_changes_no_edge(case: Case) -> None:
    text = respace_tokens(case.sql, case.setting("dialect"), ["\n  ", " /* remark */ "])
    spread = analyze_case(Case(case.file, case.title, case.settings, text, ()))
    assert layout_free_rows(spread) == layout_free_rows(analyze_case(case))
    assert_sound(spread, {"-": text})


def test_data_passed_between_processes_survives_its_encoding() -> None:
    for case in LAYOUT_FREE_CASES:
        files, imported = case_inputs(case)
        made = analyze_files(files, imported)
        for item in made.compiled:
            assert_round_trips(item.script, ir.Script)
            assert_round_trips(item.face, ScriptInterface)
        assert_round_trips(made.plan, Plan)
        assert_round_trips(made.registry.schemas, dict[str, TableSchema])


def assert_round_trips(value: object, kind: object) -> None:
    """A value is the same after the encoding that the sandbox, the cache and Spark use."""
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(value), type=kind) == value


PRINT_DOCUMENTS = """
from lineage_pipeline_tests.engine.test_invariants import render_all_documents
print(render_all_documents(), end="")
"""


def test_hash_seeds_do_not_matter() -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    command = [sys.executable, "-c", PRINT_DOCUMENTS]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment, cwd=ASSETS.parent, encoding="utf-8"
    )
    assert done.stdout == render_all_documents()


def render_all_documents() -> str:
    """The results of the example and of every fixture, as text."""
    lineages = [build_lineage(read_example_files("base")), *(analyze_case(case) for case in LAYOUT_FREE_CASES)]
    return "\n".join(dump_json(build_lineage_document(lineage)) for lineage in lineages)
