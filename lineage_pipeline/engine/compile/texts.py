"""Texts: what T-SQL strings come to that are put together from constants, variables and things unknown."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.words import behind_brackets, keyword

HOLE = "__hole__"
"""What stands for a part of a text that is known only at run time."""

MOST, LONGEST = 8, 200_000
"""How many texts a variable may hold one of, and how long one may be, before only the first ones count."""

_STRINGS = (TokenType.STRING, TokenType.NATIONAL_STRING)
_OPEN, _CLOSE = TokenType.L_PAREN, TokenType.R_PAREN


class Fragment(msgspec.Struct, frozen=True):
    """A part of a text and where it stands in the file; a hole has no place and is as long as it was written."""

    text: str
    offset: int = -1
    hole: int = 0


Text = tuple[Fragment, ...]
Texts = tuple[Text, ...]

UNKNOWN: Texts = ((Fragment(HOLE, hole=1),),)


def texts_of(tokens: Sequence[Token], known: Mapping[str, Texts]) -> Texts:
    """The texts that an expression may come to."""
    terms = [_term(term, known) for term in _split(tokens, TokenType.PLUS)]
    joined = (tuple(part for text in choice for part in text) for choice in product(*terms))
    return tuple(islice((text for text in joined if sum(len(part.text) for part in text) < LONGEST), MOST)) or UNKNOWN


def _split(tokens: Sequence[Token], at: TokenType) -> Iterator[Sequence[Token]]:
    """The parts between tokens of a kind, outside brackets and CASE."""
    depth, begin = 0, 0
    for index, token in enumerate(tokens):
        depth += (token.token_type is _OPEN) - (token.token_type is _CLOSE)
        depth += (keyword(token) == "CASE") - (keyword(token) == "END")
        if depth == 0 and token.token_type is at:
            yield tokens[begin:index]
            begin = index + 1
    yield tokens[begin:]


def _term(tokens: Sequence[Token], known: Mapping[str, Texts]) -> Texts:
    if not tokens:
        return ((),)
    first = tokens[0]
    if len(tokens) == 1 and first.token_type in _STRINGS:
        return (literal(first),)
    if len(tokens) == 1 and first.token_type is TokenType.NUMBER:
        return ((Fragment(first.text),),)
    if len(tokens) == 2 and first.token_type is TokenType.PARAMETER:
        return known.get("@" + tokens[1].text.lower()) or _hole(tokens)
    if first.token_type is _OPEN and behind_brackets(tokens, 0) == len(tokens):
        return texts_of(tokens[1:-1], known)
    if keyword(first) == "CASE":
        return _cases(tokens, known)
    if len(tokens) > 2 and tokens[1].token_type is _OPEN and behind_brackets(tokens, 1) == len(tokens):
        return _function(tokens, known)
    return _hole(tokens)


def _hole(tokens: Sequence[Token]) -> Texts:
    return ((Fragment(HOLE, hole=max(int(tokens[-1].end) + 1 - int(tokens[0].start), 1)),),)


def literal(token: Token) -> Text:
    """A constant, cut where a doubled quote makes the text shorter than what is written."""
    national = token.token_type is TokenType.NATIONAL_STRING
    offset = int(token.start) + (2 if national else 1)
    found = []
    pieces = token.text.split("'")
    for position, piece in enumerate(pieces):
        last = position == len(pieces) - 1
        text = piece if last else piece + "'"
        if text:
            found.append(Fragment(text, offset))
        offset += len(piece) + 2
    return tuple(found)


def _cases(tokens: Sequence[Token], known: Mapping[str, Texts]) -> Texts:
    """The texts behind THEN and ELSE."""
    found: list[Text] = []
    depth, begin = 0, -1
    for index, token in enumerate(tokens):
        word = keyword(token)
        depth += (token.token_type is _OPEN or word == "CASE") - (token.token_type is _CLOSE or word == "END")
        ends = (depth == 1 and word in ("WHEN", "ELSE")) or (depth == 0 and word == "END")
        if ends and begin >= 0:
            found.extend(texts_of(tokens[begin:index], known))
            begin = -1
        if depth == 1 and word in ("THEN", "ELSE"):
            begin = index + 1
    return tuple(found[:MOST]) or UNKNOWN


def _function(tokens: Sequence[Token], known: Mapping[str, Texts]) -> Texts:
    """A function of texts that can be worked out, or a hole."""
    name = keyword(tokens[0])
    args = list(_split(tokens[2:-1], TokenType.COMMA))
    if name == "CONCAT":
        values = [texts_of(arg, known) for arg in args]
        return tuple(islice((tuple(part for text in one for part in text) for one in product(*values)), MOST))
    if name in ("CHAR", "NCHAR"):
        return ((Fragment(" "),),)
    if name == "CAST":
        end = next((index for index, token in enumerate(args[0]) if keyword(token) == "AS"), len(args[0]))
        return texts_of(args[0][:end], known)
    chosen = {"CONVERT": 1, "ISNULL": 0, "COALESCE": 0, "RTRIM": 0, "LTRIM": 0, "UPPER": 0, "LOWER": 0}.get(name)
    if chosen is not None and chosen < len(args):
        return texts_of(args[chosen], known)
    if name == "IIF" and len(args) == 3:
        return (*texts_of(args[1], known), *texts_of(args[2], known))[:MOST]
    if name == "QUOTENAME" and args:
        return tuple((Fragment("["), *text, Fragment("]")) for text in texts_of(args[0], known))
    if name == "REPLACE" and len(args) == 3:
        return _replaced(texts_of(args[0], known), texts_of(args[1], known), texts_of(args[2], known))
    return _hole(tokens)


def _replaced(texts: Texts, old: Texts, new: Texts) -> Texts:
    """The texts with one constant replaced by another text."""
    (wanted,), (instead,) = (joined(old[0]),), (new[0],)
    if not wanted or any(part.hole for part in old[0]):
        return texts
    return tuple(tuple(part for piece in text for part in _cut(piece, wanted, instead)) for text in texts)


def _cut(piece: Fragment, wanted: str, instead: Text) -> Iterator[Fragment]:
    parts = piece.text.split(wanted)
    offset = piece.offset
    for position, part in enumerate(parts):
        if position:
            yield from instead
        if part:
            yield msgspec.structs.replace(piece, text=part, offset=offset)
        offset = offset + len(part) + len(wanted) if offset >= 0 else offset


def joined(text: Text, hole: str = HOLE) -> str:
    """A text as one string."""
    return "".join(hole if part.hole else part.text for part in text)


def constant_share(texts: Texts) -> int:
    """How much of the longest text is constant, in per cent of what is written."""
    longest = max(texts, key=lambda text: sum(len(part.text) for part in text))
    fixed = sum(len(part.text) for part in longest if not part.hole)
    holes = sum(part.hole for part in longest)
    return 100 * fixed // (fixed + holes) if fixed else 0
