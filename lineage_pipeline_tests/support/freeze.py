"""The frozen results: hashes of everything that a change without new behavior must leave as it is.

`make freeze` writes them, `make frozen` compares. One line is one result: the IR and the tables of all cases of a
fixture file, and every table, export and report of the example warehouses.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
from typer.testing import CliRunner

from lineage_pipeline.cli.app import app
from lineage_pipeline.detail import AnalysisGraphs
from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.export import REPORTERS
from lineage_pipeline.export.formats.lineage_formats import FORMATS
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options
from lineage_pipeline.pipeline import analyze_files
from lineage_pipeline_tests.support.cases import case_inputs, case_repository, load_cases
from lineage_pipeline_tests.support.change_cases import load_change_cases
from lineage_pipeline_tests.support.paths import FIXTURES, ROOT, TESTS

FROZEN = TESTS / "frozen.txt"
EXAMPLES = ("retail", "marketing")
BINARY = ("xlsx", "duckdb", "parquet")
"""Formats whose bytes depend on the machine or the clock; the tables in them are hashed as JSON."""

Result = tuple[str, bytes]


def compute_results() -> Iterator[Result]:
    """All results, by name."""
    yield from _fixture_results()
    yield from _oracle_results()
    yield from _change_results()
    for example in EXAMPLES:
        yield from _example_results(example)


def _fixture_results() -> Iterator[Result]:
    for folder in ("link", "graph", "repository"):
        for case in load_cases(folder):
            files, given = case_repository(case) if folder == "repository" else case_inputs(case)
            found = analyze_files(files, given)
            yield (
                f"{folder}/{case.file.name} ir",
                b"".join(msgspec.msgpack.encode(one.script) for one in found.compiled),
            )
            yield from _tables(f"{folder}/{case.file.name}", found.lineage)
            graphs = AnalysisGraphs(found)
            drawn = [*graphs.statements(), graphs.whole()]
            yield f"{folder}/{case.file.name} graphs", msgspec.json.encode(drawn)


def _oracle_results() -> Iterator[Result]:
    for file in sorted((FIXTURES / "oracle").glob("*/*.sql")):
        options = Options(file.parent.name)
        found = analyze_files([InputFile(file.name, file.read_text(), options)])
        name = f"oracle/{file.parent.name}/{file.name}"
        yield f"{name} ir", b"".join(msgspec.msgpack.encode(one.script) for one in found.compiled)
        yield from _tables(name, found.lineage)


def _change_results() -> Iterator[Result]:
    for case in load_change_cases():
        yield from _tables(f"changes/{case.file}", case.head)
        yield f"changes/{case.file} changes", msgspec.json.encode(diff(case.base, case.head, case.policy))


def _tables(name: str, lineage: LineageTables) -> Iterator[Result]:
    for table in lineage.__struct_fields__:
        yield f"{name} {table}", msgspec.json.encode(getattr(lineage, table))


def _example_results(example: str) -> Iterator[Result]:
    folder = f"sql_assets/{example}"
    with tempfile.TemporaryDirectory() as made:
        for side in ("base", "head"):
            path, out = f"{folder}/{side}", Path(made) / f"{side}.out"
            yield f"{path} json", _run("scan", path, "--format", "json")
            yield f"{path} text", _run("scan", path)
            for name in FORMATS.keys() - {"text"}:  # `scan` above prints that
                target = out.with_suffix(f".{name}")
                printed = _run("export", name, path, "-o", str(target))
                yield f"{path} {name}", printed if name in BINARY else _content(target)
        for name in REPORTERS:
            sides = (f"{folder}/base", f"{folder}/head")
            yield f"{folder} diff {name}", _run("diff", *sides, "--format", name, "--today", "2026-01-01")


def _content(target: Path) -> bytes:
    """The bytes of a file, or of all files of a folder but the snapshot's, which holds the version of the engine."""
    files = (
        [target]
        if target.is_file()
        else sorted(path for path in target.rglob("*") if path.is_file() and path.stem != "snapshots")
    )
    assert files, target
    return b"".join(path.read_bytes() for path in files)


def _run(*arguments: str) -> bytes:
    result = CliRunner().invoke(app, list(arguments), env={"LINEAGE_CACHE": "false", "COLUMNS": "200"})
    assert result.exit_code == 0, (arguments, result.output, result.exception)
    return result.stdout_bytes


def gather_results() -> dict[str, bytes]:
    """The content of each result; those of the cases of one file are one."""
    parts: dict[str, list[bytes]] = {}
    for name, content in compute_results():
        parts.setdefault(name, []).append(content)
    return {name: b"\n".join(found) for name, found in sorted(parts.items())}


def main(command: str, folder: str = "") -> int:
    """Write the hashes, or say which results differ from them; `folder` gets the results themselves."""
    os.chdir(ROOT)
    results = gather_results()
    for name, content in results.items() if folder else ():
        path = Path(folder) / name.replace("/", "_").replace(" ", "_")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    now = {name: hashlib.sha256(content).hexdigest()[:16] for name, content in results.items()}
    if command == "write":
        FROZEN.write_text("".join(f"{value} {name}\n" for name, value in now.items()))
        print(f"{len(now)} results frozen")
        return 0
    before = {line[17:]: line[:16] for line in FROZEN.read_text().splitlines()}
    differing = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    print("\n".join(f"changed: {name}" for name in differing))
    print(f"{len(now)} results, {len(differing)} changed")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
