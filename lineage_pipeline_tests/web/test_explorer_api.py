"""The explorer's API: it follows its OpenAPI document, survives rebuilt marts, and stands load."""

import contextlib
import http.client
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, cycle, islice, repeat
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings

from lineage_pipeline_tests.support.dbt_builds import run_dbt
from lineage_pipeline_tests.support.mart_warehouses import publish_shop_history

pytestmark = pytest.mark.pipeline


@pytest.fixture(scope="module")
def marts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("api")
    return run_dbt(folder, publish_shop_history(folder), command="run").marts


@pytest.fixture
def application(marts: Path) -> Iterator[Any]:
    from lineage_pipeline.web.app import create_app

    made = create_app(marts, hosts=["testserver"])
    yield made
    made.state.marts.close()


def test_every_path_answers_as_its_document_says(application: Any) -> None:
    schemathesis = pytest.importorskip("schemathesis")

    document = schemathesis.openapi.from_asgi("/api/openapi.json", application)
    operations = [found.ok() for found in document.get_all_operations()]
    assert len(operations) >= 8
    for operation in operations:
        _ask_all(operation.as_strategy())
        _ask_all(operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE))


def _ask_all(cases: Any) -> None:
    @settings(max_examples=15, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=cases)
    def holds(case: Any) -> None:
        case.call_and_validate()

    holds()


def test_rebuilt_marts_are_served_without_a_pause(marts: Path, tmp_path: Path) -> None:
    from lineage_pipeline.web.marts import Marts

    file = tmp_path / "live.duckdb"
    shutil.copy(marts, file)
    live, done = Marts(file), threading.Event()

    def ask() -> None:
        while not done.is_set():
            assert live.ask("select count(*) as n from marts.snapshots") == [{"n": 4}]

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(ask) for _ in range(4)]
        for number in range(10):
            shutil.copy(marts, tmp_path / f"{number}.duckdb")
            (tmp_path / f"{number}.duckdb").replace(file)
            time.sleep(0.05)
        done.set()
        for reader in readers:
            reader.result(30)
    live.close()
    assert live.asked >= len(readers)


def test_the_explorer_is_there_at_once(marts: Path, record_property: Any) -> None:
    command = [sys.executable, "-m", "lineage_pipeline.cli", "serve", str(marts), "--port", "0"]
    started = time.monotonic()
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        address = server.stderr.readline().split()[1]
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert answer.status == 200
    finally:
        server.terminate()
        server.communicate(timeout=30)
    record_property("figure", f"explorer: the first page after {time.monotonic() - started:.1f} s")


def test_deleted_marts_are_one_error_message(tmp_path: Path) -> None:
    from starlette.testclient import TestClient

    from lineage_pipeline.web.app import create_app

    built = run_dbt(tmp_path, publish_shop_history(tmp_path), command="run")
    shutil.rmtree(tmp_path / "warehouse")
    application = create_app(built.marts)
    with TestClient(application, "http://localhost") as client:
        assert client.get("/object", params={"object": "core"}).status_code == 200
        assert "files of the warehouse are gone" in client.get("/search", params={"q": "core"}).text
    application.state.marts.close()


# ── under load, on loopback: many at once, some who never finish, some who ask for far too much ──────────────────────

PATHS = (
    *("/", "/search?q=cor", "/search?q=coer", "/explore?object=core", "/explore?object=core&as=table"),
    *("/object?object=core", "/changes", "/dashboards/blast-radius", "/health", "/static/page.js"),
    *("/api/snapshots", "/api/search?q=core", "/api/neighbourhood?object=core", "/api/object?object=core"),
)
MANY = 8
ROUNDS = 2
MOST_GROWTH = 40_000_000
"""Bytes that the server may grow by once every page was shown: allocators keep some, a leak would keep more."""

PATIENCE = 10.0
"""Seconds in which an ordinary page must come while others misbehave, on a busy machine."""


class ServerProcess(NamedTuple):
    """The explorer as `lineage serve` starts it."""

    address: str
    port: int
    process: subprocess.Popen[str]

    def memory(self) -> int:
        """Give the bytes that it holds."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))

    def get(self, path: str) -> int:
        """Give the status of an answer, read to its end."""
        try:
            with urllib.request.urlopen(self.address + path, timeout=60) as answer:
                answer.read()
                return int(answer.status)
        except urllib.error.HTTPError as refusal:
            return refusal.code

    def get_all(self, paths: Sequence[str]) -> list[int]:
        """Give the statuses of answers over one connection, each read to its end."""
        connection, found = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120), []
        with contextlib.closing(connection):
            for path in paths:
                connection.request("GET", path)
                answer = connection.getresponse()
                answer.read()
                found.append(answer.status)
        return found


@pytest.fixture(scope="module")
def server(marts: Path) -> Iterator[ServerProcess]:
    command = [sys.executable, "-m", "lineage_pipeline.cli", "serve", str(marts), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        address = process.stderr.readline().split()[1].rstrip("/")
        yield ServerProcess(address, int(address.rpartition(":")[2]), process)
    finally:
        process.terminate()
        _, said = process.communicate(timeout=30)
    assert "Traceback" not in said, said


def test_many_concurrent_requests_are_answered_in_bounded_memory(server: ServerProcess, record_property: Any) -> None:
    with ThreadPoolExecutor(MANY) as pool:
        assert set(pool.map(server.get, PATHS * 2)) == {200}
        before, started, asked = server.memory(), time.monotonic(), list(PATHS) * MANY * ROUNDS
        assert set(pool.map(server.get, asked)) == {200}
    taken, growth = time.monotonic() - started, server.memory() - before
    record_property("figure", f"explorer under load: {len(asked) / taken:.0f} answers a second, {growth / 1e6:+.1f} MB")
    assert growth < MOST_GROWTH


def test_clients_that_never_finish_block_nobody(server: ServerProcess) -> None:
    unfinished, unread = (
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        b"GET /static/page.js HTTP/1.1\r\nHost: localhost\r\n\r\n",
    )
    idle = [socket.create_connection(("127.0.0.1", server.port), 10) for _ in range(60)]
    try:
        for number, client in enumerate(idle):
            if number % 3 == 2:  # asks for much, again and again, and reads nothing of it
                client.setblocking(False)
                for request in islice(repeat(unread), 200):
                    try:
                        client.send(request)
                    except BlockingIOError:
                        break
            elif number % 3 == 1:
                client.sendall(unfinished)
        for path in PATHS:
            started = time.monotonic()
            assert server.get(path) == 200
            assert time.monotonic() - started < PATIENCE, path
    finally:
        for client in idle:
            client.close()


@pytest.mark.soak
def test_thousands_of_requests_beside_slow_clients_are_all_answered(
    server: ServerProcess, record_property: Any
) -> None:
    """Each of a hundred connections asks for page after page; sixty others never finish a question."""
    with ThreadPoolExecutor(LOADED) as pool:
        assert _collect_statuses(pool, server, 500) == {200}
        before, started = server.memory(), time.monotonic()
        idle = [socket.create_connection(("127.0.0.1", server.port), 10) for _ in range(60)]
        for client in idle[::2]:
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        try:
            assert _collect_statuses(pool, server, 4_000) == {200}
        finally:
            for client in idle:
                client.close()
    taken, growth = time.monotonic() - started, server.memory() - before
    record_property("figure", f"explorer, 4,000 requests: {4_000 / taken:.0f} answers a second, {growth / 1e6:+.1f} MB")
    assert growth < MOST_GROWTH


LOADED = 100


def _collect_statuses(pool: ThreadPoolExecutor, server: ServerProcess, count: int) -> set[int]:
    """Give the statuses of so many answers, each connection with pages of its own order."""
    orders = [list(islice(cycle(PATHS), start, start + count // LOADED)) for start in range(LOADED)]
    return set(chain.from_iterable(pool.map(server.get_all, orders)))


@pytest.mark.parametrize(
    ("path", "statuses"),
    [
        ("/search?q=" + "a" * 1_000_000, (400, 414, 431)),
        ("/api/search?q=" + "+".join(["a"] * 12_000), (200,)),
        ("/api/search?q=core&limit=100000000", (400, 422)),
        ("/api/neighbourhood?object=core&up=1000000", (400, 422)),
        ("/explore?object=core&up=99999999999999999999", (200, 400, 422)),
        ("/explore?object=core&" + "&".join(["open=core"] * 3_000), (200,)),
    ],
    ids=["a million letters", "thousands of words", "all rows", "all steps", "a huge number", "thousands opened"],
)
def test_an_oversized_request_is_answered_and_blocks_no_other(
    path: str, statuses: tuple[int, ...], server: ServerProcess
) -> None:
    with ThreadPoolExecutor(MANY) as pool:
        greedy = [pool.submit(_request_status, server, path) for _ in range(3)]
        started = time.monotonic()
        assert server.get("/api/neighbourhood?object=core") == 200
        assert time.monotonic() - started < PATIENCE
        assert {one.result(60) for one in greedy} <= set(statuses)


def _request_status(server: ServerProcess, path: str) -> int:
    """Ask with a head that may be refused before it is sent whole."""
    with socket.create_connection(("127.0.0.1", server.port), 30) as client:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = client.recv(64)
    return int(answer.split()[1])


def test_a_head_without_an_end_is_refused(server: ServerProcess) -> None:
    before = server.memory()
    with socket.create_connection(("127.0.0.1", server.port), 30) as client:
        client.sendall(b"GET / HTTP/1.1\r\n")
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            for _ in range(2_000):
                client.sendall(b"X-More: " + b"a" * 50_000 + b"\r\n")
    assert server.memory() - before < MOST_GROWTH
