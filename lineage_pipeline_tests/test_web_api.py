"""The explorer's API against its own OpenAPI document, and the marts that are built anew while it is open."""

import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from lineage_pipeline_tests.test_dbt import build
from lineage_pipeline_tests.test_marts import warehouse_of

pytestmark = pytest.mark.pipeline


@pytest.fixture(scope="module")
def marts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("api")
    return build(folder, warehouse_of(folder), command="run").marts


@pytest.fixture
def application(marts: Path) -> Iterator[Any]:
    from lineage_pipeline.web.app import create_app

    made = create_app(marts)
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


def test_marts_that_are_built_anew_are_asked_without_a_pause(marts: Path, tmp_path: Path) -> None:
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


def test_files_that_somebody_took_away_are_one_sentence(tmp_path: Path) -> None:
    from starlette.testclient import TestClient

    from lineage_pipeline.web.app import create_app

    built = build(tmp_path, warehouse_of(tmp_path), command="run")
    shutil.rmtree(tmp_path / "warehouse")
    application = create_app(built.marts)
    with TestClient(application) as client:
        assert client.get("/object", params={"object": "core"}).status_code == 200
        assert "files of the warehouse are gone" in client.get("/search", params={"q": "core"}).text
    application.state.marts.close()
