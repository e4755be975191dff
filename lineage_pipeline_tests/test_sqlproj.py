"""A database project says which of its scripts run first and last."""

from pathlib import Path

import pytest

from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.discover.gather import input_files
from lineage_pipeline.discover.git import discover_revision
from lineage_pipeline.discover.sqlproj import positions
from lineage_pipeline.pipeline import analyse
from lineage_pipeline.settings import load_settings
from lineage_pipeline_tests.test_discover import git

PROJECT = """<?xml version="1.0" encoding="utf-8"?>
<Project DefaultTargets="Build" xmlns="http://schemas.microsoft.com/developer/msbuild/2003">
  <ItemGroup>
    <Build Include="dbo\\Tables\\t.sql" />
    <PreDeploy Include="zz\\before.sql" />
    <PostDeploy Include="Scripts\\after.sql" />
  </ItemGroup>
</Project>
"""

FILES = {
    "db/shop.sqlproj": "\ufeff" + PROJECT.replace("\\\\", "\\"),
    "db/dbo/Tables/t.sql": "create table dbo.t (id int);",
    "db/zz/before.sql": "if object_id('dbo.t') is not null drop table dbo.t;",
    "db/Scripts/after.sql": "alter table dbo.t add extra int;",
}


@pytest.mark.parametrize("place", ["folder", "revision"])
def test_deployment_scripts_run_before_and_after_what_is_built(place: str, tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    settings = load_settings(tmp_path, {"analysis": {"dialect": "tsql"}}, {})
    if place == "folder":
        found = discover_folder(tmp_path, settings)
    else:
        git(tmp_path, "init", "-q", "-b", "main")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", "all")
        found = discover_revision(tmp_path, "main", settings)
    assert {file.path: file.position for file in found.files if file.position} == {
        "db/zz/before.sql": -1,
        "db/Scripts/after.sql": 1,
    }
    lineage = analyse(input_files(found, settings), reach=False)
    assert [row.name for row in lineage.columns if row.object == "dbo.t"] == ["id", "extra"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<Project><PostDeploy Include='a.sql'></Project>",
        '<!DOCTYPE p [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><Project><PostDeploy Include="&b;"/></Project>',
        "<Project><PostDeploy Remove='a.sql'/></Project>",
    ],
)
def test_a_project_that_cannot_be_read_orders_nothing(text: str) -> None:
    assert positions(["x/p.sqlproj"], lambda _: text) == {}


def test_a_script_outside_of_the_repository_is_none_of_its_files() -> None:
    text = "<Project><PreDeploy Include='..\\..\\..\\etc\\a.sql'/></Project>"
    assert positions(["x/p.sqlproj"], lambda _: text) == {"../../etc/a.sql": -1}
