"""The explorer of the example's history in a real browser: every page by name, and screenshots of all of them.

`python -m lineage_pipeline_tests.support.explorer_browser` takes the screenshots of the documentation.
"""

import shutil
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from lineage_pipeline_tests.support.paths import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = shutil.which("chromium")
SCREENSHOTS = ROOT / "docs" / "pictures"
SALES, CUSTOMERS = "mssql.retail.mart.daily_sales", "mssql.retail.staging.customers"
PAGES = {
    "home": "/",
    "search": "/search?q=daily+sales",
    "explore": f"/explore?object={SALES}&up=2#{SALES}%23net_sales_eur",
    "table": f"/explore?object={SALES}&as=table",
    "overlay": f"/explore?object={CUSTOMERS}&down=2&against={{base}}",
    "object": f"/object?object={CUSTOMERS}",
    "file": "/file?path=retail/04_marts/weekly_sales.sql",
    "statement": "/statement?path=retail/03_core/views/customer_orders.sql",
    "changes": "/changes",
    "sql": f"/sql?object={CUSTOMERS}&base={{base}}",
    "dashboards": "/dashboards",
    "dashboard": "/dashboards/blast-radius",
    "health": "/health",
}
"""Every page of the explorer, on the example."""

COLOR_SCHEMES = ("light", "dark")


def page_addresses(marts: Path) -> dict[str, str]:
    """The address of every page; the last comparison is the one that is shown."""
    with duckdb.connect(str(marts), read_only=True) as connection:
        sql = "select base from marts.breaking_trend order by committed_at desc limit 1"
        ((base,),) = connection.execute(sql).fetchall()
    return {name: address.replace("{base}", base) for name, address in PAGES.items()}


@contextmanager
def serve_explorer(marts: Path) -> Iterator[str]:
    """Serve the explorer from a thread of this process."""
    import uvicorn

    from lineage_pipeline.web.app import create_app

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    application = create_app(marts)
    server = uvicorn.Server(uvicorn.Config(application, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        application.state.marts.close()
        listener.close()


@contextmanager
def launch_chromium() -> Iterator["Browser"]:
    """Start the browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_page(browser: "Browser", scheme: str = "light", width: int = 1280, **options: Any) -> Iterator[Any]:
    """Open a page in a new browser context; errors of its scripts fail the test."""
    size: Any = {"width": width, "height": 860}
    context = browser.new_context(viewport=size, color_scheme="dark" if scheme == "dark" else "light", **options)
    context.set_default_timeout(30_000)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        yield page
        assert complaints == []
    finally:
        context.close()


def take_screenshots(marts: Path, folder: Path) -> None:
    """Take a screenshot of every page, light and dark, small enough for a repository."""
    with serve_explorer(marts) as address, launch_chromium() as browser:
        for scheme in COLOR_SCHEMES:
            with open_page(browser, scheme, device_scale_factor=0.625) as page:
                for name, path in page_addresses(marts).items():
                    page.goto(address + path)
                    page.wait_for_load_state()
                    page.screenshot(path=folder / f"explorer-{name}-{scheme}.png")


def main() -> int:
    """Take the screenshots of the documentation."""
    from lineage_pipeline_tests.support.example_history import build_history

    given = sys.argv[1:]
    take_screenshots(Path(given[0]) if given else build_history().marts, SCREENSHOTS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
