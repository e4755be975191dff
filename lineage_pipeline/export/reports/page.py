"""Changes as one page of HTML that needs nothing else: no script, no network, light and dark."""

import base64
import hashlib
from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template

from lineage_pipeline.export.report import place
from lineage_pipeline.export.reports.escapes import plain
from lineage_pipeline.export.reports.reading import (
    TITLES,
    causes,
    difference,
    feel,
    link_to,
    owners_of,
    short_key,
    tally,
)
from lineage_pipeline.export.subject import PLAIN, Comparison, Style
from lineage_pipeline.vocabulary.sets import Severity

MOST_LINES = 200
WORDS = {
    Severity.BREAKING: "breaking",
    Severity.POTENTIALLY_BREAKING: "potentially",
    Severity.NON_BREAKING: "harmless",
    Severity.INFO: "harmless",
}


def write_page(comparison: Comparison, style: Style = PLAIN) -> str:
    """Give the page; everything that comes from SQL is escaped by the template's engine."""
    found = causes(comparison)
    felt = len({name for cause in found if cause.waived is None for name in cause.feeling})
    sheet = _resource("page.css")
    return (
        _template()
        .render(
            findings=[
                ("Settings that judge more mildly", comparison.relaxed),
                ("Waivers to look at", comparison.waiving),
                ("What could not be analysed", comparison.unanalysed),
            ],
            between=(short_key(comparison.base), short_key(comparison.head)),
            tally=tally(found) or "nothing changed",
            groups=[
                (
                    title,
                    WORDS[severity],
                    [one for one in found if one.change.effective is severity and one.waived is None],
                )
                for severity, title in TITLES.items()
            ],
            waived=[cause for cause in found if cause.waived is not None],
            feeling=feel(felt) if felt else "",
            owners=owners_of(found),
            sheet=sheet,
            digest=base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode(),
            difference=lambda change: difference(change, MOST_LINES, 1000),
            place=place,
            words=WORDS,
            tags={"-": "del", "+": "ins", " ": "span"},
            link=lambda path, line: link_to(comparison, style, path, line),
        )
        .rstrip("\n")
        + "\n"
    )


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"plain": plain}
    return environment.from_string(_resource("page.html.jinja"))


def _resource(name: str) -> str:
    return files("lineage_pipeline.export.reports").joinpath(name).read_text(encoding="utf-8")
