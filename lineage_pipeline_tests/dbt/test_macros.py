"""Macros that query the database for columns: models get the columns that dbt would build, without a database."""

from pathlib import Path

import pytest

from lineage_pipeline.api import scan
from lineage_pipeline.model.analysis import LineageTables

SOURCES = """sources:
  - name: raw
    tables: [{name: ev, columns: [{name: id, data_type: int}, {name: kind}, {name: at, data_type: timestamp}]}]
models:
  - {name: base, columns: [{name: id}]}
"""
MODELS = {
    "base": "select id, kind, at from {{ source('raw', 'ev') }}",
    "wide": "select b.*, 1 as one from {{ ref('base') }} as b",
    "open": "select * from raw.nowhere",
}

STAR, BASE = "{{ dbt_utils.star(from=ref('base')", "{{ ref('base') }}"

CASES = {
    f"select {STAR}) }}}} from {BASE}": {"id": "base.id", "kind": "base.kind", "at": "base.at"},
    f"select {STAR}, except=['AT', 'id']) }}}} from {BASE}": {"kind": "base.kind"},
    f"select {STAR}, relation_alias='x', except=['at'], prefix='p_', suffix='_s') }}}} from {BASE} as x": {
        "p_id_s": "base.id",
        "p_kind_s": "base.kind",
    },
    f"select {STAR}, relation_alias='x', quote_identifiers=false) }}}} from {BASE} as x join {{{{ ref('wide') }}}} as y"
    " on x.id = y.id": {"id": "base.id", "kind": "base.kind", "at": "base.at"},
    "select {{ dbt_utils.star(ref('wide'), except=['id']) }} from {{ ref('wide') }}": {
        "kind": "wide.kind",
        "at": "wide.at",
        "one": "wide.one",
    },
    "{{ dbt_utils.deduplicate(relation=ref('base'), partition_by='id', order_by='at desc') }}": {
        "id": "base.id",
        "kind": "base.kind",
        "at": "base.at",
    },
    f"with c as (select * from {BASE}) {{{{ dbt_utils.deduplicate('c', 'id', 'at') }}}}": {
        "id": "base.id",
        "kind": "base.kind",
        "at": "base.at",
    },
    "{{ dbt_utils.unpivot(ref('base'), cast_to='varchar', exclude=['id'], field_name='f', value_name='v') }}": {
        "id": "base.id",
        "f": "",
        "v": "base.at base.kind",
    },
    "{{ dbt_utils.unpivot(ref('base'), exclude=['id'], remove=['at']) }}": {
        "id": "base.id",
        "field_name": "",
        "value": "base.kind",
    },
    "select {% for c in dbt_utils.get_filtered_columns_in_relation(from=ref('base'), except=['at']) %}"
    "max({{ c }}) as max_{{ c }}{{ ', ' if not loop.last }}{% endfor %} from {{ ref('base') }}": {
        "max_id": "base.id",
        "max_kind": "base.kind",
    },
    "select {% for c in adapter.get_columns_in_relation(ref('wide')) %}{{ c.name }} as x_{{ c.name }}"
    "{{ ', ' if not loop.last }}{% endfor %} from {{ ref('wide') }}": {
        "x_id": "wide.id",
        "x_kind": "wide.kind",
        "x_at": "wide.at",
        "x_one": "wide.one",
    },
    "{{ dbt_utils.union_relations([ref('base'), ref('wide')], include=['id', 'one'], source_column_name='src') }}": {
        "src": "",
        "id": "base.id wide.id",
        "one": "wide.one",
    },
    "{{ dbt_utils.union_relations([ref('base'), ref('wide')], exclude=['one', 'at'], column_override={'id': 'text'},"
    " source_column_name=none) }}": {"id": "base.id wide.id", "kind": "base.kind wide.kind"},
}


def project(folder: Path, adapter: str, models: dict[str, str]) -> Path:
    (folder / "models").mkdir()
    (folder / "dbt_project.yml").write_text("name: p\nprofile: p\n")
    output = f"{{type: {adapter}, database: db, dbname: db, schema: s}}"
    (folder / "profiles.yml").write_text(f"p: {{target: d, outputs: {{d: {output}}}}}\n")
    (folder / "models" / "sources.yml").write_text(SOURCES)
    for name, text in models.items():
        (folder / "models" / f"{name}.sql").write_text(text)
    return folder


def render_model(lineage: LineageTables, model: str) -> dict[str, str]:
    """The columns of a model in order, each with the columns whose values it takes."""
    found = {row.name.lower(): set[str]() for row in lineage.columns if row.object.lower().endswith(f".{model}")}
    for edge in lineage.column_edges:
        if edge.to_object.lower().endswith(f".{model}") and edge.type == "DIRECT":
            source = f"{edge.from_object.split('.')[-1]}.{edge.from_column}".lower()
            found[edge.to_column.lower()].add(source)
    return {name: " ".join(sorted(sources)) for name, sources in found.items()}


@pytest.fixture(scope="module", params=["snowflake", "postgres", "bigquery", "redshift"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LineageTables:
    """A project with a model for each case."""
    models = {f"m{number}": text for number, text in enumerate(CASES)}
    return scan(project(tmp_path_factory.mktemp("dbt"), request.param, {**MODELS, **models})).lineage


@pytest.mark.parametrize("text", CASES)
def test_a_model_has_the_columns_that_dbt_would_give_it(text: str, built: LineageTables) -> None:
    assert render_model(built, f"m{list(CASES).index(text)}") == CASES[text]


def test_a_macro_over_unknown_columns_needs_the_database(tmp_path: Path) -> None:
    text = "{{ dbt_utils.unpivot(ref('open'), exclude=['id']) }}"
    lineage = scan(project(tmp_path, "postgres", {**MODELS, "m": text})).lineage
    assert [row.code for row in lineage.diagnostics if row.path == "models/m.sql"] == ["DATABASE_NEEDED"]


def test_models_that_read_columns_of_each_other_in_a_cycle_end(tmp_path: Path) -> None:
    chain = {
        f"m{n}": f"select {{{{ dbt_utils.star(ref('m{n + 1}')) }}}} from {{{{ ref('m{n + 1}') }}}}" for n in range(40)
    }
    around = {"m40": "select {{ dbt_utils.star(ref('m0')) }} from {{ ref('m0') }}"}
    found = scan(project(tmp_path, "postgres", chain | around)).lineage
    assert {row.object for row in found.objects if row.kind == "view"} == {f"db.s.m{n}" for n in range(41)}


def test_a_divider_that_looks_like_a_tag_is_ignored_between_macros(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: p\nmodel-paths: [models]\n")
    for folder in ("models", "macros"):
        (tmp_path / folder).mkdir()
    two = "{% macro low() %}3{% endmacro %}\n{% ########## %}\n{% macro high() %}b{% endmacro %}"
    (tmp_path / "macros" / "low.sql").write_text(two)
    (tmp_path / "models" / "m.sql").write_text("select {{ high() }} as x from t where a > {{ low() }}")
    found = scan(tmp_path, dialect="snowflake")
    assert not [row for row in found.lineage.diagnostics if row.code == "TEMPLATE_ERROR"]
    assert ("B", "X") in {(row.from_column, row.to_column) for row in found.lineage.column_edges}


def test_config_blocks_see_variables_that_are_set_above_them(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: p\n")
    (tmp_path / "models").mkdir()
    for chain in ("one", "two"):
        head = f"{{% set chain = '{chain}' %}}{{% set place = 'of_' ~ chain %}}"
        text = head + "{{ config(schema=place, alias='t_' ~ chain) }} select 1 as a"
        (tmp_path / "models" / f"m_{chain}.sql").write_text(text)
    assert [row.object for row in scan(tmp_path).lineage.objects] == ["of_one.t_one", "of_two.t_two"]


@pytest.mark.parametrize("spaces", ["'p'", "macro_namespace='p'", "['other', 'p']", "packages=['p', 'other']", "none"])
def test_a_macro_is_dispatched_to_a_namespace_or_to_packages(spaces: str, tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: p\n")
    (tmp_path / "models").mkdir()
    (tmp_path / "macros").mkdir()
    made = f"{{% macro low() %}}{{{{ return(adapter.dispatch('low', {spaces})()) }}}}{{% endmacro %}}"
    (tmp_path / "macros" / "low.sql").write_text(made + "{% macro default__low() %}3 as a{% endmacro %}")
    (tmp_path / "models" / "m.sql").write_text("select {{ low() }}")
    lineage = scan(tmp_path).lineage
    assert [row.name for row in lineage.columns] == ["a"]
    assert not lineage.diagnostics


def test_text_around_macros_is_not_rendered(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: p\n")
    (tmp_path / "models").mkdir()
    (tmp_path / "macros").mkdir()
    used = "/* use: where a > {{ low() }} and {{ nobody() }} */\n{% macro low() %}3{% endmacro %}"
    (tmp_path / "macros" / "low.sql").write_text(used)
    (tmp_path / "models" / "m.sql").write_text("select 1 as a where 4 > {{ low() }}")
    lineage = scan(tmp_path).lineage
    assert [row.name for row in lineage.columns] == ["a"]
    assert not lineage.diagnostics


FILES = """sources:
  - name: raw
    meta: {external_location: "s3://bucket/{name}/*.parquet"}
    tables:
      - {name: orders, columns: [{name: id}, {name: amount}]}
      - {name: days, config: {meta: {external_location: "read_csv('{identifier}.csv', sep=';')"}}, identifier: d}
      - {name: old, meta: {external_location: "data/%(name)s.csv", formatter: oldstyle}}
"""


def test_sources_of_duckdb_that_are_files_and_its_schema(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: p\n")
    (tmp_path / "profiles.yml").write_text("p: {target: d, outputs: {d: {type: duckdb, path: 'x/shop.duckdb'}}}\n")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "s.yml").write_text(FILES)
    (tmp_path / "models" / "m.sql").write_text(
        "select o.* from {{ source('raw', 'orders') }} as o, {{ source('raw', 'days') }}, {{ source('raw', 'old') }}"
    )
    lineage = scan(tmp_path).lineage
    assert [row.reads for row in lineage.statements] == [
        ('"s3://bucket/orders/*.parquet"', '"file://./d.csv"', '"file://./data/old.csv"')
    ]
    assert {row.code for row in lineage.diagnostics} == {"APPROXIMATE_LINEAGE"}  # YAML may list some columns only
    assert [(row.object, row.name) for row in lineage.columns if row.object.startswith("shop")] == [
        ("shop.main.m", "id"),
        ("shop.main.m", "amount"),
    ]


def test_names_are_given_as_the_database_has_them(tmp_path: Path) -> None:
    text = 'select {{ dbt_utils.star(ref("base"), except=["at"], prefix="p_") }} from {{ ref("base") }}'
    lineage = scan(project(tmp_path, "snowflake", {**MODELS, "m": text})).lineage
    assert [row.name for row in lineage.columns if row.object.lower() == "db.s.m"] == ["p_ID", "p_KIND"]


@pytest.mark.parametrize("adapter", ["snowflake", "postgres", "bigquery"])
def test_what_is_said_of_an_exposure_is_kept_whatever_the_adapter_quotes(adapter: str, tmp_path: Path) -> None:
    folder = project(tmp_path, adapter, MODELS)
    (folder / "models" / "e.yml").write_text(
        "exposures: [{name: board, owner: {name: Ann}, tags: [weekly], depends_on: [ref('base')]}]\n"
    )
    (found,) = [row for row in scan(folder).lineage.objects if "board" in row.object.lower()]
    assert (found.owners, found.tags) == (("Ann",), ("exposure", "weekly"))


TOLERANT = {
    # what a value that is there has not got is nothing, as for dbt
    "{% set c = {'name': 'id'} %}select {{ c.name }}{{ c.suffix }}{% if not c.hidden %} as x{% endif %} from "
    "{{ ref('base') }}": {"x": "base.id"},
    # a plain name in a condition, such as what a macro takes for nothing, is no
    "{% macro only(where=null) %}{% if where %}where {{ where }}{% endif %}{% endmacro %}"
    "select id as q from {{ ref('base') }} {{ only() }}{% if not nothing_said %} {% endif %}": {"q": "base.id"},
    # a package that is installed asks whether it was given a relation
    "{% if ref('base') is mapping and ref('base').get('metadata', {}).get('type', '').endswith('Relation') %}"
    "select id as asked from {{ ref('base') }}{% endif %}": {"asked": "base.id"},
    "{% if graph.nodes.values() | selectattr('name', 'equalto', 'base') | list %}select at as y from "
    "{{ graph.nodes['model.p.base'].database }}.s.base{% endif %}": {"y": "base.at"},
    "select date_day from ({{ dbt_date.get_date_dimension('2020-01-01', '2020-02-01') }}) as d": {"date_day": ""},
    "with b as ({{ fivetran_utils.union_connections('raw_sources', 'raw', 'ev') }}) select kind from b": {
        "kind": "ev.kind"
    },
    "select id as z from {{ ref('base') }} where at > '{{ modules.datetime.date.today().replace(month="
    "modules.datetime.date.today().month - 1) }}'": {"z": "base.id"},
}


@pytest.fixture(scope="module")
def tolerant(tmp_path_factory: pytest.TempPathFactory) -> LineageTables:
    models = {f"t{number}": text for number, text in enumerate(TOLERANT)}
    return scan(project(tmp_path_factory.mktemp("dbt"), "duckdb", {**MODELS, **models})).lineage


@pytest.mark.parametrize("text", TOLERANT)
def test_what_dbt_renders_without_a_database_is_rendered(text: str, tolerant: LineageTables) -> None:
    model = f"t{list(TOLERANT).index(text)}"
    assert render_model(tolerant, model) == TOLERANT[text]
    found = {row.code for row in tolerant.diagnostics if row.path == f"models/{model}.sql"}
    assert found <= {"APPROXIMATE_LINEAGE"}  # a source may have more columns than are listed


ASKING = {
    # a number that nobody knows can be compared, counted to and printed
    "{% set n = run_query('select 1').columns[0].values()[0] %}select id, {{ n + 1 }} as n from {{ ref('base') }}"
    "{% if n <= 2 ** 3 and n > 0 %} where id < {{ n | int }}{% endif %}": "DATABASE_NEEDED",
    "{% set found = load_result('x')['table'] %}{% for a, b in run_query('q') %}select id from {{ ref('base') }} "
    "where kind in ({{ a }}, {{ b }}, '{{ found[0].at.strftime('%Y') }}'){% endfor %}": "DATABASE_NEEDED",
    "{% set a, b = nowhere.limits() %}select id from {{ ref('base') }} where at > {{ a }}": "UNDEFINED_VARIABLE",
    "{% for i in range(var('days')) %}-- {{ i }}{% endfor %}select id from {{ ref('base') }}": "UNDEFINED_VARIABLE",
    "select id from {{ ref('base') }}{% if nobody_knows() %} where id > 1{% endif %}": "UNDEFINED_VARIABLE",
    "select id, '{{ target.warehouse }}' as w from {{ ref('base') }}": "UNDEFINED_VARIABLE",
}


@pytest.mark.parametrize("text", ASKING)
def test_database_queries_are_findings_and_the_rest_is_rendered(text: str, tmp_path: Path) -> None:
    lineage = scan(project(tmp_path, "duckdb", {**MODELS, "m": text})).lineage
    found = {row.code for row in lineage.diagnostics if row.path == "models/m.sql"}
    assert ASKING[text] in found
    assert not found & {"TEMPLATE_ERROR", "PARSE_ERROR"}
    assert render_model(lineage, "m")["id"] == "base.id"


QUOTED = {
    # adapter, what the project says, what the source says: the objects that a model and its source are
    ("snowflake", "", ""): ("DB.S.BASE", "DB.RAW.EV"),
    ("snowflake", "quoting: {identifier: true}", ""): ('DB.S."base"', 'DB.RAW."ev"'),
    ("snowflake", "quoting: {identifier: true}", "quoting: {identifier: false}"): ('DB.S."base"', "DB.RAW.EV"),
    ("snowflake", "", "quoting: {database: true, schema: true}"): ("DB.S.BASE", '"db"."raw".EV'),
    ("postgres", "quoting: {database: false, schema: false, identifier: false}", ""): ("db.s.base", "db.raw.ev"),
}


@pytest.mark.parametrize("said", QUOTED)
def test_names_are_quoted_as_the_project_and_the_source_say(said: tuple[str, str, str], tmp_path: Path) -> None:
    adapter, own, of_source = said
    folder = project(tmp_path, adapter, MODELS)
    (folder / "dbt_project.yml").write_text(f"name: p\nprofile: p\n{own}\n")
    (folder / "models" / "sources.yml").write_text(SOURCES.replace("    tables:", f"    {of_source}\n    tables:"))
    edges = {(edge.to_object, edge.from_object) for edge in scan(folder).lineage.object_edges}
    model, source = QUOTED[said]
    assert (model, source) in edges
