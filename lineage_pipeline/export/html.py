"""HTML: one page that needs nothing else, with boxes to look around in, to search and to follow columns through."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from lineage_pipeline.export.escaping import short, visible
from lineage_pipeline.export.layout import lay_out
from lineage_pipeline.export.picture import APPROXIMATE, Arrow, Box, Picture

LABEL, COLUMN, TYPE = 44, 30, 22
"""How many characters of a name, a column and a type are shown in a box; all of them are in its tooltip."""

MOST_ROWS = 24
"""How many columns a box shows; the panel beside lists all."""

HEAD, ROW, PAD = 34, 20, 8
WIDE, NARROW, GLYPH = 420, 150, 7.3

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1 title="{title}">{title}</h1>
<p id="counts">{counts}</p>
<div id="tools">
<label for="search" class="hidden">Search</label>
<input id="search" type="search" placeholder="Search objects and columns" autocomplete="off" role="combobox"
 aria-expanded="false" aria-controls="found">
<button id="smaller" title="Smaller (-)">&minus;</button>
<button id="larger" title="Larger (+)">+</button>
<button id="fit" title="All (0)">Fit</button>
<button id="theme" title="Light or dark">Theme</button>
</div>
<ul id="found" role="listbox" hidden></ul>
</header>
<main>
<svg id="graph" tabindex="0" role="application" aria-label="Lineage"><g id="view"></g></svg>
<svg id="map" aria-hidden="true" hidden></svg>
<p id="legend"></p>
<aside id="panel" aria-label="What is chosen" hidden></aside>
</main>
<noscript>This page draws with a script that it holds itself; nothing is loaded from elsewhere.</noscript>
<script id="data" type="application/json">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def render(title: str, picture: Picture, flows: Sequence[Arrow] = ()) -> str:
    """Give a picture as a page; `flows` lead from column to column and are drawn when one is chosen."""
    style, script = part("page.css"), part("page.js")
    policy = (
        f"default-src 'none'; script-src '{hash_of(script)}'; style-src '{hash_of(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return PAGE.format(
        policy=policy,
        title=escape(visible(title)),
        counts=escape(_counts(picture)),
        style=style,
        script=script,
        data=embedded(content(picture, flows) | {"own": True}),
    )


def content(picture: Picture, flows: Sequence[Arrow] = ()) -> dict[str, Any]:
    """Give what the script draws, as plain values."""
    numbers = {box.id: number for number, box in enumerate(picture.boxes)}
    ends = [(numbers[arrow.source], numbers[arrow.target]) for arrow in picture.arrows]
    sizes = [_size(box) for box in picture.boxes]
    layout = lay_out(sizes, ends)
    boxes = [
        {
            "name": visible(box.id),
            "label": short(box.label or box.id, LABEL),
            "kind": box.kind,
            "place": visible(box.place),
            "at": [*place, *size],
            "state": box.state,
            "columns": [
                [short(name, COLUMN), short(kind, TYPE), visible(name), box.states.get(name, "")]
                for name, kind in box.columns
            ],
        }
        for box, place, size in zip(picture.boxes, layout.places, sizes, strict=True)
    ]
    arrows = [
        [numbers[arrow.source], numbers[arrow.target], list(way), visible(", ".join(arrow.how[:20])), arrow.state]
        for arrow, way in zip(picture.arrows, layout.ways, strict=True)
    ]
    return {
        "boxes": boxes,
        "arrows": arrows,
        "flows": _flows(picture, flows, numbers),
        "size": [layout.width, layout.height],
        "metrics": [HEAD, ROW, MOST_ROWS],
    }


def _flows(picture: Picture, flows: Sequence[Arrow], numbers: Mapping[str, int]) -> list[list[Any]]:
    """Give what flows between columns by the numbers of box and column; -1 is a box as a whole."""
    places = {(box.id, name): place for box in picture.boxes for place, (name, _) in enumerate(box.columns)}
    return [
        [
            numbers[arrow.source],
            places.get((arrow.source, arrow.source_column or ""), -1),
            numbers[arrow.target],
            places.get((arrow.target, arrow.target_column or ""), -1),
            int(arrow.direct),
            ", ".join(arrow.how),
            arrow.state,
            int(APPROXIMATE in arrow.how),
        ]
        for arrow in flows
        if arrow.source in numbers and arrow.target in numbers
    ]


def _size(box: Box) -> tuple[int, int]:
    """Give width and height of a box by what stands in it."""
    lines = [len(short(name, COLUMN)) + 3 + len(short(kind, TYPE)) for name, kind in box.columns[:MOST_ROWS]]
    width = max((len(short(box.label or box.id, LABEL)) * GLYPH * 1.08, *(line * GLYPH for line in lines))) + 24
    rows = min(len(box.columns), MOST_ROWS) + (len(box.columns) > MOST_ROWS)
    return round(min(max(width, NARROW), WIDE)), HEAD + (rows * ROW + PAD if rows else 0)


def _counts(picture: Picture) -> str:
    drawn = f"{len(picture.boxes):,} boxes, {len(picture.arrows):,} arrows"
    return f"Drawn are {picture.cut}" if picture.cut else drawn


def part(name: str) -> str:
    """Give the style or the script of the page."""
    return (files(__package__) / "page" / name).read_text(encoding="utf-8")


def hash_of(text: str) -> str:
    """Give the word by which a policy lets a script or a style in."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def embedded(content: object) -> str:
    """Write JSON that cannot end the element it stands in."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
