"""Every command on the example warehouse, in every format, read back by a real reader."""

import csv
import io
import json
import os
import shutil
import subprocess
import tomllib
import xml.etree.ElementTree
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lineage_pipeline.cli import command_tree, main
from lineage_pipeline.queries.lineage import Lineage
from lineage_pipeline_tests.support.paths import ROOT, TESTS

FORMAT = "--format"

COMMAND_LINES: dict[str, list[str]] = {
    "analyze": ["04_marts/daily_sales.sql"],
    "scan": ["."],
    "impact": ["+mart.daily_sales.units+"],
    "path": ["raw.pos_sales.qty", "mart.daily_sales.units"],
    "formula": ["mart.daily_sales.units"],
    "show": ["mart.daily_sales"],
    "search": ["daily"],
    "dissect": ["04_marts"],
    "graph build": [".", "-o", "{out}/built.lineage"],
    "graph merge": ["{out}/a.json", "{out}/a.lineage", "-o", "{out}/merged.json"],
    "graph query": ["{out}/a.lineage", "--upstream", "mart.daily_sales.units"],
    "graph export": ["{out}/a.lineage", "--format", "json"],
    "tables overview": ["."],
    "tables scrape": ["."],
    "diff": ["HEAD~1", "HEAD"],
    "check": ["--base", "HEAD~1", "--head", "HEAD"],
    "rebuild": ["--base", "HEAD~1"],
    "rules": [],
    "waivers": ["list"],
    "render": ["04_marts/daily_sales.sql"],
    "export": ["json", "."],
    "explain": ["UNKNOWN_TABLE"],
    "init": ["{out}"],
    "config show": ["."],
    "completion": ["bash"],
    "schema": [],
}
"""Arguments of each command that needs nothing but the files."""

FINDS = frozenset({"check"})
"""Commands that exit with 1 here, because the example breaks somebody."""

ELSEWHERE = {
    "tables pull": "test_listing asks a live DuckDB",
    "verify": "test_verify asks live engines",
    "doctor": "test_cli: it looks at this machine",
    "run": "test_end_to_end: it needs Spark",
    "backfill": "test_operating: it needs Spark",
    "prune": "test_operating: it needs Spark",
    "example": "test_end_to_end: it needs Spark",
    "ui": "test_cli: it stays until it is stopped",
}
"""Commands whose tests need more, and where those are."""


class _Page(HTMLParser):
    tags = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags += 1


def read_html(text: str) -> bool:
    page = _Page()
    page.feed(text)
    return page.tags > 5


def read_csv(text: str) -> bool:
    rows = list(csv.reader(io.StringIO(text)))
    return len(rows) > 1 and len({len(row) for row in rows}) == 1


READERS: dict[str, Callable[[str], object]] = {
    "text": str.strip,
    "singleline": str.strip,
    "markdown": lambda text: text.lstrip().startswith(("#", "<!--", "**", "|")),
    "github": str.strip,
    "html": read_html,
    "json": json.loads,
    "sarif": lambda text: json.loads(text)["version"] == "2.1.0",
    "dbt": str.strip,
    "gitlab": lambda text: isinstance(json.loads(text), list),
    "junit": lambda text: xml.etree.ElementTree.fromstring(text).tag == "testsuites",
    "csv": read_csv,
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("shop")
    repo = top / "retail"
    repo.mkdir()
    shutil.copy(ROOT / "sql_assets" / "retail" / "lineage.toml", repo)
    for side in ("base", "head"):
        shutil.copytree(ROOT / "sql_assets" / "retail" / side, repo, dirs_exist_ok=True)
        for command in (
            ["init", "-q"],
            ["add", "-A"],
            ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", side],
        ):
            subprocess.run(["git", *command], cwd=repo, check=True)
    (top / "out").mkdir()
    for name in ("a.json", "a.lineage"):
        assert main(["scan", str(repo), "-q", "-o", str(top / "out" / name)]) == 0
    return top


@pytest.fixture
def inside(shop: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith(("LINEAGE_", "GITHUB_", "CI"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(shop / "retail")
    return shop / "out"


def list_command_formats() -> list[tuple[str, str]]:
    found = []
    for command in command_tree.iterate_commands():
        choices = next((flag.choices for flag in command.flags if FORMAT in flag.names), ()) or ("",)
        found += [(command.title, choice) for choice in choices if command.title in COMMAND_LINES]
    return found


def test_every_command_has_a_row() -> None:
    titles = {command.title for command in command_tree.iterate_commands()}
    tests = "".join(file.read_text(encoding="utf-8") for file in sorted(TESTS.rglob("test_*.py")))
    missing = titles - set(COMMAND_LINES) - set(ELSEWHERE)
    assert [title for title in missing if f'"{title.split()[0]}"' not in tests] == []  # they have tests of their own
    assert set(COMMAND_LINES) - titles == set()


@pytest.mark.parametrize(("title", "format"), list_command_formats())
def test_every_command_writes_every_format(
    title: str, format: str, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [word.format(out=inside) for word in COMMAND_LINES[title]]
    if format == "lineage":
        arguments += ["-o", str(inside / "scanned.lineage")]
    if title == "init":
        (inside / "lineage.toml").unlink(missing_ok=True)
    chosen = [FORMAT, format] if format else []
    assert main([*title.split(), *arguments, *chosen]) == int(title in FINDS), capsys.readouterr().err
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    if format == "lineage":
        assert Lineage.load(inside / "scanned.lineage").objects()
    elif format:
        reader = READERS[format]
        assert reader(shown.out) or (title == "waivers" and format == "text")


def test_what_commands_write_to_files_can_be_read(inside: Path) -> None:
    assert main(["graph", "build", ".", "-q", "-o", str(inside / "b.json")]) == 0
    assert Lineage.load(inside / "b.json").rows == Lineage.load(inside / "a.json").rows
    assert main(["init", str(inside), "--force", "-q"]) == 0
    assert "analysis" in tomllib.loads((inside / "lineage.toml").read_text())
    for number, title in enumerate(("impact", "path", "formula", "show", "search", "dissect", "config show")):
        target = inside / f"{number}.json"
        assert main([*title.split(), *COMMAND_LINES[title], FORMAT, "json", "-o", str(target)]) == 0
        assert json.loads(target.read_text())["schema_version"] == 1
