"""Positions of boxes in the HTML graph: no overlaps, arrows to the right, and equal positions for equal input."""

import json
import os
import shutil
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_pipeline.export.drawing.box_layout import BoxLayout, assign_layers, lay_out_boxes
from lineage_pipeline.export.formats.lineage_formats import FORMATS, DrawingOptions
from lineage_pipeline.model.enums import Grain
from lineage_pipeline_tests.export.test_formats import make_example_subject, make_hostile_subject

CHROMIUM = shutil.which("chromium")
Arrows = list[tuple[int, int]]


@st.composite
def graphs(draw: Any) -> tuple[list[tuple[int, int]], Arrows]:
    sizes = draw(st.lists(st.tuples(st.integers(20, 300), st.integers(20, 200)), max_size=14))
    ends = st.integers(0, max(len(sizes) - 1, 0))
    arrows = draw(st.lists(st.tuples(ends, ends), max_size=30)) if sizes else []
    return sizes, arrows


def find_overlaps(sizes: list[tuple[int, int]], layout: BoxLayout) -> list[tuple[int, int]]:
    boxes = [(x, y, x + wide, y + high) for (x, y), (wide, high) in zip(layout.places, sizes, strict=True)]
    return [
        (one, other)
        for (one, a), (other, b) in combinations(enumerate(boxes), 2)
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ]


@given(graphs())
def test_boxes_never_overlap_and_all_lie_within_the_page(graph: tuple[list[tuple[int, int]], Arrows]) -> None:
    sizes, arrows = graph
    layout = lay_out_boxes(sizes, arrows)
    assert find_overlaps(sizes, layout) == []
    for (x, y), (wide, high) in zip(layout.places, sizes, strict=True):
        assert 0 <= x <= x + wide <= layout.width
        assert 0 <= y <= y + high <= layout.height
    assert len(layout.ways) == len(arrows)
    assert layout == lay_out_boxes(sizes, arrows)


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)).filter(lambda pair: pair[0] < pair[1]), max_size=40))
def test_without_cycles_every_arrow_goes_to_the_right(arrows: Arrows) -> None:
    layers = assign_layers(13, arrows)
    assert all(layers[source] < layers[target] for source, target in arrows)
    layout = lay_out_boxes([(100, 40)] * 13, arrows)
    assert all(layout.places[source][0] < layout.places[target][0] for source, target in arrows)


def test_an_arrow_passes_beside_the_boxes_of_the_layers_between() -> None:
    sizes, arrows = [(100, 60)] * 4, [(0, 1), (1, 2), (2, 3), (0, 3)]
    layout = lay_out_boxes(sizes, arrows)
    way = layout.ways[3]
    assert len(way) == 4
    for x, y in way:
        for left, top in layout.places:
            assert not (left < x < left + 100 and top < y < top + 60)


def test_a_ladder_is_drawn_without_crossings() -> None:
    arrows = [(place, place + 8) for place in range(8)]
    layout = lay_out_boxes([(50, 20)] * 16, arrows[::-1])
    assert all(layout.places[source][1] == layout.places[target][1] for source, target in arrows)


# ── the page in a browser ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield launched
        launched.close()


def open_page_file(browser: Any, folder: Path, subject: Any, complaints: list[str], **options: Any) -> Any:
    write = FORMATS["html"].write
    assert write is not None
    (folder / "page.html").write_text(write(subject, DrawingOptions(Grain.COLUMN, 400)).text, encoding="utf-8")
    page = browser.new_context(viewport={"width": 1400, "height": 900}, **options).new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
    page.on("request", lambda request: complaints.append(request.url) if "page.html" not in request.url else None)
    page.goto((folder / "page.html").as_uri())
    return page


needs_browser = pytest.mark.skipif(
    CHROMIUM is None and not os.environ.get("LINEAGE_REQUIRE_BROWSER"), reason="Chromium is not installed"
)


@pytest.mark.browser
@needs_browser
def test_a_column_is_found_and_followed_in_the_page(browser: Any, tmp_path: Path) -> None:
    complaints: list[str] = []
    page = open_page_file(browser, tmp_path, make_example_subject(), complaints, color_scheme="dark")
    assert page.locator(".box").count() == len(make_example_subject().lineage.objects)
    page.fill("#search", "category_margin margin_ratio")
    page.press("#search", "Enter")
    assert page.locator("#panel h2").text_content() == "mart.category_margin.margin_ratio"
    assert page.locator(".column.chosen").count() == 1
    assert page.locator(".flow.up").count() > 3
    page.locator("#panel li button").first.click()
    assert page.locator("#panel h2").text_content() == "core.sales_margin.margin_eur"
    page.keyboard.press("Escape")
    assert page.locator("#panel").is_hidden()
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.click("#theme")
    assert page.evaluate(ground) != dark
    assert complaints == []


@pytest.mark.browser
@needs_browser
def test_hostile_names_are_only_displayed(browser: Any, tmp_path: Path) -> None:
    complaints: list[str] = []
    page = open_page_file(browser, tmp_path, make_hostile_subject(), complaints)
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    page.fill("#search", "onerror")
    page.press("#search", "Enter")
    assert "<img src=x onerror=alert(1)>" in page.locator("#panel h2").text_content()
    data = json.loads(page.locator("#data").text_content())
    widths = page.evaluate("[...document.querySelectorAll('.box .name')].map((name) => name.getBBox().width)")
    assert all(width <= box["at"][2] for width, box in zip(widths, data["boxes"], strict=True))
    assert complaints == []
