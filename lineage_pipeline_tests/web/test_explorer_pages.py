"""The explorer over real marts: pages, the API, and hostile names."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from lineage_pipeline.model.enums import ObjectKind, Severity
from lineage_pipeline.model.tables import Change, Column, ColumnEdge, ObjectEdge, ObjectRow, Source, SqlFile
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline_tests.export.test_hostile_names import ALL_HOSTILE_NAMES
from lineage_pipeline_tests.support.dbt_builds import make_row, publish_tables, run_dbt
from lineage_pipeline_tests.support.mart_warehouses import make_revision, make_snapshot_rows

NASTY = "<img src=x onerror=document.title='owned'>"
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.pipeline


def make_hostile_revision(columns: str, fingerprint: str) -> dict[str, list[Any]]:
    """A revision with an object and columns whose names are HTML."""
    tables = make_revision(columns, fingerprint)
    feed = {"from_object": "core", "from_column": "id", "to_object": NASTY, "to_column": NASTY}
    tables["objects"].append(make_row(ObjectRow, object=NASTY, name=NASTY, kind=ObjectKind.VIEW, path="a.sql", line=1))
    tables["columns"].append(make_row(Column, object=NASTY, ordinal=1, name=NASTY, type=NASTY, tags=(NASTY,)))
    tables["object_edges"].append(make_row(ObjectEdge, from_object="core", to_object=NASTY))
    tables["column_edges"].append(make_row(ColumnEdge, path="a.sql", expression=NASTY, **feed))
    tables["sql_files"] = [make_row(SqlFile, path="a.sql", dialect="duckdb", source_hash="s")]
    text = f"create view core as\nselect '{NASTY}' as id\n"
    tables["sources"] = [make_row(Source, source_hash="s", text=text, rendered=text)]
    return tables


@pytest.fixture(scope="module")
def marts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("web")
    warehouse = Warehouse(folder / "warehouse")
    publish_tables(warehouse, "shop@3", snapshots=make_snapshot_rows(3, None), **make_hostile_revision("id hash", "f1"))
    publish_tables(warehouse, "shop@4", snapshots=make_snapshot_rows(4, 3), **make_hostile_revision("id name", "f2"))
    diff = warehouse.begin(("shop@3", "shop@4"), "r1")
    change = make_row(
        Change, id="1", rule="COL001", object="core", column="hash", effective=Severity.BREAKING, root=True
    )
    other = make_row(Change, id="2", rule="EXP001", object=NASTY, before=NASTY, effective=Severity.INFO, root=True)
    diff.write("changes", [change, other])
    diff.write("waivers", [])
    diff.publish()
    built = run_dbt(folder, warehouse)
    assert (built.failed, built.message) == (set(), "None")
    return built.marts


@pytest.fixture
def client(marts: Path) -> Iterator[Any]:
    from starlette.testclient import TestClient

    from lineage_pipeline.web.app import create_app

    application = create_app(marts)
    with TestClient(application, "http://localhost") as made:
        yield made
    application.state.marts.close()


PAGES = {
    "/": ("raw", 3),
    "/search?q=cor": ("core.<wbr>name", 3),
    "/search?q=coer": ("core", 4),
    "/search?q=zzz": ("Nothing in this snapshot is called so", 4),
    "/explore?object=core": ("application/json", 5),
    "/explore?object=core&as=table": ("raw.<wbr>id", 5),
    "/explore?object=core&against=shop@3": ('"removed"', 9),
    "/object?object=core": ("web, shop", 9),
    "/file?path=a.sql": ("create view core as", 6),
    "/statement?path=a.sql": ("application/json", 6),
    f"/sql?object={quote(NASTY)}&base=shop@3": ("create view core as", 5),
    "/changes": ("COL001", 3),
    "/dashboards": ("Blast radius", 2),
    "/dashboards/blast-radius": ("raw", 3),
    "/health": ("Everything in this snapshot was understood", 4),
}
"""What a page shows, and at most how many queries it takes."""


@pytest.mark.parametrize("address", PAGES)
def test_a_page_shows(address: str, client: Any) -> None:
    text, most = PAGES[address]
    before = client.app.state.marts.asked
    answer = client.get(address)
    assert (answer.status_code, text in answer.text) == (200, True), answer.text
    assert client.app.state.marts.asked - before <= most


def test_every_dashboard_is_shown(client: Any) -> None:
    from lineage_pipeline.web.dashboards import DASHBOARDS

    for name, board in DASHBOARDS.items():
        answer = client.get(f"/dashboards/{name}", params={"snapshot": "shop@4"})
        assert answer.status_code == 200
        assert board.title in answer.text


@pytest.mark.parametrize("address", [*PAGES, "/search?q=img", "/dashboards/personal-data", "/dashboards/stale"])
def test_no_name_becomes_part_of_a_page(address: str, client: Any) -> None:
    assert "<img" not in client.get(address).text


def test_the_page_of_a_nasty_object_is_harmless(client: Any) -> None:
    for path in ("/object", "/explore"):
        text = client.get(path, params={"object": NASTY}).text
        assert "<img" not in text
    assert "&lt;img src=x" in client.get("/object", params={"object": NASTY}).text


def test_no_query_parameter_changes_anything(client: Any) -> None:
    def shown() -> str:
        return str(client.get("/api/snapshots").json())

    before, statuses = shown(), set()
    for name in ALL_HOSTILE_NAMES:
        for path, asked in (("/search", "q"), ("/object", "object"), ("/explore", "object"), ("/api/search", "q")):
            answer = client.get(path, params={asked: name, "snapshot": "shop@4"})
            statuses.add(answer.status_code)
            if path != "/api/search":  # which is JSON
                assert not re.search(r"<img|<script>alert|onmouseover=\"|<h1>x|</?marquee", answer.text), (path, name)
        statuses.add(client.get("/search", params={"q": "core", "snapshot": name}).status_code)
    assert statuses <= {200, 404, 422}
    assert shown() == before


def test_the_sql_of_an_object_is_shown(client: Any) -> None:
    text = client.get("/object", params={"object": NASTY}).text
    assert re.search(r'<li class="here" id="definition">.*create view core as', text)


def test_every_answer_has_its_headers(client: Any) -> None:
    for path in ("/", "/nope", "/api/snapshots", "/static/app.js"):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy


def test_the_table_comes_as_csv_without_formulas(client: Any) -> None:
    answer = client.get("/explore", params={"object": "core", "as": "csv"})
    assert answer.headers["content-type"].startswith("text/csv")
    assert "raw,id,core,id,DIRECT,IDENTITY" in answer.text


def test_wrong_requests_get_an_error_message(client: Any) -> None:
    asked = {
        "/explore?object=nothing": (404, "there is no object nothing"),
        "/explore?object=core&up=9": (422, "up must be a number from 0 to 5"),
        "/?snapshot=x": (200, "raw"),
        "/search?q=x&snapshot=nowhere": (404, "there is no such snapshot"),
        "/dashboards/nothing": (404, "there is no such dashboard"),
        "/static/..%2fapp.py": (404, "there is no such"),
        "/api/object?object=zzz": (404, "there is no such object"),
        "/api/search": (422, "q is needed"),
        "/api/snapshots?limit=0": (422, "limit must be a number from 1 to 1000"),
        "/api/search?q=a%00b": (422, "zero character"),
    }
    answers = {path: client.get(path) for path in asked}
    assert {path: answer.status_code for path, answer in answers.items()} == {path: asked[path][0] for path in asked}
    assert all(asked[path][1] in answer.text for path, answer in answers.items())


def test_the_api_answers_with_pages_and_tags(client: Any) -> None:
    first = client.get("/api/snapshots", params={"limit": 1}).json()
    assert ([row["commit"] for row in first["items"]], first["total"], first["next_offset"]) == (["4"], 2, 1)
    found = client.get("/api/search", params={"q": "core", "limit": 2})
    assert [row["label"] for row in found.json()["items"]] == ["core", "core.id"]
    again = client.get(
        "/api/search", params={"q": "core", "limit": 2}, headers={"If-None-Match": found.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
    around = client.get("/api/neighbourhood", params={"object": "core"}).json()
    assert {box["name"] for box in around["boxes"]} == {"raw", "core", NASTY}
    assert len(around["arrows"]) == 2


def test_the_api_is_what_its_document_says(client: Any) -> None:
    document = client.get("/api/openapi.json").json()
    given = {"q": "core", "object": "core", "base": "shop@3", "head": "shop@4"}
    for path, described in document["paths"].items():
        needed = {one["name"]: given[one["name"]] for one in described["get"]["parameters"] if one["required"]}
        assert client.get(path, params=needed).status_code == 200, path
        for missing in needed:
            less = {name: value for name, value in needed.items() if name != missing}
            assert client.get(path, params=less).status_code == 422, path
        for one in described["get"]["parameters"]:
            if one["schema"]["type"] == "integer":
                for wrong in ("x", "-1", str(one["schema"]["maximum"] + 1), "9" * 40):
                    assert client.get(path, params=needed | {one["name"]: wrong}).status_code == 422, (path, wrong)


@pytest.mark.parametrize("token", ["open sesame", "Sesam öffne dich ☃; x=y"])
def test_a_token_is_needed_where_there_is_one(token: str, marts: Path) -> None:
    from starlette.testclient import TestClient

    from lineage_pipeline.web.app import create_app

    with TestClient(create_app(marts, token), "http://localhost") as client:
        assert client.get("/").status_code == 401
        if token.isascii():
            assert client.get("/api/snapshots", headers={"Authorization": f"Bearer {token}"}).status_code == 200
        odd = {b"Authorization": b"Bearer \xff", b"Cookie": b"lineage_token=\xff"}
        assert client.get("/", headers=odd).status_code == 401
        entered = client.get("/", params={"token": token})
        assert (entered.status_code, "token" in str(entered.url)) == (200, False)
        assert client.get("/health").status_code == 200


def test_only_known_host_names_are_answered(marts: Path) -> None:
    from starlette.testclient import TestClient

    from lineage_pipeline.web.app import create_app

    def status(host: str, *hosts: str, every_address: bool = False) -> int:
        application = create_app(marts, hosts=hosts, every_address=every_address)
        with TestClient(application, "http://localhost") as client:
            return int(client.get("/api/snapshots", headers={"Host": host}).status_code)

    names = ("localhost", "localhost:8080", "127.0.0.1:9", "[::1]", "[::1]:8080", "LocalHost", "localhost.")
    for local in (*names, "[0:0:0:0:0:0:0:1]"):
        assert status(local) == 200, local
    for foreign in (
        "evil.example",
        "evil.example:8080",
        "127.0.0.1.evil.example",
        "192.0.2.1",
        "localhost.evil.example",
        "evil.example@localhost",
        "localhost/evil.example",
        "localhost#evil.example",
        "[::1].evil.example",
        "localhost:abc",
        "",
    ):
        assert status(foreign) == 421, foreign
    assert status("lineage.example:80", "lineage.example") == 200
    assert status("192.0.2.1:80", every_address=True) == 200  # a bare address cannot be rebound
    assert status("evil.example", every_address=True) == 421
    assert status("192.0.2.1:80", "0.0.0.0", "") == 421


def test_new_marts_are_noticed(marts: Path, tmp_path: Path) -> None:
    from lineage_pipeline.web.marts import Marts

    file = tmp_path / "live.duckdb"
    shutil.copy(marts, file)
    live = Marts(file)
    assert live.ask("select count(*) as n from marts.snapshots") == [{"n": 2}]
    duckdb = pytest.importorskip("duckdb")
    shutil.copy(marts, tmp_path / "next.duckdb")
    with duckdb.connect(str(tmp_path / "next.duckdb")) as connection:
        connection.execute("delete from marts.snapshots where commit = '3'")
    (tmp_path / "next.duckdb").replace(file)
    assert live.ask("select count(*) as n from marts.snapshots") == [{"n": 1}]
    live.close()


# ── in a browser ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def address(marts: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "lineage_pipeline.cli", "serve", str(marts), "--port", str(port)]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        assert f"http://127.0.0.1:{port}/" in server.stderr.readline()
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.communicate(timeout=30)


@pytest.mark.browser
@pytest.mark.skipif(
    CHROMIUM is None and not os.environ.get("LINEAGE_REQUIRE_BROWSER"), reason="Chromium is not installed"
)
def test_a_walk_through_the_explorer(address: str) -> None:
    from playwright.sync_api import expect, sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        complaints: list[str] = []
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        page.keyboard.type("name")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="core.name", exact=True).click()
        boxes = page.locator("#graph .box")
        expect(boxes).to_have_count(3)
        expect(page.locator("#panel h2")).to_have_text("core.name")
        expect(page.locator("#graph .flow.up")).to_have_count(1)
        page.get_by_role("button", name="Close").click()
        page.get_by_role("button", name="table raw").click()
        page.get_by_role("link", name="Look around it").click()
        expect(page).to_have_url(re.compile("object=raw"))
        expect(boxes).to_have_count(2)
        page.get_by_role("link", name="Changes").click()
        expect(page.get_by_test_id("change").first).to_contain_text("COL001")
        with page.expect_navigation():  # or it would end the next one
            page.select_option("#snapshot", "shop@3")
        page.goto(f"{address}/search?q=img")
        page.get_by_role("link", name=NASTY).first.click()
        expect(boxes).to_have_count(2)
        time.sleep(0.3)
        assert page.title() != "owned"
        assert complaints == []
        browser.close()
