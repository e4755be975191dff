"""A SQL Server database project orders its scripts and gives them variables."""

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from lineage_pipeline.cli import main
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.discover.discovery import build_input_files
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.discover.git.repository import discover_revision
from lineage_pipeline.discover.sqlproj import find_deployment_positions, read_project_variables
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline_tests.support.git_repositories import commit_folder

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


def lay_out(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


VARIABLES = """<Project><ItemGroup>
  <SqlCmdVariable Include="OtherDb"><DefaultValue>Sales</DefaultValue><Value>$(SqlCmdVar__1)</Value></SqlCmdVariable>
  <SqlCmdVariable Include="Empty"><Value>$(SqlCmdVar__2)</Value></SqlCmdVariable>
</ItemGroup></Project>"""


@pytest.mark.parametrize("dialect", ["tsql", ""])
def test_sqlcmd_variables_default_to_the_values_of_the_project(dialect: str, tmp_path: Path) -> None:
    query = (
        "create view dbo.v as select id from [$(OtherDb)].dbo.t join [$(Empty)].dbo.u on 1 = 1;\n-- $(DatabaseName)\n"
    )
    outside = "create view dbo.w as select id from [$(OtherDb)].dbo.t;\nGO\n"
    lay_out(tmp_path, {"db/shop.sqlproj": VARIABLES, "db/dbo/v.sql": query, "else/w.sql": outside})
    settings = load_settings(tmp_path, {"analysis": {"dialect": dialect or None}}, {})
    found = discover_folder(tmp_path, settings)
    texts = {file.path: file.text for file in build_input_files(found, settings)}
    assert "from [Sales].dbo.t join [$(Empty)].dbo.u" in texts["db/dbo/v.sql"]
    told = [(row.code, row.path, row.line, row.column) for row in found.diagnostics]
    assert told == [
        ("UNDEFINED_VARIABLE", "db/dbo/v.sql", 1, 62),
        ("UNDEFINED_VARIABLE", "else/w.sql", 1, 38),
    ]
    given = load_settings(tmp_path, {"templating": {"variables": {"otherdb": "Mine"}}}, {})
    again = {file.path: file.text for file in build_input_files(discover_folder(tmp_path, given), given)}
    assert all("[Mine].dbo.t" in text for text in again.values())


@pytest.mark.parametrize("place", ["folder", "revision"])
def test_deployment_scripts_run_before_and_after_what_is_built(place: str, tmp_path: Path) -> None:
    lay_out(tmp_path, FILES)
    settings = load_settings(tmp_path, {"analysis": {"dialect": "tsql"}}, {})
    if place == "folder":
        found = discover_folder(tmp_path, settings)
    else:
        found = discover_revision(commit_folder(tmp_path), "main", settings)
    assert {file.path: file.position for file in found.files if file.position} == {
        "db/zz/before.sql": -1,
        "db/Scripts/after.sql": 1,
    }
    lineage = build_lineage(build_input_files(found, settings), reach=False)
    assert [row.name for row in lineage.columns if row.object == "dbo.t"] == ["id", "extra"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<Project><PostDeploy Include='a.sql'></Project>",
        '<!DOCTYPE p [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><Project><PostDeploy Include="&b;"/></Project>',
        "<Project><PostDeploy Remove='a.sql'/></Project>",
        "<?xml version='1.0' encoding='euc-jp'?><Project><PostDeploy Include='a.sql'/></Project>",
        "<?xml version='1.0' encoding='nonsense'?><Project><PostDeploy Include='a.sql'/></Project>",
        "<?xml version='1.0' encoding='rot13'?><Project><PostDeploy Include='a.sql'/></Project>",
    ],
)
def test_a_project_that_cannot_be_read_orders_nothing(text: str) -> None:
    assert find_deployment_positions(["x/p.sqlproj"], lambda _: text) == {}


def test_lines_without_end_in_a_project_are_put_together_once() -> None:
    variable = f"<SqlCmdVariable Include='a'><DefaultValue>{chr(10) * 2_000_000}x</DefaultValue></SqlCmdVariable>"
    started = time.process_time()
    assert read_project_variables(["p.sqlproj"], lambda _: f"<Project>{variable}</Project>") == {"": {"a": "x"}}
    assert time.process_time() - started < 10  # one behind the other takes minutes


def test_a_script_outside_of_the_repository_is_none_of_its_files() -> None:
    text = "<Project><PreDeploy Include='..\\..\\..\\etc\\a.sql'/></Project>"
    assert find_deployment_positions(["x/p.sqlproj"], lambda _: text) == {"../../etc/a.sql": -1}


def test_a_script_is_rendered_by_its_name_as_in_its_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    variable = '<SqlCmdVariable Include="Db"><DefaultValue>sales</DefaultValue></SqlCmdVariable>'
    (tmp_path / "x.sqlproj").write_text(f"<Project><ItemGroup>{variable}</ItemGroup></Project>")
    (tmp_path / "views").mkdir()
    (tmp_path / "views" / "v.sql").write_text("create view v as select a from [$(Db)].dbo.t")
    assert main(["render", str(tmp_path / "views" / "v.sql")]) == 0
    assert capsys.readouterr().out.strip() == "create view v as select a from [sales].dbo.t"
