"""Statements recovered from strings: texts that are run become statements of their own, placed inside the strings."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.batches import pieces_of
from lineage_pipeline.engine.compile.calls import Run
from lineage_pipeline.engine.compile.holes import without_holes
from lineage_pipeline.engine.compile.identifiers import resolved
from lineage_pipeline.engine.compile.literals import STRINGS
from lineage_pipeline.engine.compile.parse import Failure
from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.engine.compile.quoted import numbered
from lineage_pipeline.engine.compile.quoting import with_texts
from lineage_pipeline.engine.compile.texts import Known, Text, constant_share, joined, texts_of
from lineage_pipeline.engine.compile.tokenizing import tokenize
from lineage_pipeline.engine.compile.words import dotted_name, is_name, keyword
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import HOLE

Spans = tuple[tuple[int, int], ...]
"""Where the strings stand that a text is made of."""

CompilePieces = Callable[[Iterable[Piece]], Iterable[ir.Placed]]


class Recovered(msgspec.Struct, frozen=True):
    """What a text that is run comes to; `whole` where all of it is known and could be read."""

    statements: tuple[ir.Placed, ...]
    whole: bool
    share: int


def recovered(run: Run, known: Known, compile_pieces: CompilePieces) -> Recovered:
    """The statements of all texts that a variable or expression may hold; parents count from the first of them."""
    texts = texts_of(run.text, known) if run.text else ()
    found: list[ir.Placed] = []
    whole, seen = bool(texts), set[str]()
    for candidate in texts:
        holes = any(part.hole for part in candidate) and _matters(candidate, known.traits)
        whole = whole and not holes
        if joined(candidate) in seen or not any(part.text.strip() for part in candidate if not part.hole):
            continue
        seen.add(joined(candidate))
        statements = _best(candidate, holes, run, known, compile_pieces)
        whole = whole and all(_is_known(placed.statement) for placed in statements)
        base = len(found)
        conditional = len(texts) > 1
        spans = tuple(dict.fromkeys(part.within for part in candidate if part.offset >= 0))
        found.extend(_finished(placed, base, spans, run, (holes, conditional)) for placed in statements)
    return Recovered(tuple(found), whole, constant_share(texts) if texts else 0)


def _is_known(statement: ir.Statement) -> bool:
    """Whether all of a statement was read; one that runs a text of its own says itself what is not known of that."""
    asks = statement.status == "partial" and any(item.code == "DYNAMIC_SQL" for item in statement.findings)
    return statement.status == "analysed" or asks


def _matters(candidate: Text, traits: Traits) -> bool:
    """Whether something unknown may be a name: inside of a string, or as a number of rows, it is a value."""
    tokens = tokenize(joined(candidate), traits)
    if isinstance(tokens, Failure):
        return True
    return any(HOLE in token.text for token in counted(tokens) if token.token_type not in STRINGS)


def counted(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with a number in the place of what says how many rows are taken."""
    return [
        Token(TokenType.NUMBER, "1", token.line, token.col, token.start, token.end, token.comments)
        if token.text == HOLE and index and keyword(tokens[index - 1]) in _COUNTS
        else token
        for index, token in enumerate(tokens)
    ]


_COUNTS = frozenset("TOP LIMIT OFFSET NEXT FIRST".split())
"""Words behind which a number of rows stands."""


def _best(candidate: Text, holes: bool, run: Run, known: Known, compile_pieces: CompilePieces) -> Sequence[ir.Placed]:
    """The text with its holes as names, or without them where more of it can be read then."""
    best: Sequence[ir.Placed] = ()
    fewest, traits = -1, known.traits
    unknown = any(part.hole for part in candidate)
    for filler in (HOLE, "") if holes else (HOLE,) if unknown else ("",):
        tokens = _tokens(candidate, filler, run, known)
        if tokens is None:
            continue
        found, faults = pieces_of(tokens, traits, known.source)
        pieces = [resolved(_placed(piece), known) for piece in found]
        statements = [
            guessed(piece, placed, traits) for piece, placed in zip(pieces, compile_pieces(pieces), strict=False)
        ]
        if faults and statements:
            first = statements[0].statement
            first = msgspec.structs.replace(first, findings=(*faults, *first.findings))
            statements[0] = msgspec.structs.replace(statements[0], statement=first)
        failed = sum(placed.statement.status == "failed" or _is_guess(placed) for placed in statements)
        if fewest < 0 or failed < fewest:
            best, fewest = statements, failed
        if failed == 0:
            break
    return best


def _tokens(candidate: Text, filler: str, run: Run, known: Known) -> list[Token] | None:
    source = joined(candidate, filler)
    tokens = tokenize(source, known.traits)
    if isinstance(tokens, Failure) or not tokens:
        return None
    if known.traits.batches:
        quoted = any(known.source[part.within[0]] == '"' for part in candidate if part.offset >= 0)
        tokens = list(with_texts(tokens, source, off=quoted))
    elif ":" in source:
        tokens = numbered(tokens)
    tokens = counted(tokens) if filler else tokens
    starts, position = [], 0
    for part in candidate:
        starts.append(position)
        position += len(filler) if part.hole else len(part.text)
    renamed = {name: value.name[1:] for name, value in run.given if isinstance(value, ir.Variable) and name}
    moved: list[Token] = []
    for token in tokens:
        place = _moved(token, candidate, starts)
        marked = bool(moved) and moved[-1].token_type is TokenType.PARAMETER
        text = renamed.get("@" + token.text.lower(), token.text) if marked else token.text
        if text != token.text:  # what is written here is another name
            place = (-1, -1)
            moved[-1] = _at(moved[-1], moved[-1].text, place)
        moved.append(_at(token, text, place))
    return moved


def _at(token: Token, text: str, place: tuple[int, int]) -> Token:
    return Token(token.token_type, text, token.line, token.col, *place, token.comments)


def _moved(token: Token, candidate: Text, starts: Sequence[int]) -> tuple[int, int]:
    """Where a token of the text stands in the file; before its beginning where it does not."""
    first, last = (bisect_right(starts, int(place)) - 1 for place in (token.start, token.end))
    begin, end = candidate[first], candidate[last]
    if begin.offset < 0 or end.offset < 0 or any(part.hole for part in candidate[first : last + 1]):
        return -1, -1
    inside = int(token.end) - starts[last]
    doubled = end.text[inside : inside + 1] == "'"
    return begin.offset + int(token.start) - starts[first], end.offset + inside + doubled


def _placed(piece: Piece) -> Piece:
    """A piece that begins and ends at the tokens that have a place."""
    starts = [int(token.start) for token in piece.tokens if token.start >= 0]
    ends = [int(token.end) + 1 for token in piece.tokens if token.start >= 0]
    return msgspec.structs.replace(piece, begin=min(starts, default=0), stop=max(ends, default=0))


_SOURCES = frozenset({"FROM", "JOIN", "USING", "APPLY"})
_TARGETS = frozenset({"INTO", "UPDATE", "MERGE"})


def guessed(piece: Piece, placed: ir.Placed, traits: Traits) -> ir.Placed:
    """A statement that could not be read, with the tables that its words seem to name."""
    if placed.statement.status != "failed":
        return placed
    reads = tuple(dict.fromkeys(_named(piece.tokens, _SOURCES, traits)))
    targets = dict.fromkeys(_named(piece.tokens, _TARGETS, traits))
    nothing = ir.Select((), ())
    guess = ir.Statement(
        placed.statement.kind,
        "partial",
        relations=(nothing,) if targets else (),
        writes=tuple(ir.Write(target, 0, "insert", ()) for target in targets),
        reads=reads,
        fingerprint=placed.statement.fingerprint,
        features=("guessed",),
    )
    return msgspec.structs.replace(placed, statement=guess)


def _is_guess(placed: ir.Placed) -> bool:
    return "guessed" in placed.statement.features


def _named(tokens: Sequence[Token], words: frozenset[str], traits: Traits) -> Iterator[ir.Name]:
    for index, token in enumerate(tokens[:-1]):
        if keyword(token) in words and is_name(tokens, index + 1) and keyword(tokens[index + 1]) not in words:
            name, after = dotted_name(tokens, index + 1, 0, traits)
            called = after < len(tokens) and tokens[after].token_type is TokenType.L_PAREN
            if not called or keyword(token) == "INTO":
                yield ir.Name(name.parts, name.written)


def _finished(placed: ir.Placed, base: int, spans: Spans, run: Run, traits: tuple[bool, bool]) -> ir.Placed:
    """A statement as it stands among those of its call: without bytes, its result where the caller puts it."""
    holes, conditional = traits
    statement = placed.statement
    if placed.parent < 0 and statement.result != ir.NOWHERE:
        statement = _taken(statement, run)
    statement = msgspec.structs.replace(
        statement,
        context=(),  # what USE says in a text holds to the end of the text only
        features=tuple(sorted({*statement.features, "dynamic"})),
        findings=tuple(item for item in statement.findings if item.code == "DYNAMIC_SQL"),
        relations=tuple(_confined(relation, placed.start, spans) for relation in statement.relations),
        writes=tuple(
            msgspec.structs.replace(write, conditional=write.conditional or conditional) for write in statement.writes
        ),
    )
    if holes:
        statement = without_holes(statement)
    exact = placed.end > placed.start and _is_within(placed.start, placed.end, spans)
    parent = placed.parent + base if placed.parent >= 0 else ir.NOWHERE
    return ir.Placed(placed.start, placed.end, parent, statement, quoted=True, exact=exact)


def _taken(statement: ir.Statement, run: Run) -> ir.Statement:
    """A query whose rows somebody takes: a table, variables, or the module that gives its columns other names."""
    if run.target is not None:
        target = msgspec.structs.replace(run.target, start=ir.NOWHERE, end=ir.NOWHERE)
        write = ir.Write(target, statement.result, "insert", run.columns)
        return msgspec.structs.replace(statement, kind="INSERT", result=ir.NOWHERE, writes=(write,))
    if run.into:
        taken = ir.Assignment(run.into, statement.result, run.row, declares=run.row)
        return msgspec.structs.replace(statement, result=ir.NOWHERE, assigns=(taken,))
    if run.lost:
        asked = ir.Assignment((), statement.result)
        return msgspec.structs.replace(statement, result=ir.NOWHERE, assigns=(asked,))
    if run.columns:
        relations = (*statement.relations, ir.Renamed(statement.result, run.columns))
        return msgspec.structs.replace(statement, relations=relations, result=len(relations) - 1)
    return statement


def _confined(relation: ir.Relation, origin: int, spans: Spans) -> ir.Relation:
    """A select whose outputs stand in one string each, or nowhere."""
    if not isinstance(relation, ir.Select):
        return relation
    outputs = tuple(
        item
        if item.start < 0 or _is_within(origin + item.start, origin + item.end, spans)
        else msgspec.structs.replace(item, start=ir.NOWHERE, end=ir.NOWHERE)
        for item in relation.outputs
    )
    return msgspec.structs.replace(relation, outputs=outputs)


def _is_within(start: int, end: int, spans: Spans) -> bool:
    """Whether a slice of the file stays inside one string."""
    return any(first < start and end < last for first, last in spans)
