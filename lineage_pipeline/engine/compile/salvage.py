"""What is left of a text that cannot be cut into tokens: its broken statements are taken out, and the rest goes on."""

import re
from collections.abc import Callable, Iterator

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.failures import Failure
from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.engine.compile.tokenizing import tokenize
from lineage_pipeline.vocabulary import ir

Readable = Callable[[str], bool]
"""Says whether a text can be cut into tokens."""

_END = re.compile(r";[ \t\r]*(?:--[^\n]*)?$|^[ \t]*(?:GO|/)[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
"""Where a statement ends, if it is not within quotes."""

_OPENING = re.compile(r"/\*|\$\w*\$|['\"`\[]")
"""What may have no end."""

_BEFORE = re.compile(r"(?:\s|--[^\n]*\n|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)*")
"""Blanks and comments before a statement."""

WIDE = 40
"""Such ends that a text in quotes may run over: the body of a routine, or the text of dynamic SQL."""

PAINS = 1_000_000
"""Characters that may be read once more to find out which statements of a text are broken; six times its length in a
long one."""


def read_tokens(text: str, traits: Traits) -> tuple[list[Token] | Failure, list[Piece]]:
    """The tokens of a text, and the statements in it that cannot be cut into tokens."""
    tokens = tokenize(text, traits)
    if not isinstance(tokens, Failure):
        return tokens, []
    lost = broken(text, lambda part: not isinstance(tokenize(part, traits), Failure))
    return tokenize(_without(text, lost), traits), lost


def broken(text: str, readable: Readable) -> list[Piece]:
    """The statements that keep a text from being cut into tokens, each with a finding where it goes wrong."""
    return [_piece(text, start, end, readable) for start, end in _ranges(text, readable) if text[start:end].strip()]


def _without(text: str, pieces: list[Piece]) -> str:
    """The text with blanks in the place of its broken statements."""
    parts: list[str] = []
    last = 0
    for piece in pieces:
        parts.extend((text[last : piece.start], re.sub(r"[^\n]", " ", text[piece.start : piece.end])))
        last = piece.end
    return "".join((*parts, text[last:]))


def _ranges(text: str, readable: Readable) -> Iterator[tuple[int, int]]:
    cuts = sorted({0, *(match.end() for match in _END.finditer(text)), len(text)})
    at, left = 0, max(PAINS, 6 * len(text))
    while at + 1 < len(cuts):
        width = 1
        while not readable(text[cuts[at] : cuts[at + width]]):
            left -= cuts[at + width] - cuts[at]
            if width == WIDE or left < 0 or at + width + 1 == len(cuts):
                fault = _fault(text[cuts[at] : cuts[at + 1]], readable)
                width = len(cuts) - 1 - at if text.startswith("/*", cuts[at] + fault) else 1  # the rest is a comment
                yield cuts[at], cuts[at + width]
                break
            width += 1
        at += width


def _piece(text: str, start: int, end: int, readable: Readable) -> Piece:
    """A broken statement, as one that needs no parser."""
    begin = _BEFORE.match(text, start, end).end()  # type: ignore[union-attr] # it may be empty
    if not text[begin:end].strip():  # a remark in a remark that does not end
        begin = end - len(text[start:end].lstrip())
    written = text[begin:end].rstrip().removesuffix(";").rstrip() or text[begin:end]
    token = Token(TokenType.VAR, written, 1, 1, begin, begin + len(written) - 1)
    at = _fault(written, readable)
    what = f"what begins with {written[at:].split()[0][:12]}" if at >= 0 else "something in it"
    finding = ir.Finding("PARSE_ERROR", (("reason", f"{what} does not end"),), max(at, 0), len(written))
    parts = (("status", "failed"), ("findings", (finding,)))
    return Piece([token], kind=written.split(maxsplit=1)[0].upper(), parts=parts, aside=True)


def _fault(written: str, readable: Readable) -> int:
    """Where a broken statement goes wrong: at the last opening up to which it can be read; -1 where that is unclear."""
    openings = [match.start() for match in _OPENING.finditer(written)][-WIDE:]
    return next((at for at in reversed(openings) if readable(written[:at])), -1)
