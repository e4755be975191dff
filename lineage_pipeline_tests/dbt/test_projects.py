"""dbt projects read without dbt: objects, names and positions, compared with dbt itself."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lineage_pipeline.api import Analysis, scan
from lineage_pipeline.cli import main
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.engine.diff.rebuild import plan_rebuild
from lineage_pipeline.model.enums import Severity
from lineage_pipeline.model.tables import ObjectRow
from lineage_pipeline_tests.support.paths import FIXTURES, ROOT

PROJECTS = FIXTURES / "projects"
OWN = ROOT / "dbt_project"


@pytest.fixture(scope="module")
def shop() -> Analysis:
    return scan(PROJECTS / "shop")


def objects_by_name(analysis: Analysis) -> dict[str, ObjectRow]:
    return {row.object.removeprefix("memory."): row for row in analysis.lineage.objects}


OBJECTS = {
    "crm_raw.customers": ("table", None),
    "crm_raw.orders_v2": ("table", None),
    "exposure.revenue_board": ("view", "models/marts/_exposures.yml"),
    "main.audit": ("table", None),
    "main_history.customers_history": ("table", "snapshots/customers.yml"),
    "main_history.orders_history": ("table", "snapshots/orders_history.sql"),
    "main_marts.order_facts": ("table", "models/marts/orders.sql"),
    "main_marts.revenue": ("table", "models/marts/revenue.sql"),
    "main_raw.countries": ("table", "seeds/countries.csv"),
    "main_staging.payments_v1": ("view", "models/staging/payments_v1.sql"),
    "main_staging.payments_v2": ("view", "models/staging/payments_v2.sql"),
    "main_staging.stg_orders": ("view", "models/staging/stg_orders.sql"),
}


def test_models_seeds_snapshots_and_exposures_are_objects_as_dbt_calls_them(shop: Analysis) -> None:
    assert {name: (str(row.kind), row.path) for name, row in objects_by_name(shop).items()} == OBJECTS


def test_tests_analyses_and_macros_give_neither_objects_nor_findings(shop: Analysis) -> None:
    assert not {row.path for row in shop.lineage.statements if row.path.startswith(("tests/", "analyses/", "macros/"))}
    assert [row.code for row in shop.lineage.diagnostics] == ["APPROXIMATE_LINEAGE"]


def test_columns_pass_through_macros_loops_and_ephemeral_models(shop: Analysis) -> None:
    edges = {
        (edge.from_object.split(".")[-1], edge.from_column, edge.to_object.split(".")[-1], edge.to_column)
        for edge in shop.lineage.column_edges
        if edge.type == "DIRECT"
    }
    assert ("orders_v2", "amount", "stg_orders", "amount") in edges
    assert ("customers", "name", "order_facts", "customer_name") in edges
    assert ("order_facts", "amount", "revenue", "de_amount") in edges
    assert ("order_facts", "customer_name", "revenue", "label") in edges
    assert ("revenue", "paid", "revenue_board", "paid") in edges
    assert ("order_facts", "updated_at", "audit", "at") in edges


def test_an_incremental_model_is_created_and_inserted_into(shop: Analysis) -> None:
    own = [row for row in shop.lineage.statements if row.path == "models/marts/orders.sql"]
    assert [row.kind for row in own] == ["CREATE TABLE", "INSERT", "INSERT"]
    filters = {
        (edge.from_object.split(".")[-1], edge.from_column)
        for edge in shop.lineage.column_edges
        if edge.path == "models/marts/orders.sql" and edge.subtype == "FILTER"
    }
    assert filters == {("stg_orders", "updated_at"), ("order_facts", "updated_at")}


def test_owners_tags_types_and_descriptions_come_from_yaml(shop: Analysis) -> None:
    objects = objects_by_name(shop)
    assert objects["crm_raw.orders_v2"].owners == ("sales",)
    assert objects["main_staging.stg_orders"].tags == ("orders", "staging")
    assert objects["main_staging.stg_orders"].owners == ("data team",)
    assert objects["main_staging.stg_orders"].description == "Orders, cleaned."
    assert objects["exposure.revenue_board"].owners == ("Board",)
    columns = {(row.object.split(".")[-1], row.name): row for row in shop.lineage.columns}
    assert columns["stg_orders", "order_id"].type == "INTEGER"
    assert columns["stg_orders", "customer_id"].tags == ("pii",)
    assert columns["countries", "vat"].type == "DOUBLE"
    assert columns["countries", "since"].type == "DATE"


def test_places_are_those_of_the_files_as_written(shop: Analysis) -> None:
    texts = {path: (PROJECTS / "shop" / path).read_text() for path in {edge.path for edge in shop.lineage.column_edges}}
    slices = {
        (edge.to_column, edge.from_column): texts[edge.path][edge.from_span.start : edge.from_span.end]
        for edge in shop.lineage.column_edges
        if edge.from_span is not None and edge.path.startswith("models/") and edge.path.endswith(".sql")
    }
    assert slices["customer_id", "customer"] == "customer"
    assert slices["paid", "amount"] == "new_payments.amount"
    assert slices["de_amount", "amount"] == "orders.amount"
    assert {
        (row.path, row.line) for row in shop.lineage.objects if row.path and row.path.startswith("models/staging")
    } == {(f"models/staging/{name}.sql", 1) for name in ("payments_v1", "payments_v2", "stg_orders")}


UNRENDERED = {"TEMPLATE_ERROR", "UNDEFINED_VARIABLE", "DATABASE_NEEDED", "PARSE_ERROR"}


def test_nearly_all_models_of_the_projects_render_without_dbt() -> None:
    models, wrong = 0, list[str]()
    for folder in (PROJECTS / "shop", OWN):
        analysis = scan(folder)
        made = {row.path for row in analysis.lineage.statements if row.path.startswith("models/")}
        failed = {str(row.path) for row in analysis.lineage.diagnostics if row.code in UNRENDERED}
        models += len(made | failed)
        wrong += sorted(failed)
    assert models > 30
    assert len(wrong) <= 0.05 * models, wrong


@pytest.fixture(scope="module", params=["shop", "own"])
def held_against(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    """A project as dbt itself parses it, and as we read it without dbt."""
    folder = _copy_project(request.param, tmp_path_factory.mktemp("dbt"))
    target = folder.parent / "target"
    _run_dbt("parse", folder, target)
    yield json.loads((target / "manifest.json").read_text()), scan(folder)


def _copy_project(name: str, parent: Path) -> Path:
    """A project of the fixtures, or the project's own, in a folder of the test."""
    source = OWN if name == "own" else PROJECTS / name
    shutil.copytree(source, parent / "project", ignore=shutil.ignore_patterns("target", "logs"))
    return parent / "project"


def _run_dbt(command: str, folder: Path, target: Path) -> None:
    """Run dbt itself on a project."""
    from dbt.cli.main import dbtRunner

    options = ["--project-dir", folder, "--profiles-dir", folder, "--target-path", target, "--log-path", target]
    done = dbtRunner().invoke(["--quiet", "--no-partial-parse", command, *map(str, options)])
    assert done.success, done.exception


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_names_and_upstream_are_those_of_dbt(held_against: tuple[Any, Any]) -> None:
    manifest, analysis = held_against
    nodes = {**manifest["nodes"], **manifest["sources"]}
    expected: dict[str, set[str]] = {}
    for node in manifest["nodes"].values():
        if node["resource_type"] in ("model", "seed", "snapshot") and node["config"]["materialized"] != "ephemeral":
            expected[_id(node)] = {_id(nodes[one]) for one in _upstream(node, nodes)} - {_id(node)}
    found: dict[str, set[str]] = {name: set() for name in expected}
    for edge in analysis.lineage.object_edges:
        if edge.to_object in found and edge.from_object != edge.to_object:
            found[edge.to_object].add(edge.from_object)
    assert {row.object for row in analysis.lineage.objects} >= expected.keys()
    assert found == expected


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["shop", "own"])
def test_lineage_of_the_text_that_dbt_compiles_is_that_of_the_models(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".lineage").mkdir()
    monkeypatch.chdir(tmp_path)  # where the profile of the project's own has its database
    folder = _copy_project(name, tmp_path)
    settings = folder / "dbt_project.yml"
    settings.write_text(re.sub(r"on-run-start:\n.*\n", "", settings.read_text()))  # it reads files of a run
    rendered = _describe_lineage(folder)
    _run_dbt("compile", folder, folder / "target")
    manifest = json.loads((folder / "target" / "manifest.json").read_text())
    assert sum(bool(node.get("compiled_code")) for node in manifest["nodes"].values()) > 10
    assert _describe_lineage(folder) == rendered


def _describe_lineage(folder: Path) -> dict[str, set[Any]]:
    """The lineage of a project without its places: dbt's text has others."""
    found = scan(folder).lineage
    return {
        "columns": {(row.object, row.ordinal, row.name, row.type, row.nullable) for row in found.columns},
        "edges": {
            (row.from_object, row.from_column, row.from_path, row.to_object, row.to_column, row.type, row.subtype)
            for row in found.column_edges
        },
        "findings": {(row.code, row.path) for row in found.diagnostics},
    }


def _id(node: Any) -> str:
    return str(node["relation_name"]).replace('"', "")


def _upstream(node: Any, nodes: Any) -> Iterator[str]:
    for one in node["depends_on"].get("nodes", ()):
        if nodes[one].get("config", {}).get("materialized") == "ephemeral":
            yield from _upstream(nodes[one], nodes)
        else:
            yield one


HOSTILE = {
    "a module of Python": "{{ modules.datetime.sys.modules }}",
    "the inside of a class": "{{ modules.datetime.datetime.__subclasses__() }}",
    "the inside of a stand-in": "{{ adapter._session.library.folder }}",
    "a pattern without end": "{{ modules.re.match('(a+)+$', 'a' * 40 ~ '!') }}",
    "products without end": "{{ modules.itertools.product(range(9999), repeat=9) | list }}",
    "a macro that calls itself": "{{ endless() }}",
    "a model that reads itself through another": "select * from {{ ref('other') }}",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_model_ends_and_others_are_read(text: str, tmp_path: Path) -> None:
    for folder in ("models", "macros"):
        (tmp_path / folder).mkdir()
    (tmp_path / "dbt_project.yml").write_text("name: p\nprofile: p\n")
    (tmp_path / "macros" / "m.sql").write_text("{% macro endless() %}{{ endless() }}{% endmacro %}")
    (tmp_path / "models" / "bad.sql").write_text("{{ config(materialized='ephemeral') }}" * ("other" in text) + text)
    (tmp_path / "models" / "other.sql").write_text(
        "{{ config(materialized='ephemeral') }}select * from {{ ref('bad') }}" if "other" in text else "select 1 as a"
    )
    (tmp_path / "models" / "good.sql").write_text("select a from t")
    lineage = scan(tmp_path).lineage
    assert ("t", "good") in {(edge.from_object, edge.to_object) for edge in lineage.column_edges}
    if "other" not in text:
        assert any(row.path == "models/bad.sql" and row.severity in ("error", "warning") for row in lineage.diagnostics)


def test_a_query_to_the_database_is_a_placeholder_and_a_finding(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "dbt_project.yml").write_text("name: p\nprofile: p\n")
    (tmp_path / "models" / "a.sql").write_text(
        "{% set kinds = dbt_utils.get_column_values(ref('b'), 'kind') %}\n"
        "select\n{% for kind in kinds %}  sum(case when kind = '{{ kind }}' then x end) as {{ kind }}_x\n{% endfor %}"
        "from {{ ref('b') }}\n"
    )
    (tmp_path / "models" / "b.sql").write_text("select kind, x, {{ nobody.knows() }} as y from raw.t")
    lineage = scan(tmp_path).lineage
    found = {(row.code, row.path, row.line, row.column) for row in lineage.diagnostics}
    assert ("DATABASE_NEEDED", "models/a.sql", 1, 1) in found
    assert ("UNDEFINED_VARIABLE", "models/b.sql", 1, 17) in found
    assert ("b", "x", "a") in {(edge.from_object, edge.from_column, edge.to_object) for edge in lineage.column_edges}


def test_a_manifest_counts_for_names_and_for_the_sql_of_unchanged_files(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "target").mkdir()
    (tmp_path / "dbt_project.yml").write_text("name: p\nprofile: p\n")
    texts = {"a": "select {{ x() }} as a\nfrom {{ source('s', 't') }}\n", "b": "select a from {{ ref('a') }}\n"}
    nodes = {}
    for name, text in texts.items():
        (tmp_path / "models" / f"{name}.sql").write_text(text)
        nodes[f"model.p.{name}"] = {
            "resource_type": "model",
            "name": name,
            "original_file_path": f"models/{name}.sql",
            "database": "d",
            "schema": "core",
            "alias": f"the_{name}",
            "checksum": {"checksum": hashlib.sha256(text.strip().encode()).hexdigest()},
            "compiled_code": "select c as a\nfrom s.t" if name == "a" else "select z from nowhere",
        }
    (tmp_path / "target" / "manifest.json").write_text(json.dumps({"nodes": nodes, "sources": {}}))
    (tmp_path / "models" / "b.sql").write_text(texts["b"] + "-- changed since\n")
    lineage = scan(tmp_path).lineage
    edges = {(e.from_object, e.from_column, e.to_object, e.to_column): e for e in lineage.column_edges}
    assert edges.keys() == {("s.t", "c", "d.core.the_a", "a"), ("d.core.the_a", "a", "d.core.the_b", "a")}
    assert [(row.path, row.line, row.column) for row in lineage.diagnostics] == [("models/a.sql", 2, 6)]


@pytest.mark.slow
def test_a_trusted_project_is_read_by_dbt_itself_without_our_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(PROJECTS / "shop", tmp_path / "shop")
    (tmp_path / "shop" / "models" / "marts" / "secret.sql").write_text(
        "select '{{ env_var('LINEAGE_SECRET', 'hidden') }}' as a, amount from {{ ref('stg_orders') }}\n"
    )
    monkeypatch.setenv("LINEAGE_SECRET", "told")
    rules = load_settings(tmp_path / "shop", {"dbt": {"trust": True}}, {})
    found = discover_folder(tmp_path / "shop", rules)
    texts = {source.source_hash: source.rendered for source in found.sources}
    rendered = {file.path: texts[file.source_hash] for file in found.files}
    assert "'hidden' as a" in rendered["models/marts/secret.sql"]
    assert 'create table "memory"."main_marts"."order_facts"' in rendered["models/marts/orders.sql"]
    assert not any(row.code == "UNDEFINED_VARIABLE" for row in found.diagnostics)


@pytest.mark.slow
def test_a_trusted_project_that_dbt_cannot_read_is_rendered_without_it_and_says_so(tmp_path: Path) -> None:
    shutil.copytree(PROJECTS / "shop", tmp_path / "shop")
    (tmp_path / "shop" / "models" / "wrong.sql").write_text("select 1 as a from {{ ref('nobody_has_this') }}\n")
    found = discover_folder(tmp_path / "shop", load_settings(tmp_path / "shop", {"dbt": {"trust": True}}, {}))
    (row,) = [row for row in found.diagnostics if row.path == "dbt_project.yml"]
    assert row.code == "TEMPLATE_ERROR" and "nobody_has_this" in row.message
    assert "models/marts/orders.sql" in {file.path for file in found.files if file.templater == "dbt"}


def test_yaml_is_read_until_it_is_damaged_and_the_line_is_told(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "dbt_project.yml").write_text("name: p\n")
    (tmp_path / "models" / "a.sql").write_text("select 1 as id")
    (tmp_path / "models" / "s.yml").write_text(
        "models:\n  - name: a\n    description: the first\n  - name: b\n    description: a: b\n  - name: c\n"
    )
    lineage = scan(tmp_path).lineage
    (told,) = lineage.diagnostics
    assert (told.code, told.path, told.line) == ("TEMPLATE_ERROR", "models/s.yml", 5)
    assert "in YAML, line 5; what stands before it counts" in told.message
    assert [row.description for row in lineage.objects] == ["the first"]


def test_a_damaged_manifest_is_told(tmp_path: Path) -> None:
    shutil.copytree(PROJECTS / "shop", tmp_path / "shop")
    (tmp_path / "shop" / "target").mkdir()
    (tmp_path / "shop" / "target" / "manifest.json").write_text('{"nodes": {')
    told = [row.message for row in discover_folder(tmp_path / "shop", load_settings(tmp_path, {}, {})).diagnostics]
    assert any("target/manifest.json is no JSON document" in message for message in told)


def test_config_blocks_in_a_file_are_evaluated(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "dbt_project.yml").write_text("name: p\nprofile: p\nvars: {area: sales}\n")
    (tmp_path / "models" / "a.sql").write_text(
        "{{ config(schema=var('area') ~ '_' ~ ('X' | lower), alias='a' ~ 1) }}select * from {{ source('s', 't') }}"
    )
    assert "sales_x.a1" in {row.object for row in scan(tmp_path).lineage.objects}


PIECES = {
    "dbt_project.yml": """name: p
profile: p
on-run-start: "grant select on x to y"
on-run-end:
  - "insert into {{ target.schema }}.audit select max(id) from {{ ref('m') }}"
""",
    "profiles.yml": "p: {target: d, outputs: {d: {type: postgres, dbname: db, schema: core}}}\n",
    "models/m.sql": "select 1 as id, 'a' as name\n",
    "models/e.yml": """# who looks at it
exposures:
  - name: board
    owner: {name: x}
    depends_on:
      - ref('m')
  - name: mail
    depends_on: [ref('m')]
""",
    "snapshots/two.sql": """{% snapshot old_way %}
{{ config(target_schema='hist', target_database='dbx', unique_key='id') }}
select * from {{ ref('m') }}
{% endsnapshot %}

{% snapshot new_way %}
{{ config(schema='snap', database='dby', unique_key='id') }}
select * from {{ ref('m') }}
{% endsnapshot %}
""",
    "snapshots/listed.yml": """snapshots:
  - name: listed
    relation: ref('m')
    config: {schema: lists, database: dbz, unique_key: id}
""",
}


@pytest.fixture
def pieces(tmp_path: Path) -> Path:
    for name, text in PIECES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_snapshots_are_where_their_settings_say_and_exposures_where_yaml_names_them(pieces: Path) -> None:
    analysis = scan(pieces)
    assert {(row.object, row.path, row.line) for row in analysis.lineage.objects} == {
        ("db.core.m", "models/m.sql", 1),
        ("dbx.hist.old_way", "snapshots/two.sql", 1),
        ("dby.core_snap.new_way", "snapshots/two.sql", 6),
        ("dbz.core_lists.listed", "snapshots/listed.yml", 2),
        ("exposure.board", "models/e.yml", 3),
        ("exposure.mail", "models/e.yml", 7),
    }
    columns = [row.name for row in analysis.lineage.columns if row.object == "dbx.hist.old_way"]
    assert columns == ["id", "name", "dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to"]


def test_an_exposure_is_known_as_one_in_whatever_letters(pieces: Path) -> None:
    profiles = pieces / "profiles.yml"
    profiles.write_text(profiles.read_text().replace("postgres, dbname", "snowflake, database"))
    before = scan(pieces).lineage
    assert [row.object for row in before.objects if "exposure" in row.tags] == ["EXPOSURE.BOARD", "EXPOSURE.MAIL"]
    (pieces / "models/m.sql").write_text("select 2 as id\n")
    after = scan(pieces).lineage
    changes = diff(before, after)
    assert {change.effective for change in changes if change.root and change.rule == "COL001"} == {Severity.BREAKING}
    assert not [stale for stale in plan_rebuild(before, after, changes).stale if "EXPOSURE" in stale.object]


def test_a_change_of_a_source_stands_in_the_file_that_describes_it(
    pieces: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = (pieces / side for side in ("before", "after"))
    for folder, kind in ((before, "int"), (after, "text")):
        (folder / "models").mkdir(parents=True)
        (folder / "dbt_project.yml").write_text("name: p\n")
        (folder / "models/s.yml").write_text(
            "sources: [{name: raw, tables: [{name: t, columns: [{name: a, data_type: " + kind + "}]}]}]\n"
        )
        (folder / "models/m.sql").write_text("select a from {{ source('raw', 't') }}\n")
    assert main(["diff", str(before), str(after), "-d", "postgres", "-f", "json"]) == 0
    (root,) = [one for one in json.loads(capsys.readouterr().out)["changes"] if one["root"]]
    assert (root["rule"], root["object"], root["path"]) == ("TYP003", "raw.t", "models/s.yml")


def test_a_hook_of_the_project_that_writes_is_told(pieces: Path) -> None:
    (finding,) = scan(pieces).lineage.diagnostics
    assert (finding.code, finding.path, finding.line) == ("UNSUPPORTED_SYNTAX", "dbt_project.yml", 4)


@pytest.mark.parametrize(
    ("selection", "kept"),
    [
        ({"exclude": ["models/e.yml"]}, {"models/m.sql", "snapshots/listed.yml", "snapshots/two.sql"}),
        ({"include": ["models/**/*.sql", "models/*.sql"]}, {"models/m.sql", "models/e.yml"}),
        ({"exclude": ["snapshots/**"]}, {"models/m.sql", "models/e.yml"}),
    ],
)
def test_unselected_files_give_no_rows(selection: dict[str, Any], kept: set[str], pieces: Path) -> None:
    found = discover_folder(pieces, load_settings(pieces, selection, {}))
    assert {file.path for file in found.files} == {*kept, "dbt_project.yml"}


def test_a_contract_and_an_access_for_everybody_are_promises(tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    (tmp_path / "dbt_project.yml").write_text("name: small\nmodels:\n  small:\n    wide:\n      +access: public\n")
    (models / "wide").mkdir()
    (models / "wide" / "all.sql").write_text("select 1 as id")
    (models / "own.sql").write_text("select 1 as id")
    (models / "kept.sql").write_text("select 1 as id")
    (models / "kept.yml").write_text(
        "models:\n- name: kept\n  config: {contract: {enforced: true}}\n  columns: [{name: id, data_type: int}]\n"
        "- name: own\n  config: {contract: {enforced: false}}\n  access: protected\n"
    )
    tags = {name.rpartition(".")[2]: row.tags for name, row in objects_by_name(scan(tmp_path)).items()}
    assert tags == {"all": ("public",), "own": (), "kept": ("contract",)}


SETTINGS = {
    "dbt_project.yml": """name: p
profile: p
models:
  p:
    +schema: "{% if var('prefix', none) %}{{ var('prefix') }}_core{% else %}core{% endif %}"
    extra:
      +enabled: "{{ var('wanted', false) | as_bool }}"
""",
    "seeds/s.csv": "code,n\na,1\n",
    "seeds/s.yml": """seeds:
  - name: s
    config:
      column_types: {code: "{% if target.type == 'bigquery' %}string{% else %}varchar(9){% endif %}"}
""",
    "models/a.sql": "select * from {{ ref('nowhere') }}\n",
    "models/a.yml": "models: [{name: a, description: what nobody has}]\n",
    "models/b.sql": "select x, y from {{ ref('a') }}\n",
    "models/extra/c.sql": "select {% if var('wanted', false) == true %}1{% else %}2{% endif %} as one\n",
    "models/one.sql": "select 1 as id, 'x' as name\n",
    "models/two.sql": "select 'x' as label, 2 as id\n",
    "models/all.sql": "{{ dbt_utils.union_relations([ref('one'), ref('two')], source_column_name=none) }}\n",
    "tests_of_it/dbt_project.yml": "name: q\nprofile: q\n",
    "tests_of_it/packages.yml": "packages: [{local: ../}]\n",
    "tests_of_it/models/r.sql": "select n from {{ ref('s') }}\n",
}


@pytest.fixture
def settled(tmp_path: Path) -> Path:
    for name, text in SETTINGS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_settings_that_are_templates_are_worked_out(settled: Path) -> None:
    plain = {row.object for row in scan(settled).lineage.objects}
    assert plain >= {"core.a", "core.all", "s", "r"}
    assert "core.c" not in plain
    given = {"templating": {"variables": {"prefix": "dev", "wanted": "true"}}}
    analysis = scan(settled, settings=load_settings(settled, given, {}))
    assert {row.object for row in analysis.lineage.objects} >= {"dev_core.a", "dev_core.c"}
    columns = {(row.object, row.name): row for row in analysis.lineage.columns}
    assert columns["s", "code"].type == "VARCHAR(9)"
    one = next(row for row in analysis.lineage.column_edges if row.to_object == "r")
    assert (one.from_object, one.from_column) == ("s", "n")


def test_a_package_beside_a_project_is_read_once(settled: Path) -> None:
    found = discover_folder(settled, load_settings(settled, {}, {}))
    paths = [file.path for file in found.files]
    assert len(paths) == len(set(paths))


def test_a_described_model_over_a_star_of_an_unknown_table_stays_open(settled: Path) -> None:
    told = [(row.code, row.path) for row in scan(settled).lineage.diagnostics]
    assert told == [
        ("NODE_DISABLED", "models/extra/c.sql"),
        ("APPROXIMATE_LINEAGE", "models/a.sql"),
        ("UNKNOWN_TABLE", "models/a.sql"),
    ]


def test_relations_are_united_by_the_names_of_their_columns(settled: Path) -> None:
    lineage = scan(settled).lineage
    assert [row.name for row in lineage.columns if row.object == "core.all"] == ["id", "name", "label"]


def test_a_file_of_a_project_outside_of_git_is_rendered_by_its_name(
    settled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["render", str(settled / "models" / "b.sql")]) == 0
    assert capsys.readouterr().out.endswith('from "core"."a"\n')


@pytest.mark.parametrize("name", ["seeds/countries.csv", "snapshots/customers.yml", "models/marts/_exposures.yml"])
def test_render_shows_seeds_and_programs_as_they_are_analyzed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = discover_folder(PROJECTS / "shop", load_settings(PROJECTS / "shop", {}, {}))
    seen = {source.source_hash: source.rendered for source in found.sources}
    assert main(["render", str(PROJECTS / "shop" / name)]) == 0
    (row,) = [file for file in found.files if file.path == name]
    assert capsys.readouterr().out.strip() == seen[row.source_hash].strip()
