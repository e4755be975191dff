"""Every changed file is compared, or said not to be, with the reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from lineage_pipeline.cli import main
from lineage_pipeline_tests.support.git_repositories import write_files

GOOD = "create view v as select a from t;\n"
BROKEN = "create view v as select a from (((;\n"
PROJECT = 'name: shop\nversion: "1"\nprofile: shop\nmodel-paths: [models]\n'
DISABLED = "{{ config(enabled=var('on', false)) }}\n"


def compare(tmp_path: Path, capsys: pytest.CaptureFixture[str], base: dict[str, str], head: dict[str, str]) -> Any:
    for name, files in (("base", base), ("head", head)):
        (tmp_path / name).mkdir()
        write_files(tmp_path / name, **files)
    main(["diff", str(tmp_path / "base"), str(tmp_path / "head"), "-d", "postgres", "-f", "json"])
    return json.loads(capsys.readouterr().out)


def list_uncompared(found: Any) -> list[tuple[str, str]]:
    return [(one["path"], one["code"]) for one in found["not_compared"]]


def list_causes(found: Any) -> list[tuple[str, str, str]]:
    return [(one["rule"], one["path"], one["effective"]) for one in found["changes"] if one["root"]]


def test_a_file_that_parses_on_neither_side_is_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = BROKEN.replace("select a", "select b")
    found = compare(tmp_path, capsys, {"a_sql": BROKEN, "b_sql": GOOD}, {"a_sql": other, "b_sql": GOOD})
    assert list_uncompared(found) == [("a.sql", "PARSE_ERROR")]
    assert list_causes(found) == [("ANL005", "a.sql", "POTENTIALLY_BREAKING")]
    assert found["files"] == {"changed": 1, "compared": 0}


def test_files_with_one_reason_are_one_cause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = {f"{name}_sql": BROKEN for name in "abc"}
    found = compare(tmp_path, capsys, base, {name: text.replace(" v ", " w ") for name, text in base.items()})
    assert list_uncompared(found) == [(f"{name}.sql", "PARSE_ERROR") for name in "abc"]
    (cause,) = found["changes"]
    assert "also b.sql, c.sql" in cause["after"]


def test_a_statement_that_nobody_edited_is_no_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edited = GOOD.replace("select a", "select a, b")
    found = compare(tmp_path, capsys, {"a_sql": BROKEN + GOOD}, {"a_sql": edited + BROKEN})
    assert list_uncompared(found) == []
    assert found["files"] == {"changed": 1, "compared": 1}


def test_what_could_not_be_read_before_is_neither_added_nor_to_blame(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = "create table t (a int);"
    found = compare(
        tmp_path,
        capsys,
        {"t_sql": tables, "v_sql": BROKEN},
        {"t_sql": tables, "v_sql": "create view v as select a, nothing from t;"},
    )
    assert list_causes(found) == [("ANL005", "v.sql", "POTENTIALLY_BREAKING")]


def test_what_can_no_longer_be_read_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = compare(tmp_path, capsys, {"v_sql": GOOD}, {"v_sql": BROKEN})
    assert list_uncompared(found) == [("v.sql", "PARSE_ERROR")]
    assert [rule for rule, _, _ in list_causes(found)] == ["ANL002"]


def test_a_model_that_is_disabled_on_both_sides_is_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = {"dbt_project.yml": PROJECT}
    found = compare(
        tmp_path,
        capsys,
        {**project, "models__m_sql": DISABLED + "select 1 as a"},
        {**project, "models__m_sql": DISABLED + "select 2 as a"},
    )
    assert list_uncompared(found) == [("models/m.sql", "NODE_DISABLED")]


def test_a_file_that_moved_has_not_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = compare(tmp_path, capsys, {"a_sql": BROKEN}, {"x__a_sql": BROKEN})
    assert list_uncompared(found) == []
    assert found["files"] == {"changed": 0, "compared": 0}


@pytest.mark.parametrize("format", ["text", "markdown", "html"])
def test_a_report_counts_the_files_that_were_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str
) -> None:
    for name, text in (("base", GOOD), ("head", GOOD.replace("select a", "select b"))):
        (tmp_path / name).mkdir()
        write_files(tmp_path / name, v_sql=text, w_sql=BROKEN.replace(" v ", f" {name} "))
    main(["diff", str(tmp_path / "base"), str(tmp_path / "head"), "-d", "postgres", "-f", format])
    assert "1 of 2 changed files compared" in capsys.readouterr().out


def test_the_result_of_an_analysis_is_refused_as_a_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_files(tmp_path, v_sql=GOOD)
    file = tmp_path / "d.lineage"
    main(["scan", str(tmp_path / "v.sql"), "-o", str(file)])
    capsys.readouterr()
    assert main(["diff", str(file), str(file)]) == 2
    assert "is the result of an analysis" in capsys.readouterr().err


BRANCHES = "select a {% if var('wide', false) %}, b {% endif %} from {{ source('raw', 't') }}\n"


def test_an_edit_of_a_branch_that_is_not_rendered_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = {"dbt_project.yml": PROJECT, "models/w.sql": "{# why #}\n{{ config(tags=['x']) }}\n" + BRANCHES}
    changed = {"models/v.sql": BRANCHES.replace(", b", ", b, c"), "models/w.sql": "{{ config(tags=['(']) }}" + BRANCHES}
    found = compare(tmp_path, capsys, {**project, "models/v.sql": BRANCHES}, {**project, **changed})
    assert list_uncompared(found) == [("models/v.sql", "NOT_RENDERED")]
    assert ("ANL005", "models/v.sql", "INFO") in list_causes(found)


MACROS = "{% macro used() %}a{% endmacro %}\n{% macro unused() %}b{% endmacro %}\n"


@pytest.mark.parametrize(("edit", "told"), [(("%}a{", "%}b{"), []), (("%}b{", "%}c{"), ["NOT_RENDERED"])])
def test_an_edit_of_a_macro_is_said_where_no_query_takes_it(
    edit: tuple[str, str], told: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "select {{ used() }} as x from {{ source('raw', 't') }}\n"
    model = {"dbt_project.yml": PROJECT, "models/v.sql": "{{ config(tags=['a']) }}\n" + query}
    head = {**model, "macros/m.sql": MACROS.replace(*edit), "models/v.sql": query}
    found = compare(tmp_path, capsys, {**model, "macros/m.sql": MACROS}, head)
    assert [code for _, code in list_uncompared(found)] == told


LOAD = "create procedure p @day date as begin {} exec dbo.load @day; print 'a'; insert into t select a from s; end\n"


@pytest.mark.parametrize(
    ("base", "head", "told"),
    [
        ("set @day = getdate();", "set @day = dateadd(day, -1, getdate());", ["NOT_FOLLOWED"]),
        ("set @day = getdate(); exec dbo.log;", "exec dbo.log; set @day = getdate();", ["NOT_FOLLOWED"]),
        ("set @day = getdate(); print 'b';", "print 'c';  SET @day = GETDATE();", []),
        ("set @day = getdate();", "set @day = null; delete from t;", []),
    ],
)
def test_an_edit_of_statements_that_only_run_code_is_said(
    base: str, head: str, told: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("base", base), ("head", head)):
        (tmp_path / name).mkdir()
        write_files(tmp_path / name, p_sql=LOAD.format(text))
    main(["diff", str(tmp_path / "base"), str(tmp_path / "head"), "-d", "tsql", "-f", "json"])
    assert [code for _, code in list_uncompared(json.loads(capsys.readouterr().out))] == told
