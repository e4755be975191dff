"""Hand-made comparisons for the tests of reports, and hostile names."""

from typing import Any

import msgspec

from lineage_pipeline.export.subject import Comparison
from lineage_pipeline.model import enums, tables
from lineage_pipeline.model.tables import Waiver

HOSTILE_NAMES = {
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


def make_change(id: str, rule: str = "COL001", severity: enums.Severity = BREAKING, **other: Any) -> tables.Change:
    """Make a root change, with other fields as given."""
    row = tables.Change(
        id, rule, "core.orders", "id", severity, severity, enums.Confidence.CERTAIN, enums.Scope.INTERFACE, True,
        id, (), "INT", None, "core/orders.sql", 3, f"f{id}", None,
    )  # fmt: skip
    return msgspec.structs.replace(row, **other)


def make_consumer(object: str, column: str | None = "id", **other: Any) -> tables.Consumer:
    """Make a consumer in a file of its own name."""
    row = tables.Consumer(object, column, f"{object}.sql", 7, ("@team",))
    return msgspec.structs.replace(row, **other)


def make_waiver(id: str, text: str) -> Waiver:
    """Make a waiver with the same text in every field that a person writes."""
    return Waiver(
        id=id, rule="EXP001", object=text, reason=text, owner=text, expires="2026-12-31", ticket=text, path=text, line=1
    )


def make_finding(message: str, path: str | None = "broken.sql", code: str = "PARSE_ERROR") -> tables.Diagnostic:
    """Make a finding: a parse error, unless the code says otherwise."""
    return tables.Diagnostic(
        "1", code, enums.Level.ERROR, message, path, 2, 5, None, enums.Stage.PARSING
    )  # fmt: skip


SMALL_COMPARISON = Comparison(
    "shop@aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "shop@bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
    (
        make_change("1", "COL003", NOT, column="note", before=None, after="note TEXT"),
        make_change("2", consumers=(make_consumer("mart.sales"), make_consumer("mart.returns", None))),
        make_change("3", root=False, root_id="2", object="mart.sales", path="mart.sales.sql", line=7),
        make_change("4", root=False, root_id="2", object="mart.year", path="mart.year.sql", line=1),
        make_change("5", "ROW004", POTENTIALLY, column=None, before="(a = 1)", after="(a = 1)\n(b = 2)"),
        make_change("6", "EXP001", POTENTIALLY, column="total", waiver="w"),
    ),
    waivers=(
        msgspec.structs.replace(make_waiver("w", "agreed with the readers"), owner="the core team", ticket="T-1"),
    ),
    findings=(make_finding("a waiver ran out", "lineage-waivers.toml", "WAIVER_EXPIRED"),),
    show_waived=True,
    unanalyzed=(make_finding("cannot parse this statement"),),
    edges=(("core.orders", "mart.sales"), ("mart.sales", "mart.year")),
)
"""A comparison with one change of each kind."""


def make_hostile_comparison(name: str) -> Comparison:
    """Put a name into every text of a comparison that comes from SQL, files or people."""
    readers = (
        make_consumer(name, name, path=name, owners=(name,)),
        make_consumer("mart.sales", None, path=None, line=None, owners=()),
    )
    everywhere: dict[str, Any] = {"object": name, "column": name, "before": name, "path": name}
    return Comparison(
        f"{name}@a",
        f"{name}@b",
        (
            make_change("1", consumers=readers, **everywhere),
            make_change("2", root=False, root_id="1", **(everywhere | {"object": "mart.sales", "column": None})),
            make_change(
                "3", "ROW004", POTENTIALLY, consumers=readers, **(everywhere | {"before": None, "after": name})
            ),
            make_change("4", "COL003", NOT, **everywhere),
            make_change("5", "EXP001", POTENTIALLY, waiver="w", **everywhere),
        ),
        waivers=(make_waiver("w", name),),
        findings=(make_finding(name, name, "WAIVER_UNUSED"),),
        show_waived=True,
        unanalyzed=(make_finding(name, name), make_finding(name, None)),
        edges=((name, "mart.sales"), ("mart.sales", name)),
    )
