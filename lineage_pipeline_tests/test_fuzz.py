"""Texts made of the fixtures by chance: none of them is a crash, a hang or rows that contradict each other."""

from typing import NoReturn

import pytest

from lineage_pipeline.engine.compile import source
from lineage_pipeline.engine.compile.directives import Client
from lineage_pipeline.engine.link.script import ScriptLinker
from lineage_pipeline.pipeline import analyse
from lineage_pipeline.vocabulary.analysis import InputFile, Options
from lineage_pipeline_tests.fuzzing import DIALECTS, assert_survives, corpus, failures, mutant

FEW = 2_000


@pytest.mark.slow
def test_mutated_fixtures_neither_crash_nor_hang() -> None:
    # Every new fixture makes other texts of all seeds: what is unsound, or a surprise, is for `make fuzz`.
    assert [one for one in failures(range(FEW)) if not one[1].startswith("AssertionError")] == []


def test_a_seed_gives_the_same_text_every_time() -> None:
    known = corpus()
    assert mutant(7, known) == mutant(7, known)
    assert {mutant(seed, known)[0] for seed in range(400)} >= set(DIALECTS)


@pytest.mark.parametrize("dialect", ["tsql", "snowflake", "bigquery", "databricks", "postgres", "oracle"])
def test_every_prefix_of_a_file_is_read(dialect: str) -> None:
    text = max((case.sql for case in corpus() if case.setting("dialect") == dialect), key=_middling)
    for end in range(0, len(text), 2):
        assert_survives(dialect, text[:end])


def _middling(text: str) -> int:
    return len(text) if len(text) < 500 else 0


class _Surprise(IndexError):
    """What nobody foresaw."""


def _surprised(*_: object, **__: object) -> NoReturn:
    raise _Surprise


def test_a_surprise_outside_of_statements_costs_its_file_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "client_lines", lambda text, traits: _surprised() if "odd" in text else Client(text))
    lineage = analyse([InputFile(name, f"create view {name} as select a from t", Options()) for name in ("odd", "v")])
    assert [(row.path, row.message) for row in lineage.diagnostics if row.code == "UNSUPPORTED_SYNTAX"] == [
        ("odd", "the file (_Surprise in the compiler) is not analysed")
    ]
    assert [edge.to_object for edge in lineage.column_edges] == ["v"]


def test_a_surprise_between_statements_costs_one_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ScriptLinker, "_rehearse", _surprised)
    text = "while 1 = 1 insert into t select a from s;\ninsert into u select a from s;\n"
    lineage = analyse([InputFile("-", text, Options("tsql"))])
    assert [row.message for row in lineage.diagnostics if row.code == "UNSUPPORTED_SYNTAX"] == [
        "WHILE (_Surprise in the linker) is not analysed"
    ]
    assert {edge.to_object for edge in lineage.column_edges} == {"t", "u"}
