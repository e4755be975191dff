"""Bodies of routines in other languages: the SQL texts among the constants of JavaScript, Python, Java and Scala.

What a program builds when it runs is not known here; a text with such a part is left out, and FOREIGN_BODY says so.
"""

import re
from collections.abc import Iterator, Sequence

from sqlglot.tokens import Token

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.engine.compile.grammar.parser import ParseFailure
from lineage_pipeline.engine.compile.lexer import tokenize
from lineage_pipeline.engine.compile.split.procedural_tokens import shift_token
from lineage_pipeline.engine.compile.tokens import decode_string


def tokenize_constants(body: Token, text: str, language: str, traits: DialectTraits) -> Iterator[Sequence[Token]]:
    """The tokens of each SQL text in a quoted body, at their offsets in the file."""
    code, offset, skips = decode_string(text[body.start : body.end + 1], traits)
    base = int(body.start) + offset
    for begin, written in _find_sql_texts(code, language):
        found = tokenize(written, traits)
        if not isinstance(found, ParseFailure) and found:
            yield [shift_token(token, base + begin, [skip - begin for skip in skips]) for token in found]


def _find_sql_texts(code: str, language: str) -> Iterator[tuple[int, str]]:
    """Each constant that is SQL, with its offset; constants side by side, or joined by a plus, are one."""
    groups: list[list[re.Match[str]]] = []
    for part in (_PYTHON_PARTS if "PYTHON" in language else _CURLY_PARTS).finditer(code):
        if part["constant"] is None:
            continue
        if groups and not code[groups[-1][-1].end() : part.start()].strip(" \t\r\n+\\"):
            groups[-1].append(part)
        else:
            groups.append([part])
    for group in groups:
        begin, end = group[0].start(), group[-1].end()
        completed = code[max(begin - 40, 0) : begin].rstrip().endswith("+")
        completed = completed or code[end : end + 40].lstrip().startswith(_COMPLETIONS)
        if completed or any(_is_template(part[0]) for part in group):
            continue
        written = [" "] * (end - begin)
        for part in group:
            written[part.start() - begin : part.end() - begin] = _blank_quotes(part[0])
        if _SQL_START.match("".join(written)):
            yield begin, "".join(written)


_CONSTANT = r"""(?P<constant>[rRbBuUfF]*(?:
      '{3}(?s:.*?)'{3} | "{3}(?s:.*?)"{3} | `[^`]*` | '(?:[^'\\\n]|\\(?s:.))*' | "(?:[^"\\\n]|\\(?s:.))*"
))"""

_CURLY_PARTS = re.compile(rf"//[^\n]* | /\*(?s:.*?)\*/ | {_CONSTANT}", re.VERBOSE)
_PYTHON_PARTS = re.compile(rf"\#[^\n]* | {_CONSTANT}", re.VERBOSE)
"""Remarks and constant texts of a language; the others write them as JavaScript does."""

_SQL_START = re.compile(
    r"""\s*(?:insert\s+(?:into|overwrite) | update\s+\S | delete\s+from | merge\s+into | truncate\s | copy\s+into
    | call\s+\S | select\s(?=[\s\S]*\sfrom\s) | with\s+\S+\s+as\b | (?:create|alter|drop)\s+\w)""",
    re.IGNORECASE | re.VERBOSE,
)
"""How a text that is SQL begins."""

_COMPLETIONS = ("+", "%", ".format", ".replace", ".concat")
"""What follows a text that is completed when it runs."""

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def _is_template(written: str) -> bool:
    """Whether a constant has fields: `${x}` of JavaScript, an f-string of Python."""
    prefix = written[: len(written) - len(written.lstrip("rRbBuUfF"))].lower()
    return (written.startswith("`") and "${" in written) or ("f" in prefix and "{" in written)


def _blank_quotes(written: str) -> str:
    """The text of a constant, as long as it is written: its quotes and escapes are blanks."""
    bare = written.lstrip("rRbBuUfF")
    width = 3 if bare[:3] in ("'''", '"""') else 1
    ahead = len(written) - len(bare) + width
    inside = _ESCAPE.sub(lambda match: " " + (match[1] if match[1] in "'\"`" else " "), written[ahead:-width])
    return " " * ahead + inside + " " * width
