"""What holds for every SQL: places are exact, layout and order do not matter, the same input gives the same answer."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from lineage_pipeline.export.documents.lineage_json import build_lineage_document, dump_json
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options, TableSchema
from lineage_pipeline.model.plan import Plan, ScriptInterface
from lineage_pipeline.pipeline import analyze_files, build_lineage
from lineage_pipeline_tests.cases import Case, analysed, inputs_of
from lineage_pipeline_tests.checks import FIXTURES, essence
from lineage_pipeline_tests.layouts import spaced
from lineage_pipeline_tests.soundness import assert_sound

ASSETS = Path(__file__).parent.parent / "sql_assets"
EXAMPLES = {
    "retail": Options("tsql", "mssql", "retail", "dbo"),
    "marketing": Options("snowflake", "snowflake", "MARKETING"),
}


def example(revision: str) -> list[InputFile]:
    return [
        InputFile(file.relative_to(ASSETS).as_posix(), file.read_text(), options)
        for name, options in EXAMPLES.items()
        for file in sorted((ASSETS / name / revision).rglob("*.sql"))
    ]


@pytest.fixture(scope="module")
def head() -> LineageTables:
    return build_lineage(example("head"))


def test_the_rows_of_the_examples_are_sound(head: LineageTables) -> None:
    assert sum(edge.span is not None for edge in head.column_edges) > 300
    assert_sound(head, {file.path: file.text for file in example("head")})


def test_the_order_of_files_does_not_matter(head: LineageTables) -> None:
    assert build_lineage(reversed(example("head"))) == head


def test_paths_that_count_alike_keep_one_order() -> None:
    files = [
        InputFile(f"{n}.sql", f"create table t ({c} int)", Options("postgres")) for n, c in (("1", "a"), ("01", "b"))
    ]
    odd = InputFile("1²2.sql", "create table u (a int)", Options("postgres"))
    assert build_lineage([*files, odd]) == build_lineage([odd, *reversed(files)])


SPREADABLE = [case for case in FIXTURES if case.file.stem not in ("clients", "unnamed")]
"""A line for the client is a line, and a column that is named after its text changes with it."""


@pytest.mark.parametrize("case", SPREADABLE, ids=lambda case: f"{case.file.stem}: {case.title}")
def test_layout_changes_no_edge(case: Case) -> None:
    text = spaced(case.sql, case.setting("dialect"), ["\n  ", " /* remark */ "])
    spread = analysed(Case(case.file, case.title, case.settings, text, ()))
    assert essence(spread) == essence(analysed(case))
    assert_sound(spread, {"-": text})


def test_what_is_handed_on_between_processes_survives_its_encoding() -> None:
    for case in FIXTURES:
        files, imported = inputs_of(case)
        made = analyze_files(files, imported)
        for item in made.compiled:
            assert_survives(item.script, ir.Script)
            assert_survives(item.face, ScriptInterface)
        assert_survives(made.plan, Plan)
        assert_survives(made.registry.schemas, dict[str, TableSchema])


def assert_survives(value: object, kind: object) -> None:
    """A value is the same after the encoding that guards, the cache and Spark use."""
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(value), type=kind) == value


def test_hash_seeds_do_not_matter() -> None:
    code = "from lineage_pipeline_tests.test_invariants import documents; print(documents(), end='')"
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment, cwd=ASSETS.parent, encoding="utf-8"
    )
    assert done.stdout == documents()


def documents() -> str:
    """What the engine gives for the example and for every fixture, as text."""
    lineages = [build_lineage(example("base")), *(analysed(case) for case in FIXTURES)]
    return "\n".join(dump_json(build_lineage_document(lineage)) for lineage in lineages)
