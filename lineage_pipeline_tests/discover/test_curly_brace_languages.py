"""SQL in languages with braces (Java, Go, JavaScript …): the statements found, placeholders, and positions."""

import time
from pathlib import Path

import pytest

from lineage_pipeline.api import scan
from lineage_pipeline.discover.embedded_sql.extractor import extract_sql

CASES = {
    ("a.java", "a constant that is run"): (
        'class A { void f() { stmt.executeQuery("select a, b from t where c = ?"); } }',
        ["select a, b from t where c = ?"],
    ),
    ("a.java", "a constant of another class"): (
        'static final String T = "core.t";\nstatic final String Q = "select a, b "\n  + "from " + T; // the query',
        ["select a, b from core.t"],
    ),
    ("a.java", "a block"): (
        'String q = """\n    select a, \\\n    b from t\n    """;',
        ["\n    select a,     b from t\n    "],
    ),
    ("a.java", "a character of two escapes"): (
        'stmt.executeQuery("select a as \\"\\ud83d\\ude00\\" from t\\u00e9");',
        ['select a as "\U0001f600" from té'],
    ),
    ("a.java", "what is added later"): (
        'String q = "select a from x.t";\nq += " where b = 1";',
        ["select a from x.t where b = 1"],
    ),
    ("a.java", "what is formatted"): (
        'String q = String.format("delete from %s where id = 1", table);',
        ["delete from __hole__ where id = 1"],
    ),
    ("a.java", "what nobody knows"): (
        'run("insert into t select a from " + name(x, "y") + " limit 1");',
        ["insert into t select a from __hole__ limit 1"],
    ),
    ("a.java", "parameters of MyBatis"): (
        '@Select("select a from t where id = #{id}")',
        ["select a from t where id = ?"],
    ),
    ("a.java", "queries of objects are none"): (
        '@Query("select u.a, u.b from User u")\nem.createQuery("select u.a from User u");',
        [],
    ),
    ("a.java", "unless they say so"): (
        '@Query("select a, b from users", nativeQuery = true)',
        ["select a, b from users"],
    ),
    ("a.java", "what is shown or commented is none"): (
        'log.info("select a, b from t");\n// run("select a, b from t")\n/* q = "select a, b from t" */\n'
        'label("select one from the list");',
        [],
    ),
    ("a.kt", "fields of Kotlin"): (
        'val t = "core.t"\nval q = """select a, b from $t join ${other.name} using (a)"""',
        ["select a, b from core.t join __hole__ using (a)"],
    ),
    ("a.cs", "a verbatim text"): ('var q = @"select ""a"", b from t";', ['select "a", b from t']),
    ("a.cs", "a filled one"): ('db.Execute($"update {table} set a = 1");', ["update __hole__ set a = 1"]),
    ("a.cs", "one that is both"): (
        'conn.Query<Row>($@"select a, b\nfrom {schema}.t")',
        ["select a, b\nfrom __hole__.t"],
    ),
    ("a.go", "a raw text"): ("db.Query(`select a, b\nfrom t where c = $1`, c)", ["select a, b\nfrom t where c = ?"]),
    ("a.go", "a statement"): ('db.Exec("truncate table t")', ["truncate table t"]),
    ("a.ts", "a template"): (
        "const t = 'core.t';\nawait client.query(`select a, b from ${t} where c = ${value({a: 1})}`);",
        ["select a, b from core.t where c = __hole__"],
    ),
    ("a.js", "either quote"): (
        "pool.query('select a, \"b\" from t');\npool.query(\"select a, 'b' from t\")",
        ['select a, "b" from t', "select a, 'b' from t"],
    ),
    ("a.js", "what is found with"): ("$('select').update('create'); it('select a, b from t', f)", []),
    ("a.scala", "a margin"): (
        'val q = s"""select a, b\n  |from ${x}.t""".stripMargin\nspark.sql("use db")',
        ["select a, b\n   from __hole__.t", "use db"],
    ),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case))
def test_sql_in_programs_is_found(case: tuple[str, str]) -> None:
    text, expected = CASES[case]
    found = extract_sql(case[0], text)
    assert found is not None
    assert [one for one in found.text.split("\n;\n") if one] == expected


@pytest.mark.parametrize("name", ["a.java", "a.cs", "a.go", "a.js"])
def test_unclosed_strings_and_brackets_take_linear_time(name: str) -> None:
    started = time.process_time()
    for text in ("select /*", "select `${", 'select "', "select f("):
        extract_sql(name, text * 10_000)
    assert time.process_time() - started < 10


def test_a_finding_points_into_the_program(tmp_path: Path) -> None:
    text = 'class A {\n  String q = "insert into core.t (a) "\n    + "select a from raw.nowhere";\n}\n'
    (tmp_path / "A.java").write_text(text)
    (tmp_path / "B.java").write_text('class B { String update = "update me"; }\n')
    lineage = scan(tmp_path).lineage
    assert [(row.path, row.kind, row.target) for row in lineage.statements] == [("A.java", "INSERT", "core.t")]
    places = {
        (row.line, row.column) for row in lineage.diagnostics if row.code == "UNKNOWN_TABLE" and "raw" in row.message
    }
    assert places == {(3, text.split("\n")[2].index("raw.nowhere") + 1)}
    (row,) = lineage.statements
    assert row.span is not None
    assert text[row.span.start : row.span.end].startswith("insert into core.t")
