"""Hand-made comparisons for the tests of reports, and names that try to be something else than names."""

from typing import Any

import msgspec

from lineage_pipeline.export.subject import Comparison
from lineage_pipeline.model import enums, tables
from lineage_pipeline.model.waivers import Waiver

NASTY = {
    "newline": "a\nb",
    "carriage return": "a\r\nb\rc",
    "line separators": "a\u2028b\u2029c\x85d\x0be\x0cf",
    "bars": "a|b||c\\|d",
    "backticks": "a`b``c```d````",
    "only a backtick": "`",
    "fence": "```\n```\n# not a heading",
    "image": "<img src=x onerror=alert(1)>",
    "script": "</script><script>alert(1)</script>",
    "end of details": "</details></summary><h1>x",
    "end of style": "</style><style>body{display:none}",
    "comment": "<!-- lineage-changes --> --> <!--",
    "attribute": '" onmouseover="alert(1)" x=\'',
    "entity": "&lt;b&gt; &amp; &#60;",
    "workflow command": "::error::x",
    "workflow command on a line": "x\n::error file=a::b\n##[error]c",
    "workflow escapes": "a%0Ab%25,c:d",
    "workflow command behind blanks": "  ::stop-commands::x",
    "commands of other builds": "a##vso[task.setvariable variable=x]b ##[error]c ##teamcity[buildStop] ##VSO[x]y",
    "end of CDATA": "]]>",
    "link": "[x](javascript:alert(1)) ![y](http://z) <http://a.example>",
    "emphasis": "**a** _b_ ~~c~~ # d",
    "mention": "@everyone #123 GH-1",
    "terminal": "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J \x08\x08",
    "null": "a\x00b",
    "tags": "a\U000e0041\U000e007fb\u180e",
    "right to left": "a\u202ebc\u2066d\u200be",
    "unseen letters": "a\u3164b\u115f\uffa0\u2800\u034f\U000e0100\U000e01ef\ufe00\U0001d173",
    "terminal link": "\x1b]8;;http://evil.example\x1b\\x\x1b]8;;\x1b\\ \x1bP1;2q\x9c \x9d0;t\x9c",
    "formula": "=cmd|' /C calc'!A0",
    "formulas": "+1 -1 @sum(1)",
    "formula behind lines": "\n =1+1",
    "formula behind blanks": "  @sum(1)",
    "template": "{{ 7 * 7 }} {% raw %} ${x}",
    "mermaid": '"] --> n9["x"]; click n0 "javascript:alert(1)"; %% ; style n0 fill:#fff;',
    "mermaid directive": "%%{init: {'themeCSS': '* {display: none}'}}%%",
    "mermaid icon and formula": "fa:fa-ban $$\\href{javascript:alert(1)}{x}$$",
    "words of a chat": ":rotating_light: <!channel> <@U1> @here https://evil.example/x.png",
    "not a character": "a\ufffe\uffffb",
    "private": "\ue000",
    "emoji": "a😀é漢字b",
    "spaces": " a  b ",
    "backslash": "a\\nb\\",
    "percent": "50%/../..//etc/passwd?#x",
    "long": "x" * 10_000,
    "long words": "word " * 2_000,
}


BREAKING, POTENTIALLY, NOT = enums.Severity.BREAKING, enums.Severity.POTENTIALLY_BREAKING, enums.Severity.NON_BREAKING


def change(id: str, rule: str = "COL001", severity: enums.Severity = BREAKING, **other: Any) -> tables.Change:
    """Make a root, or what `other` makes of it."""
    row = tables.Change(
        id, rule, "core.orders", "id", severity, severity, enums.Confidence.CERTAIN, enums.Scope.INTERFACE, True,
        id, (), "INT", None, "core/orders.sql", 3, f"f{id}", None,
    )  # fmt: skip
    return msgspec.structs.replace(row, **other)


def consumer(object: str, column: str | None = "id", **other: Any) -> tables.Consumer:
    """Make a reader in a file of its own name."""
    row = tables.Consumer(object, column, f"{object}.sql", 7, ("@team",))
    return msgspec.structs.replace(row, **other)


def waiver(id: str, text: str) -> Waiver:
    """Make a waiver of which somebody wrote every word."""
    return Waiver(
        id=id, rule="EXP001", object=text, reason=text, owner=text, expires="2026-12-31", ticket=text, path=text, line=1
    )


def unread(message: str, path: str | None = "broken.sql", code: str = "PARSE_ERROR") -> tables.Diagnostic:
    """Make a finding, of something that could not be analysed unless the code says otherwise."""
    return tables.Diagnostic(
        "1", code, enums.Level.ERROR, message, path, 2, 5, None, enums.Stage.PARSING
    )  # fmt: skip


SMALL = Comparison(
    "shop@aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "shop@bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
    (
        change("1", "COL003", NOT, column="note", before=None, after="note TEXT"),
        change("2", consumers=(consumer("mart.sales"), consumer("mart.returns", None))),
        change("3", root=False, root_id="2", object="mart.sales", path="mart.sales.sql", line=7),
        change("4", root=False, root_id="2", object="mart.year", path="mart.year.sql", line=1),
        change("5", "ROW004", POTENTIALLY, column=None, before="(a = 1)", after="(a = 1)\n(b = 2)"),
        change("6", "EXP001", POTENTIALLY, column="total", waiver="w"),
    ),
    waivers=(msgspec.structs.replace(waiver("w", "agreed with the readers"), owner="the core team", ticket="T-1"),),
    findings=(unread("a waiver ran out", "lineage-waivers.toml", "WAIVER_EXPIRED"),),
    show_waived=True,
    unanalysed=(unread("cannot parse this statement"),),
    edges=(("core.orders", "mart.sales"), ("mart.sales", "mart.year")),
)
"""A bit of everything."""


def hostile(name: str) -> Comparison:
    """Put a name wherever a comparison holds a text that comes from SQL, from files or from people."""
    readers = (
        consumer(name, name, path=name, owners=(name,)),
        consumer("mart.sales", None, path=None, line=None, owners=()),
    )
    everywhere: dict[str, Any] = {"object": name, "column": name, "before": name, "path": name}
    return Comparison(
        f"{name}@a",
        f"{name}@b",
        (
            change("1", consumers=readers, **everywhere),
            change("2", root=False, root_id="1", **(everywhere | {"object": "mart.sales", "column": None})),
            change("3", "ROW004", POTENTIALLY, consumers=readers, **(everywhere | {"before": None, "after": name})),
            change("4", "COL003", NOT, **everywhere),
            change("5", "EXP001", POTENTIALLY, waiver="w", **everywhere),
        ),
        waivers=(waiver("w", name),),
        findings=(unread(name, name, "WAIVER_UNUSED"),),
        show_waived=True,
        unanalysed=(unread(name, name), unread(name, None)),
        edges=((name, "mart.sales"), ("mart.sales", name)),
    )
