"""HTML: one self-contained page with a drawing to move around in, to search, and to follow columns through."""

from collections.abc import Sequence
from html import escape

from lineage_pipeline.export.drawing.box_layout import build_page_data
from lineage_pipeline.export.drawing.picture import Arrow, Picture
from lineage_pipeline.export.escaping import escape_hidden
from lineage_pipeline.export.html_parts import csp_hash, embed_json, read_page_part

PAGE_TEMPLATE = """<!doctype html>
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


def render_html(title: str, picture: Picture, flows: Sequence[Arrow] = ()) -> str:
    """Render a picture as a page; `flows` lead from column to column and are drawn when one is chosen."""
    style, script = read_page_part("page.css"), read_page_part("page.js")
    policy = (
        f"default-src 'none'; script-src '{csp_hash(script)}'; style-src '{csp_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return PAGE_TEMPLATE.format(
        policy=policy,
        title=escape(escape_hidden(title)),
        counts=escape(_picture_counts(picture)),
        style=style,
        script=script,
        data=embed_json(build_page_data(picture, flows) | {"own": True}),
    )


def _picture_counts(picture: Picture) -> str:
    drawn = f"{len(picture.boxes):,} boxes, {len(picture.arrows):,} arrows"
    return f"Drawn are {picture.cut}" if picture.cut else drawn
