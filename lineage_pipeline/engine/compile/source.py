"""One source: its text becomes a script of compiled statements, each at its place."""

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

import msgspec
from sqlglot import exp
from sqlglot.tokens import Token

from lineage_pipeline.dialects.hints import hint_for
from lineage_pipeline.dialects.traits import GENERIC, Traits, traits_of
from lineage_pipeline.engine.compile.batches import pieces_of
from lineage_pipeline.engine.compile.chains import balanced, has_chain
from lineage_pipeline.engine.compile.coarse import coarse
from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.directives import client_lines
from lineage_pipeline.engine.compile.identifiers import speaks
from lineage_pipeline.engine.compile.isolation import silence_sqlglot
from lineage_pipeline.engine.compile.limits import over, over_limits
from lineage_pipeline.engine.compile.marks import complexity, fingerprint, pragmas
from lineage_pipeline.engine.compile.parse import Failure, Items, parse
from lineage_pipeline.engine.compile.patchwork import with_holes
from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.engine.compile.queries import query
from lineage_pipeline.engine.compile.quoting import with_texts
from lineage_pipeline.engine.compile.readers import READERS, Parts, read, read_unread
from lineage_pipeline.engine.compile.salvage import read_tokens
from lineage_pipeline.engine.compile.sequence import sequence
from lineage_pipeline.engine.compile.silence import is_silent, is_skipped
from lineage_pipeline.engine.compile.statements import change, statement_parts
from lineage_pipeline.engine.compile.templates import filled, without_remarks
from lineage_pipeline.engine.compile.uses import unread, used
from lineage_pipeline.engine.compile.words import search_path
from lineage_pipeline.engine.faults import contain
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import HOLE, Limits, Options

COMPILERS = (query, change)

Watch = Callable[[int], str]
"""Told where each statement begins before it is compiled; says which limit it is known to exceed, if it does."""


def compile_source(text: str, options: Options, watch: Watch | None = None) -> ir.Script:
    """The script that a text is in a dialect; whatever cannot be read is a finding in it."""
    if len(text) > options.limits.bytes:
        return unread_source(text, options, f"{options.limits.bytes} characters")
    with silence_sqlglot():
        return contain(
            lambda: _read(text, options, watch), lambda fault: _unread(text, options, fault), "the file", 0, 0
        )


def _read(text: str, options: Options, watch: Watch | None) -> ir.Script:
    traits = traits_of(options.dialect, options.case_sensitivity)
    findings = [] if traits is not None else [_fallback(options.dialect)]
    known = traits or GENERIC
    client = client_lines(text, known)
    covered = client.covered() if client.covers else text
    tokens, lost = read_tokens(without_remarks(covered) if known.batches else covered, known)
    if isinstance(tokens, Failure):
        start, end = _written(text)
        return _unread(text, options, _finding("PARSE_ERROR", 0, end - start, reason=tokens.reason))
    if known.batches:
        tokens = list(with_texts(filled(tokens, text), text))

    def compile_piece(piece: Piece, declared: Mapping[str, str]) -> ir.Placed:
        limit = watch(piece.start) if watch is not None else ""
        if limit:
            excess = over("the statement", limit, piece.end - piece.start)
            return coarse(piece, known, _first_words(piece.tokens), excess)
        return _contained(piece, lambda: _compile(piece, text, known, options.limits, declared))

    pieces: Iterable[Piece]
    pieces, faults = pieces_of(tokens, known, text)
    if client.pieces or lost:
        pieces = heapq.merge(pieces, client.pieces, lost, key=lambda piece: piece.start)
    compiler = with_holes(compile_piece, known) if HOLE in text or speaks(text, known) else compile_piece
    placed = list(sequence(pieces, text, known, compiler))
    if client.covers:  # the end of a line may have stood for a semicolon
        placed = [
            msgspec.structs.replace(item, end=item.start + len(text[item.start : item.end].rstrip())) for item in placed
        ]
    return _script(traits, _with_findings(placed, [*findings, *faults]))


def _contained(piece: Piece, compile_it: Callable[[], ir.Placed]) -> ir.Placed:
    """A statement as it is compiled; one that has nothing in it, or that surprises us anywhere, is said and no more."""
    if not piece.tokens:
        missing = _finding("PARSE_ERROR", 0, piece.end - piece.start, reason="something is missing here")
        kind = piece.use.kind if piece.use is not None and piece.use.kind else "UNKNOWN"
        return _failed(piece.start, piece.end, missing, kind, piece.parent)
    kind = _first_words(piece.tokens)
    return contain(
        compile_it,
        lambda fault: _failed(piece.start, piece.end, fault, kind, piece.parent),
        construct=kind,
        start=0,
        end=piece.end - piece.start,
    )


def unread_source(text: str, options: Options, limit: str) -> ir.Script:
    """The script of a text that is not read, because it is over a limit as a whole."""
    return _unread(text, options, _finding("LIMIT_EXCEEDED", 0, 0, what="the file", limit=limit))


def _unread(text: str, options: Options, finding: ir.Finding) -> ir.Script:
    return _script(traits_of(options.dialect, options.case_sensitivity), [_failed(*_written(text), finding)])


def _script(traits: Traits | None, placed: Sequence[ir.Placed]) -> ir.Script:
    return ir.Script(ir.IR_VERSION, (traits or GENERIC).name, tuple(placed))


def _written(text: str) -> tuple[int, int]:
    """Where a text begins and ends, white space left out."""
    return len(text) - len(text.lstrip()), len(text.rstrip())


def _with_findings(placed: list[ir.Placed], findings: list[ir.Finding]) -> list[ir.Placed]:
    """Hang findings about the whole source onto its first statement."""
    if not placed or not findings:
        return placed
    first = placed[0]
    statement = msgspec.structs.replace(first.statement, findings=(*findings, *first.statement.findings))
    return [msgspec.structs.replace(first, statement=statement), *placed[1:]]


def _finding(code: str, start: int, end: int, **values: str) -> ir.Finding:
    return ir.Finding(code, tuple(values.items()), start, end)


def _fallback(dialect: str) -> ir.Finding:
    return _finding("DIALECT_FALLBACK", 0, 0, dialect=dialect, hint=hint_for(dialect))


def _failed(start: int, end: int, finding: ir.Finding, kind: str = "UNKNOWN", parent: int = -1) -> ir.Placed:
    return ir.Placed(start, end, parent, ir.Statement(kind, "failed", findings=(finding,)))


def _compile(piece: Piece, text: str, traits: Traits, limits: Limits, declared: Mapping[str, str]) -> ir.Placed:
    excess = over_limits(piece, limits)
    kind = piece.use.kind if piece.use is not None and piece.use.kind else _first_words(piece.tokens)
    if excess is not None:
        return coarse(piece, traits, kind, excess)
    if piece.kind is not None:
        return ir.Placed(piece.start, piece.end, piece.parent, _cut_statement(piece, text, traits))
    first = piece.tokens[0].text.upper() if piece.use is None else ""
    if is_skipped(first, traits):
        return ir.Placed(piece.start, piece.end, piece.parent, _silent(kind.split(" ")[0], piece, text))
    if first in READERS:
        context = Context(text, piece, Items(piece.tokens), traits, COMPILERS)
        parts = _guarded(context, piece, read)
        if parts is not None:
            return ir.Placed(piece.start, piece.end, piece.parent, _assembled(context, parts, piece))
    parsed = parse(piece, text, traits)
    unparsed = _unparsed(piece, text, traits, parsed) if piece.use is not None else None
    if unparsed is not None:
        return unparsed
    if isinstance(parsed, Failure):
        context = Context(text, piece, Items(piece.tokens), traits, COMPILERS)
        parts = _guarded(context, piece, read_unread)
        if parts is not None:
            return ir.Placed(piece.start, piece.end, piece.parent, _assembled(context, parts, piece))
        if is_silent(piece.tokens):
            return ir.Placed(piece.start, piece.end, piece.parent, _silent(kind, piece, text))
        start, end = parsed.start - piece.start, parsed.end - piece.start
        return _failed(
            piece.start, piece.end, _finding("PARSE_ERROR", start, end, reason=parsed.reason), kind, piece.parent
        )
    tree, items = parsed
    context = Context(text, piece, items, traits, COMPILERS)
    context.declared = declared
    return ir.Placed(piece.start, piece.end, piece.parent, _statement(piece, tree, context))


def _unparsed(piece: Piece, text: str, traits: Traits, parsed: tuple[exp.Expr, Items] | Failure) -> ir.Placed | None:
    """An expression of a procedural language that is no SQL: the names in it are what its value is made of."""
    context = Context(text, piece, Items(piece.tokens), traits, COMPILERS)
    failed = isinstance(parsed, Failure) or isinstance(parsed[0], exp.Command)
    parts = unread(piece, context) if failed else None
    if parts is None or piece.use is None:
        return None
    statement = _assembled(context, used(context, exp.Null(), parts, piece.use), piece)
    return ir.Placed(piece.start, piece.end, piece.parent, statement)


def _statement(piece: Piece, tree: exp.Expr, context: Context) -> ir.Statement:
    kind = _first_words(piece.tokens)
    if isinstance(tree, exp.Command):
        if is_silent(piece.tokens):
            path = search_path(piece.tokens, context.traits) if kind == "SET" else ()
            return msgspec.structs.replace(_silent(kind, piece, context.text), context=path)
        unsupported = _fault(piece, context) or _finding(
            "UNSUPPORTED_SYNTAX", 0, piece.end - piece.start, construct=kind
        )
        return ir.Statement(kind, "failed", findings=(unsupported,), fingerprint=fingerprint(piece, context.text))
    parts = _guarded(context, piece, lambda context: _level(context, tree, piece))
    if parts is None and is_silent(piece.tokens):
        return _silent(kind, piece, context.text)
    if parts is None:
        context.report("UNSUPPORTED_SYNTAX", piece.start, piece.end, construct=kind)
        parts = {"kind": kind, "status": "partial"}
    return _assembled(context, parts, piece)


def _fault(piece: Piece, context: Context) -> ir.Finding | None:
    """Where the query of a definition stops being one; the parser gives the whole definition up and does not say."""
    words = [token.text.upper() for token in piece.tokens]
    if words[0] != "CREATE" or "AS" not in words or not {"VIEW", "TABLE"} & set(words[:6]):
        return None
    query = piece.tokens[words.index("AS") + 1 :]
    found = parse(Piece(query), context.text, context.traits) if query else None
    if not isinstance(found, Failure):
        return None
    return _finding("PARSE_ERROR", found.start - piece.start, found.end - piece.start, reason=found.reason)


def _guarded(context: Context, piece: Piece, compiler: Callable[[Context], Parts | None]) -> Parts | None:
    """What a compiler makes of a statement; a fault of ours costs the statement and is reported."""
    kind = _first_words(piece.tokens)

    def give_up(fault: ir.Finding) -> Parts:
        context.restart()
        context.findings.append(fault)
        return {"kind": kind, "status": "failed"}

    return contain(lambda: compiler(context), give_up, kind, 0, piece.end - piece.start)


def _level(context: Context, tree: exp.Expr, piece: Piece) -> Parts | None:
    """What the statement does; long chains of operands are made a flat tree first, and deeper nesting is a limit."""
    try:
        return _parts(context, balanced(tree, context.items) if has_chain(piece.tokens) else tree, piece)
    except RecursionError:
        context.restart()
    context.report("LIMIT_EXCEEDED", piece.start, piece.end, what="the nesting", limit="what can be followed")
    return {"kind": _first_words(piece.tokens), "status": "failed"}


def _parts(context: Context, tree: exp.Expr, piece: Piece) -> Parts | None:
    parts = statement_parts(context, tree)
    return used(context, tree, parts, piece.use) if piece.use is not None and parts is not None else parts


def _assembled(context: Context, parts: dict[str, object], piece: Piece) -> ir.Statement:
    relations = tuple(relation for relation in context.relations if relation is not None)
    defaults: dict[str, object] = {
        "status": "partial"
        if any(finding.code == "UNSUPPORTED_SYNTAX" for finding in context.findings)
        else "analysed",
        "calls": tuple(context.calls),
    }
    defaults["findings"] = tuple(context.findings)
    defaults["relations"] = relations
    defaults["features"] = tuple(sorted(context.features))
    if context.changes:
        parts = {**parts, "writes": (*context.changes, *cast(tuple[ir.Write, ...], parts.get("writes", ())))}
    return ir.Statement(
        **{**defaults, **parts},  # type: ignore[arg-type]
        pragmas=tuple(pragmas(piece.tokens, context.text)),
        complexity=complexity(relations),
        fingerprint=fingerprint(piece, context.text),
        ctes=tuple(context.common),
        dropped=context.items.dropped,
    )


def _cut_statement(piece: Piece, text: str, traits: Traits) -> ir.Statement:
    """A statement that the cutter recognised without the parser: a batch separator, a block, a module header."""
    context = Context(text, piece, Items(piece.tokens), traits, COMPILERS)
    return _assembled(context, {"kind": piece.kind, **dict(piece.parts)}, piece)


def _silent(kind: str, piece: Piece, text: str) -> ir.Statement:
    said = tuple(pragmas(piece.tokens, text))
    return ir.Statement(kind, "analysed", fingerprint=fingerprint(piece, text), pragmas=said)


def _first_words(tokens: Sequence[Token]) -> str:
    """The kind of a statement as its first words say it."""
    first = tokens[0].text.upper()
    if first in ("CREATE", "ALTER", "DROP", "INSERT", "TRUNCATE") and len(tokens) > 1:
        second = tokens[1].text.upper()
        if second == "OR" and len(tokens) > 3:
            second = tokens[3].text.upper()
        return first if first == "INSERT" else f"{first} {second}"
    return next(iter(first.split()), "UNKNOWN")
