"""SQL inside Python programs and notebooks: the statements found, placeholders for unknown values, and positions."""

import ast
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_pipeline.api import scan
from lineage_pipeline.config.load import Settings
from lineage_pipeline.discover.embedded_sql.extractor import RepositoryExtractor, extract_sql, has_closed_quotes
from lineage_pipeline.discover.embedded_sql.python_program import RepositoryModules
from lineage_pipeline.discover.embedded_sql.string_literals import parse_literals
from lineage_pipeline.discover.embedded_sql.text_parts import TextPart
from lineage_pipeline.discover.folder import discover_single_files
from lineage_pipeline.model.analysis import RUNTIME_PLACEHOLDER
from lineage_pipeline.model.source_map import SourceText, find_line_starts

IMPORTS = {
    "jobs/load.py": "from common.names import SCHEMA, QUERY as Q\nfrom . import near\nimport common.names as names\n"
    "from elsewhere import THING\n"
    "spark.sql(f'insert into {SCHEMA}.t select a from {near.TABLES[0]}')\n"
    "spark.sql(Q)\n"
    "spark.sql(names.PART % 'x')\n"
    "spark.sql(THING)\n",
    "jobs/near.py": "from .load import Q\nTABLES = ['raw.a', 'raw.b']\n",
    "common/__init__.py": "",
    "common/names.py": "SCHEMA = 'core'\nQUERY = 'delete from core.q'\nPART = 'insert into core.p select a from %s'\n",
}


def test_constants_of_other_modules_are_known(tmp_path: Path) -> None:
    for name, text in IMPORTS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    lineage = scan(tmp_path).lineage
    assert [(row.path, row.kind, row.target) for row in lineage.statements if row.path == "jobs/load.py"] == [
        ("jobs/load.py", "INSERT", "core.t"),
        ("jobs/load.py", "INSERT", "core.p"),
    ]
    assert [row.target for row in lineage.statements if row.kind == "DELETE"] == ["core.q"]
    assert ("raw.a", "core.t") in {(row.from_object, row.to_object) for row in lineage.object_edges}
    dynamic = [
        (row.path, row.line)
        for row in lineage.diagnostics
        if row.code == "DYNAMIC_SQL" and row.path != "common/names.py"
    ]
    assert dynamic == [("jobs/load.py", 8)]


R = """# Databricks notebook source
library(SparkR)
df <- sql('select a from t')
x <- dbGetQuery(con, "insert into u select \\"a\\" from t")

# COMMAND ----------

# MAGIC %sql
# MAGIC select b from v
"""


@pytest.mark.parametrize("name", ["note.r", "note.R"])
def test_notebooks_in_r_are_read(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(R)
    (tmp_path / f"plain_{name}").write_text("x <- c(1, 2)\nquery <- x\n")
    lineage = scan(tmp_path).lineage
    assert [(row.path, row.kind) for row in lineage.statements] == [
        (name, "SELECT"),
        (name, "INSERT"),
        (name, "SELECT"),
    ]
    assert {(row.path, row.line) for row in lineage.diagnostics} == {(name, 3), (name, 4), (name, 9)}


PYTHON = {
    "a constant": ('spark.sql("select a from t")', ["select a from t"]),
    "a formatted string with a field nobody knows": ('spark.sql(f"select a from {x}.t")', ["select a from __hole__.t"]),
    "a field of a module constant": ("S = 'core'\nspark.sql(f'select a from {S}.t')", ["select a from core.t"]),
    "brackets that are doubled": ("spark.sql(f\"select '{{' as a from t\")", ["select '{' as a from t"]),
    "quotes inside a field": ("spark.sql(f\"select {d['k']} from t\")", ["select __hole__ from t"]),
    "a format and a conversion": ("spark.sql(f'select {x!r:>10} as a from t')", ["select __hole__ as a from t"]),
    "literals in a row": ("spark.sql('select a '  # first\n 'from t')", ["select a from t"]),
    "a sum": ("spark.sql('select a from ' + t + ' where b = 1')", ["select a from __hole__ where b = 1"]),
    "a sum over several statements": ("q = 'select a '\nq += 'from t'\ncur.execute(q)", ["select a from t"]),
    "format by place and name": (
        "spark.sql('select {} from {t} limit {1}'.format('a', 5, t='x'))",
        ["select a from x limit 5"],
    ),
    "per cent": ("cur.execute('select %s from %s' % ('a', t))", ["select a from __hole__"]),
    "parameters of a driver": (
        "cur.execute('select a from t where b = %s and c = %(c)s', p)",
        ["select a from t where b = ? and c = ?"],
    ),
    "text, dedent and strip": (
        "conn.execute(text(textwrap.dedent(' delete from t ').strip()))",
        [" delete from t "],
    ),
    "both branches": (
        "if x:\n    q = 'select 1'\nelse:\n    q = 'select 2'\ncur.execute(q)",
        ["select 1", "select 2"],
    ),
    "either of two": ("cur.execute('drop table a' if x else 'drop table b')", ["drop table a", "drop table b"]),
    "each of a list": (
        "for q in ['drop table a', 'drop table b']:\n    cur.execute(q)",
        ["drop table a", "drop table b"],
    ),
    "an entry of a dictionary": ("Q = {'k': 'select a from t'}\ncur.execute(Q['k'])", ["select a from t"]),
    "a list that is joined": (
        "cur.execute(' union all '.join(['select 1', 'select 2']))",
        ["select 1 union all select 2"],
    ),
    "replace": ("cur.execute('select a from @t'.replace('@t', 'core.t'))", ["select a from core.t"]),
    "a constant that is defined behind the function": (
        "def f(cur):\n    cur.execute(Q)\nQ = 'select a from t'",
        ["select a from t"],
    ),
    "a parameter hides a constant": ("Q = 'select a from t'\ndef f(cur, Q):\n    log.execute(Q)", []),
    "an attribute of the instance": (
        "class A:\n    q = 'select a from t'\n    def f(self):\n        self.conn.execute(self.q)",
        ["select a from t"],
    ),
    "an operator of Airflow": (
        "PostgresOperator(sql=\"select a from t where d = '{{ ds }}' and x = {{ y }}\")",
        ["select a from t where d = '__hole__' and x = __hole__"],
    ),
    "a list given to an operator": ("Op(sql=['update t set a = 1', 'sql/file.sql'])", ["update t set a = 1"]),
    "the configuration of a job": ("Op(configuration={'query': {'query': 'select a from t'}})", ["select a from t"]),
    "a query that pandas reads": ("pd.read_sql_query('select a from t', engine)", ["select a from t"]),
    "names that Spark fills in": ("spark.sql('select a from {df}', df=frame)", ["select a from __hole__"]),
    "names put together safely": (
        "cur.execute(sql.SQL('select a from {}').format(sql.Identifier('t')))",
        ['select a from "t"'],
    ),
    "what only looks like SQL": (
        "st.text('Select a file from the list of files')\nst.text('Select one')",
        [],
    ),
    "other things with the same names": ("op.execute(context)\nrequests.query('a = 1')\ndf.query('a > 1')", []),
    "a variable of a loop is the same wherever it stands": (
        "for t in ['x', 'y']:\n    spark.sql(f'insert into tgt_{t} select a from src_{t}')",
        ["insert into tgt_x select a from src_x", "insert into tgt_y select a from src_y"],
    ),
    "a variable of a loop that is formatted in": (
        "for t in ['x', 'y']:\n    cur.execute('insert into a_{0} select a from b_{0}'.format(t))",
        ["insert into a_x select a from b_x", "insert into a_y select a from b_y"],
    ),
    "names that one branch sets together": (
        "if p:\n    a, b = 'x', 'y'\nelse:\n    a, b = 'v', 'w'\ncur.execute(f'insert into {a} select a from {b}')",
        ["insert into x select a from y", "insert into v select a from w"],
    ),
    "the entries of a dictionary": (
        "Q = {'a': 'select a from t', 'b': 'select b from t'}\nfor k, v in Q.items():\n    Op(task_id=k, sql=v)",
        ["select a from t", "select b from t"],
    ),
    "a list of tuples": (
        "for t, c in [('x', 'a'), ('y', 'b')]:\n    spark.sql(f'select {c} from {t}')",
        ["select a from x", "select b from y"],
    ),
    "a list of dictionaries": (
        "J = [{'t': 'x', 'c': 'a'}, {'t': 'y', 'c': 'b'}]\n"
        "for j in J:\n    spark.sql(f\"select {j['c']} from {j['t']}\")",
        ["select a from x", "select b from y"],
    ),
    "words of a text": (
        "for t in 'x y'.split():\n    spark.sql(f'drop table {t}')",
        ["drop table x", "drop table y"],
    ),
    "columns that are listed": (
        "C = ['a', 'b']\nspark.sql('select ' + ', '.join(f'm.{c}' for c in C) + ' from t as m')",
        ["select m.a, m.b from t as m"],
    ),
    "a list that grows": (
        "q = []\nq.append('drop table a')\nif x:\n    q.append('drop table b')\nfor s in q:\n    cur.execute(s)",
        ["drop table a", "drop table b"],
    ),
    "a function that gives SQL": (
        "def mk(t, c=('a', 'b')):\n    q = 'select {} from {}'\n    return q.format(', '.join(c), t)\n"
        "PostgresOperator(sql=mk('m'))",
        ["select a, b from m"],
    ),
    "a function that runs SQL": (
        "def run(s, q):\n    s.spark.sql(q)\ndef main(s):\n    run(s, 'drop table a')\n    run(s, q='drop table b')",
        ["drop table a", "drop table b"],
    ),
    "a method that runs SQL": (
        "class A:\n    def run(self, t):\n        self.cur.execute(f'drop table {t}')\n"
        "    def all(self):\n        self.run('a')\n"
        "class B:\n    def run(self, t):\n        self.cur.execute(f'drop view {t}')\n"
        "    def all(self):\n        self.run('b')",
        ["drop table a", "drop view b"],
    ),
    "a function that calls itself": (
        "def f(n):\n    cur.execute(f'drop table {n}')\n    return f(n + 'x')\nf('a')",
        ["drop table a"],
    ),
    "what functions see from where they stand": (
        "def outer():\n    t = 'a'\n    def inner():\n        cur.execute(f'drop table {t}')\n    inner()",
        ["drop table a"],
    ),
    "constants that another module runs": (
        "class Queries:\n    insert = ('insert into a select b from c')\nDROP = 'drop table a'\nHELP = 'Select a file'",
        ["insert into a select b from c", "drop table a"],
    ),
    "constants of a class": ("class T:\n    A = 'core.a'\nspark.sql(f'drop table {T.A}')", ["drop table core.a"]),
    "a task of Airflow that gives SQL": (
        "@task.sql(conn_id='x')\ndef f():\n    return 'select a from t'",
        ["select a from t"],
    ),
    "hooks of Airflow": (
        "h = PostgresHook()\nh.get_records('select 1')\nhook.run(['drop table a', 'drop table b'])\n"
        "SnowflakeHook().get_pandas_df(sql='show tables')",
        ["drop table a", "drop table b", "show tables"],
    ),
    "a configuration with a name": (
        "C = {'query': {'query': Q, 'useLegacySql': False}}\nQ = 'x'\n"
        "BigQueryInsertJobOperator(configuration={'query': {'query': 'select a from t'}})",
        ["select a from t"],
    ),
    "SQL behind another argument": ("execute_query(engine, 'update t set a = 1')", ["update t set a = 1"]),
    "a command that nobody knows": ("spark.sql('frobnicate the table')", ["frobnicate the table"]),
    "parameters by number": ("await conn.fetch('select a from t where b = $1', b)", ["select a from t where b = ?"]),
    "a template with dollars": (
        "cur.execute(Template('select $c from ${t}').substitute(c='a', t='x'))",
        ["select a from x"],
    ),
    "files are read on their own": (
        "cur.execute(Path('q.sql').read_text())\nwith open(os.path.join(d, 'x.sql')) as f:\n    cur.execute(f.read())",
        [],
    ),
    "what is handed to somebody else is known by its looks": (
        "db.frame_of('select * from users')\nImport(sql_statement='select a, b from c')\nload(insert_query=Q)\n"
        "Q = 'insert into t (a) values (%s)'\n"
        "fire('Select the best, from all')\nfire('select one (or two) from the list')\n"
        "logger.info('insert into x values (1)')\nraise ValueError('select a, b from c.d')\n"
        "re.compile('SELECT a, b FROM c')\nself.assertEqual(x, 'SELECT a, b FROM c')\n"
        "run_query('select the rows from the table')",
        ["select * from users", "select a, b from c", "insert into t (a) values (%s)"],
    ),
    "a template that is filled elsewhere": (
        "Q = 'create table {name} (a int)'",
        [f"create table {RUNTIME_PLACEHOLDER} (a int)"],
    ),
    "rows that the driver sends": (
        "cur.execute('insert into t values', rows)\ncur.execute('insert into u (a, b) VALUES;', rows)",
        [
            f"insert into t SELECT * FROM {RUNTIME_PLACEHOLDER}",
            f"insert into u (a, b) VALUES ({RUNTIME_PLACEHOLDER}, {RUNTIME_PLACEHOLDER})",
        ],
    ),
    "once, though it is run twice": ("q = 'select a from t'\ncur.execute(q)\ncur.execute(q)", ["select a from t"]),
}


@pytest.mark.parametrize(("program", "expected"), PYTHON.values(), ids=PYTHON)
def test_strings_are_followed_to_where_they_are_run(program: str, expected: list[str]) -> None:
    found = extract_sql("x.py", program)
    assert found is not None
    pieces = [piece for piece in found.text.split("\n;\n") if piece]
    assert len(pieces) == len(expected)
    assert all(piece.startswith(said) for piece, said in zip(pieces, expected, strict=True))
    text = SourceText("x.py", find_line_starts(program), found.text, found.copies)
    for rendered, at, length in zip(found.copies[::3], found.copies[1::3], found.copies[2::3], strict=True):
        assert found.text[rendered : rendered + length] == program[at : at + length]
    for piece in pieces:
        start = found.text.index(piece)
        assert text.span(start, start + len(piece)) is not None
    assert all(problem.code != "PARSE_ERROR" for problem in found.problems)


@given(st.text(st.characters(codec="utf-8"), max_size=30), st.sampled_from(["", "f"]))
def test_literals_mean_what_python_says(value: str, prefix: str) -> None:
    doubled = value.replace("{", "{{").replace("}", "}}") if prefix else value
    literal = prefix + repr(doubled)
    pieces = parse_literals(literal, 0)
    assert pieces is not None
    parts = [piece for piece in pieces if isinstance(piece, TextPart)]
    meant = "".join(part.text for part in parts)
    assert meant == (value if prefix else ast.literal_eval(literal))
    assert all(literal[part.at : part.at + len(part.text)] == part.text for part in parts if part.at >= 0)


@pytest.mark.parametrize(
    "literal", ['r"a\\n{x}"', "b'a'", "'''a\n'b\\\nc'''", '"\\x41\\u00e9\\101\\N{DIGIT ONE}"', "u'a'"]
)
def test_literals_of_all_kinds(literal: str) -> None:
    pieces = parse_literals(literal, 0)
    value = ast.literal_eval(literal)
    assert (pieces is None) == isinstance(value, bytes)
    if pieces is not None:
        said = "".join(piece.text for piece in pieces if isinstance(piece, TextPart))
        assert said == value.replace("1", "?") if "DIGIT" in literal else said == value


def test_an_unknown_value_is_a_finding_at_its_position(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(cur, q):\n    cur.execute(q)\n")
    (tmp_path / "b.py").write_text("import sql\ndef f(:\n")
    (tmp_path / "c.py").write_text('cur.execute("select \'a")\n')
    (tmp_path / "d.py").write_text("print('no sql here')\n")
    (tmp_path / "e.py").write_text("def f(x):\n    PostgresOperator(sql=x)\n    hook.run(x)\n")
    found = discover_single_files([str(path) for path in sorted(tmp_path.iterdir())], b"", Settings())
    said = [(Path(one.path or "").name, one.line, one.column, one.code) for one in found.diagnostics]
    assert said == [
        ("a.py", 2, 17, "DYNAMIC_SQL"),
        ("b.py", 2, 1, "PARSE_ERROR"),
        ("c.py", 1, 14, "PARSE_ERROR"),
        *(("e.py", line, at, "DYNAMIC_SQL") for line, at in ((2, 26), (3, 14))),
    ]
    assert [Path(file.path).name for file in found.files] == ["a.py", "b.py", "c.py", "e.py"]


def test_values_beyond_the_limit_become_a_placeholder() -> None:
    found = extract_sql(
        "x.py", f"for t in {[f't{number}' for number in range(300)]}:\n    spark.sql('drop table ' + t)\n"
    )
    assert found is not None
    said = found.text.split("\n;\n")
    assert (len(said), said[0], said[-1]) == (201, "drop table t0", "drop table __hole__")


def test_a_placeholder_makes_the_lineage_approximate(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('spark.sql(f"insert into core.t select a, b from {db}.s where {cond}")\n')
    (tmp_path / "b.py").write_text("spark.sql(f\"select a from t where d = '{day}' limit {n}\")\n")
    lineage = scan(tmp_path, dialect="spark").lineage
    assert [(row.path, row.status.value, row.targets, row.reads) for row in lineage.statements] == [
        ("a.py", "partial", ("core.t",), ("s",)),
        ("b.py", "analysed", ("b",), ("t",)),
    ]
    assert {(edge.from_object, edge.approximate) for edge in lineage.column_edges} == {("s", True), ("t", False)}
    assert [row.code for row in lineage.diagnostics if row.code == "DYNAMIC_SQL"] == ["DYNAMIC_SQL"]


def test_an_unknown_string_literal_stays_where_another_placeholder_is_dropped(tmp_path: Path) -> None:
    text = "spark.sql(f\"create table core.t as select a from s where d = '{day}' {more}\")\n"
    (tmp_path / "a.py").write_text(text + text.replace("from s", "from {db} as s join r"))
    first, second = scan(tmp_path, dialect="spark").lineage.statements
    assert (first.kind, first.status.value, first.target, first.reads) == ("CREATE TABLE", "partial", "core.t", ("s",))
    assert (second.kind, second.status.value, second.target) == ("CREATE TABLE", "partial", "core.t")
    assert second.reads == ("r",)


NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "source": ["%%sql\n", "select no from md"]},
            {"cell_type": "code", "source": ["%%sql --alias x\n", 'create view v as select "é", a\n', "from raw.t\n"]},
            {"cell_type": "code", "source": "t = 'raw.u'\n!ls\n%time\nspark.sql(f\"select b from {t}\")"},
            {"cell_type": "code", "source": ["%sql select c from raw.w\n", "x = 1\n", "y = %sql select d from raw.x"]},
            {"cell_type": "code", "source": ["%sql duckdb:///x.db\n", "%%sql is no magic word here"]},
            {"cell_type": "code", "source": ["%%bigquery frame --project p\n", "select e from raw.y where f = $name"]},
            {"cell_type": "code", "source": ["# @title Rows\n", "\n", "%%bigquery\n", "select g from raw.z"]},
            {"cell_type": "code", "source": ["!ls \\\n", "  --all\n", "spark.sql('select h from raw.q')"]},
            {"cell_type": "code", "metadata": {"language": "sql"}, "source": ["-- rows\n", "select i from raw.s"]},
            {"cell_type": "code", "metadata": {"vscode": {"languageId": "sql"}}, "source": "select j from raw.r"},
            {"cell_type": "code", "source": ["%%bash\n", "select no"]},
            {"cell_type": "code", "source": ["this is not python"]},
        ],
        "metadata": {"language_info": {"name": "python"}},
    },
    indent=1,
    ensure_ascii=False,
)

DATABRICKS_PYTHON = """# Databricks notebook source
t = "raw.t"
spark.sql(f"create table core.a as select a from {t}")

# COMMAND ----------

# MAGIC %sql
# MAGIC insert into core.a
# MAGIC select b from raw.u

# COMMAND ----------

# MAGIC %md
# MAGIC select no from md
"""

DATABRICKS_SQL = """-- Databricks notebook source
create table core.a as select a from raw.t

-- COMMAND ----------

-- MAGIC %python
-- MAGIC spark.sql("insert into core.a select b from raw.u")

-- COMMAND ----------

select a from core.a
"""

SCALA = '''// Databricks notebook source
val a = spark.sql(s"""
  |create table core.a as
  |select a from ${db}.t""".stripMargin)
spark.sql("insert into core.a select \\"b\\" from raw.u")
// COMMAND ----------
// MAGIC %sql select c from raw.w
'''


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "n.ipynb",
            NOTEBOOK,
            [
                ("CREATE VIEW", ("v",), ("raw.t",), "raw.t"),
                ("SELECT", ("n",), ("raw.u",), "{t}"),
                ("SELECT", ("n_2",), ("raw.w",), "raw.w"),
                ("SELECT", ("n_3",), ("raw.x",), "raw.x"),
                ("SELECT", ("n_4",), ("raw.y",), "$name"),
                ("SELECT", ("n_5",), ("raw.z",), "raw.z"),
                ("SELECT", ("n_6",), ("raw.q",), "raw.q"),
                ("SELECT", ("n_7",), ("raw.s",), "raw.s"),
                ("SELECT", ("n_8",), ("raw.r",), "raw.r"),
            ],
        ),
        (
            "d.py",
            DATABRICKS_PYTHON,
            [("CREATE TABLE", ("core.a",), ("raw.t",), "{t}"), ("INSERT", ("core.a",), ("raw.u",), "raw.u")],
        ),
        (
            "d.sql",
            DATABRICKS_SQL,
            [
                ("CREATE TABLE", ("core.a",), ("raw.t",), "raw.t"),
                ("INSERT", ("core.a",), ("raw.u",), "raw.u"),
                ("SELECT", ("d",), ("core.a",), "core.a"),
            ],
        ),
        (
            "d.scala",
            SCALA,
            [
                ("CREATE TABLE", ("core.a",), ("t",), ".t"),
                ("INSERT", ("core.a",), ("raw.u",), "raw.u"),
                ("SELECT", ("d",), ("raw.w",), "raw.w"),
            ],
        ),
    ],
    ids=["jupyter", "databricks python", "databricks sql", "databricks scala"],
)
def test_cells_of_notebooks(
    name: str, content: str, expected: list[tuple[str, tuple[str, ...], tuple[str, ...], str]], tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    lineage = scan(tmp_path, dialect="spark").lineage
    found = []
    for row in lineage.statements:
        assert row.span is not None
        found.append((row.kind, row.targets, row.reads, content[row.span.start : row.span.end]))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one[:3] == other[:3]
        assert one[3].endswith(other[3])
    for edge in lineage.column_edges:
        if edge.from_span is not None and edge.from_column != "*":
            assert content[edge.from_span.start : edge.from_span.end].strip("`").endswith(edge.from_column)


def test_sql_of_a_notebook_cell_has_its_position_in_that_cell(tmp_path: Path) -> None:
    cells = [
        "def load(t):\n    spark.sql(f'insert into core.a select a from {t}')",
        "T = 'raw.t'",
        "load(T)\nspark.sql(Q)",
    ]
    document = {"cells": [{"cell_type": "code", "source": source} for source in cells]}
    content = json.dumps(document, indent=1)
    found = extract_sql("n.ipynb", content)
    assert found is not None
    assert found.text == "insert into core.a select a from raw.t"
    for rendered, at, length in zip(found.copies[::3], found.copies[1::3], found.copies[2::3], strict=True):
        assert found.text[rendered : rendered + length] == content[at : at + length]
    (problem,) = found.problems
    assert (problem.code, content[problem.at]) == ("DYNAMIC_SQL", "Q")


def test_a_broken_notebook_cell_affects_only_itself() -> None:
    text = (
        "# Databricks notebook source\n# first of all\n%pip install x\nt = 'core.a'\n\n# COMMAND ----------\n"
        "def broken(:\n\n# COMMAND ----------\nspark.sql('drop table %s'\n  % (t))\n"
    )
    found = extract_sql("n.py", text)
    assert found is not None
    assert found.text == "drop table core.a"
    (problem,) = found.problems
    assert (problem.code, text.count("\n", 0, problem.at) + 1) == ("PARSE_ERROR", 7)


def test_a_notebook_that_is_no_json_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "n.ipynb").write_text('{"cells": [{"cell_type": "code", sql')
    (finding,) = scan(tmp_path).lineage.diagnostics
    assert (finding.code, finding.path, finding.line) == ("PARSE_ERROR", "n.ipynb", 1)


def test_the_same_text_in_another_kind_of_file_is_another_source(tmp_path: Path) -> None:
    for name in ("a.py", "a.sql"):
        (tmp_path / name).write_text('spark.sql("select 1")')
    found = discover_single_files([str(tmp_path / "a.py"), str(tmp_path / "a.sql")], b"", Settings())
    assert len({source.source_hash for source in found.sources}) == 2
    assert [file.templater for file in found.files] == ["python", ""]


def test_a_module_in_a_program_ends_where_its_string_ends(tmp_path: Path) -> None:
    text = 'cur.execute("create procedure p as select a from t")\ncur.execute("select b from u")\n'
    (tmp_path / "a.py").write_text(text)
    lineage = scan(tmp_path, dialect="tsql").lineage
    outside = [row for row in lineage.statements if row.parent is None and row.kind != "GO"]
    assert [row.kind for row in outside] == ["CREATE PROCEDURE", "SELECT"]


@pytest.mark.parametrize(("text", "closed"), [("select 'a''b' -- it's", True), ("select 'a", False), ("/* a", False)])
def test_an_unclosed_quote_is_detected(text: str, closed: bool) -> None:
    assert has_closed_quotes(text) is closed


def test_a_notebook_that_is_there_twice_is_read_once_for_each_dialect() -> None:
    text = json.dumps({"cells": [{"cell_type": "code", "source": ["q = 'select a from t'\n", "run_sql(q)"]}]})
    extractor = RepositoryExtractor(RepositoryModules())
    first, again = (extractor.extract(path, text, "tsql") for path in ("a/n.ipynb", "b/n.ipynb"))
    assert first is not None and first.text == "select a from t"
    assert again is first
    assert extractor.extract("a/n.ipynb", text, "postgres") is not first
