"""Texts: what strings come to that are put together from constants, variables and things unknown."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.dialects.folding import fold
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.literals import STRINGS, decoded
from lineage_pipeline.engine.compile.words import behind_brackets, behind_name, is_name, keyword
from lineage_pipeline.vocabulary.analysis import HOLE

MOST, LONGEST = 8, 200_000
"""How many texts a variable may hold one of, and how long one may be, before only the first ones count."""

_OPEN, _CLOSE = TokenType.L_PAREN, TokenType.R_PAREN


class Fragment(msgspec.Struct, frozen=True):
    """A part of a text and where it stands in the file; a hole has no place and is as long as it was written.

    `within` is where the string begins and ends of which it is a part.
    """

    text: str
    offset: int = -1
    hole: int = 0
    within: tuple[int, int] = (-1, -1)


Text = tuple[Fragment, ...]
Texts = tuple[Text, ...]

UNKNOWN: Texts = ((Fragment(HOLE, hole=1),),)


class Known(msgspec.Struct, frozen=True):
    """What variables hold, by name, in a file of a dialect.

    Variables with one of their `origins` in common got their texts in the arms of the same branch, one in each.
    """

    texts: Mapping[str, Texts]
    source: str
    traits: Traits
    origins: Mapping[str, int] = {}

    def named(self, tokens: Sequence[Token]) -> str:
        """The variable that some tokens name, or nothing."""
        marked = len(tokens) == 2 and tokens[0].token_type in (TokenType.PARAMETER, TokenType.COLON)
        if marked and tokens[0].token_type is TokenType.PARAMETER:
            return "@" + tokens[1].text.lower()
        if self.traits.batches or len(tokens) != (2 if marked else 1) or not is_name(tokens, int(marked)):
            return ""
        return fold(tokens[-1].text, tokens[-1].token_type is TokenType.IDENTIFIER, self.traits.columns)


def texts_of(tokens: Sequence[Token], known: Known) -> Texts:
    """The texts that an expression may come to."""
    terms = list(parted(tokens, TokenType.PLUS, TokenType.DPIPE))
    choices = _choices(terms, [_term(term, known) for term in terms], known)
    joined = (tuple(part for text in choice for part in text) for choice in choices)
    return tuple(islice((text for text in joined if sum(len(part.text) for part in text) < LONGEST), MOST)) or UNKNOWN


def _choices(terms: Sequence[Sequence[Token]], found: Sequence[Texts], known: Known) -> Iterator[list[Text]]:
    """One text for each term; what depends on the same thing is chosen together."""
    groups: dict[tuple[object, int], list[int]] = {}
    for position, (term, texts) in enumerate(zip(terms, found, strict=True)):
        name = known.named(term) if len(texts) > 1 else ""
        key = known.origins.get(name, name) if name else (position,)
        groups.setdefault((key, len(texts)), []).append(position)
    for picked in product(*(range(size) for _, size in groups)):
        chosen = {at: pick for pick, members in zip(picked, groups.values(), strict=True) for at in members}
        yield [texts[chosen[position]] for position, texts in enumerate(found)]


def parted(tokens: Sequence[Token], *at: TokenType) -> Iterator[Sequence[Token]]:
    """The parts between tokens of some kinds, outside brackets and CASE."""
    depth, begin = 0, 0
    for index, token in enumerate(tokens):
        depth += (token.token_type is _OPEN) - (token.token_type is _CLOSE)
        depth += (keyword(token) == "CASE") - (keyword(token) == "END")
        if depth == 0 and token.token_type in at:
            yield tokens[begin:index]
            begin = index + 1
    yield tokens[begin:]


def _term(tokens: Sequence[Token], known: Known) -> Texts:
    if not tokens:
        return ((),)
    first = tokens[0]
    cast = next((index for index, token in enumerate(tokens) if token.token_type is TokenType.DCOLON), 0)
    if cast:
        return _term(tokens[:cast], known)
    if len(tokens) == 1 and first.token_type in STRINGS:
        return (literal(first, known),)
    if len(tokens) == 1 and first.token_type is TokenType.NUMBER:
        return ((Fragment(first.text),),)
    if known.named(tokens):
        return known.texts.get(known.named(tokens)) or _hole(tokens)
    if first.token_type is _OPEN and behind_brackets(tokens, 0) == len(tokens):
        return texts_of(tokens[1:-1], known)
    if keyword(first) == "CASE":
        return _cases(tokens, known)
    return _called(tokens, known)


def _called(tokens: Sequence[Token], known: Known) -> Texts:
    """A function, perhaps of a package, or something else that is known only at run time."""
    behind = behind_name(tokens, 0)
    opened = 0 < behind < len(tokens) - 1 and tokens[behind].token_type is _OPEN
    if opened and behind_brackets(tokens, behind) == len(tokens):
        args = list(parted(tokens[behind + 1 : -1], TokenType.COMMA))
        return function_texts(keyword(tokens[behind - 1]), args, known) or _hole(tokens)
    return _hole(tokens)


def _hole(tokens: Sequence[Token]) -> Texts:
    return ((Fragment(HOLE, hole=max(int(tokens[-1].end) + 1 - int(tokens[0].start), 1)),),)


def literal(token: Token, known: Known) -> Text:
    """A constant, cut where what is written has a character more than the text."""
    code, offset, skips = decoded(known.source[token.start : token.end + 1], known.traits)
    within = (int(token.start), int(token.end) + 1)
    base = int(token.start) + offset
    cuts = [0, *(skip + 1 for skip in skips), len(code)]
    return tuple(
        Fragment(code[begin:end], base + begin + position, within=within)
        for position, (begin, end) in enumerate(zip(cuts, cuts[1:], strict=False))
        if end > begin
    )


def _cases(tokens: Sequence[Token], known: Known) -> Texts:
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


def function_texts(name: str, args: Sequence[Sequence[Token]], known: Known) -> Texts:
    """What a function of texts comes to where that can be worked out."""
    if name in ("CONCAT", "FORMAT"):
        values = [texts_of(arg, known) for arg in args]
        joins = _formatted if name == "FORMAT" else _concatenated
        return tuple(islice((joins(one) for one in product(*values)), MOST))
    if name in ("CHAR", "NCHAR", "CHR"):
        return ((Fragment(" "),),)
    if name in ("CAST", "TRY_CAST") and args:
        end = next((index for index, token in enumerate(args[0]) if keyword(token) == "AS"), len(args[0]))
        return texts_of(args[0][:end], known)
    chosen = _HANDED_ON.get(name)
    if chosen is not None and chosen < len(args):
        return texts_of(args[chosen], known)
    if name in ("IIF", "IF", "IFF") and len(args) == 3:
        return (*texts_of(args[1], known), *texts_of(args[2], known))[:MOST]
    if name in _QUOTING and args:
        before, after = _QUOTING[name]
        return tuple((Fragment(before), *text, Fragment(after)) for text in texts_of(args[0], known))
    if name == "REPLACE" and len(args) == 3:
        return _replaced(texts_of(args[0], known), texts_of(args[1], known), texts_of(args[2], known))
    return ()


_HANDED_ON = {
    **dict.fromkeys("ISNULL COALESCE NVL IFNULL RTRIM LTRIM TRIM UPPER LOWER QUOTE_IDENT TO_CHAR STRING".split(), 0),
    **dict.fromkeys("SIMPLE_SQL_NAME SQL_OBJECT_NAME QUALIFIED_SQL_NAME SCHEMA_NAME ENQUOTE_NAME NOOP".split(), 0),
    "CONVERT": 1,
}
"""Functions that hand on one of their arguments, as far as names and texts go, and which."""

_QUOTING = {"QUOTENAME": ("[", "]"), "QUOTE_LITERAL": ("'", "'"), "QUOTE": ("'", "'"), "ENQUOTE_LITERAL": ("'", "'")}
"""Functions that put quotes around a text."""

_FORMAT = re.compile(r"%(?:(\d+)\$)?[-+ #0']*\d*(?:\.\d+)?([A-Za-z%])")
"""A place in the text of FORMAT."""


def _concatenated(texts: Sequence[Text]) -> Text:
    return tuple(part for text in texts for part in text)


def _formatted(texts: Sequence[Text]) -> Text:
    """What FORMAT makes of its first argument and the others; what has no argument is a hole."""
    found: list[Fragment] = []
    position = 0
    for piece in texts[0]:
        end = 0
        for match in _FORMAT.finditer(piece.text):
            found.extend(_part(piece, end, match.start()))
            end = match.end()
            if match[2] == "%":
                found.append(Fragment("%"))
                continue
            position = whole_number(match[1]) if match[1] else position + 1
            value = texts[position] if position < len(texts) else UNKNOWN[0]
            quote = (Fragment("'"),) if match[2] in "LT" else ()
            found.extend((*quote, *value, *quote))
        found.extend(_part(piece, end, len(piece.text)))
    return tuple(found)


def _part(piece: Fragment, begin: int, end: int) -> Iterator[Fragment]:
    """Some characters of a fragment, where they stand."""
    if end > begin:
        offset = piece.offset + begin if piece.offset >= 0 else piece.offset
        yield msgspec.structs.replace(piece, text=piece.text[begin:end], offset=offset)


def _replaced(texts: Texts, old: Texts, new: Texts) -> Texts:
    """The texts with one constant replaced by another text."""
    (wanted,), (instead,) = (joined(old[0]),), (new[0],)
    if not wanted or any(part.hole for part in old[0]):
        return texts
    return tuple(tuple(part for piece in text for part in _cut(piece, wanted, instead)) for text in texts)


def _cut(piece: Fragment, wanted: str, instead: Text) -> Iterator[Fragment]:
    begin = 0
    for position, part in enumerate(piece.text.split(wanted)):
        if position:
            yield from instead
        yield from _part(piece, begin, begin + len(part))
        begin += len(part) + len(wanted)


def joined(text: Text, hole: str = HOLE) -> str:
    """A text as one string."""
    return "".join(hole if part.hole else part.text for part in text)


def constant_share(texts: Texts) -> int:
    """How much of the longest text is constant, in per cent of what is written."""
    longest = max(texts, key=lambda text: sum(len(part.text) for part in text))
    fixed = sum(len(part.text) for part in longest if not part.hole)
    holes = sum(part.hole for part in longest)
    return 100 * fixed // (fixed + holes) if fixed else 0
