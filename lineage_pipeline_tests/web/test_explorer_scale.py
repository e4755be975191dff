"""The marts and the explorer over 100,000 columns: `make soak` builds them and prints the times."""

import re
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks.explorer import OWED, make_marts, measure, report
from lineage_pipeline.store.warehouse import Warehouse
from lineage_pipeline.web.marts import Marts
from lineage_pipeline_tests.support.explorer_browser import launch_chromium, open_page, serve_explorer
from lineage_pipeline_tests.support.mart_warehouses import build_marts_on_spark

pytestmark = [pytest.mark.soak, pytest.mark.browser, pytest.mark.pipeline]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    return make_marts(tmp_path_factory.mktemp("large"), 11_000)


def test_dbt_builds_and_tests_a_hundred_thousand_columns(built: tuple[Path, float], record_property: Any) -> None:
    marts = Marts(built[0])
    ((columns,),) = [tuple(row.values()) for row in marts.ask("select count(*) as columns from marts.columns")]
    marts.close()
    record_property("figure", f"marts: dbt build of {columns:,} columns in {built[1]:.0f} s")
    assert columns >= 100_000


@pytest.mark.spark
def test_spark_builds_and_tests_them_too(built: tuple[Path, float], tmp_path: Path, record_property: Any) -> None:
    sql = "select count(*) as rows from marts.column_lineage"
    marts, begun = Marts(built[0]), time.monotonic()
    with build_marts_on_spark(tmp_path, Warehouse(built[0].parent / "warehouse")) as running:
        record_property("figure", f"the same on Spark: {time.monotonic() - begun:.0f} s")
        assert [tuple(row) for row in running.sql(sql).collect()] == [tuple(row.values()) for row in marts.ask(sql)]
    marts.close()


def test_the_server_is_quick(built: tuple[Path, float], record_property: Any) -> None:
    timings = measure(built[0])
    record_property("figure", report(timings))
    # What is computed, on all cores together, is no less than the time that it takes where nothing else runs.
    assert [one.name for one in timings if one.cpu > OWED[one.name]] == []


def test_a_walk_through_a_large_repository(built: tuple[Path, float]) -> None:
    from playwright.sync_api import expect

    with serve_explorer(built[0]) as address, launch_chromium() as browser, open_page(browser) as page:
        page.goto(address)
        page.keyboard.type("mart id")
        page.keyboard.press("Enter")
        page.locator(".hits a").first.click()
        expect(page.locator("#graph .box").first).to_be_visible()
        page.get_by_role("link", name="One step more up").click()
        page.get_by_role("link", name="One step more up").click()
        expect(page).to_have_url(re.compile("up=3"))
        assert 1 < page.locator("#graph .box").count() <= 60
        page.goto(f"{address}/dashboards/blast-radius")
        expect(page.get_by_test_id("rows").locator("tbody tr")).to_have_count(30)
