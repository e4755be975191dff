"""Compiles one source text to a script: split, tokenize, parse, compile each statement, put them in order."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import cast

import msgspec
from sqlglot import exp
from sqlglot.tokens import Token

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.generic import GENERIC
from lineage_pipeline.dialects.registry import find_traits, suggest_dialect
from lineage_pipeline.engine.compile.accounting import account_for_references
from lineage_pipeline.engine.compile.context import CompileContext, ReadFields
from lineage_pipeline.engine.compile.dynamic_sql.constant_folding import VariableTexts
from lineage_pipeline.engine.compile.dynamic_sql.executed_text import (
    compile_executed_text,
    guess_tables,
)
from lineage_pipeline.engine.compile.dynamic_sql.identifier_function import (
    resolve_identifiers,
    uses_identifier_function,
)
from lineage_pipeline.engine.compile.fingerprint import compute_complexity, compute_fingerprint, read_pragmas
from lineage_pipeline.engine.compile.grammar.isolation import silence_sqlglot
from lineage_pipeline.engine.compile.grammar.parser import (
    ParseFailure,
    SpanRecorder,
    balance_chains,
    has_operator_chain,
    parse_statement,
)
from lineage_pipeline.engine.compile.lexer import (
    extract_client_lines,
    join_binary_lines,
    mask_file_patterns,
    open_executable_comments,
    read_double_quotes,
    read_temporary_names,
    split_dotted_tables,
    tokenize_with_recovery,
)
from lineage_pipeline.engine.compile.limits import build_limit_finding, check_limits, compile_table_level_fallback
from lineage_pipeline.engine.compile.placeholders import (
    ReplacementStage,
    drop_unknown_parts,
    fill_row_counts,
    has_unknown_parts,
    mask_template_comments,
    replace_placeholders,
    strip_unknown_parts,
)
from lineage_pipeline.engine.compile.relations.query import compile_query
from lineage_pipeline.engine.compile.split.raw_statements import DynamicExecution, RawStatement
from lineage_pipeline.engine.compile.split.splitter import split_statements
from lineage_pipeline.engine.compile.statements.registry import (
    compile_nested_write,
    compile_statement,
    is_ignored_command,
    is_ignored_statement,
    read_statement,
    read_unparsed_statement,
    reads_tokens,
)
from lineage_pipeline.engine.compile.statements.roles import apply_role, compile_unparsed_expression
from lineage_pipeline.engine.compile.tokens import STRING_TOKENS, read_search_path
from lineage_pipeline.engine.faults import contain
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import RUNTIME_PLACEHOLDER, Limits, Options

_CONTEXT_COMPILERS = (compile_query, compile_nested_write)
"""The compilers of queries and of writing statements that a context needs."""

StatementWatch = Callable[[int], str]
"""Called with the start of each statement before it is compiled; returns the limit it exceeds, or ""."""


def compile_source(text: str, options: Options, watch: StatementWatch | None = None) -> ir.Script:
    """Compile a text in a dialect to a script; whatever cannot be read becomes a finding in it."""
    if len(text) > options.limits.bytes:
        return build_unread_script(text, options, f"{options.limits.bytes} characters")
    with silence_sqlglot():
        return contain(
            lambda: _compile_text(text, options, watch),
            lambda fault: _build_failed_script(text, options, fault),
            "the file",
            0,
            0,
        )


def _compile_text(text: str, options: Options, watch: StatementWatch | None) -> ir.Script:
    traits = find_traits(options.dialect, options.case_sensitivity)
    findings = [] if traits is not None else [_dialect_fallback_finding(options.dialect)]
    known = traits or GENERIC
    client = extract_client_lines(text, known)
    covered = client.masked_text() if client.covers else text
    if known.transact_sql:
        covered = mask_template_comments(join_binary_lines(covered))
    if known.executable_comments:
        covered = open_executable_comments(covered)
    covered = mask_file_patterns(covered)
    tokens, lost = tokenize_with_recovery(covered, known)
    if isinstance(tokens, ParseFailure):
        start, end = _trimmed_span(text)
        return _build_failed_script(text, options, _build_finding("PARSE_ERROR", 0, end - start, reason=tokens.reason))
    if known.transact_sql:
        tokens = replace_placeholders(read_temporary_names(tokens, text), ReplacementStage.TSQL_SCRIPT, text)
        tokens = list(read_double_quotes(tokens, text))
    if known.dotted_tables:
        tokens = split_dotted_tables(tokens)

    def compile_piece(piece: RawStatement, declared: Mapping[str, str]) -> ir.Placed:
        limit = watch(piece.start) if watch is not None else ""
        if limit:
            excess = build_limit_finding("the statement", limit, piece.end - piece.start)
            return compile_table_level_fallback(piece, known, _statement_kind(piece.tokens), excess)
        return _compile_contained(
            piece,
            lambda: account_for_references(
                piece, _compile_raw_statement(piece, text, known, options.limits, declared), known, text
            ),
        )

    pieces: Iterable[RawStatement]
    pieces, faults = split_statements(tokens, known, text)
    if client.pieces or lost:
        pieces = heapq.merge(pieces, client.pieces, lost, key=lambda piece: piece.start)
    compiler = (
        compile_with_unknown_parts(compile_piece, known)
        if RUNTIME_PLACEHOLDER in text or uses_identifier_function(text, known)
        else compile_piece
    )
    placed = list(compile_in_order(pieces, text, known, compiler))
    if client.covers:  # the end of a line may have stood for a semicolon
        placed = [
            msgspec.structs.replace(item, end=item.start + len(text[item.start : item.end].rstrip())) for item in placed
        ]
    return _build_script(traits, _attach_findings(placed, [*findings, *faults]))


def _compile_contained(piece: RawStatement, compile_it: Callable[[], ir.Placed]) -> ir.Placed:
    """Compile one statement; an empty one, or an exception in the compiler, becomes a failed statement."""
    if not piece.tokens:
        missing = _build_finding("PARSE_ERROR", 0, piece.end - piece.start, reason="something is missing here")
        kind = piece.use.kind if piece.use is not None and piece.use.kind else "UNKNOWN"
        return _failed_statement(piece.start, piece.end, missing, kind, piece.parent)
    kind = _statement_kind(piece.tokens)
    return contain(
        compile_it,
        lambda fault: _failed_statement(piece.start, piece.end, fault, kind, piece.parent),
        construct=kind,
        start=0,
        end=piece.end - piece.start,
    )


def build_unread_script(text: str, options: Options, limit: str) -> ir.Script:
    """The script of a text that is not read because it exceeds a limit as a whole."""
    return _build_failed_script(text, options, _build_finding("LIMIT_EXCEEDED", 0, 0, what="the file", limit=limit))


def _build_failed_script(text: str, options: Options, finding: ir.Finding) -> ir.Script:
    return _build_script(
        find_traits(options.dialect, options.case_sensitivity), [_failed_statement(*_trimmed_span(text), finding)]
    )


def _build_script(traits: DialectTraits | None, placed: Sequence[ir.Placed]) -> ir.Script:
    return ir.Script(ir.IR_VERSION, (traits or GENERIC).name, tuple(placed))


def _trimmed_span(text: str) -> tuple[int, int]:
    """The start and end of a text without surrounding white space."""
    return len(text) - len(text.lstrip()), len(text.rstrip())


def _attach_findings(placed: list[ir.Placed], findings: list[ir.Finding]) -> list[ir.Placed]:
    """Attach findings about the whole source to its first statement."""
    if not placed or not findings:
        return placed
    first = placed[0]
    statement = msgspec.structs.replace(first.statement, findings=(*findings, *first.statement.findings))
    return [msgspec.structs.replace(first, statement=statement), *placed[1:]]


def _build_finding(code: str, start: int, end: int, **values: str) -> ir.Finding:
    return ir.Finding(code, tuple(values.items()), start, end)


def _dialect_fallback_finding(dialect: str) -> ir.Finding:
    return _build_finding("DIALECT_FALLBACK", 0, 0, dialect=dialect, hint=suggest_dialect(dialect))


def _failed_statement(start: int, end: int, finding: ir.Finding, kind: str = "UNKNOWN", parent: int = -1) -> ir.Placed:
    return ir.Placed(start, end, parent, ir.Statement(kind, "failed", findings=(finding,)))


def _compile_raw_statement(
    piece: RawStatement, text: str, traits: DialectTraits, limits: Limits, declared: Mapping[str, str]
) -> ir.Placed:
    excess = check_limits(piece, limits)
    kind = piece.use.kind if piece.use is not None and piece.use.kind else _statement_kind(piece.tokens)
    if excess is not None:
        return compile_table_level_fallback(piece, traits, kind, excess)
    if piece.kind is not None:
        return ir.Placed(piece.start, piece.end, piece.parent, _build_presplit_statement(piece, text, traits))
    first = piece.tokens[0].text.upper() if piece.use is None else ""
    if is_ignored_command(first, traits):
        return ir.Placed(
            piece.start, piece.end, piece.parent, _build_ignored_statement(kind.split(" ")[0], piece, text)
        )
    if reads_tokens(first):
        context = CompileContext(
            text=text, piece=piece, items=SpanRecorder(piece.tokens), traits=traits, compilers=_CONTEXT_COMPILERS
        )
        parts = _run_compiler(context, piece, read_statement)
        if parts is not None:
            return ir.Placed(piece.start, piece.end, piece.parent, _build_statement(context, parts, piece))
    parsed = parse_statement(piece, text, traits)
    unparsed = _compile_unparsed_expression(piece, text, traits, parsed) if piece.use is not None else None
    if unparsed is not None:
        return unparsed
    if isinstance(parsed, ParseFailure):
        context = CompileContext(
            text=text, piece=piece, items=SpanRecorder(piece.tokens), traits=traits, compilers=_CONTEXT_COMPILERS
        )
        parts = _run_compiler(context, piece, read_unparsed_statement)
        if parts is not None:
            return ir.Placed(piece.start, piece.end, piece.parent, _build_statement(context, parts, piece))
        if is_ignored_statement(piece.tokens):
            return ir.Placed(piece.start, piece.end, piece.parent, _build_ignored_statement(kind, piece, text))
        start, end = parsed.start - piece.start, parsed.end - piece.start
        return _failed_statement(
            piece.start, piece.end, _build_finding("PARSE_ERROR", start, end, reason=parsed.reason), kind, piece.parent
        )
    tree, items = parsed
    context = CompileContext(text=text, piece=piece, items=items, traits=traits, compilers=_CONTEXT_COMPILERS)
    context.declared = declared
    return ir.Placed(piece.start, piece.end, piece.parent, _compile_tree(piece, tree, context))


def _compile_unparsed_expression(
    piece: RawStatement, text: str, traits: DialectTraits, parsed: tuple[exp.Expr, SpanRecorder] | ParseFailure
) -> ir.Placed | None:
    """A procedural expression that is not SQL: its value depends on the names in it."""
    context = CompileContext(
        text=text, piece=piece, items=SpanRecorder(piece.tokens), traits=traits, compilers=_CONTEXT_COMPILERS
    )
    failed = isinstance(parsed, ParseFailure) or isinstance(parsed[0], exp.Command)
    parts = compile_unparsed_expression(piece, context) if failed else None
    if parts is None or piece.use is None:
        return None
    statement = _build_statement(context, apply_role(context, exp.Null(), parts, piece.use), piece)
    return ir.Placed(piece.start, piece.end, piece.parent, statement)


def _compile_tree(piece: RawStatement, tree: exp.Expr, context: CompileContext) -> ir.Statement:
    kind = _statement_kind(piece.tokens)
    if isinstance(tree, exp.Command):
        if is_ignored_statement(piece.tokens):
            path = read_search_path(piece.tokens, context.traits) if kind == "SET" else ()
            return msgspec.structs.replace(_build_ignored_statement(kind, piece, context.text), context=path)
        unsupported = _find_query_fault(piece, context) or _build_finding(
            "UNSUPPORTED_SYNTAX", 0, piece.end - piece.start, construct=kind
        )
        return ir.Statement(
            kind, "failed", findings=(unsupported,), fingerprint=compute_fingerprint(piece, context.text)
        )
    parts = _run_compiler(context, piece, lambda context: _compile_within_depth(context, tree, piece))
    if parts is None and is_ignored_statement(piece.tokens):
        return _build_ignored_statement(kind, piece, context.text)
    if parts is None:
        context.report("UNSUPPORTED_SYNTAX", piece.start, piece.end, construct=kind)
        parts = {"kind": kind, "status": "partial"}
    return _build_statement(context, parts, piece)


def _find_query_fault(piece: RawStatement, context: CompileContext) -> ir.Finding | None:
    """Where the query of a CREATE stops parsing; sqlglot gives up on the whole definition without a position."""
    words = [token.text.upper() for token in piece.tokens]
    if words[0] != "CREATE" or "AS" not in words or not {"VIEW", "TABLE"} & set(words[:6]):
        return None
    query = piece.tokens[words.index("AS") + 1 :]
    found = parse_statement(RawStatement(query), context.text, context.traits) if query else None
    if not isinstance(found, ParseFailure):
        return None
    return _build_finding("PARSE_ERROR", found.start - piece.start, found.end - piece.start, reason=found.reason)


def _run_compiler(
    context: CompileContext, piece: RawStatement, compiler: Callable[[CompileContext], ReadFields | None]
) -> ReadFields | None:
    """Run a statement compiler; an exception in it becomes a finding and a failed statement."""
    kind = _statement_kind(piece.tokens)

    def give_up(fault: ir.Finding) -> ReadFields:
        context.reset()
        context.findings.append(fault)
        return {"kind": kind, "status": "failed"}

    return contain(lambda: compiler(context), give_up, kind, 0, piece.end - piece.start)


def _compile_within_depth(context: CompileContext, tree: exp.Expr, piece: RawStatement) -> ReadFields | None:
    """Compile a statement; long operator chains are balanced first, deeper nesting exceeds a limit."""
    try:
        return _compile_parts(
            context, balance_chains(tree, context.items) if has_operator_chain(piece.tokens) else tree, piece
        )
    except RecursionError:
        context.reset()
    context.report("LIMIT_EXCEEDED", piece.start, piece.end, what="the nesting", limit="what can be followed")
    return {"kind": _statement_kind(piece.tokens), "status": "failed"}


def _compile_parts(context: CompileContext, tree: exp.Expr, piece: RawStatement) -> ReadFields | None:
    parts = compile_statement(context, tree)
    return apply_role(context, tree, parts, piece.use) if piece.use is not None and parts is not None else parts


def _build_statement(context: CompileContext, parts: dict[str, object], piece: RawStatement) -> ir.Statement:
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
        pragmas=tuple(read_pragmas(piece.tokens, context.text)),
        complexity=compute_complexity(relations),
        fingerprint=compute_fingerprint(piece, context.text),
        ctes=tuple(context.common),
        dropped=context.items.dropped,
    )


def _build_presplit_statement(piece: RawStatement, text: str, traits: DialectTraits) -> ir.Statement:
    """A statement that the splitter recognized without the parser: GO, a block, a routine header."""
    context = CompileContext(
        text=text, piece=piece, items=SpanRecorder(piece.tokens), traits=traits, compilers=_CONTEXT_COMPILERS
    )
    return _build_statement(context, {"kind": piece.kind, **dict(piece.parts)}, piece)


def _build_ignored_statement(kind: str, piece: RawStatement, text: str) -> ir.Statement:
    said = tuple(read_pragmas(piece.tokens, text))
    return ir.Statement(kind, "analysed", fingerprint=compute_fingerprint(piece, text), pragmas=said)


def _statement_kind(tokens: Sequence[Token]) -> str:
    """The kind of a statement from its first words."""
    first = tokens[0].text.upper()
    if first in ("CREATE", "ALTER", "DROP", "INSERT", "TRUNCATE") and len(tokens) > 1:
        second = tokens[1].text.upper()
        if second == "OR" and len(tokens) > 3:
            second = tokens[3].text.upper()
        return first if first == "INSERT" else f"{first} {second}"
    return next(iter(first.split()), "UNKNOWN")


CompileRawStatement = Callable[[RawStatement, Mapping[str, str]], ir.Placed]
"""Compiles one raw statement, given the types of the variables declared before it."""

_TRIGGER_TABLES = (("inserted",), ("deleted",))


def compile_in_order(
    pieces: Iterable[RawStatement],
    text: str,
    traits: DialectTraits,
    compile_piece: CompileRawStatement,
    quoted: bool = False,
) -> Iterator[ir.Placed]:
    """The statements in text order, each knowing the types of the variables declared before it.
    Statements of an executed text follow the statement that executes it; later ordinals shift.
    """
    declared: dict[str, str] = {}
    numbers: list[int] = []
    count, watched = 0, None
    pieces = list(pieces)
    names = not quoted and uses_identifier_function(text, traits)
    followed = not quoted and (traits.transact_sql or names or any(piece.run is not None for piece in pieces))
    strings = VariableTexts(text, traits) if followed else None
    for piece in pieces:
        placed = compile_piece(
            resolve_identifiers(piece, strings.known) if names and strings is not None else piece, declared
        )
        parent = numbers[piece.parent] if piece.parent >= 0 else ir.NOWHERE
        if parent != placed.parent:
            placed = msgspec.structs.replace(placed, parent=parent)
        declared = _update_declared_types(declared, placed.statement)
        watched = _update_trigger_table(watched, placed.statement) if traits.transact_sql else None
        run = [placed if watched is None else _bind_trigger_rows(placed, watched)]
        if strings is not None:
            strings.advance(len(numbers), piece)
            if piece.run is not None:
                run = _compile_execution(placed, piece.run, strings, text, (traits, compile_piece), count)
            strings.observe(piece)
        elif piece.run is not None:
            run = [_mark_dynamic(placed, 0)]
        if not piece.aside:
            numbers.append(count)
        count += len(run)
        yield from run


def _update_declared_types(before: dict[str, str], statement: ir.Statement) -> dict[str, str]:
    """The types of variables after a statement."""
    definition = statement.definition
    if statement.kind == "GO" or (definition is not None and definition.parameters):
        parameters = definition.parameters if definition is not None else ()
        return {parameter.name: parameter.type for parameter in parameters}
    for assignment in statement.assigns:
        before.update(zip(assignment.variables, assignment.types, strict=False))
    return before


def _update_trigger_table(before: ir.Name | None, statement: ir.Statement) -> ir.Name | None:
    """The table of the trigger that encloses the next statement."""
    if statement.kind == "GO":
        return None
    return statement.definition.watches if statement.definition is not None else before


def _bind_trigger_rows(placed: ir.Placed, watched: ir.Name) -> ir.Placed:
    """T-SQL trigger: `inserted` and `deleted` are rows of the table of the trigger."""
    meant = msgspec.structs.replace(watched, start=ir.NOWHERE, end=ir.NOWHERE)
    relations = tuple(_bind_trigger_sources(relation, meant) for relation in placed.statement.relations)
    return msgspec.structs.replace(placed, statement=msgspec.structs.replace(placed.statement, relations=relations))


def _bind_trigger_sources(relation: ir.Relation, watched: ir.Name) -> ir.Relation:
    if not isinstance(relation, ir.Select):
        return relation
    sources = tuple(
        msgspec.structs.replace(source, name=watched)
        if source.name is not None and source.name.parts in _TRIGGER_TABLES
        else source
        for source in relation.sources
    )
    return msgspec.structs.replace(relation, sources=sources)


def _compile_execution(
    placed: ir.Placed,
    run: DynamicExecution,
    strings: VariableTexts,
    text: str,
    rules: tuple[DialectTraits, CompileRawStatement],
    ordinal: int,
) -> list[ir.Placed]:
    """A statement that executes a text, followed by the statements of that text."""
    traits, compile_piece = rules

    def compile_pieces(pieces: Iterable[RawStatement]) -> Iterator[ir.Placed]:
        return compile_in_order(pieces, text, traits, compile_piece, quoted=True)

    found = compile_executed_text(run, strings.known, compile_pieces)
    outer = placed if found.whole else _mark_dynamic(placed, found.share)
    inner = [
        msgspec.structs.replace(one, parent=ordinal if one.parent < 0 else ordinal + 1 + one.parent)
        for one in found.statements
    ]
    return [outer, *inner]


def _mark_dynamic(placed: ir.Placed, share: int) -> ir.Placed:
    """A statement that executes a text which is not completely known."""
    finding = ir.Finding("DYNAMIC_SQL", (("share", str(share)),), 0, placed.end - placed.start)
    statement = msgspec.structs.replace(placed.statement, status="partial", findings=(finding,))
    return msgspec.structs.replace(placed, statement=statement)


def compile_with_unknown_parts(compile_piece: CompileRawStatement, traits: DialectTraits) -> CompileRawStatement:
    """A compiler that marks statements with unknown parts as approximate, and retries without those parts."""

    def compiled(piece: RawStatement, declared: Mapping[str, str]) -> ir.Placed:
        tokens = fill_row_counts(piece.tokens)
        callee = piece.use.target if piece.use is not None else None
        known = callee is None or RUNTIME_PLACEHOLDER not in callee.parts[-1]
        if known and not has_unknown_parts(tokens):
            return compile_piece(msgspec.structs.replace(piece, tokens=tokens), declared)
        whole = msgspec.structs.replace(piece, tokens=tokens)
        placed = compile_piece(whole, declared)
        if placed.statement.status == "failed":
            for rest in (drop_unknown_parts(tokens, behind_operands=True), drop_unknown_parts(tokens)):
                less = msgspec.structs.replace(piece, tokens=rest, begin=piece.start, stop=piece.end)
                again = compile_piece(less, declared) if rest else placed
                if again.statement.status != "failed":
                    return _mark_unknown_parts(again, piece)
            placed = guess_tables(whole, placed, traits)
        return _mark_unknown_parts(placed, piece)

    return compiled


_LINEAGE_FIELDS = "relations definition writes alterations drops calls reads findings".split()
"""The fields of a statement that an unknown part may affect."""


def _mark_unknown_parts(placed: ir.Placed, piece: RawStatement) -> ir.Placed:
    """A statement of which some parts are unknown: its findings say so, the parts are removed."""
    callee = piece.use.target.parts[-1] if piece.use is not None and piece.use.target is not None else ""
    named = (token.text for token in piece.tokens if token.token_type not in STRING_TOKENS)
    unknown = sum(len(text) for text in (*named, callee) if RUNTIME_PLACEHOLDER in text)
    size = max(placed.end - placed.start, 1)
    share = (("share", str(max(100 * (size - unknown) // size, 0))),)
    if not placed.statement.context[1:] and not any(getattr(placed.statement, part) for part in _LINEAGE_FIELDS):
        return placed  # GRANT … ON IDENTIFIER($v): nothing of it is missed
    statement = strip_unknown_parts(placed.statement)
    findings = (*statement.findings, ir.Finding("DYNAMIC_SQL", share, 0, placed.end - placed.start))
    status = "partial" if statement.status == "analysed" else statement.status
    return msgspec.structs.replace(
        placed, statement=msgspec.structs.replace(statement, status=status, findings=findings)
    )
