"""Repositories of each kind: which objects are found in them, their names, and where a finding in each points."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.configured_schemas import import_configured_schemas
from lineage_pipeline.discover.discovery import Discovery, build_input_files
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.discover.git.repository import discover_revision
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline_tests.support.git_repositories import commit_folder, run_git

Content = str | bytes


class RepositoryKind(msgspec.Struct, frozen=True):
    """One kind of repository: its files, the settings, and what is expected.

    `files` are the files that are found, as `path dialect encoding`; `objects` the objects that are defined; `finding`
    is the place of the one UNKNOWN_TABLE in it, and what stands there in the file as it was written.
    """

    content: Mapping[str, Content]
    files: tuple[str, ...]
    objects: tuple[str, ...]
    finding: tuple[str, int, int, str]
    settings: str = '[analysis]\ndialect = "spark"\n'


NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "source": ["# select"]},
            {"cell_type": "code", "source": ["%%sql\n", "create view core.v as\n", 'select "é", a from raw.nowhere\n']},
            {"cell_type": "code", "source": ["spark.sql('create table core.t (a int)')"]},
        ]
    },
    indent=1,
)

DBT = {
    "dbt_project.yml": "name: p\nprofile: p\nmodels: {p: {+schema: marts}}\n",
    "profiles.yml": "p: {target: d, outputs: {d: {type: spark, schema: core}}}\n",
    "seeds/days.csv": "day,name\n1,Mo\n",
    "models/a.sql": "select day,\n  {{ 'name' }} as label from {{ ref('days') }}\njoin raw.nowhere using (day)\n",
    "models/b.sql": "{{ config(materialized='table') }}\nselect label from {{ ref('a') }}\n",
    "models/c.py": "def model(dbt, session):\n    return dbt.ref('b')\n",
}
MADE = ("dbt_project.yml", "models/a.sql", "models/b.sql", "models/c.py", "seeds/days.csv")
COMPILED = "select day,\n  name as label from core.days\njoin raw.nowhere using (day)\n"
MANIFEST = {
    "nodes": {
        "model.p.a": {
            "resource_type": "model",
            "name": "a",
            "alias": "aa",
            "schema": "named",
            "original_file_path": "models/a.sql",
            "checksum": {"checksum": hashlib.sha256(DBT["models/a.sql"].strip().encode()).hexdigest()},
            "compiled_code": COMPILED,
        }
    }
}

KINDS = {
    "dbt": RepositoryKind(
        DBT,
        tuple(f"{path} spark utf-8" for path in MADE),
        ("core.days", "core_marts.a", "core_marts.b", "core_marts.c"),
        ("models/a.sql", 3, 6, "raw.nowhere"),
    ),
    "dbt with a manifest": RepositoryKind(
        {**DBT, "artefacts/manifest.json": json.dumps(MANIFEST)},
        tuple(f"{path} spark utf-8" for path in MADE),
        ("core.days", "core_marts.b", "core_marts.c", "named.aa"),
        ("models/a.sql", 3, 6, "raw.nowhere"),
        '[analysis]\ndialect = "spark"\n[dbt]\nmanifest = "artefacts/manifest.json"\n',
    ),
    "plain": RepositoryKind(
        {
            "ddl/1.sql": "create table core.a (id int);\n",
            "ddl/2.sql": "create view core.b as\nselect a.id from core.a join raw.nowhere n on a.id = n.id;\n",
            "ddl/.gitignore": "*.tmp.sql\n",
            "ddl/x.tmp.sql": "create table core.ignored (id int);\n",
            "readme.md": "create table core.no (id int)",
        },
        ("ddl/1.sql spark utf-8", "ddl/2.sql spark utf-8"),
        ("core.a", "core.b"),
        ("ddl/2.sql", 2, 30, "raw.nowhere"),
    ),
    "programs and notebooks": RepositoryKind(
        {
            "n.ipynb": NOTEBOOK,
            "job.py": 'T = "core.p"\nspark.sql(f"""\n  create table {T} as\n  select 1 as a""")\nprint("done")\n',
            "none.py": "print(1)\n",
            "d.py": "# Databricks notebook source\n# MAGIC %sql\n# MAGIC create table core.d (a int)\n",
        },
        ("d.py spark utf-8", "job.py spark utf-8", "n.ipynb spark utf-8"),
        ("core.d", "core.p", "core.t", "core.v"),
        ("n.ipynb", 14, 32, "raw.nowhere"),
    ),
    "mixed dialects": RepositoryKind(
        {
            "erp/a.sql": "create table [dbo].[Orders] ([Id] int);\nGO\nselect top 1 * from dbo.Orders;\n",
            "lake/b.sql": "-- lineage: dialect=spark schema=lake\n"
            "create table t using delta as select id from raw.nowhere;\n",
            "wh/c.sql": "create table CORE.C (v variant);\ncopy into CORE.C from @stage;\n",
            "list.txt": "",
        },
        ("erp/a.sql tsql utf-8", "lake/b.sql spark utf-8", "wh/c.sql snowflake utf-8"),
        ("CORE.C", "dbo.orders", "lake.t"),
        ("lake/b.sql", 2, 46, "raw.nowhere"),
        "",
    ),
    "Dataform and other languages": RepositoryKind(
        {
            "workflow_settings.yaml": "defaultProject: p\ndefaultDataset: core\n",
            "definitions/a.sqlx": 'config { type: "table" }\nselect 1 as id\n',
            "definitions/b.js": "publish('b', { type: 'view' })\n  .query(ctx => `select a.id\n"
            "from ${ctx.ref('a')} as a\njoin ${ctx.ref('raw', 'nowhere')} as n on a.id = n.id`)\n",
            "src/Load.java": 'class Load {\n  void run() { db.execute("create table core.j as " +\n'
            '    "select id from p.core.b"); }\n}\n',
            "src/none.ts": "export const select = (one: string) => one;\n",
        },
        ("definitions/a.sqlx bigquery utf-8", "definitions/b.js bigquery utf-8", "src/Load.java bigquery utf-8"),
        ("core.j", "p.core.a", "p.core.b"),
        ("definitions/b.js", 4, 6, "${ctx.ref('raw', 'nowhere')}"),
        '[analysis]\ndialect = "bigquery"\n',
    ),
    "encodings": RepositoryKind(
        {
            "le.sql": "create table core.a (id int); -- é\n".encode("utf-16"),
            "be.sql": "create table core.b (id int);\n".encode("utf-16-be"),
            "cp.sql": "-- Größe für Müller\ncreate view core.c as select id from raw.nowhere;\n".encode("cp1252"),
            "bad.sql": b"\x00\x01\x02",
        },
        ("bad.sql spark binary", "be.sql spark utf-16-be", "cp.sql spark cp1252", "le.sql spark utf-16"),
        ("core.a", "core.b", "core.c"),
        ("cp.sql", 2, 38, "raw.nowhere"),
    ),
}


def build_repository(folder: Path, kind: RepositoryKind) -> Settings:
    for name, content in {**kind.content, "lineage.toml": kind.settings}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load_settings(folder, {}, {})


def render_discovery(found: Discovery, settings: Settings) -> tuple[tuple[str, ...], tuple[str, ...], LineageTables]:
    lineage = build_lineage(
        build_input_files(found, settings), import_configured_schemas(settings).schemas, reach=False
    )
    files = tuple(f"{file.path} {file.dialect} {file.encoding}" for file in found.files)
    defined = tuple(
        row.object for row in lineage.objects if row.path and row.origin == "implied" and row.kind != "query"
    )
    return files, defined, lineage


@pytest.mark.parametrize("place", ["folder", "bare git"])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_what_is_found_how_it_is_named_and_where_a_finding_points(
    kind: RepositoryKind, place: str, tmp_path: Path
) -> None:
    folder = tmp_path / "repo"
    settings = build_repository(folder, kind)
    if place == "folder":
        found = discover_folder(folder, settings)
    else:
        run_git(tmp_path, "clone", "-q", "--bare", str(commit_folder(folder)), "bare.git")
        found = discover_revision(tmp_path / "bare.git", "main", settings)
    files, defined, lineage = render_discovery(found, settings)
    assert files == kind.files
    assert defined == kind.objects
    (finding,) = [row for row in lineage.diagnostics if row.code == "UNKNOWN_TABLE"]
    path, line, column, stands = kind.finding
    assert (finding.path, finding.line, finding.column) == (path, line, column)
    texts = {
        file.path: source.text
        for file in found.files
        for source in found.sources
        if file.source_hash == source.source_hash
    }
    assert texts[path].split("\n")[line - 1][column - 1 :].startswith(stands)
    for row in lineage.statements:
        assert row.span is not None
        assert texts[row.path][row.span.start : row.span.end].strip() != ""


def test_two_repositories_of_which_one_reads_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # whose files both may name
    shop = RepositoryKind({"a.sql": "create view core.a as select 1 as id, 'x' as name;\n"}, (), (), ("", 0, 0, ""))
    reports = RepositoryKind(
        {"b.sql": "create view rep.b as select * from core.a;\nselect x from raw.nowhere;\n"}, (), (), ("", 0, 0, "")
    )
    first = build_repository(tmp_path / "shop", shop)
    _, defined, lineage = render_discovery(discover_folder(tmp_path / "shop", first), first)
    assert defined == ("core.a",)
    from lineage_pipeline.export.documents.lineage_json import build_lineage_document

    found = discover_folder(tmp_path / "shop", first)
    (tmp_path / "shop.json").write_text(json.dumps(build_lineage_document(lineage, found.files)))
    pinned = msgspec.structs.replace(reports, settings='[analysis]\ndialect = "spark"\nschemas = ["../shop.json"]\n')
    second = build_repository(tmp_path / "reports", pinned)
    files, defined, lineage = render_discovery(discover_folder(tmp_path / "reports", second), second)
    assert (files, defined) == (("b.sql spark utf-8",), ("rep.b",))
    assert [row.name for row in lineage.columns if row.object == "rep.b"] == ["id", "name"]
    (finding,) = lineage.diagnostics
    assert (finding.code, finding.path, finding.line, finding.column) == ("UNKNOWN_TABLE", "b.sql", 2, 15)
