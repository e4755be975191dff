"""The page of one object as a file: complete, offline, and harmless whatever the names."""

import base64
import hashlib
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lineage_pipeline.cli import main
from lineage_pipeline_tests.support.explorer_browser import CHROMIUM, launch_chromium, open_page

HOSTILE = '<img src=x onerror="document.title=1">'
SQL = f"""\
create table raw.orders (id int not null, amount decimal(10,2), note varchar(10));
create table raw.rates (currency char(3), rate decimal(9,4));
create view mart.sales as
select o.id, sum(o.amount * r.rate) as total, max(o.note) as "{HOSTILE.replace('"', '""')}"
from raw.orders as o join raw.rates as r on r.currency = 'EUR'
group by o.id;
create view mart.best as select id, total from mart.sales where total > 100;
"""


class Page(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "sales.sql").write_text(SQL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_object_page(shop: Path, subject: str = "shop", name: str = "mart.sales") -> str:
    target = shop / "page.html"
    assert main(["export", "html", subject, "--object", name, "-o", str(target), "-q"]) == 0
    return target.read_text(encoding="utf-8")


def test_the_page_has_all_that_is_known_of_the_object(shop: Path) -> None:
    text = write_object_page(shop)
    shown = " ".join(" ".join(Page(text).texts).split())
    for told in (
        *("mart. sales", "view", "sales.sql", "Columns (3)", "raw. orders.id", "raw. orders.amount", "aggregation"),
        *("Made of (2)", "raw. rates", "Read by (1)", "mart. best", "create view at line 3", "group by o.id"),
    ):
        assert told.replace(" ", "") in shown.replace(" ", ""), told
    (mark,) = [attrs for tag, attrs in Page(text).tags if tag == "mark" and "total" in str(attrs["data-about"])][:1]
    assert "mart.sales.total ← raw.orders.amount" in str(mark["data-about"])
    reaches = re.findall(r'<td class="n">(\d+)</td></tr>', text)
    assert reaches == ["1", "2", "0"]


def test_a_folder_a_lineage_file_and_a_warehouse_give_the_same_page(shop: Path) -> None:
    page = write_object_page(shop)
    assert main(["scan", "shop", "-q", "-o", "a.lineage", "--into", "warehouse"]) == 0
    assert main(["scan", "shop", "-q", "-o", "a.lineage"]) == 0
    assert write_object_page(shop, "a.lineage") == page
    assert write_object_page(shop, "warehouse") == page
    assert main(["scan", "shop", "-q", "-o", "a.json"]) == 0
    assert "The text of sales.sql is not kept there any more" in write_object_page(shop, "a.json")


def test_nothing_is_loaded_and_only_our_script_runs(shop: Path) -> None:
    text = write_object_page(shop)
    page = Page(text)
    (policy,) = [attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv")]
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    for tag in ("script", "style"):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert [tag for tag, attrs in page.tags if {"src", "href", "onerror", "style"} & attrs.keys()] == []
    assert "img" not in {tag for tag, _ in page.tags}
    assert HOSTILE in "".join(page.texts)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ("html shop --object mart.sale", 1, "did you mean mart.sales"),
        ("mermaid shop --object mart.sales", 2, "goes not with mermaid"),
        ("html shop --object mart.sales --limit 3", 2, "goes not with --limit"),
        ("html shop --object mart.sales --focus raw.rates", 2, "goes not with --focus"),
    ],
)
@pytest.mark.usefixtures("shop")
def test_wrong_use_is_told(arguments: str, code: int, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", *arguments.split()]) == code
    assert told in capsys.readouterr().err


def test_events_of_a_kept_lineage_have_the_time_of_its_commit(shop: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x", "--date", "2026-01-02T03:04:05Z"]):
        subprocess.run([*git, *words], cwd=shop / "shop", check=True)
    assert main(["scan", "shop@HEAD", "-q", "-o", "a.lineage"]) == 0
    events = []
    for subject in ("shop@HEAD", "a.lineage"):
        assert main(["export", "openlineage", subject, "-q", "-o", "events.ndjson"]) == 0
        events.append(
            [re.sub(r'"query":"[^"]*",?', "", line) for line in Path("events.ndjson").read_text().splitlines()]
        )
    assert '"eventTime":"1970' not in "".join(events[1])
    assert [line[:60] for line in events[0]] == [line[:60] for line in events[1]]


@pytest.mark.browser
@pytest.mark.pipeline
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_browser_shows_where_an_expression_comes_from(shop: Path) -> None:
    write_object_page(shop)
    with launch_chromium() as browser, open_page(browser) as page:
        page.goto((shop / "page.html").as_uri())
        page.locator("mark", has_text="sum(o.amount * r.rate)").hover()
        assert "mart.sales.total ← raw.orders.amount" in page.locator("#hint").inner_text()
        assert page.locator("img").count() == 0
        assert page.title() == "mart.sales · Lineage"
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
