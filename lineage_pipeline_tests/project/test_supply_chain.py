"""Installed packages are those of the lock file, by hash; an audit that could not ask is a failure."""

import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lineage_pipeline_tests.support.paths import ROOT

PIN = re.compile(r"^([\w.\-]+)(?:\[[^\]]*\])?==([^\s;]+)(.*)", re.M)


def read_pins() -> dict[str, list[tuple[str, str]]]:
    """The versions of every package in the lock file, each with what follows it."""
    found: dict[str, list[tuple[str, str]]] = {}
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8").replace("\\\n", " ")
    for name, version, rest in PIN.findall(text):
        found.setdefault(canonicalize_name(name), []).append((version, rest))
    return found


def read_requirements() -> list[Requirement]:
    """What the project asks for, with all its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    return [item for item in map(Requirement, lines) if canonicalize_name(item.name) != project["name"]]


def test_every_pin_has_hashes() -> None:
    rows = [(name, version, rest) for name, found in read_pins().items() for version, rest in found]
    assert len(rows) > 100
    assert [name for name, _, rest in rows if "--hash=sha256:" not in rest] == []


@pytest.mark.parametrize("requirement", read_requirements(), ids=str)
def test_the_lock_file_has_what_the_project_asks_for(requirement: Requirement) -> None:
    found = read_pins().get(canonicalize_name(requirement.name), [])
    assert found, "run `make lock`"
    assert [version for version, _ in found if requirement.specifier.contains(version, prereleases=True)]


@pytest.mark.parametrize(
    ("code", "said", "begins"),
    [
        (0, "No known vulnerabilities found\n", "no pinned dependency"),
        (1, "ERROR:pip_audit._cli:agate: Dependency not found and could not be audited: agate (1)\n", "the list of"),
        (1, "Found 1 known vulnerability in 1 package\nflask 0.5 PYSEC-2018-66 0.12.3\n", "some dependency has"),
    ],
)
def test_an_audit_says_whether_it_could_ask(code: int, said: str, begins: str) -> None:
    sentence = runpy.run_path(str(ROOT / "scripts" / "audit.py"))["verdict"](code, said)
    assert sentence.startswith(begins)
    assert "\n" not in sentence


def test_setup_does_not_clear_a_linked_environment(tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "bin").mkdir(parents=True)
    (other / "kept").write_text("kept")
    clone = tmp_path / "clone"
    (clone / "scripts").mkdir(parents=True)
    for name in ("scripts/bootstrap.py", "requirements.lock", "pyproject.toml"):
        (clone / name).write_bytes((ROOT / name).read_bytes())
    (clone / ".venv").symlink_to(other)
    done = subprocess.run(
        [sys.executable, str(clone / "scripts" / "bootstrap.py")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (
        1,
        f"setup: .venv is a link to {other.resolve()}: run setup there, or remove the link\n",
    )
    assert (other / "kept").read_text() == "kept"
