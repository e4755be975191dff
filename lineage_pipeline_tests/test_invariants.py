"""What holds for every SQL: places are exact, layout and order do not matter, the same input gives the same answer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lineage_pipeline.export.json import dump, lineage_document
from lineage_pipeline.pipeline import analyse
from lineage_pipeline.vocabulary.analysis import InputFile, Lineage, Options
from lineage_pipeline.vocabulary.tables import ColumnEdge, Use
from lineage_pipeline_tests.cases import Case, analysed, cases

ASSETS = Path(__file__).parent.parent / "sql_assets"
EXAMPLES = {
    "retail": Options("tsql", "mssql", "retail", "dbo"),
    "marketing": Options("snowflake", "snowflake", "MARKETING"),
}
SPREADABLE = [case for case in cases("link") if "\ngo\n" not in case.sql.lower()]  # GO needs a line of its own


def example(revision: str) -> list[InputFile]:
    return [
        InputFile(file.relative_to(ASSETS).as_posix(), file.read_text(), options)
        for name, options in EXAMPLES.items()
        for file in sorted((ASSETS / name / revision).rglob("*.sql"))
    ]


@pytest.fixture(scope="module")
def head() -> Lineage:
    return analyse(example("head"))


def test_slicing_by_a_span_gives_the_expression(head: Lineage) -> None:
    texts = {file.path: file.text for file in example("head")}
    spans = 0
    for edge in head.column_edges:
        uses: list[ColumnEdge | Use] = [edge, *edge.uses]
        for use in uses:
            if use.span is not None:
                assert texts[edge.path][use.span.start : use.span.end] == use.expression
                spans += 1
            if use.from_span is not None:
                lines = texts[edge.path].splitlines()
                first = lines[use.from_span.line - 1][use.from_span.column - 1 :]
                named = texts[edge.path][use.from_span.start : use.from_span.end]
                assert first.startswith(named.splitlines()[0])
    assert spans > 300


def test_the_reference_of_an_edge_names_its_column(head: Lineage) -> None:
    texts = {file.path: file.text for file in example("head")}
    for edge in head.column_edges:
        if edge.from_span is not None and not edge.hops:
            named = texts[edge.path][edge.from_span.start : edge.from_span.end]
            assert named.endswith("*") or edge.from_column.lower() in named.lower(), edge


def test_the_bytes_of_statements_and_of_those_inside_add_up(head: Lineage) -> None:
    for file in example("head"):
        rows = [row for row in head.statements if row.path == file.path]
        outer = [row for row in rows if row.parent is None and row.span is not None]
        covered = sum(len(file.text[row.span.start : row.span.end].encode()) for row in outer if row.span)
        assert sum(row.bytes for row in rows) == covered
        assert all(row.bytes >= 0 for row in rows)


def test_every_end_of_an_edge_is_a_known_column(head: Lineage) -> None:
    known = {(column.object, column.name) for column in head.columns}
    for edge in head.column_edges:
        assert edge.from_object == "?" or (edge.from_object, edge.from_column) in known, edge
        assert edge.to_column == "*" or (edge.to_object, edge.to_column) in known, edge


def test_ordinals_count_from_one_without_gaps(head: Lineage) -> None:
    ordinals: dict[str, list[int]] = {}
    for column in head.columns:
        ordinals.setdefault(column.object, []).append(column.ordinal)
    assert all(found == list(range(1, len(found) + 1)) for found in ordinals.values())


def test_the_order_of_files_does_not_matter(head: Lineage) -> None:
    assert analyse(reversed(example("head"))) == head


def test_paths_that_count_alike_keep_one_order() -> None:
    files = [
        InputFile(f"{n}.sql", f"create table t ({c} int)", Options("postgres")) for n, c in (("1", "a"), ("01", "b"))
    ]
    odd = InputFile("1²2.sql", "create table u (a int)", Options("postgres"))
    assert analyse([*files, odd]) == analyse([odd, *reversed(files)])


@pytest.mark.parametrize("case", SPREADABLE, ids=lambda case: f"{case.file.stem}: {case.title}")
def test_layout_changes_no_edge(case: Case) -> None:
    spread = Case(case.file, case.title, case.settings, case.sql.replace(" ", "\n  "), ())
    assert _edges(analysed(spread)) == _edges(analysed(case))


def _edges(lineage: Lineage) -> list[tuple[str, ...]]:
    return sorted(
        (edge.from_object, edge.from_column, edge.to_object, edge.to_column, edge.type, edge.subtype)
        for edge in lineage.column_edges
    )


def test_hash_seeds_do_not_matter() -> None:
    here = [_document_with_seed(seed) for seed in ("1", "4711")]
    assert here[0] == here[1] == dump(lineage_document(analyse(example("base"))))


def _document_with_seed(seed: str) -> str:
    code = (
        "from lineage_pipeline_tests.test_invariants import *;"
        "print(dump(lineage_document(analyse(example('base')))), end='')"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment, cwd=ASSETS.parent
    )
    return done.stdout
