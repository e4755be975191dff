"""How models that keep their rows are filled: what a changed configuration means, and what it does to new columns."""

from pathlib import Path

import pytest

from lineage_pipeline.api import diff, scan
from lineage_pipeline.model.tables import Change

SOURCES = "sources: [{name: raw, tables: [{name: o, columns: [{name: id}, {name: n}, {name: day}]}]}]\n"
QUERY = """
select id, n from {{ source('raw', 'o') }}
{% if is_incremental() %} where day > (select max(day) from {{ source('raw', 'o') }}) {% endif %}
"""
STAR = """
{{ config(materialized='incremental') }}
with g as (select * from {{ ref('grown') }}) select id, n from g {% if is_incremental() %} where id > 7 {% endif %}
"""


def configure(settings: str) -> str:
    return f"{{{{ config({settings}) }}}}{QUERY}"


def compare(folder: Path, base: str, head: str, **others: str) -> tuple[Change, ...]:
    for side, text in (("base", base), ("head", head)):
        (folder / side / "models").mkdir(parents=True)
        (folder / side / "dbt_project.yml").write_text("name: shop\nversion: '1'\n")
        for name, content in {"grown.sql": text, "sources.yml": SOURCES, **others}.items():
            (folder / side / "models" / name).write_text(content)
    return diff(*(scan(folder / side, dialect="snowflake") for side in ("base", "head")))


INCREMENTAL = "materialized='incremental'"
IGNORES = "incremental (on_schema_change: ignore)"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("materialized='table'", INCREMENTAL, ("ROW009", "table", IGNORES)),
        (INCREMENTAL, "materialized='table'", ("ROW009", IGNORES, "table")),
        ("materialized='view'", INCREMENTAL, ("OBJ004", "view", "table")),
        (
            INCREMENTAL,
            INCREMENTAL + ", unique_key='id', incremental_strategy='merge'",
            ("ROW009", IGNORES, "incremental (incremental_strategy: merge; unique_key: id; on_schema_change: ignore)"),
        ),
        (
            INCREMENTAL
            + ", incremental_strategy='insert_overwrite', partition_by={'field': 'day', 'data_type': 'date'}",
            INCREMENTAL + ", incremental_strategy='microbatch', event_time='day', begin='2024-01-01', batch_size='day'",
            (
                "ROW009",
                "incremental (incremental_strategy: insert_overwrite; partition_by: data_type date, field day; "
                "on_schema_change: ignore)",
                "incremental (incremental_strategy: microbatch; event_time: day; begin: 2024-01-01; batch_size: day; "
                "on_schema_change: ignore)",
            ),
        ),
        (
            INCREMENTAL + ", on_schema_change='append_new_columns'",
            INCREMENTAL,
            ("ROW009", "incremental (on_schema_change: append_new_columns)", IGNORES),
        ),
        (INCREMENTAL + ", unique_key=['id', 'n']", INCREMENTAL + ",\n  unique_key = [ 'id','n' ], tags=['t']", None),
    ],
)
def test_another_load_is_one_cause(before: str, after: str, told: tuple[str, str, str] | None, tmp_path: Path) -> None:
    changes = compare(tmp_path, configure(before), configure(after))
    roots = [(one.rule, one.before, one.after) for one in changes if one.root and one.rule != "CON002"]
    assert roots == ([told] if told else [])


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (INCREMENTAL, "M, not in the table until a full refresh"),
        (INCREMENTAL + ", on_schema_change='append_new_columns'", "M"),
        ("materialized='table'", "M"),
    ],
)
def test_a_new_column_breaks_no_insert_by_name(settings: str, told: str, tmp_path: Path) -> None:
    head = configure(settings).replace("select id, n", "select id, n + 1 as m, n")
    changes = compare(tmp_path, configure(settings), head, **{"copied.sql": STAR})
    assert [one.after for one in changes if one.root and one.column == "M"] == [told]
    assert not [one for one in changes if one.effective.value == "BREAKING"]
