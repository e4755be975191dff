"""Executed texts: the statements in the texts that EXECUTE and sp_executesql run, placed inside their strings."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.engine.compile.dynamic_sql.constant_folding import (
    FoldedText,
    KnownTexts,
    compute_constant_share,
    fold_texts,
    join_text,
)
from lineage_pipeline.engine.compile.dynamic_sql.identifier_function import resolve_identifiers
from lineage_pipeline.engine.compile.grammar.parser import ParseFailure
from lineage_pipeline.engine.compile.lexer import read_double_quotes, tokenize
from lineage_pipeline.engine.compile.placeholders import (
    GUESSED,
    ReplacementStage,
    fill_row_counts,
    has_unknown_parts,
    replace_placeholders,
    strip_unknown_parts,
)
from lineage_pipeline.engine.compile.split.raw_statements import DynamicExecution, RawStatement
from lineage_pipeline.engine.compile.split.splitter import split_statements
from lineage_pipeline.engine.compile.tokens import is_name_at, keyword, read_dotted_name
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import RUNTIME_PLACEHOLDER

StringSpans = tuple[tuple[int, int], ...]
"""The spans of the strings that a text is made of."""

CompileRawStatements = Callable[[Iterable[RawStatement]], Iterable[ir.Placed]]
"""Compiles raw statements in order."""


class DynamicStatements(msgspec.Struct, frozen=True):
    """The statements of an executed text; `whole` if all of it is known and could be read."""

    statements: tuple[ir.Placed, ...]
    whole: bool
    share: int


def compile_executed_text(
    run: DynamicExecution, known: KnownTexts, compile_pieces: CompileRawStatements
) -> DynamicStatements:
    """The statements of all texts that an expression may hold; parents count from the first of them."""
    texts = fold_texts(run.text, known) if run.text else ()
    found: list[ir.Placed] = []
    whole, seen = bool(texts), set[str]()
    for candidate in texts:
        unknown_names = any(part.unknown for part in candidate) and _has_unknown_names(candidate, known.traits)
        whole = whole and not unknown_names
        if join_text(candidate) in seen or not any(part.text.strip() for part in candidate if not part.unknown):
            continue
        seen.add(join_text(candidate))
        statements = _compile_best_reading(candidate, unknown_names, run, known, compile_pieces)
        whole = whole and all(_is_completely_read(placed.statement) for placed in statements)
        base = len(found)
        conditional = len(texts) > 1
        spans = tuple(dict.fromkeys(part.within for part in candidate if part.offset >= 0))
        found.extend(_finish_statement(placed, base, spans, run, (unknown_names, conditional)) for placed in statements)
    return DynamicStatements(tuple(found), whole, compute_constant_share(texts) if texts else 0)


def _is_completely_read(statement: ir.Statement) -> bool:
    """Whether all of a statement was read; a nested executed text reports its own gaps."""
    asks = statement.status == "partial" and any(item.code == "DYNAMIC_SQL" for item in statement.findings)
    return statement.status == "analysed" or asks


def _has_unknown_names(candidate: FoldedText, traits: DialectTraits) -> bool:
    """Whether an unknown part may be a name: inside a string, or as a row count, it is only a value."""
    tokens = tokenize(join_text(candidate), traits)
    if isinstance(tokens, ParseFailure):
        return True
    return has_unknown_parts(fill_row_counts(tokens))


def _compile_best_reading(
    candidate: FoldedText,
    unknown_names: bool,
    run: DynamicExecution,
    known: KnownTexts,
    compile_pieces: CompileRawStatements,
) -> Sequence[ir.Placed]:
    """The statements of a text with its unknown parts as names, or without them if more can be read then."""
    best: Sequence[ir.Placed] = ()
    fewest, traits = -1, known.traits
    unknown = any(part.unknown for part in candidate)
    for filler in (RUNTIME_PLACEHOLDER, "") if unknown_names else (RUNTIME_PLACEHOLDER,) if unknown else ("",):
        tokens = _tokenize_text(candidate, filler, run, known)
        if tokens is None:
            continue
        found, faults = split_statements(tokens, traits, known.source)
        pieces = [resolve_identifiers(_place_raw_statement(piece), known) for piece in found]
        statements = [
            guess_tables(piece, placed, traits) for piece, placed in zip(pieces, compile_pieces(pieces), strict=False)
        ]
        if faults and statements:
            first = statements[0].statement
            first = msgspec.structs.replace(first, findings=(*faults, *first.findings))
            statements[0] = msgspec.structs.replace(statements[0], statement=first)
        failed = sum(placed.statement.status == "failed" or _is_guessed(placed) for placed in statements)
        if fewest < 0 or failed < fewest:
            best, fewest = statements, failed
        if failed == 0:
            break
    return best


def _tokenize_text(candidate: FoldedText, filler: str, run: DynamicExecution, known: KnownTexts) -> list[Token] | None:
    source = join_text(candidate, filler)
    tokens = tokenize(source, known.traits)
    if isinstance(tokens, ParseFailure) or not tokens:
        return None
    if known.traits.transact_sql:
        quoted = any(known.source[part.within[0]] == '"' for part in candidate if part.offset >= 0)
        tokens = list(read_double_quotes(tokens, source, off=quoted))
    elif ":" in source:
        tokens = replace_placeholders(tokens, ReplacementStage.EXECUTED_TEXT)
    tokens = fill_row_counts(tokens) if filler else tokens
    starts, position = [], 0
    for part in candidate:
        starts.append(position)
        position += len(filler) if part.unknown else len(part.text)
    renamed = {name: value.name[1:] for name, value in run.given if isinstance(value, ir.Variable) and name}
    moved: list[Token] = []
    for token in tokens:
        place = _find_token_span(token, candidate, starts)
        marked = bool(moved) and moved[-1].token_type is TokenType.PARAMETER
        text = renamed.get("@" + token.text.lower(), token.text) if marked else token.text
        if text != token.text:  # what is written here is another name
            place = (-1, -1)
            moved[-1] = _token_at(moved[-1], moved[-1].text, place)
        moved.append(_token_at(token, text, place))
    return moved


def _token_at(token: Token, text: str, place: tuple[int, int]) -> Token:
    return Token(token.token_type, text, token.line, token.col, *place, token.comments)


def _find_token_span(token: Token, candidate: FoldedText, starts: Sequence[int]) -> tuple[int, int]:
    """The span of a token in the file; (-1, -1) if it is not written there."""
    first, last = (bisect_right(starts, int(place)) - 1 for place in (token.start, token.end))
    begin, end = candidate[first], candidate[last]
    if begin.offset < 0 or end.offset < 0 or any(part.unknown for part in candidate[first : last + 1]):
        return -1, -1
    inside = int(token.end) - starts[last]
    doubled = end.text[inside : inside + 1] == "'"
    return begin.offset + int(token.start) - starts[first], end.offset + inside + doubled


def _place_raw_statement(piece: RawStatement) -> RawStatement:
    """A raw statement that begins and ends at the tokens that have an offset."""
    starts = [int(token.start) for token in piece.tokens if token.start >= 0]
    ends = [int(token.end) + 1 for token in piece.tokens if token.start >= 0]
    return msgspec.structs.replace(piece, begin=min(starts, default=0), stop=max(ends, default=0))


_SOURCE_KEYWORDS = frozenset({"FROM", "JOIN", "USING", "APPLY"})
_TARGET_KEYWORDS = frozenset({"INTO", "UPDATE", "MERGE"})


def guess_tables(piece: RawStatement, placed: ir.Placed, traits: DialectTraits) -> ir.Placed:
    """A failed statement with the tables that its keywords seem to name."""
    if placed.statement.status != "failed":
        return placed
    reads = tuple(dict.fromkeys(_names_after(piece.tokens, _SOURCE_KEYWORDS, traits)))
    targets = dict.fromkeys(_names_after(piece.tokens, _TARGET_KEYWORDS, traits))
    nothing = ir.Select((), ())
    guess = ir.Statement(
        placed.statement.kind,
        "partial",
        relations=(nothing,) if targets else (),
        writes=tuple(ir.Write(target, 0, "insert", ()) for target in targets),
        reads=reads,
        fingerprint=placed.statement.fingerprint,
        features=(GUESSED,),
    )
    return msgspec.structs.replace(placed, statement=guess)


def _is_guessed(placed: ir.Placed) -> bool:
    return GUESSED in placed.statement.features


def _names_after(tokens: Sequence[Token], words: frozenset[str], traits: DialectTraits) -> Iterator[ir.Name]:
    """The dotted names after some keywords."""
    for index, token in enumerate(tokens[:-1]):
        if keyword(token) in words and is_name_at(tokens, index + 1) and keyword(tokens[index + 1]) not in words:
            name, after = read_dotted_name(tokens, index + 1, 0, traits)
            called = after < len(tokens) and tokens[after].token_type is TokenType.L_PAREN
            if not called or keyword(token) == "INTO":
                yield ir.Name(name.parts, name.written)


def _finish_statement(
    placed: ir.Placed, base: int, spans: StringSpans, run: DynamicExecution, traits: tuple[bool, bool]
) -> ir.Placed:
    """A statement of an executed text: without findings of its own, its result where the caller puts it."""
    unknown_names, conditional = traits
    statement = placed.statement
    if placed.parent < 0 and statement.result != ir.NOWHERE:
        statement = _take_result(statement, run)
    statement = msgspec.structs.replace(
        statement,
        context=(),  # what USE says in a text holds to the end of the text only
        features=tuple(sorted({*statement.features, "dynamic"})),
        findings=tuple(item for item in statement.findings if item.code == "DYNAMIC_SQL"),
        relations=tuple(_confine_outputs(relation, placed.start, spans) for relation in statement.relations),
        writes=tuple(
            msgspec.structs.replace(write, conditional=write.conditional or conditional) for write in statement.writes
        ),
    )
    if unknown_names:
        statement = strip_unknown_parts(statement)
    exact = placed.end > placed.start and _is_in_one_string(placed.start, placed.end, spans)
    parent = placed.parent + base if placed.parent >= 0 else ir.NOWHERE
    return ir.Placed(placed.start, placed.end, parent, statement, quoted=True, exact=exact)


def _take_result(statement: ir.Statement, run: DynamicExecution) -> ir.Statement:
    """A query whose rows go to a table, to variables, or to the routine under other column names."""
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


def _confine_outputs(relation: ir.Relation, origin: int, spans: StringSpans) -> ir.Relation:
    """A select whose outputs lie in one string each, or nowhere."""
    if not isinstance(relation, ir.Select):
        return relation
    outputs = tuple(
        item
        if item.start < 0 or _is_in_one_string(origin + item.start, origin + item.end, spans)
        else msgspec.structs.replace(item, start=ir.NOWHERE, end=ir.NOWHERE)
        for item in relation.outputs
    )
    return msgspec.structs.replace(relation, outputs=outputs)


def _is_in_one_string(start: int, end: int, spans: StringSpans) -> bool:
    """Whether a slice of the file lies inside one string."""
    return any(first < start and end < last for first, last in spans)
