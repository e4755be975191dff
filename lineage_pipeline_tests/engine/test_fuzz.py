"""Texts mutated from the fixtures: none of them causes a crash, a hang or rows that contradict each other."""

from typing import NoReturn

import pytest

from lineage_pipeline.api import analyze
from lineage_pipeline.engine.compile import compiler
from lineage_pipeline.engine.compile.grammar import parser
from lineage_pipeline.engine.compile.lexer import ClientScript
from lineage_pipeline.engine.compile.split import splitter
from lineage_pipeline.engine.link.script import ScriptLinker
from lineage_pipeline.model.analysis import InputFile, Options
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline_tests.support.fuzzing import DIALECTS, assert_survives, find_failures, load_corpus, make_mutant

FEW = 2_000


@pytest.mark.slow
def test_mutated_fixtures_neither_crash_nor_hang() -> None:
    # Every new fixture makes other texts of all seeds: what is unsound, or a surprise, is for `make fuzz`.
    assert [one for one in find_failures(range(FEW)) if not one[1].startswith("AssertionError")] == []


def test_a_seed_gives_the_same_text_every_time() -> None:
    known = load_corpus()
    assert make_mutant(7, known) == make_mutant(7, known)
    assert {make_mutant(seed, known)[0] for seed in range(400)} >= set(DIALECTS)


@pytest.mark.parametrize("dialect", ["tsql", "snowflake", "bigquery", "databricks", "postgres", "oracle"])
def test_every_prefix_of_a_file_is_read(dialect: str) -> None:
    text = max((case.sql for case in load_corpus() if case.setting("dialect") == dialect), key=_medium_length)
    for end in range(0, len(text), 2):
        assert_survives(dialect, text[:end])


def _medium_length(text: str) -> int:
    return len(text) if len(text) < 500 else 0


class _Surprise(IndexError):
    """What nobody foresaw."""


def _raise_injected_bug(*_: object, **__: object) -> NoReturn:
    raise _Surprise


@pytest.mark.internal_error
def test_a_bug_outside_of_statements_affects_only_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        compiler,
        "extract_client_lines",
        lambda text, traits: _raise_injected_bug() if "odd" in text else ClientScript(text),
    )
    lineage = build_lineage(
        [InputFile(name, f"create view {name} as select a from t", Options()) for name in ("odd", "v")]
    )
    [found] = [row for row in lineage.diagnostics if row.code == "INTERNAL_ERROR"]
    assert (found.path, found.severity) == ("odd", "error")
    assert found.message.startswith("internal error: the file is not analyzed (_Surprise in ")
    assert [edge.to_object for edge in lineage.column_edges] == ["v"]


@pytest.mark.internal_error
def test_a_bug_between_statements_affects_only_one_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ScriptLinker, "_rehearse", _raise_injected_bug)
    text = "while 1 = 1 insert into t select a from s;\ninsert into u select a from s;\n"
    lineage = build_lineage([InputFile("-", text, Options("tsql"))])
    [found] = [row for row in lineage.diagnostics if row.code == "INTERNAL_ERROR"]
    assert found.message.startswith("internal error: WHILE is not analyzed (_Surprise in ")
    assert {edge.to_object for edge in lineage.column_edges} == {"t", "u"}


@pytest.mark.internal_error
@pytest.mark.parametrize("place", ["apply_rules", "_choose_grammar"])
def test_a_bug_before_the_parser_is_an_internal_error_and_not_a_parse_error(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = getattr(parser, place)
    monkeypatch.setattr(
        parser, place, lambda tokens, *rest: _raise_injected_bug() if tokens[-1].text == "odd" else real(tokens, *rest)
    )
    text = "create view v as select a from odd;\ncreate view w as select a from t"
    lineage = build_lineage([InputFile("-", text, Options())])
    assert [(row.code, row.line) for row in lineage.diagnostics if row.severity == "error"] == [("INTERNAL_ERROR", 1)]
    assert [edge.to_object for edge in lineage.column_edges] == ["w"]


class _BrokenRecorders(dict[int, object]):
    """Recorders without what the overrides of the parser write to."""

    def get(self, key: int, default: object = None) -> object:
        return object()


@pytest.mark.internal_error
def test_a_bug_of_an_override_is_an_internal_error_and_not_a_parse_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "_RECORDERS", _BrokenRecorders())
    lineage = build_lineage([InputFile("-", "create view v as select a from t", Options())])
    assert [row.code for row in lineage.diagnostics if row.severity == "error"] == ["INTERNAL_ERROR"]


@pytest.mark.internal_error
def test_a_bug_of_the_splitter_is_reported_and_loses_only_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitter, "_split_by_dialect", _raise_injected_bug)
    lineage = build_lineage(
        [InputFile("-", "create view v as select a from t; create view w as select a from v", Options())]
    )
    assert [row.code for row in lineage.diagnostics if row.severity == "error"] == ["INTERNAL_ERROR"]
    assert {edge.to_object for edge in lineage.column_edges} == {"v", "w"}


BROKEN_OFF = {
    "postgres": (
        "forall",
        "select $$$$$$$$ a",
        "do $$ begin " + "if a then " * 400 + "null;" + " end if;" * 400 + " end $$",
    ),
    "oracle": ("declare r kept%rowtype; begin select a into r.",),
    "tsql": (
        "create function f() returns table as return (",
        "with xmlnamespaces(",
        "create procedure p as " + "begin " * 1000 + "select 1" + " end" * 1000,
    ),
    "bigquery": ("from t |> set",),
    "clickhouse": ("select x from t array join a as (y)",),
    "trino": ("select * from table(exclude_columns(input => table(), columns => descriptor(c)))",),
    "databricks": ("begin " * 300 + "select 1;" + " end;" * 300,),
}


@pytest.mark.parametrize(
    ("dialect", "text"),
    [pytest.param(name, text, id=f"{name} {text[:40]}") for name, texts in BROKEN_OFF.items() for text in texts],
)
def test_what_breaks_off_or_is_nested_too_deeply_is_no_bug_of_ours(dialect: str, text: str) -> None:
    lineage = build_lineage([InputFile("-", text, Options(dialect))])
    assert "INTERNAL_ERROR" not in {row.code for row in lineage.diagnostics}


def test_half_a_character_in_a_text_is_read_as_a_question_mark() -> None:
    found = analyze("select '\ud800' as x, a from t", dialect="postgres").to_dict()
    assert [row["from_column"] for row in found["column_edges"]] == ["a"]
