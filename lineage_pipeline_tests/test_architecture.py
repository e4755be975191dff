"""The shape of the house: who imports whom, how large things are, and what must not be in it."""

import ast
import os
import re
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "lineage_pipeline"
MODULES = sorted(PACKAGE.rglob("*.py"))

HEAVY = ("sqlglot", "pyarrow", "pyspark", "dagster", "dbt")
PLACES = (r"/(?:root|home/\w+|Users/\w+)/", r"[A-Z]:\\Users\\")
INDEX = r"--(?:extra-)?index-url[= ]\s*\S+://|--find-links|\bindex-url\s*="


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [ROOT / name for name in listed.split("\0") if name]
    return [file for file in files if file.is_file() and file != Path(__file__)]


def texts() -> Iterator[tuple[str, str]]:
    for file in tracked():
        content = file.read_bytes()
        if b"\0" not in content:
            yield file.relative_to(ROOT).as_posix(), content.decode("utf-8", "replace")


def test_imports_go_downwards_only() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def name(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


def test_every_room_says_what_goes_in_and_what_comes_out() -> None:
    said = [ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "" for file in MODULES]
    assert [name(file) for file, words in zip(MODULES, said, strict=True) if not words] == []
    rooms = [words for file, words in zip(MODULES, said, strict=True) if file.name == "__init__.py"]
    assert len(set(rooms)) == len(rooms)


def test_nothing_tells_where_it_was_written() -> None:
    told = [
        f"{file}: {match[0]}"
        for file, text in texts()
        for match in re.finditer("|".join(PLACES), text)
        if not file.startswith("lineage_pipeline_tests/fixtures/")
    ]
    assert told == []


def test_nothing_tells_of_this_machine_or_its_package_index() -> None:
    secrets = {str(ROOT), str(Path.home()) + "/", socket.gethostname(), *index_hosts()}
    secrets = {secret for secret in secrets if len(secret) > 5 and secret != "localhost"}
    for file, text in texts():
        assert [secret for secret in secrets if secret in text] == [], file
        assert re.search(INDEX, text) is None, file


def index_hosts() -> set[str]:
    settings = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True).stdout
    settings += "\n".join(value for key, value in os.environ.items() if "INDEX" in key or "REGISTRY" in key)
    return set(re.findall(r"://(?:[^/@\s']*@)?([^/:\s']+)", settings))


def test_sqlglot_is_pinned_to_what_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (pin,) = [item for item in project["dependencies"] if item.startswith("sqlglot")]
    installed = metadata.version("sqlglot")
    assert pin == f"sqlglot[c]=={installed}"
    assert f"\nsqlglot=={installed} " in (ROOT / "requirements.lock").read_text(encoding="utf-8").replace("[c]", "")


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_a_quick_answer_imports_nothing_heavy(flag: str) -> None:
    script = (
        f"import sys; from lineage_pipeline.cli import main; main(['{flag}']); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    loaded = {module.partition(".")[0] for module in done.stderr.split()}
    assert loaded.isdisjoint(HEAVY), loaded & set(HEAVY)
