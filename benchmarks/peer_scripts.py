"""What a peer is asked, in an environment of its own: `python -P peer_scripts.py PEER FOLDER DIALECT` prints JSON.

Nothing of ours is imported here, and the time of importing the peer does not count.
"""

import contextlib
import importlib
import io
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Ask = Callable[[str], object]
"""Ask for the lineage of one text."""

SQLLINEAGE = {"spark": "sparksql", "": "ansi"}
INFOTRACKER = {"tsql": "mssql"}
PLATFORMS = {"tsql": "mssql", "spark": "databricks", "": "postgres"}
"""What a peer calls a dialect, where it is not the name that we use."""


def texts(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.sql")):
        yield path.read_text(encoding="utf-8", errors="replace")


def ask_sqlglot(dialect: str) -> Ask:
    """Give every output of every query in one pass, as `lineage` does without a column's name."""
    sqlglot, lineage = importlib.import_module("sqlglot"), importlib.import_module("sqlglot.lineage").lineage

    def ask(text: str) -> object:
        parsed = sqlglot.parse(text, read=dialect or None)
        queries = (one.expression if isinstance(one, sqlglot.exp.DDL) else one for one in parsed if one)
        wanted = [query for query in queries if isinstance(query, sqlglot.exp.Query)]
        return [lineage(None, query, None, dialect=dialect or None, trim_selects=False) for query in wanted]

    return ask


def ask_sqllineage(dialect: str) -> Ask:
    runner = importlib.import_module("sqllineage.runner").LineageRunner
    return lambda text: runner(text, dialect=SQLLINEAGE.get(dialect, dialect)).get_column_lineage()


def ask_polyglot(dialect: str) -> Ask:
    analyze = importlib.import_module("polyglot_sql").analyze_query
    return lambda text: analyze(text.strip().rstrip(";"), dialect=dialect or "generic")


def ask_datahub(dialect: str) -> Ask:
    lineage = importlib.import_module("datahub.sql_parsing.sqlglot_lineage").sqlglot_lineage
    resolver = importlib.import_module("datahub.sql_parsing.schema_resolver").SchemaResolver
    schemas = resolver(platform=PLATFORMS.get(dialect, dialect), env="PROD")

    def ask(text: str) -> object:
        found = lineage(text, schema_resolver=schemas)
        if found.debug_info.error:
            raise ValueError(found.debug_info.error)
        return found

    return ask


ASKED: dict[str, Callable[[str], Ask]] = {
    "sqlglot": ask_sqlglot,
    "sqllineage": ask_sqllineage,
    "polyglot-sql": ask_polyglot,
    "acryl-datahub": ask_datahub,
}
"""Peers that are asked text by text."""


def glide(folder: Path, dialect: str, out: str) -> list[str]:
    options = ["-r", "--dialect", dialect or "spark", "-o", f"{out}/graph.json"]
    return ["sqlglider", "graph", "build", str(folder), *options]


def track(folder: Path, dialect: str, out: str) -> list[str]:
    adapter = INFOTRACKER.get(dialect, dialect)
    return ["infotracker", "extract", "--sql-dir", str(folder), "--out-dir", out, "--adapter", adapter]


COMMANDS: dict[str, Callable[[Path, str, str], list[str]]] = {"sql-glider": glide, "infotracker": track}
"""Peers that are programs; their start counts, as it does for whoever calls them."""


def measure_asking(peer: str, folder: Path, dialect: str) -> dict[str, Any]:
    ask, failed = ASKED[peer](dialect), 0
    with contextlib.suppress(Exception):
        ask("select 1 as a")  # what is loaded on first use is no part of the work
    asked = list(texts(folder))
    begun = time.process_time()
    for text in asked:
        try:
            ask(text)
        except (Exception, RecursionError, SystemExit):  # noqa: BLE001 (a stranger may raise anything)
            failed += 1
    return {"seconds": time.process_time() - begun, "failed": failed}


def measure_command(peer: str, folder: Path, dialect: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as out:
        command = COMMANDS[peer](folder, dialect, out)
        before = os.times()
        done = subprocess.run(
            [Path(sys.executable).with_name(command[0]), *command[1:]], cwd=out, capture_output=True, check=False
        )
        after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return {"seconds": spent, "failed": 0 if done.returncode == 0 else 1}


def main(peer: str, folder: str, dialect: str) -> None:
    logging.disable(logging.CRITICAL)
    measure = measure_asking if peer in ASKED else measure_command
    with contextlib.redirect_stderr(io.StringIO()):
        result = measure(peer, Path(folder), dialect)
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
