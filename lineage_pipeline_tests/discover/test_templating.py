"""Templates: their rendered text, the positions of its parts, and how hostile templates end."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lineage_pipeline.api import scan
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.configured_schemas import compute_analysis_key
from lineage_pipeline.discover.discovery import build_input_files
from lineage_pipeline.discover.folder import discover_folder, discover_single_files
from lineage_pipeline.discover.git.repository import discover_revision
from lineage_pipeline.discover.templating.pieces import align_texts
from lineage_pipeline.discover.templating.protocol import NoLibrary, Rendered, Template
from lineage_pipeline.discover.templating.templaters import RepositoryTemplaters, detect_templater, make_templater
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.source_map import SourceText, find_line_starts
from lineage_pipeline.model.templating import RenderLimits, Templating
from lineage_pipeline_tests.support.git_repositories import run_git
from lineage_pipeline_tests.support.paths import ROOT


class Rendering(NamedTuple):
    """What a template becomes with some variables, and the findings: code, offset and what they name."""

    title: str
    text: str
    becomes: str
    findings: tuple[str, ...] = ()
    variables: dict[str, Any] = {}
    templater: str = "auto"
    dialect: str = ""


RENDERINGS = (
    Rendering("a variable", "select {{ c }} from t", "select a from t", (), {"c": "a"}),
    Rendering("no value", "select {{ c }} from {{ s.t }}", "select undefined_c from undefined_s_t", ("c@7", "s.t@20")),
    Rendering("a default", "select {{ c | default('d') }}", "select d"),
    Rendering("a condition on nothing", "select 1{% if x %}, 2{% else %}, 3{% endif %}", "select 1, 3", ("x@8",)),
    Rendering("a loop over nothing", "select 1{% for x in xs %}, {{ x }}{% endfor %}", "select 1", ("xs@8",)),
    Rendering("a list of nothing", "select {{ xs | join(', ') }}", "select undefined_xs", ("xs@7",)),
    Rendering("an unknown macro", "select {{ f(1, 2) }}", "select undefined_f", ("f@7",)),
    Rendering("an unknown filter", "select {{ c | shout }}", "select a", ("shout@7",), {"c": "a"}),
    Rendering("an unknown test", "select {% if c is loud %}1{% endif %}2", "select 12", ("loud@7",), {"c": "a"}),
    Rendering("a macro", "{% macro m(c) %}f({{ c }}){% endmacro %}select {{ m('x') }}", "select f(x)"),
    Rendering("blanks that tags strip", "select 1  {%- if true -%}  , 2 {% endif %}", "select 1, 2 "),
    Rendering("raw text", "select '{% raw %}{{ x }}{% endraw %}'", "select '{{ x }}'"),
    Rendering("a broken tag", "select {{ a b }} from t", "select undefined_a from t", ("!TEMPLATE_ERROR@7",)),
    Rendering(
        "an error keeps the first branch and no macro",
        "{% macro m() %}x{% endmacro %}select {% if a %}1{% else %}2{% endif %} from {{ 1 / 0 }}",
        "select 1 from undefined_expression",
        ("!TEMPLATE_ERROR@76", "a@37"),
    ),
    Rendering("plain SQL is no template", "select '{' || v:k::int from t", ""),
    Rendering("sqlcmd", "select * from [$(Db)].dbo.t", "select * from [x].dbo.t", (), {"db": "x"}, dialect="tsql"),
    Rendering("sqlcmd, no value", "use $(Db)", "use $(Db)", ("Db@4",), dialect="tsql"),
    Rendering("sqlcmd, set", ":setvar Db x\nuse $(Db)", ":setvar Db x\nuse x", dialect="tsql"),
    Rendering(
        "sqlcmd, set again",
        'use $(db)\n:setvar Db "a b"\nuse [$(db)]\n:setvar db c\nuse $(DB)',
        'use $(db)\n:setvar Db "a b"\nuse [a b]\n:setvar db c\nuse c',
        dialect="tsql",
    ),
    Rendering("a dollar elsewhere is SQL", "select $(db)", "", dialect="postgres"),
    Rendering("dollar", "select * from ${s}.t", "select * from raw.t", (), {"s": "raw"}, "dollar"),
    Rendering("dollar, no value", "select * from ${s}.t", "select * from undefined_s.t", ("s@14",), {}, "dollar"),
    Rendering(
        "dollar, default", "select * from ${hiveconf:s}.${t:-u}", "select * from raw.u", (), {"s": "raw"}, "dollar"
    ),
    Rendering("brace", "select {a}, {b} from {{x}}", "select 1, undefined_b from {{x}}", ("b@12",), {"a": 1}, "brace"),
    Rendering(
        "colon",
        "select ':a', v:a, x::a, :a, :b -- :a",
        "select ':a', v:a, x::a, 1, :b -- :a",
        ("b@28",),
        {"a": 1},
        "colon",
    ),
    Rendering("turned off", "select '{{ x }}'", "", (), {}, "none"),
)


@pytest.mark.parametrize("case", RENDERINGS, ids=lambda case: case.title)
def test_a_template_renders(case: Rendering) -> None:
    done = RepositoryTemplaters(NoLibrary()).render(
        "a.sql", case.text, case.dialect, Templating(case.templater, case.variables)
    )
    assert (done[1].text if done else "") == case.becomes
    assert found(done[1] if done else Rendered("")) == case.findings


def found(rendered: Rendered) -> tuple[str, ...]:
    return tuple(
        f"{one.values['name'] if one.code == 'UNDEFINED_VARIABLE' else '!' + one.code}@{one.offset}"
        for one in rendered.problems
    )


HOSTILE = {
    "a loop without end": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "calls that double": "{% macro a(n) %}{% if n %}{{ a(n - 1) }}{{ a(n - 1) }}{% endif %}{% endmacro %}{{ a(50) }}",
    "a macro that calls itself": "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
    "a giant string": "{{ 'a' * 10 ** 10 }}",
    "a giant list": "{{ [1] * 10 ** 10 }}",
    "a string that doubles": "{% set n = namespace(x='aaaa') %}{% for i in range(60) %}"
    "{% set n.x = n.x ~ n.x %}{% endfor %}",
    "a text that doubles": "{% set n = namespace(x='aaaa') %}{% for i in range(60) %}"
    "{% set n.x %}{{ n.x }}{{ n.x }}{% endset %}{% endfor %}",
    "a list that doubles": "{% set n = namespace(x=[1]) %}{% for i in range(60) %}"
    "{% set n.x = n.x + n.x %}{% endfor %}",
    "a giant number": "{{ 9 ** 9999999 }}",
    "a giant width": "{{ 'a'.ljust(10 ** 10) }}",
    "a giant width by a filter": "{{ 'a' | center(10 ** 10) }}",
    "a giant format": "{{ '%9999999999d' % 1 }}",
    "another giant format": "{{ '{:>9999999999}'.format(1) }}",
    "a giant join": "{{ ('a' * 9999999).join(range(99999)) }}",
    "a giant replacement": "{{ ('a' * 999999) | replace('a', 'b' * 999999) }}",
    "a class": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "a class by a filter": "{{ '' | attr('__class__') }}",
    "a class by a format": "{{ '{0.__class__}'.format(1) }}",
    "the globals of a function": "{{ cycler.__init__.__globals__.os.system('true') }}",
    "a list that is changed": "{% set l = [] %}{% do l.append(1) %}",
    "a file of the machine": "{% include '/etc/passwd' %}",
    "a file above": "{% include '../../../../etc/passwd' %}",
    "a module that is no file": "{% import 'os' as os %}{{ os.system('true') }}",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_template_ends_with_a_finding_and_the_rest_is_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text(f"create view v as select a from t;\n{text}\n")
    started = time.process_time()
    analysis = scan(tmp_path)
    assert time.process_time() - started < 20
    codes = {row.code: (row.line, row.path) for row in analysis.lineage.diagnostics}
    assert codes.get("TEMPLATE_ERROR", codes.get("LIMIT_EXCEEDED")) == (2, "a.sql")
    assert [(edge.from_object, edge.to_object) for edge in analysis.lineage.column_edges] == [("t", "v")]
    assert not any("root:" in row.message for row in analysis.lineage.diagnostics)


ESCAPES = ("a class", "a class by a filter", "a class by a format", "the globals of a function")


@pytest.mark.parametrize("name", ESCAPES)
def test_an_escape_from_the_template_sandbox_is_refused_as_such(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text(f"select 1 as a;\n{HOSTILE[name]}\n")
    (found,) = (row.message for row in scan(tmp_path).lineage.diagnostics if row.code == "TEMPLATE_ERROR")
    assert "may not be used in a template" in found


def test_the_limits_of_templates_are_settings(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("{% for a in range(9) %}{% endfor %}select '{{ 'x' * 9 }}'")
    for limit, said in (("steps = 5", "steps"), ("output = 5", "characters")):
        (tmp_path / "lineage.toml").write_text(f"[templating.limits]\n{limit}\n")
        (row,) = (row for row in scan(tmp_path).lineage.diagnostics if row.code == "LIMIT_EXCEEDED")
        assert said in row.message


TEMPLATE = """\
{%- set cols = ['a', 'b'] -%}
{# what feeds what #}
create view {{ schema }}.v as
select
{% for c in cols %}    sum({{ c }}) as {{ c }}_sum,
{% endfor %}    coalesce(x, {{ zero }}) as x,
    bogus.y
from {{ schema }}.t;
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_places_point_into_the_file_as_written(ends: str, tmp_path: Path) -> None:
    text = TEMPLATE.replace("\n", ends)
    (tmp_path / "a.sql").write_bytes(text.encode())
    (tmp_path / "lineage.toml").write_text("[templating.variables]\nschema = 'raw'\n")
    lineage = scan(tmp_path).lineage
    (statement,) = lineage.statements
    assert statement.span is not None
    assert text[statement.span.start : statement.span.end].startswith("create view {{ schema }}.v")
    assert text[statement.span.start : statement.span.end].endswith("from {{ schema }}.t")
    assert (statement.span.line, statement.span.end_line) == (3, 8)
    slices = {
        (edge.from_column, edge.expression): text[edge.from_span.start : edge.from_span.end]
        for edge in lineage.column_edges
        if edge.from_span is not None
    }
    assert slices[("a", "sum(a)")] == slices[("b", "sum(b)")] == "{{ c }}"
    assert slices[("x", "coalesce(x, undefined_zero)")] == "x"
    places = {row.code: (row.line, row.column) for row in lineage.diagnostics}
    assert places["UNDEFINED_VARIABLE"] == (6, 29)
    assert places["UNKNOWN_TABLE"] == (8, 6)
    (view,) = (row for row in lineage.objects if row.object == "raw.v")
    assert (view.path, view.line) == ("a.sql", 3)


def test_a_carriage_return_in_a_tag_is_a_newline(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_bytes(b"create view v as\r\nselect {{ cols\r | join(', ') }}\rfrom raw.t\r\n")
    (tmp_path / "lineage.toml").write_text("[templating.variables]\ncols = ['a', 'b']\n")
    lineage = scan(tmp_path).lineage
    assert {(edge.from_object, edge.from_column) for edge in lineage.column_edges} == {("raw.t", "a"), ("raw.t", "b")}
    assert "TEMPLATE_ERROR" not in {row.code for row in lineage.diagnostics}


def test_a_map_of_two_texts_alone_keeps_lines_and_ends_of_changes() -> None:
    written, rendered = "select a,\n  {{ b }} as b\nfrom t\n", "select a,\n  bb as b\nfrom t\n"
    text = SourceText("a.sql", find_line_starts(written), rendered, align_texts(written, rendered))
    for word, was in (("a", "a"), ("bb", "{{ b }}"), ("as b", "as b"), ("from t", "from t")):
        at = rendered.index(word)
        span = text.span(at, at + len(word))
        assert span is not None and written[span.start : span.end] == was


def test_a_missing_include_affects_only_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text(
        "create view {{ target }}.v as select a from {{ source }}.t\n{% include 'gone.sql' %}\nwhere a > {{ nobody }}"
    )
    (tmp_path / "b.sql").write_text("{% import 'gone.sql' as m %}select a from {{ source }}.t where {{ m.x() }}")
    (tmp_path / "c.sql").write_text("select a from {{ source }}.t {% include 'gone.sql' ignore missing %}")
    rules = load_settings(tmp_path, {"templating": {"variables": {"target": "core", "source": "raw"}}}, {})
    discovery = discover_folder(tmp_path, rules)
    texts = [file.text for file in build_input_files(discovery, rules)]
    assert texts == [
        "create view core.v as select a from raw.t\n\nwhere a > undefined_nobody",
        "select a from raw.t where undefined_m_x",
        "select a from raw.t ",
    ]
    assert [(row.path, row.line, row.code) for row in discovery.diagnostics] == [
        ("a.sql", 2, "TEMPLATE_ERROR"),
        ("a.sql", 3, "UNDEFINED_VARIABLE"),
        ("b.sql", 1, "TEMPLATE_ERROR"),
    ]


def test_files_are_included_from_the_repository_alone(tmp_path: Path) -> None:
    repo, outside = tmp_path / "repo", tmp_path / "secret.sql"
    (repo / "sql" / "parts").mkdir(parents=True)
    outside.write_text("secret")
    (repo / "sql" / "parts" / "where.sql").write_text("where id > {{ low }}")
    (repo / "macros.sql").write_text("{% macro cents(c) %}{{ c }} / 100{% endmacro %}")
    (repo / "sql" / "a.sql").write_text(
        "{% import 'macros.sql' as m %}select {{ m.cents('x') }} from t {% include 'parts/where.sql' %}"
    )
    (repo / "sql" / "b.sql").write_text("select 1 {% include '../../secret.sql' %}")
    (repo / "link.sql").symlink_to(outside)
    (repo / "sql" / "c.sql").write_text("select 1 {% include 'link.sql' %}")
    run_git(repo, "init", "-q", "-b", "main")
    run_git(repo, "add", "-A")
    run_git(repo, "commit", "-q", "-m", "first")
    rules = load_settings(repo, {"templating": {"variables": {"low": "3"}}}, {})
    expected = {"sql/a.sql": "select x / 100 from t where id > 3", "sql/b.sql": "select 1 ", "sql/c.sql": "select 1 "}
    for discovery in (discover_folder(repo, rules), discover_revision(repo, "HEAD", rules)):
        texts = {source.source_hash: source.rendered for source in discovery.sources}
        rendered = {file.path: texts[file.source_hash] for file in discovery.files}
        assert {path: rendered[path] for path in expected} == expected
        assert {row.path for row in discovery.diagnostics if row.code == "TEMPLATE_ERROR"} == {"sql/b.sql", "sql/c.sql"}


def test_variables_come_from_file_settings_rules_environment_and_flags_in_this_order(tmp_path: Path) -> None:
    (tmp_path / "vars.yml").write_text("a: file\nb: file\nc: file\nd: file\ne: file\n")
    (tmp_path / "lineage.toml").write_text(
        "[templating]\nvariables_file = 'vars.yml'\n[templating.variables]\nb = 's'\nc = 's'\nd = 's'\ne = 's'\n"
        "[[templating.rules]]\npaths = ['x/**']\nvariables = {c = 'rule', d = 'rule', e = 'rule'}\n"
    )
    environ = {"LINEAGE_VAR_D": "environment", "LINEAGE_VAR_e": "environment"}
    settings = load_settings(tmp_path, {"templating": {"variables": {"e": "flag"}}}, environ)
    found = settings.templating_for("x/a.sql").variables
    assert [found[name] for name in "abcde"] == ["file", "s", "rule", "environment", "flag"]
    assert settings.templating_for("y/a.sql").variables["c"] == "s"
    assert compute_analysis_key(settings) != compute_analysis_key(load_settings(tmp_path, {}, environ))


def test_a_template_sees_nothing_else_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "s3cret")
    monkeypatch.setenv("LINEAGE_VAR_SHOP", "raw")
    monkeypatch.setenv("LINEAGE_CACHE", "false")
    words = ("SHOP_TOKEN", "env_var('SHOP_TOKEN')", "env.SHOP_TOKEN", "environ['SHOP_TOKEN']", "LINEAGE_CACHE", "CACHE")
    text = "".join(f"select '{{{{ {word} }}}}' as a from {{{{ shop }}}}.t;\n" for word in words)
    (tmp_path / "a.sql").write_text(text)
    settings = load_settings(tmp_path, {"analysis": {"dialect": "postgres"}}, os.environ)
    found = discover_folder(tmp_path, settings)
    (rendered,) = (source.rendered for source in found.sources)
    assert rendered.count("from raw.t") == len(words)
    assert "s3cret" not in rendered
    assert "'false'" not in rendered
    assert {row.line for row in found.diagnostics} == set(range(1, len(words) + 1))


@pytest.mark.parametrize(
    ("text", "templater"),
    [
        ("select format('{%s:%s}', a, b) from t", "none"),
        ("select '{%' || a || '%}' from t", "none"),
        ("{%- if x %}select 1{% endif -%}", "jinja"),
        ("{%set x = 1%}select {{ x }}", "jinja"),
        ("{%raw%}select 1{%endraw%}", "jinja"),
    ],
)
def test_braces_of_other_formats_are_not_templates(text: str, templater: str) -> None:
    assert detect_templater("a.sql", text, "postgres") == templater


def test_an_unknown_templater_is_told_with_those_that_are_there(tmp_path: Path) -> None:
    with pytest.raises(LineageError, match=r"no templater jinga; known are auto, brace, colon,.*jinja"):
        make_templater("jinga")


PLUGIN = """
from lineage_pipeline.discover.templating.protocol import Problem, Rendered

class Shouting:
    def render(self, template):
        if "boom" in template.text:
            raise RuntimeError("boom")
        text = template.text.replace("<<x>>", str(template.variables.get("x", "?")))
        return Rendered(text, problems=(Problem("UNDEFINED_VARIABLE", {"name": "y"}, 0),) if "?" in text else ())
"""

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "shouting-templater"
version = "1.0"
[project.entry-points."lineage_pipeline.templaters"]
shouting = "shouting:Shouting"
[tool.hatch.build.targets.wheel]
include = ["shouting.py"]
"""


@pytest.mark.slow
def test_a_templater_of_somebody_else_is_plugged_in_by_a_wheel(tmp_path: Path) -> None:
    source, target, repo = tmp_path / "source", tmp_path / "installed", tmp_path / "repo"
    for folder in (source, repo):
        folder.mkdir()
    (source / "shouting.py").write_text(PLUGIN)
    (source / "pyproject.toml").write_text(PROJECT)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(source)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(target), str(wheel)], check=True, capture_output=True)
    (repo / "a.sql").write_text("create view v as\nselect <<x>>, bogus.z from t\n")
    (repo / "b.sql").write_text("create view w as select a from t -- boom\n")
    (repo / "lineage.toml").write_text("[templating]\ntemplater = 'shouting'\n")
    environ = os.environ | {"PYTHONPATH": os.pathsep.join([str(target), os.environ.get("PYTHONPATH", ""), str(ROOT)])}
    command = [sys.executable, "-m", "lineage_pipeline.cli", "scan", str(repo), "--var", "x=col"]
    said = subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout
    assert "col  ?  <- t.col" in said
    assert "b.sql: error: cannot render the template: RuntimeError: boom [TEMPLATE_ERROR]" in said
    assert "w  (view)" in said


def test_a_file_that_is_named_finds_what_it_includes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "w.sql").write_text("where a")
    (tmp_path / "a.sql").write_text("select 1 {% include 'parts/w.sql' %}")
    monkeypatch.chdir(tmp_path)
    for name in ("a.sql", str(tmp_path / "a.sql"), "parts/../a.sql"):
        found = discover_single_files([name], b"", load_settings(tmp_path, {}, {}))
        assert [source.rendered for source in found.sources] == ["select 1 where a"]


def test_steps_are_counted_anew_for_each_file() -> None:
    templates = RepositoryTemplaters(NoLibrary())
    wanted = Templating(limits=RenderLimits(steps=12))
    for _ in range(3):
        done = templates.render("a.sql", "{% for a in range(9) %}{{ a }}{% endfor %}", "", wanted)
        assert done is not None and done[1].text == "012345678" and not done[1].problems


def test_a_templater_implements_the_protocol() -> None:
    rendered = make_templater("jinja").render(Template("a.sql", "{{ 1 + 1 }}"))
    assert (rendered.text, rendered.problems) == ("2", ())


SQLX = """config {
  type: "incremental",
  schema: "marts",
  tags: ["daily"]
}
js { const rate = { eur: 1 }; }
pre_operations { delete from ${self()} where day = current_date() }
select a, ${unknown.thing} as b
from ${ref("orders")} join ${ref("raw", "days")} using (day)
${when(incremental(), `where day > "2000"`)}
"""

MODEL = """-- a model
MODEL (
  name marts.orders, -- its name
  kind INCREMENTAL_BY_TIME_RANGE (time_column day),
  dialect duckdb
);
@DEF(low, 3);
select id, amount, @nobody as n
from raw.orders
where day between @start_ds and @end_ds and id > @low;
"""


def test_dataform_and_sqlmesh_files_are_read_as_far_as_their_sql(tmp_path: Path) -> None:
    (tmp_path / "definitions").mkdir()
    (tmp_path / "workflow_settings.yaml").write_text("defaultProject: shop\ndefaultDataset: core\n")
    (tmp_path / "definitions" / "facts.sqlx").write_text(SQLX)
    (tmp_path / "definitions" / "orders.sqlx").write_text('config { type: "view" }\nselect 1 as a, 2 as day')
    (tmp_path / "definitions" / "raw_days.sqlx").write_text(
        'config { type: "declaration", schema: "raw", name: "days" }'
    )
    (tmp_path / "model.sql").write_text(MODEL)
    lineage = scan(tmp_path).lineage
    kinds = {(row.path, row.kind, row.target) for row in lineage.statements}
    assert ("definitions/facts.sqlx", "CREATE TABLE", "shop.marts.facts") in kinds
    assert ("definitions/facts.sqlx", "DELETE", "shop.marts.facts") in kinds
    assert ("definitions/orders.sqlx", "CREATE VIEW", "shop.core.orders") in kinds
    assert ("model.sql", "CREATE TABLE", "marts.orders") in kinds
    reads = {(edge.from_object, edge.to_object) for edge in lineage.object_edges}
    assert {("shop.core.orders", "shop.marts.facts"), ("shop.raw.days", "shop.marts.facts")} <= reads
    assert ("raw.orders", "marts.orders") in reads
    undefined = [(row.path, row.line) for row in lineage.diagnostics if row.code == "UNDEFINED_VARIABLE"]
    assert undefined == [("definitions/facts.sqlx", 8), ("model.sql", 8)]
    assert not [row for row in lineage.diagnostics if row.code in ("PARSE_ERROR", "TEMPLATE_ERROR")]


ACTIONS = r"""
const shop = 'shop_raw'; const source = "orders"
// publish('commented').query(ctx => `select 1`)
declare({ database: shop, schema: 'in', name: source })

publish('daily', { type: 'incremental', schema: "marts", bigquery: { type: 'x' } })
  .preOps(ctx => `delete from ${ctx.self()} where day = '${today()}'`)
  .query((ctx) => `
select o.id, \`o\`.amount as total
from ${ctx.ref(shop, 'in', source)} as o
join ${ctx.ref('rates')} using (id) join ${ctx.ref({ schema: 'ref', name: 'days' })} using (id)
where o.area = '${constants.area}' ${ctx.when(ctx.incremental(), `and o.day > ${last}`)} ${sampled ? `limit ${n}` : ''}
`)
assert('none').query(ctx => `select 1 from ${ctx.ref('daily')}`)
publish("rates", ctx => "x").type("table").query("select id from in.rates")
operate('two').queries([`truncate table a.b`, ctx => `drop table ${area('x')}.c`])
publish('made').query(ctx => build(ctx.ref('daily')))
;['a', 'b'].forEach(one => publish(one).query(ctx => { return `select id from ${ctx.ref('daily')}` }))
"""


def test_actions_that_dataform_makes_in_programs_are_read(tmp_path: Path) -> None:
    for name in ("definitions", "includes"):
        (tmp_path / name).mkdir()
    (tmp_path / "workflow_settings.yaml").write_text("defaultProject: p\ndefaultDataset: d\nvars: {unit: kg}\n")
    (tmp_path / "includes" / "constants.js").write_text("const area = 'north'\nmodule.exports = { area }\n")
    (tmp_path / "definitions" / "all.js").write_text(ACTIONS)
    unit = "${dataform.projectConfig.vars.unit} as ${constants.area}"
    (tmp_path / "definitions" / "more.sqlx").write_text(
        f'config {{ type: "view" }} select {unit} from ${{ref("made")}}'
    )
    found = scan(tmp_path)
    lineage = found.lineage
    assert [(row.kind, row.target) for row in lineage.statements if row.path == "definitions/all.js"] == [
        ("DELETE", "p.marts.daily"),
        ("CREATE TABLE", "p.marts.daily"),
        ("CREATE TABLE", "p.d.rates"),
        ("TRUNCATE", None),
        ("DROP TABLE", None),
        ("CREATE VIEW", None),
    ]
    sources = {edge.from_object for edge in lineage.object_edges if edge.to_object == "p.marts.daily"}
    assert sources == {"shop_raw.in.orders", "p.d.rates", "p.ref.days"}
    inputs = {(e.from_object, e.from_column) for e in lineage.column_edges if e.to_column == "total"}
    assert ("shop_raw.in.orders", "amount") in inputs
    (dynamic,) = [row for row in lineage.diagnostics if row.code == "DYNAMIC_SQL" and row.message.count(" 0 %")]
    assert (dynamic.path, dynamic.line, dynamic.column) == ("definitions/all.js", 17, 1)
    missing = {(row.line, row.column) for row in lineage.diagnostics if "p.ref.days" in row.message}
    assert missing == {(11, ACTIONS.split("\n")[10].index("${ctx.ref({") + 1)}
    assert ("p.d.made", "p.d.more") in {(edge.from_object, edge.to_object) for edge in lineage.object_edges}


def test_dbt_files_that_no_project_reads_keep_their_names_apart(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("{{ config(materialized='table') }}\nselect x from {{ ref('one') }}")
    (tmp_path / "b.sql").write_text(
        "select y from {{ source('raw', 'two') }}{% if is_incremental() %} where no{% endif %} limit {{ var('n', 3) }}"
    )
    lineage = scan(tmp_path).lineage
    assert [(row.path, row.kind, row.reads) for row in lineage.statements] == [
        ("a.sql", "SELECT", ("one",)),
        ("b.sql", "SELECT", ("raw.two",)),
    ]
    undefined = [(row.path, row.line, row.column) for row in lineage.diagnostics if row.code == "UNDEFINED_VARIABLE"]
    assert undefined == [("a.sql", 2, 15), ("b.sql", 1, 15)]


def test_scripts_that_sqlcmd_runs_have_the_variables_of_those_that_run_them(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    files = {
        "main.sql": ':setvar db Sales\n:setvar part one\n:r .\\parts\\$(part).sql\nGO\n  :r "parts/gone.sql"\nGO\n',
        "other.sql": ":setvar db Other\n:r parts/two.sql\n:r main.sql\n",
        "parts/one.sql": ":r two.sql\ncreate view dbo.one as select a from [$(part)].dbo.t\n",
        "parts/two.sql": "create view dbo.two as select a from [$(part)].dbo.t join [$(db)].dbo.u on 1 = 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    lineage = scan(tmp_path, dialect="tsql").lineage
    assert {row.path: row.reads for row in lineage.statements if row.kind == "CREATE VIEW"} == {
        "parts/one.sql": ("one.dbo.t",),
        "parts/two.sql": ("one.dbo.t", '"$(db)".dbo.u'),  # it is run with two values
    }
    told = [(row.path, row.line, row.column) for row in lineage.diagnostics if row.code == "TEMPLATE_ERROR"]
    assert told == [("main.sql", 5, 1)]


MESH = {
    "config.yaml": "gateways: {local: {}}\nmodel_defaults: {dialect: snowflake}\nvariables: {low: 7, Area: north}\n"
    "default_target_environment: {{ env_var('ENVIRONMENT', 'dev') }}\nuser: {{ user() }}\n",
    "seeds/s.csv": "a,b\n1,x\n",
    "models/listed.sql": "MODEL (name db.listed, kind SEED (path '../seeds/s.csv'), columns (a int, b varchar(3)));",
    "models/seed.sql": "MODEL (name db.seed, kind SEED (path '$root/seeds/s.csv'));",
    "models/full.sql": "MODEL (name db.full, kind FULL);\nJINJA_STATEMENT_BEGIN;\n"
    "{% if true %}insert into db.log select max(a) as a from db.seed{% endif %};\nJINJA_END;\n"
    "select v:k::string as k, a, @low as low from db.raw, db.seed;\n"
    "ON_VIRTUAL_UPDATE_BEGIN; grant select on view @this_model to role r; ON_VIRTUAL_UPDATE_END;\n",
    "models/jinja.sql": "MODEL (name db.jinja, kind VIEW);\nJINJA_QUERY_BEGIN;\n"
    "select {% for c in ['k', 'a'] %}{{ c }}, {% endfor %}'{{ var('area') }}' as area, nobody\n"
    "from db.full where d = '{{ start_ds }}';\nJINJA_END;\n",
}


def test_a_sqlmesh_project_gives_its_models_dialect_variables_and_seeds(tmp_path: Path) -> None:
    for name, text in MESH.items():
        (tmp_path / "mesh" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mesh" / name).write_text(text)
    lineage = scan(tmp_path).lineage
    columns: dict[str, list[str]] = {}
    for row in lineage.columns:
        columns.setdefault(row.object, []).append(f"{row.name} {row.type}")
    assert columns["DB.LISTED"] == ["A NUMBER(38,0)", "B VARCHAR(3)"]
    assert columns["DB.SEED"] == ["A NUMBER(38,0)", "B VARCHAR"]
    assert columns["DB.FULL"] == ["K VARCHAR", "A NUMBER(38,0)", "LOW NUMBER(1,0)"]
    assert [column.split()[0] for column in columns["DB.JINJA"]] == ["K", "A", "AREA", "NOBODY"]
    assert ("DB.SEED", "DB.LOG") in {(edge.from_object, edge.to_object) for edge in lineage.object_edges}
    told = [(row.code, row.path, row.line, row.column) for row in lineage.diagnostics]
    assert ("UNKNOWN_COLUMN", "mesh/models/jinja.sql", 3, 83) in told
    assert {code for code, *_ in told} == {"UNKNOWN_COLUMN", "UNKNOWN_TABLE"}


SQLMESH_NAMES = {
    "MODEL (kind VIEW, columns (sku text, name text)); select sku, name from raw.p": "BRONZE.M",
    'MODEL (name a.b, description "names, kind and name for it", columns (name text)); select name from raw.p': "A.B",
    "MODEL (description 'the name of it, name x.y', kind FULL, name 'c.d'); select name from raw.p": "C.D",
    'MODEL (audits (not_null(columns := name)), name s."t", grains (name)); select name from raw.p': 'S."t"',
}


@pytest.mark.parametrize("text", SQLMESH_NAMES)
def test_a_sqlmesh_model_has_the_name_that_it_says_itself_or_that_of_its_place(text: str, tmp_path: Path) -> None:
    (tmp_path / "models" / "bronze").mkdir(parents=True)
    (tmp_path / "config.yaml").write_text("model_defaults: {dialect: snowflake}\n")
    (tmp_path / "models" / "bronze" / "m.sql").write_text(text)
    made = [row.target for row in scan(tmp_path).lineage.statements]
    assert made == [SQLMESH_NAMES[text]]
