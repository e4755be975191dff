"""The explorer as people use it: the main stories on the example's history, in a real browser."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lineage_pipeline_tests.support.example_history import build_history
from lineage_pipeline_tests.support.explorer_browser import (
    CHROMIUM,
    COLOR_SCHEMES,
    CUSTOMERS,
    PAGES,
    SCREENSHOTS,
    launch_chromium,
    page_addresses,
    serve_explorer,
)
from lineage_pipeline_tests.support.explorer_browser import open_page as opened

pytestmark = [
    pytest.mark.browser,
    pytest.mark.pipeline,
    pytest.mark.skipif(
        CHROMIUM is None and not os.environ.get("LINEAGE_REQUIRE_BROWSER"), reason="Chromium is not installed"
    ),
]


@pytest.fixture(scope="module")
def marts() -> Path:
    built = build_history()
    assert (built.failed, built.message) == (set(), "None")
    return built.marts


@pytest.fixture(scope="module")
def address(marts: Path) -> Iterator[str]:
    with serve_explorer(marts) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launch_chromium() as found:
        yield found


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)])
def test_every_page_is_accessible(scheme: str, width: int, address: str, browser: Any, marts: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = []
    with opened(browser, scheme, width) as page:
        for name, path in page_addresses(marts).items():
            page.goto(address + path)
            for fault in axe.run(page).response["violations"]:
                if fault["impact"] in ("serious", "critical"):
                    found += [
                        (name, fault["id"], node["html"][:200], node["failureSummary"]) for node in fault["nodes"]
                    ]
            if page.evaluate("document.documentElement.scrollWidth") > width:
                found.append((name, "wider than the window", "", ""))
    assert found == []


def test_from_a_word_to_the_source_of_a_value(address: str, browser: Any) -> None:
    from playwright.sync_api import expect

    with opened(browser) as page:
        page.goto(address)
        page.keyboard.type("net_sales_eur daily")
        page.keyboard.press("Enter")
        expect(page.locator(".hits li")).to_have_count(1)
        page.wait_for_load_state()  # the list is there before the script that listens to keys
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator("#panel h2")).to_have_text("mssql.retail.mart.daily_sales.net_sales_eur")
        expect(page.locator("#graph .flow.up:not(.indirect)")).to_have_count(1)
        page.get_by_role("link", name="One step more up").click()
        expect(page).to_have_url(re.compile("up=2"))
        expect(page.locator("#graph .box")).to_have_count(7)
        page.get_by_role("button", name="view mssql.retail.mart.weekly_sales").click()
        page.get_by_role("link", name="Open its page").click()
        expect(page.get_by_test_id("columns")).to_contain_text("change_eur")


def test_the_small_map_shows_where_one_is(address: str, browser: Any) -> None:
    from playwright.sync_api import expect

    with opened(browser) as page:
        page.goto(f"{address}/explore?object=mssql.retail.mart.daily_sales&up=3")
        expect(page.locator("#map")).to_be_hidden()
        for _ in range(8):
            page.get_by_role("button", name="+", exact=True).click()
        expect(page.locator("#map .spot")).to_have_count(page.locator("#graph .box").count())
        before = page.locator("#view").get_attribute("transform")
        page.locator("#map").click(position={"x": 20, "y": 20})
        assert page.locator("#view").get_attribute("transform") != before
        page.get_by_role("button", name="Fit").click()
        expect(page.locator("#map")).to_be_hidden()


def test_a_change_on_the_graph_and_in_the_sql(address: str, browser: Any) -> None:
    from playwright.sync_api import expect

    with opened(browser) as page:
        page.goto(f"{address}/changes")
        first = page.get_by_test_id("change").first
        expect(first).to_contain_text("COL001")
        expect(first).to_contain_text("@shop/service-desk")
        first.get_by_role("link", name="On the graph").click()
        expect(page.locator("#graph .box.changed")).to_have_count(3)
        expect(page.locator("#graph .column.removed")).to_contain_text(["− phone"])
        expect(page.locator("#legend")).to_contain_text("− removed")
        page.go_back()
        first.get_by_role("link", name="SQL before and after").click()
        expect(page.locator(".diff .removed .old").first).to_contain_text("c.phone")


def test_the_inside_of_a_statement_and_where_an_expression_comes_from(address: str, browser: Any) -> None:
    from playwright.sync_api import expect

    with opened(browser) as page:
        page.goto(f"{address}/object?object=mssql.retail.core.customer_orders")
        mark = page.locator("mark", has_text="SUM(l.net_amount_eur)")
        mark.hover()
        expect(page.locator("#hint")).to_contain_text("order_value_eur ← order_lines.net_amount_eur (aggregation)")
        page.mouse.move(0, 0)
        expect(page.locator("#hint")).to_be_hidden()
        mark.focus()
        expect(page.locator("#hint")).to_be_visible()
        page.get_by_role("link", name="create view at line 2").click()
        for name in ("cte order_lines", "cte orders", "view mssql.retail.core.customer_orders"):
            expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
        page.get_by_role("button", name="cte orders", exact=True).click()
        expect(page.locator("#panel")).to_contain_text("order_lines")


def test_an_object_tells_its_history_by_commit(address: str, browser: Any) -> None:
    from playwright.sync_api import expect

    with opened(browser) as page:
        page.goto(f"{address}/object?object={CUSTOMERS}")
        told = page.get_by_test_id("history").locator("tbody tr")
        expect(told.last).to_contain_text("Ines Duarte")
        expect(told.last).to_contain_text("view appeared with 8 columns")
        expect(page.get_by_test_id("history")).to_contain_text("vanished: phone")


def test_there_is_a_picture_of_every_page(marts: Path) -> None:
    assert page_addresses(marts).keys() == PAGES.keys()
    wanted = {f"explorer-{name}-{scheme}.png" for name in PAGES for scheme in COLOR_SCHEMES}
    assert {path.name for path in SCREENSHOTS.glob("explorer-*.png")} == wanted
    assert all(1_000 < (SCREENSHOTS / name).stat().st_size < 200_000 for name in wanted)
