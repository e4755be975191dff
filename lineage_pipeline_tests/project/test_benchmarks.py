"""The benchmarks: synthetic repositories are sound and repeatable, and the driver prints its measurements."""

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.figures import OWED, Figure, markdown
from benchmarks.generate import edit, generate, write
from benchmarks.inputs import DIALECTS
from benchmarks.parse_ratio import STAGES, measure
from benchmarks.peers import compare
from benchmarks.shapes import SHAPES
from lineage_pipeline import pipeline
from lineage_pipeline.model.analysis import InputFile, Options


def test_a_seed_gives_the_same_files() -> None:
    assert generate(60, seed=7) == generate(60, seed=7)
    assert generate(60, seed=7) != generate(60, seed=8)


@pytest.mark.parametrize("dialect", [*DIALECTS, "spark", "postgres"])
def test_synthetic_sql_is_understood_to_the_last_column(dialect: str) -> None:
    files = generate(150, seed=1, dialect=dialect)
    lineage = pipeline.build_lineage([InputFile(path, text, Options(dialect)) for path, text in sorted(files.items())])
    assert 150 <= len(lineage.statements) <= 152
    assert {row.code for row in lineage.diagnostics} <= {"TYPE_MISMATCH"}  # columns are drawn by lot
    assert {row.status.value for row in lineage.statements} == {"analysed"}
    assert max(row.level for row in lineage.objects) > 4


def test_every_shape_appears() -> None:
    layers = {path.partition("/")[0] for path in generate(400)}
    assert layers == {shape.layer for shape in SHAPES}
    text = "\n".join(generate(400).values())
    for word in ("with ", "union all", "over (", "a.*", "insert into", "left join", "group by", "in (select"):
        assert word in text


def test_an_edit_changes_that_share_of_the_files() -> None:
    before = generate(200)
    after = edit(before, percent=10)
    assert after.keys() == before.keys()
    assert sum(after[path] != before[path] for path in before) == round(len(before) / 10)
    assert sum(edit(before, percent=0.01)[path] != before[path] for path in before) == 1
    assert after == edit(before, percent=10)


def test_a_repository_can_be_put_on_the_disk(tmp_path: Path) -> None:
    files = generate(20)
    write(files, tmp_path)
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.sql")} == files.keys()


def test_the_stages_add_up_to_the_run() -> None:
    files = [InputFile(path, text, Options("")) for path, text in generate(40).items()]
    ratio = measure("few", files, rounds=1)
    assert ratio.parse.failed == 0
    assert set(ratio.analysis.stages) == set(STAGES)
    assert 0 < sum(ratio.analysis.stages.values()) <= ratio.analysis.seconds


def test_the_driver_prints_tables_and_writes_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own, out = tmp_path / "own", tmp_path / "out"
    own.mkdir()
    (own / "own.sql").write_text("create view v as select a from t;\n")
    arguments = ["--statements", "30", "--rounds", "1", "--dialect", "duckdb", "--sizes", "20", "40"]
    parts = ["--parts", "ratios", "startup", "growth", "graphs", "--edges", "2000", "--out", str(out)]
    assert main([str(own), f"{own / 'own.sql'}=postgres", *arguments, *parts]) == 0
    rows = capsys.readouterr().out.strip().splitlines()
    assert rows[0].startswith("| input | files | statements |")
    assert [what for what in OWED if not any(row.startswith(f"| {what} |") for row in rows)] == []
    found = json.loads((out / "report.json").read_text())
    assert [row["analysis"]["statements"] for row in found["ratios"]][1:] == [1, 1]
    assert [row["statements"] for row in found["growth"]] == [20, 40]
    assert len([row for row in found["figures"] if "changed" in row["what"] and row["value"] > 0]) == 6
    assert (out / "growth.svg").read_text().count("<polyline") == 3


def test_a_missing_peer_is_a_row_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "own.sql").write_text("create view v as select a from t;\nselect b as c from u;\n")
    found = {figure.what: figure for figure in compare("own", tmp_path, "tsql", 0.001, tmp_path / "nowhere")}
    assert found.keys() == {what for what in OWED if what.endswith("÷ ours (CPU)")}
    missing = {what for what, figure in found.items() if figure.value is None}
    assert missing == found.keys() - {"sqlglot lineage ÷ ours (CPU)"}
    assert {found[what].note for what in missing} == {"not installed"}


def test_each_promise_is_reported_as_kept_or_broken() -> None:
    assert "| yes |" in markdown([Figure("lineage --version (wall)", "", 0.39, "s")])
    assert "| **no** |" in markdown([Figure("lineage --version (wall)", "", 0.41, "s")])
    assert "| **no** |" in markdown([Figure("polyglot-sql ÷ ours (CPU)", "", 1.9)])
