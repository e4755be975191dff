"""The tokens of a text in another layout, and texts with tokens lost, swapped or added."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from lineage_pipeline.dialects.generic import GENERIC
from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.engine.compile.grammar.parser import ParseFailure
from lineage_pipeline.engine.compile.lexer import tokenize

SQLPLUS_SLASH = re.compile(r"\n/(?:\n|$)")
GAPS = (" ", "\n", "  ", "\t", "\r\n", "\n\n", " -- a remark, 'open (\n", "/* a; 'remark */", " /* é\n */ ")
KEYWORDS = frozenset(
    "select from where group by order having join left right full inner cross lateral on using as with union all "
    "intersect except case when then else end insert into values update set delete merge matched not create table "
    "view and or in is null exists over partition distinct qualify recursive apply natural".split()
)
ACCIDENTS = ("delete", "swap", "repeat", "cut off", "insert")
STRAY_TOKENS = (
    "'",
    '"',
    "(",
    ")",
    ";",
    ",",
    "*",
    ".",
    "select",
    "from",
    "end",
    "begin",
    "\0",
    "é",
    "--",
    "/*",
    "$$",
    "@",
    "::",
)


def token_spans(text: str, dialect: str) -> list[tuple[int, int]]:
    """The start and end of each token; empty where the text cannot be tokenized."""
    traits = find_traits(dialect) or GENERIC
    tokens = tokenize(text, traits)
    return [] if isinstance(tokens, ParseFailure) else [(token.start, token.end + 1) for token in tokens]


def draw_layout(draw: Callable[..., Any], text: str, dialect: str) -> str:
    """A text in another layout, drawn at random."""
    gaps = draw(st.lists(st.sampled_from(GAPS), min_size=1, max_size=7))
    return respace_tokens(text, dialect, gaps, upper=draw(st.booleans()))


def respace_tokens(text: str, dialect: str, gaps: Sequence[str], *, upper: bool = False) -> str:
    """The tokens of a text with other white space and comments between them, and keywords in another case."""
    written: list[str] = []
    end = 0
    for number, (start, stop) in enumerate(token_spans(text, dialect)):
        before, word = text[end:start], text[start:stop]
        previous = written[-1] if written else ""
        alone = (
            "go" in (previous.lower(), word.lower())
            or (  # GO and the slash of SQL*Plus have lines of their own
                "/" in (previous, word) and bool(SQLPLUS_SLASH.search(text[max(end - 2, 0) : stop + 1]))
            )
        )
        runs = "/*!" in before or before.count("/*") != before.count("*/")  # MySQL: comments whose text is run
        if number and not alone and not runs and (before or previous in ("(", ",") or word in (")", ",")):
            before = gaps[number % len(gaps)]
        written += [before, word.upper() if upper and word.lower() in KEYWORDS else word]
        end = stop
    return "".join([*written, text[end:]])


def draw_damage(draw: Callable[..., Any], text: str, dialect: str) -> str:
    """A text after a few random accidents to its tokens."""
    for _ in range(draw(st.integers(1, 3))):
        places = token_spans(text, dialect) or [(at, at + 1) for at in range(len(text))]
        if not places:
            break
        start, stop = places[draw(st.integers(0, len(places) - 1))]
        text = "".join(_damage_token(draw, text, places, start, stop))
    return text


def _damage_token(
    draw: Callable[..., Any], text: str, places: Sequence[tuple[int, int]], start: int, stop: int
) -> Iterator[str]:
    kind = draw(st.sampled_from(ACCIDENTS))
    yield text[:start]
    if kind == "insert":
        yield draw(st.sampled_from(STRAY_TOKENS)) + text[start:]
    elif kind == "repeat":
        yield text[start:stop] + " " + text[start:]
    elif kind == "swap":
        other, end = places[draw(st.integers(0, len(places) - 1))]
        yield text[other:end] + text[stop:]
    elif kind == "delete":
        yield text[stop:]
