"""Conventions of all commands: help, colors, quiet mode, completion, settings, and positions in messages."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lineage_pipeline.cli import command_tree, main
from lineage_pipeline.cli.app import app
from lineage_pipeline.config.load import Settings
from lineage_pipeline_tests.support.paths import ROOT

COMMANDS = list(command_tree.iterate_commands())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("LINEAGE_") or name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.title)
def test_every_help_has_examples_and_fits_80_columns(
    command: command_tree.CommandInfo, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.words, "--help"]) == 0
    shown = capsys.readouterr().out
    told = " ".join(shown.split())
    assert f"lineage {command.title}" in told.partition("Example: ")[2]
    assert [line for line in shown.splitlines() if len(line) > 80] == []
    for flag in ("--quiet", "--verbose", "--color"):
        assert flag in shown


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.title)
def test_the_examples_name_flags_that_exist(command: command_tree.CommandInfo) -> None:
    known = {name for flag in command.flags for name in flag.names}
    examples = [" ".join(part.split()) for part in command.help.split("\n\n") if part.strip().startswith("Example: ")]
    for example in examples:
        typed = re.split(r"[>|)]", example.partition(f"lineage {command.title}")[2])[0].split()
        assert {word for word in typed if word.startswith("--")} <= known, example


@pytest.mark.parametrize(
    ("arguments", "environ", "colors"),
    [
        ([], {}, False),
        (["--color", "always"], {}, True),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
    ],
)
def test_colored_output_is_for_terminals_unless_configured_otherwise(
    here: Path,
    arguments: list[str],
    environ: dict[str, str],
    colors: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    (here / "a.sql").write_text("select from where")
    assert main(["analyze", "a.sql", *arguments]) == 0
    assert ("\x1b[" in capsys.readouterr().out) == colors
    assert main([*arguments, "analyze", "a.sql", "-f", "json"]) == 0
    json.loads(capsys.readouterr().out)  # data are never painted


@pytest.mark.usefixtures("here")
def test_quiet_says_nothing_but_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", "."]) == 0
    assert "no file below" in capsys.readouterr().err
    for words in (["-q", "scan", "."], ["scan", ".", "-q"], ["scan", "--quiet"]):
        assert main(words) == 0
        assert capsys.readouterr().err == ""
    assert main(["-q", "scan", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
    assert "no file below" in CliRunner().invoke(app, ["scan", "."]).stderr  # whoever calls next is not silenced


def test_progress_is_for_terminals(here: Path) -> None:
    (here / "a.sql").write_text("select 1 as a;")
    command = [sys.executable, "-m", "lineage_pipeline.cli", "scan", str(here)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "Dialect: generic SQL (no signs of a dialect; --dialect names one)\n")


def test_a_finding_shows_its_line_and_points_at_the_place(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.sql").write_text("create table t (a int);\ncreate view v as\n\tselect a, nothing from t;\n")
    assert main(["analyze", "a.sql", "--dialect", "postgres"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("a.sql:3:12: warning: "))
    assert lines[at + 1 : at + 3] == ["    \tselect a, nothing from t;", "    \t          ^"]


@pytest.mark.parametrize(
    ("text", "place", "mark"),
    [("a = = 1\n", ":1:5: ", "        ^"), ("[analysis\n", ":1:10: ", "             ^")],
)
def test_settings_that_cannot_be_read_are_shown(
    here: Path, text: str, place: str, mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "lineage.toml").write_text(text)
    assert main(["scan"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert f"lineage.toml{place}" in told[0]
    assert told[2] == mark


# ── init, config, completion ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("example", ["retail", "marketing"])
def test_init_writes_settings_that_fit_what_it_saw(
    here: Path, example: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(ROOT / "sql_assets" / example / "base"), "--dry-run"]) == 0
    text = capsys.readouterr().out
    settings = Settings.model_validate(tomllib.loads(text))
    assert settings.analysis.dialect == {"retail": "tsql", "marketing": "snowflake"}[example]
    uncommented = "\n".join(
        line.removeprefix("# ") if " = " in line or line.startswith("# [[") else line for line in text.splitlines()
    )
    Settings.model_validate(tomllib.loads(uncommented))  # what is commented out can be used as it stands
    assert list(here.iterdir()) == []


def test_init_overwrites_nothing_unasked(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"]) == 0
    assert "no sign of a dialect" in capsys.readouterr().err
    written = (here / "lineage.toml").read_text()
    assert main(["scan"]) == 0
    assert main(["init"]) == 2
    assert "--force overwrites it" in capsys.readouterr().err
    assert main(["init", "--force"]) == 0
    assert (here / "lineage.toml").read_text() == written
    assert main(["init", "nowhere"]) == 2


def test_config_says_where_each_value_comes_from(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "lineage.toml").write_text('[analysis]\ndialect = "tsql"\ndefault_schema = "dbo"\n[diff]\nhops = 2\n')
    monkeypatch.setenv("LINEAGE_DIALECT", "spark")
    assert main(["config", "show", "-f", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    found = {one["key"]: (one["value"], one["origin"]) for one in document["settings"]}
    file = str(here / "lineage.toml")
    assert document["file"] == file
    assert found["analysis.dialect"] == ("spark", "environment LINEAGE_DIALECT")
    assert found["analysis.default_schema"] == ("dbo", file)
    assert found["diff.hops"] == (2, file)
    assert found["diff.leaf"] == ("unknown", "default")
    assert main(["config", "show", "--changed"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("lineage formu", "formula"),
        ("lineage graph m", "merge"),
        ("lineage impact --lev", "--level"),
        ("lineage impact --level t", "table"),
        ("lineage graph query x --level c", "column"),
        ("lineage graph build --man", "--manifest"),
    ],
)
def test_bash_completes(tmp_path: Path, typed: str, offered: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    program = f"source {tmp_path / 'script'}; COMP_WORDS=({typed}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); _lineage; "
    done = subprocess.run(["bash", "-c", program + 'echo "${COMPREPLY[*]}"'], capture_output=True, text=True)
    assert done.stdout.split() == [offered], done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_every_command_and_flag(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for command in COMMANDS:
        assert all(word in script for word in command.words)
        for flag in command.flags:
            assert all(name.lstrip("-") in script for name in flag.names)
