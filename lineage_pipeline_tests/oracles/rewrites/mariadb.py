"""MariaDB prints views from their trees: `SHOW CREATE VIEW`, and `mariadb-dump` of a database."""

import os
import pwd
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lineage_pipeline_tests.oracles.rewrites.queries import Corpus
from lineage_pipeline_tests.oracles.rewrites.rewriter import Dump, Rewritten

PROGRAMS = ("mariadbd", "mariadb-install-db", "mariadb", "mariadb-dump")
PLACES = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
MISSING = "no MariaDB server is installed (Debian: apt-get install mariadb-server)"
REQUIRED = "LINEAGE_REQUIRE_MARIADB"
START_SECONDS = 60
_AT_LINE = re.compile(r"^ERROR \d+ \(\w+\) at line (\d+):", re.MULTILINE)


def find_programs() -> dict[str, str] | None:
    """Where the programs of a server are, or None if one is missing."""
    found = {name: shutil.which(name, path=PLACES) for name in PROGRAMS}
    return {name: path for name, path in found.items() if path is not None} if all(found.values()) else None


@dataclass(frozen=True)
class Server:
    """A server that runs: where its programs are, and its socket."""

    programs: dict[str, str]
    socket: str

    def call(self, program: str, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """Run a client."""
        command = [self.programs[program], "--no-defaults", "-S", self.socket, "-u", "root", *arguments]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False)

    def run(self, database: str, statements: list[str]) -> set[int]:
        """Run statements, each on a line of its own; those that were refused, by their positions."""
        lines = [" ".join(statement.split()) + ";" for statement in statements]
        told = self.call("mariadb", "--force", database, text="\n".join(lines)).stderr
        return {int(line) - 1 for line in _AT_LINE.findall(told)}

    def query(self, statements: list[str], database: str = "") -> list[dict[str, str]]:
        """All rows of some queries."""
        text = "".join(f"{statement};\n" for statement in statements)
        told = self.call("mariadb", "--xml", "--force", *([database] if database else []), text=text).stdout
        tree = ElementTree.fromstring(f"<all>{re.sub(r'<.xml[^>]*>', '', told)}</all>")
        return [{field.get("name", ""): field.text or "" for field in row} for row in tree.iter("row")]


@contextmanager
def running() -> Iterator[Server]:
    """A server of its own for as long as the block runs, on a socket; skips the test where none is installed."""
    programs = find_programs()
    if programs is None:
        if os.environ.get(REQUIRED):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    home = tempfile.mkdtemp(prefix="lineage-mariadb-")
    rights = _servant_rights(home)
    places = [f"--datadir={home}/data", f"--socket={home}/socket", f"--pid-file={home}/pid"]
    try:
        _install(programs["mariadb-install-db"], home, rights)
        options = ["--no-defaults", *places, "--skip-networking", "--innodb-buffer-pool-size=16M"]
        options += ["--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0"]  # nothing there has to last
        with (Path(home) / "log").open("w") as log:
            process = subprocess.Popen([programs["mariadbd"], *options], cwd=home, stdout=log, stderr=log, **rights)
        try:
            server = Server(programs, f"{home}/socket")
            _wait(server, process, Path(home) / "log")
            yield server
        finally:
            process.terminate()
            process.wait(START_SECONDS)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _servant_rights(home: str) -> dict[str, Any]:
    """Whom the server runs as where the tests run as root, which it refuses."""
    if os.geteuid() != 0:
        return {}
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    servant = known.get("mysql") or known["nobody"]
    os.chown(home, servant.pw_uid, servant.pw_gid)
    return {"user": servant.pw_uid, "group": servant.pw_gid, "extra_groups": []}


def _install(program: str, home: str, rights: dict[str, Any]) -> None:
    options = [f"--datadir={home}/data", "--auth-root-authentication-method=normal", "--skip-test-db"]
    subprocess.run([program, "--no-defaults", *options], check=True, cwd=home, capture_output=True, **rights)


def _wait(server: Server, process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while server.call("mariadb", "-e", "select 1").returncode:
        assert process.poll() is None and time.monotonic() < end, log.read_text()[-2000:]
        time.sleep(0.1)


@contextmanager
def database(*corpora: Corpus) -> Iterator[Server]:
    """A server with a database `s` that has the tables of some queries."""
    with running() as server:
        server.call("mariadb", "-e", "create database s")
        tables = [(name, columns) for corpus in corpora for name, columns in corpus.tables.items()]
        refused = server.run("s", [f"create table {name} ({columns})" for name, columns in tables])
        assert not refused, [tables[at] for at in refused]
        yield server


def _create_views(server: Server, corpus: Corpus) -> dict[str, int]:
    refused = server.run("s", [f"create view v{at} as {query.sql}" for at, query in enumerate(corpus.queries)])
    return {f"v{at}": at for at, _ in enumerate(corpus.queries) if at not in refused}


def print_views(server: Server, corpus: Corpus) -> list[Rewritten]:
    """What `SHOW CREATE VIEW` prints of each query that MariaDB takes."""
    views = _create_views(server, corpus)
    rows = server.query([f"show create view {view}" for view in views], "s")
    server.run("s", [f"drop view {view}" for view in views])
    return [Rewritten(corpus.queries[views[row["View"]]], row["Create View"], row["View"]) for row in rows]


def dump_views(server: Server, corpus: Corpus) -> Dump:
    """What `mariadb-dump` prints of a database with all queries that MariaDB takes, and can run once it has them."""
    views = list(_create_views(server, corpus).items())
    broken = server.run("s", [f"show fields from {view}" for view, _ in views])
    server.run("s", [f"drop view {views[at][0]}" for at in broken])
    kept = {view: corpus.queries[number] for at, (view, number) in enumerate(views) if at not in broken}
    told = server.call("mariadb-dump", "--no-data", "s")
    assert not told.returncode, told.stderr
    server.run("s", [f"drop view {view}" for view in kept])
    return Dump(told.stdout, kept, "s")
