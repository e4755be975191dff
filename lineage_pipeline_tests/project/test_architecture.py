"""The shape of the code base: who imports whom, and what must not be in it."""

import ast
import os
import re
import socket
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from lineage_pipeline_tests.support.paths import ROOT

PACKAGE = ROOT / "lineage_pipeline"
MODULES = sorted(PACKAGE.rglob("*.py"))

HEAVY = ("sqlglot", "pyarrow", "pyspark", "dagster", "dbt")
PLACES = (r"/(?:root|home/\w+|Users/\w+)/", r"[A-Z]:\\Users\\")
INDEX = r"--(?:extra-)?index-url[= ]\s*\S+://|--find-links|\bindex-url\s*="


def tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [ROOT / name for name in listed.split("\0") if name]
    return [file for file in files if file.is_file() and file != Path(__file__)]


def iter_texts() -> Iterator[tuple[str, str]]:
    for file in tracked_files():
        content = file.read_bytes()
        if b"\0" not in content:
            yield file.relative_to(ROOT).as_posix(), content.decode("utf-8", "replace")


def test_import_contracts_hold() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


ROWS = (
    "cli/verbs", "dialects", "dialects/types", "discover/embedded_sql", "discover/schemas", "engine/diff/rules",
    "engine/compile/statements", "export/answers", "export/formats", "export/reports",
)  # fmt: skip
"""Packages of rows: one module a verb, dialect, reader, rule, statement or format, however small."""

SMALL_APART = {
    "cli/command_tree.py": "the tree of commands has nothing to do with the shells that complete them",
    "cli/statement_flows.py": "the rows of a flow are no part of reading arguments",
    "config/file_manifest.py": "a manifest of files is a format of its own",
    "engine/compile/relations/match_recognize.py": "a clause with a grammar of its own",
    "spark/tag_propagation.py": "the counterpart of engine/trace/tags.py",
}
"""Small modules with one importer that stand apart all the same, and why."""

SAME_IDEA = {
    "Scope": "of a name in a query, and of a rule",
    "Source": "of a relation, and a row of the table `sources`",
}
"""Class names that are used twice: each is the established word of two fields."""

ENDINGS = "s es ed d ing er ers ion ions ation ations ment ments al ly".split()
CROWDED = 26


def test_no_two_modules_of_a_package_differ_by_an_ending() -> None:
    stems: dict[tuple[Path, str], list[str]] = {}
    for file in MODULES:
        stems.setdefault((file.parent, _stem(file.stem)), []).append(file.name)
    assert [names for names in stems.values() if len(names) > 1] == []


def _stem(word: str) -> str:
    for ending in sorted(ENDINGS, key=len, reverse=True):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending).rstrip("e")
    return word.rstrip("e")


def test_a_small_module_has_more_than_one_importer() -> None:
    importers = _importers()
    found = {
        module_name(file)
        for file in MODULES
        if file.name != "__init__.py"
        and len(file.read_text(encoding="utf-8").splitlines()) < 80
        and len(importers.get(_module(file), ())) == 1
        and module_name(file.parent) not in ROWS
    }
    assert found == set(SMALL_APART)


def _module(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _importers() -> dict[str, set[str]]:
    known = {_module(file) for file in MODULES}
    found: dict[str, set[str]] = {}
    for file in MODULES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    found.setdefault(full if full in known else node.module, set()).add(_module(file))
    return found


def test_no_folder_is_crowded() -> None:
    folders = Counter(module_name(file.parent) for file in MODULES if file.name != "__init__.py")
    assert {folder for folder, count in folders.items() if count > CROWDED and folder not in ROWS} == set()


def test_a_class_name_means_one_thing() -> None:
    classes: dict[str, set[str]] = {}
    for file in MODULES:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes.setdefault(node.name, set()).add(module_name(file))
    assert {one for one, files in classes.items() if len(files) > 1} == set(SAME_IDEA)


def module_name(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


def test_every_module_has_a_docstring_and_packages_have_distinct_ones() -> None:
    said = [ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "" for file in MODULES]
    assert [module_name(file) for file, words in zip(MODULES, said, strict=True) if not words] == []
    rooms = [words for file, words in zip(MODULES, said, strict=True) if file.name == "__init__.py"]
    assert len(set(rooms)) == len(rooms)


def test_no_file_names_its_development_environment() -> None:
    told = [
        f"{file}: {match[0]}"
        for file, text in iter_texts()
        for match in re.finditer("|".join(PLACES), text)
        if not file.startswith("lineage_pipeline_tests/fixtures/")
    ]
    assert told == []


def test_no_file_names_this_machine_or_its_package_index() -> None:
    secrets = {str(ROOT), str(Path.home()) + "/", socket.gethostname(), *index_hosts()}
    secrets = {secret for secret in secrets if len(secret) > 5 and secret != "localhost"}
    for file, text in iter_texts():
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
def test_version_and_help_import_no_heavy_package(flag: str) -> None:
    script = (
        f"import sys; from lineage_pipeline.cli import main; main(['{flag}']); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    loaded = {module.partition(".")[0] for module in done.stderr.split()}
    assert loaded.isdisjoint(HEAVY), loaded & set(HEAVY)
