"""Guarantees of a dbt project about its rows, and the changes that are reported when it guarantees less."""

from pathlib import Path

import pytest

from lineage_pipeline.api import diff, scan

SOURCES = """
sources: [{name: raw, tables: [{name: o, columns: [{name: id}, {name: cid}]}, {name: c, columns: [{name: id}]}]}]
"""
GROWING = "{{ config(materialized='incremental'%s) }} select id, cid from {{ source('raw', 'o') }}"
TESTED = "models: [{name: dim, columns: [{name: id, %s}]}]\n"
PAIR = (
    "models: [{name: grown, data_tests: [{dbt_utils.unique_combination_of_columns: {combination_of_columns: %s}}]}]\n"
)


def write_dbt_project(folder: Path, **files: str) -> Path:
    known = {"grown.sql": GROWING % "", "dim.sql": "select id from {{ source('raw', 'c') }}", "sources.yml": SOURCES}
    known |= {
        "report.sql": "select g.id, d.id as did from {{ ref('grown') }} g join {{ ref('dim') }} d on d.id = g.cid"
    }
    (folder / "models").mkdir(parents=True)
    (folder / "dbt_project.yml").write_text("name: shop\nversion: '1'\n")
    for name, text in (known | {key.replace("_", "."): text for key, text in files.items()}).items():
        (folder / "models" / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("file", "before", "after", "told"),
    [
        ("grown_sql", GROWING % ", unique_key='id'", GROWING % "", ("unique (ID)", None)),
        (
            "grown_sql",
            GROWING % ", unique_key=['id', 'cid']",
            GROWING % ", unique_key='id'",
            ("unique (ID, CID)", "unique (ID)"),
        ),
        ("more_yml", TESTED % "tests: [unique, not_null]", TESTED % "tests: [not_null]", ("unique (ID)", None)),
        (
            "more_yml",
            TESTED % "constraints: [{type: primary_key}]",
            TESTED % "description: x",
            ("primary key (ID)", None),
        ),
        ("more_yml", PAIR % "[id, cid]", PAIR % "[id]", ("unique (ID, CID)", "unique (ID)")),
        ("more_yml", TESTED % "tests: [{unique: {where: 'x'}}]", TESTED % "tests: [not_null]", None),
        ("grown_sql", GROWING % """, unique_key="id || 'x'" """, GROWING % "", None),
        ("more_yml", TESTED % "tests: 7, constraints: 8", TESTED % "tests: {}", None),
    ],
)
def test_a_dropped_unique_test_is_reported(
    file: str, before: str, after: str, told: tuple[str, str | None] | None, tmp_path: Path
) -> None:
    sides = [
        scan(write_dbt_project(tmp_path / side, **{file: text}), dialect="snowflake")
        for side, text in (("a", before), ("b", after))
    ]
    found = [(one.before, one.after) for one in diff(*sides) if one.rule == "CON001"]
    assert found == ([told] if told else [])


def test_a_join_by_a_tested_key_changes_no_row(tmp_path: Path) -> None:
    plain, joined = (
        "select id from {{ source('raw', 'o') }}",
        ("select o.id, d.id as did from {{ source('raw', 'o') }} o left join {{ ref('dim') }} d on d.id = o.cid"),
    )
    texts = {"more_yml": TESTED % "tests: [unique]"}
    sides = [
        scan(write_dbt_project(tmp_path / text[7:12].strip(), last_sql=text, **texts), dialect="snowflake")
        for text in (plain, joined)
    ]
    assert [one.effective.value for one in diff(*sides) if one.rule == "ROW003"] == ["INFO"]
