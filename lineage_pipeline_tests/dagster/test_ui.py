"""The Dagster UI in a real browser: the whole graph from files to marts, with materializations and no errors."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from lineage_pipeline.cli.verbs.ui import end_group
from lineage_pipeline_tests.support.example_run import run_example

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync"
)
GROUPS = "discovery parsing object_graph schema_registry column_graph diff export staging marts".split()
ASSETS = "sql_files statements objects columns column_edges changes change_report column_lineage".split()

# The materialised example is shared with the Spark tests, so this one runs in their process.
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(
        CHROMIUM is None and not os.environ.get("LINEAGE_REQUIRE_BROWSER"), reason="Chromium is not installed"
    ),
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The UI of the example, started as `lineage ui` starts it and ended with all its children."""
    made = run_example()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "lineage_pipeline.cli", "ui", "--port", str(port)]
    server = subprocess.Popen(command, cwd=made.settings.root, start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        await_answer(f"http://127.0.0.1:{port}/server_info", time.monotonic() + 120)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(60)
        finally:
            left = find_processes(made.settings.home / "dagster")
            end_group(server)
        assert left == [], "it leaves no process behind"


def find_processes(home: Path) -> list[str]:
    """List the processes that were started for a Dagster instance."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"DAGSTER_HOME={home}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:  # it has ended meanwhile, or is somebody else's
            continue
    return found


def await_answer(url: str, deadline: float) -> None:
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            assert time.monotonic() < deadline, f"{url} does not answer"
            time.sleep(0.5)


def test_the_ui_shows_the_graph_from_files_to_marts(address: str) -> None:
    from playwright.sync_api import sync_playwright

    expanded = "%2C".join(f"global%40global%3A{group}" for group in GROUPS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        page = browser.new_page(viewport={"width": 1700, "height": 2300})
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{address}/asset-groups?expanded={expanded}")
        page.get_by_text("Global asset lineage").first.wait_for(timeout=60_000)
        for group in GROUPS:
            page.get_by_text(group, exact=True).first.wait_for(timeout=30_000)
        page.goto(f"{address}/assets/lineage/column_edges?view=checks")
        page.get_by_text("key_is_unique", exact=False).first.wait_for(timeout=60_000)
        browser.close()
    assert errors == []


def test_the_ui_shows_what_broke_and_the_partition_in_which(address: str) -> None:
    table, partition = findings_and_partition(address, run_example().snapshots[1])
    assert "breaking" in table
    assert re.search(r"\b(COL|OBJ|TYP|EXP|ROW)\d{3} ", table), "the rule that found it"
    assert re.search(r"\.sql:\d+", table), "the place"
    assert "Materialized" in partition


def findings_and_partition(address: str, snapshot: str) -> tuple[str, str]:
    """Open the failed check, read its table of findings, then read the page of the partition."""
    from playwright.sync_api import sync_playwright

    changes = f"{address}/assets/lineage/changes"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        page = browser.new_page(viewport={"width": 1500, "height": 950})
        page.set_default_timeout(60_000)
        page.goto(f"{changes}?view=checks&checkDetail=no_breaking_changes")
        page.get_by_text("Failed", exact=True).first.wait_for()
        page.get_by_text("[Show Markdown]").first.click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_text("affected").first.wait_for()
        table = dialog.inner_text()
        page.goto(f"{changes}?view=partitions&partition={quote(snapshot)}")
        page.get_by_text("Latest materialization").first.wait_for()
        partition = page.locator("body").inner_text()
        browser.close()
    assert snapshot in partition
    return table, partition


def test_every_asset_is_materialised(address: str) -> None:
    query = "{ assetNodes { assetKey { path } assetMaterializations(limit: 1) { timestamp } } }"
    body = json.dumps({"query": query}).encode()
    request = urllib.request.Request(f"{address}/graphql", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        nodes = json.load(answer)["data"]["assetNodes"]
    made = {node["assetKey"]["path"][-1] for node in nodes if node["assetMaterializations"]}
    assert set(ASSETS) <= made
    asked_for = [node["assetKey"]["path"] for node in nodes if node["assetKey"]["path"][0] != "operations"]
    assert {path[-1] for path in asked_for} == made
