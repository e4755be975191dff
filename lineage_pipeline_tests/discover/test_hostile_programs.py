"""Hostile programs, notebooks and YAML: a few lines that double their result come to an end and are a finding."""

import ast
import json
import time
from pathlib import Path

import msgspec
import pytest
import yaml

from lineage_pipeline.api import scan
from lineage_pipeline.discover.embedded_sql.known_values import KnownValue
from lineage_pipeline.discover.embedded_sql.python_evaluator import PythonEvaluator
from lineage_pipeline.discover.embedded_sql.python_program import extract_python
from lineage_pipeline.discover.embedded_sql.text_parts import TextPart, join_parts, limit_texts
from lineage_pipeline.files.bounded_yaml import load_yaml

GOOD = "create table t (a int);\ncreate view good as select a from t;\n"
FIRST = "q = 'select a from t '\n"
LIST = "l = ['select a from t']\n"

DOUBLING = {
    "a sum": FIRST + "q = q + q\n" * 60,
    "a formatted text": FIRST + "q = f'{q}{q}'\n" * 60,
    "places of a text": FIRST + "q = '%s%s' % (q, q)\n" * 60,
    "fields of a text": FIRST + "q = '{0}{0}'.format(q)\n" * 60,
    "a text between texts": FIRST + "q = q.join([q, q, q])\n" * 40,
    "a word that is replaced": FIRST + "q = q.replace('a', q)\n" * 30,
    "a list": LIST + "l = l + l\n" * 60 + "q = l[0]\n",
    "a list that takes itself in": LIST + "l.extend(l)\n" * 60 + "q = l[0]\n",
    "lists in lists": LIST + "l = [l, l]\n" * 60 + "q = l\n",
    "tables in tables": "d = {'a': 'select 1'}\n" + "d = {'a': d, 'b': d}\n" * 60 + "if x:\n    d = {}\nq = d['a']\n",
    "all that is known": "d = {}\n" + "d = [locals(), locals()]\n" * 40 + "q = d\n",
    "branches": FIRST
    + "".join(f"if c{n}:\n    q += ' union all select {n}'\nelse:\n    q += ' union select a'\n" for n in range(12)),
    "fields of no number": FIRST + "q = '{\u00b2}{" + "9" * 5_000 + "} select a from t'.format(q)\n",
    "functions": "".join(f"def f{n}(x):\n    return f{n + 1}(x) + f{n + 1}(x)\n" for n in range(60)) + "q = f0('a')\n",
}


@pytest.mark.parametrize("name", DOUBLING)
def test_values_that_double_with_each_line_are_bounded(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(DOUBLING[name] + "spark.sql(q)\nspark.sql('select a from other')\n")
    (tmp_path / "good.sql").write_text(GOOD)
    started = time.process_time()
    lineage = scan(tmp_path).lineage
    assert time.process_time() - started < 30  # each one more doubles that
    assert {"good", "t", "other"} <= {row.object for row in lineage.objects}


HALVES = {
    "a.py": 'spark.sql("create view py as select `a\\ud800` from `t\\udfff`")\nspark.sql("\\ud800" + x)\n',
    "a.js": 'db.query("create view js as select `a\\ud800` from t")\n',
    "A.java": 'class A { void f() { jdbc.execute("create view java as select `a\\udfff` from t"); } }\n',
    "a.go": 'package a\nfunc f() { db.Exec("create view go as select `a\\ud800` from t") }\n',
    "a.sql": "create view jinja as select {{ '\\ud800' }} a from t{{ unknown('\\ud800') }}",
}


def test_a_lone_surrogate_is_replaced(tmp_path: Path) -> None:
    """A program can write one down, and nothing that we write can hold it."""
    for name, text in HALVES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "good.sql").write_text(GOOD)
    found = scan(tmp_path, dialect="spark")
    json.dumps(msgspec.to_builtins(found.lineage), ensure_ascii=False).encode()
    assert {"py", "js", "java", "go", "good"} <= {row.object for row in found.lineage.objects}
    assert ("py", "a\ufffd") in {(row.object, row.name) for row in found.lineage.columns}


def test_a_text_as_long_as_a_file_may_be_is_still_read() -> None:
    columns = "\\n, ".join(f"c{number}" for number in range(40_000))
    (found,) = extract_python(f"spark.sql('select {columns} from t')").texts
    assert join_parts(found).count("\n, ") == 39_999


def test_a_program_that_executes_too_many_steps_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_pipeline.discover.embedded_sql.python_program.BUDGET", 4_000_000)
    long = "q = 'select " + "a, " * 3_000 + "a from t'\n"
    calls = "".join(f"spark.sql(q + ' where {number}')\n" for number in range(60))
    found = extract_python(long + calls)
    assert [problem.code for problem in found.problems] == ["LIMIT_EXCEEDED"]
    assert 30 < len(found.texts) < 60


def test_thousands_of_functions_that_call_each_other_are_read(tmp_path: Path) -> None:
    step = "def f{0}(x):\n    spark.sql('insert into t{0} select a from ' + x)\n    f{1}(x)\n"
    text = "".join(step.format(number, number + 1) for number in range(3_000)) + "f0('first')\n"
    assert len(extract_python(text).texts) == 3_000


def test_notebook_cells_are_located_in_one_pass() -> None:
    from lineage_pipeline.discover.embedded_sql.notebooks import extract_jupyter

    def seconds(count: int) -> float:
        cells = [{"cell_type": "code", "source": f"spark.sql('select a from t{n}')"} for n in range(count)]
        text, started = json.dumps({"cells": cells, "nbformat": 4}), time.process_time()
        assert len(extract_jupyter(text).texts) == count
        return time.process_time() - started

    assert seconds(4_000) < 20  # forty where each looks at all before it


LEVELS = range(1, 40)
BOMBS = {
    "lists": "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in LEVELS),
    "merged tables": "a0: &a0 {x: 1}\n"
    + "".join(f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in LEVELS),
    "itself": "a: &a\n  b: *a\n",
    "itself in a list": "a: &a [1, *a]\n",
}


@pytest.mark.parametrize("name", BOMBS)
def test_yaml_aliases_that_expand_too_much_are_refused_before_expansion(name: str) -> None:
    with pytest.raises(yaml.YAMLError, match="alias"):
        load_yaml(BOMBS[name])


@pytest.mark.parametrize("value", ["2001-99-99", "!!bool x", "!!int ''", "!!float x", "!!timestamp x", "9" * 9_999])
def test_a_value_that_is_not_of_its_kind_is_an_error_of_the_document(value: str) -> None:
    with pytest.raises(yaml.YAMLError, match="not of its kind"):
        load_yaml(f"a: {value}")


@pytest.mark.parametrize("deep", ["[" * 200_000, "- " * 200_000 + "a", "{a: " * 200_000, "? " * 200_000 + "a"])
def test_nesting_is_refused_before_a_loader_in_c_runs_out_of_stack(deep: str) -> None:
    with pytest.raises(RecursionError, match="nested too deeply"):
        load_yaml(deep)


def test_brackets_in_texts_are_no_nesting() -> None:
    text = "a: '" + "[" * 5_000 + "'\nb: |\n" + " " * 500 + "c\n"
    assert load_yaml(text) == {"a": "[" * 5_000, "b": "c\n"}


def test_ordinary_yaml_aliases_are_expanded() -> None:
    text = "base: &base {a: 1, b: [1, 2]}\none:\n  <<: *base\n  c: 3\ntwo: [*base, *base]\n"
    base = {"a": 1, "b": [1, 2]}
    assert load_yaml(text) == {"base": base, "one": {**base, "c": 3}, "two": [base, base]}
    assert load_yaml("") is None


@pytest.mark.parametrize("name", BOMBS)
def test_a_dbt_project_of_aliases_is_read_without_them(name: str, tmp_path: Path) -> None:
    indented = BOMBS[name].replace("\n", "\n  ")
    (tmp_path / "dbt_project.yml").write_text(f"name: p\nversion: '1'\nprofile: p\nvars:\n  {indented}\n")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "m.sql").write_text("select 1 as a")
    found = scan(tmp_path).lineage
    assert "TEMPLATE_ERROR" in {row.code for row in found.diagnostics}
    assert [row.object for row in found.objects if row.path] != []


def test_many_ways_to_one_text_are_one_with_the_choices_they_share() -> None:
    ways = [
        (TextPart("", choice=(1, 0)), TextPart("", choice=(number, number % 2)), TextPart("select 1", 7))
        for number in range(2, 40)
    ]
    assert limit_texts(ways[:3]) == tuple(ways[:3])
    assert limit_texts(ways) == ((TextPart("", choice=(1, 0)), TextPart("select 1", 7)),)


def test_an_operand_of_a_long_sum_is_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated: list[ast.expr] = []
    known = PythonEvaluator.known

    def count(self: PythonEvaluator, node: ast.expr | None) -> KnownValue:
        evaluated.extend([node] if isinstance(node, ast.Name) else [])
        return known(self, node)

    monkeypatch.setattr(PythonEvaluator, "known", count)
    names = [f"x{number}" for number in range(30)]
    program = "".join(f"{name} = ', {name}'\n" for name in names)
    (text,) = extract_python(f"{program}q = 'select 1' + {' + '.join(names)} + ' from t'\n").texts
    assert join_parts(text) == f"select 1{''.join(f', {name}' for name in names)} from t"
    assert len(evaluated) == len(names)
