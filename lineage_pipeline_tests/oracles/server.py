"""A PostgreSQL server of the tests' own: a folder of its own, a Unix socket in it, nobody else's rights."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PLACES = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt")
OPTIONS = "-c listen_addresses='' -c fsync=off -c max_connections=10 -c shared_buffers=16MB -c timezone=UTC -k {}"


MISSING = "no PostgreSQL server is installed (Debian: apt-get install postgresql)"


def binaries() -> Path | None:
    """The folder of the newest server that is installed, or None."""
    found = [path.parent for place in PLACES for path in Path(place).glob("*/bin/initdb")]
    if found:
        return max(found, key=lambda path: [int(part) for part in path.parent.name.split(".") if part.isdigit()])
    initdb = shutil.which("initdb")
    return Path(initdb).parent if initdb is not None else None


def installed() -> Path:
    """The folder of a server for a test that needs one: without it the test is skipped, or fails where one must be."""
    found = binaries()
    if found is None and os.environ.get("LINEAGE_REQUIRE_POSTGRES"):
        pytest.fail(MISSING)
    return found or pytest.skip(MISSING)


def _servant() -> pwd.struct_passwd | None:
    """Whom the server runs as where the tests run as root, which it refuses."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    return known.get("postgres") or known["nobody"]


@contextmanager
def running(programs: Path) -> Iterator[str]:
    """A server for as long as the block runs: the folder of its socket."""
    home = tempfile.mkdtemp(prefix="lineage-postgres-")
    servant = _servant()
    rights: dict[str, Any] = {}
    if servant is not None:
        os.chown(home, servant.pw_uid, servant.pw_gid)
        rights = {"user": servant.pw_uid, "group": servant.pw_gid, "extra_groups": []}

    def call(*command: str) -> None:
        program, *arguments = command
        subprocess.run(
            [str(programs / program), "-D", f"{home}/data", *arguments],
            check=True,
            cwd=home,
            stdout=subprocess.DEVNULL,
            **rights,
        )

    try:
        call("initdb", "-U", "lineage", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        call("pg_ctl", "-w", "-l", f"{home}/log", "-o", OPTIONS.format(home), "start")
        try:
            yield home
        finally:
            call("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)
