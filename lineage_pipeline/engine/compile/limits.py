"""Limits, checked on the tokens before parsing, and the table-level fallback for statements that exceed them."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sqlglot.parser import Parser
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.identifier_folding import fold_identifier
from lineage_pipeline.engine.compile.split.raw_statements import RawStatement
from lineage_pipeline.engine.compile.tokens import TokenReader
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import Limits

_NESTING_STARTS = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE)
_NESTING_ENDS = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END)

_MAX_BARE_JOINS, _FEW_TOKENS = 14, 40
# sqlglot tries for each join without a condition whether that of a later one is meant for it, and for each of those
# again: the time doubles with each. May go when it remembers what it tried.
# A bracket behind a word that may be a type is read twice, once as that of a type, and so is all that stands in it.
_MAX_TYPE_DEPTH = 12
_PAREN, _BRACKET = TokenType.L_PAREN, TokenType.L_BRACKET
_JOIN_CONDITIONS = (TokenType.ON, TokenType.USING, TokenType.CROSS, TokenType.NATURAL)
_BEFORE_ALIASES = (TokenType.ALIAS, TokenType.COMMA, TokenType.FROM, TokenType.JOIN)


def check_limits(piece: RawStatement, limits: Limits) -> ir.Finding | None:
    """The finding that keeps a statement from the parser, or None."""
    tokens = piece.tokens
    end = tokens[-1].end + 1 - tokens[0].start
    if len(tokens) > limits.tokens:
        return build_limit_finding("the statement", f"{limits.tokens} tokens", end)
    if len(tokens) <= _FEW_TOKENS:
        return None
    kinds = piece.token_types
    if (
        kinds.count(TokenType.JOIN) > _MAX_BARE_JOINS
        and max(_count_bare_joins(kinds), _count_joined_selects(kinds)) > _MAX_BARE_JOINS
    ):
        return build_limit_finding("the number of joins without a condition", str(_MAX_BARE_JOINS), end)
    if kinds.count(_PAREN) + kinds.count(_BRACKET) > _MAX_TYPE_DEPTH and _max_type_depth(kinds) > _MAX_TYPE_DEPTH:
        return build_limit_finding("the nesting of types", f"{_MAX_TYPE_DEPTH} levels", end)
    if len(tokens) <= limits.depth:
        return None
    if sum(map(kinds.count, _NESTING_STARTS)) > limits.depth and _max_depth(kinds) > limits.depth:
        return build_limit_finding("the nesting", f"{limits.depth} levels", end)
    if kinds.count(_BRACKET) > limits.depth and _max_subscripts(kinds) > limits.depth:
        return build_limit_finding("the nesting", f"{limits.depth} levels", end)
    return None


def _count_bare_joins(kinds: Sequence[TokenType]) -> int:
    """How many joins lack a condition that they need; after AS or a comma, CROSS is a name."""
    names = sum(kind in _JOIN_CONDITIONS and before in _BEFORE_ALIASES for before, kind in pairwise(kinds))
    return kinds.count(TokenType.JOIN) - sum(map(kinds.count, _JOIN_CONDITIONS)) + names


def _count_joined_selects(kinds: Sequence[TokenType]) -> int:
    """How many joins are followed by a query without parentheses, which only sqlglot tries to read."""
    return sum(pair == (TokenType.JOIN, TokenType.SELECT) for pair in pairwise(kinds))


def _max_type_depth(kinds: Sequence[TokenType]) -> int:
    """The maximum number of open brackets that follow a word which may be a type."""
    if _max_depth(kinds) <= _MAX_TYPE_DEPTH:
        return 0
    opened: list[bool] = []
    deepest = 0
    for index, kind in enumerate(kinds):
        if kind is _PAREN or kind is _BRACKET:
            opened.append(kinds[index - 1] in Parser.TYPE_TOKENS)
            deepest = max(deepest, sum(opened)) if opened[-1] else deepest
        elif opened and (kind is TokenType.R_PAREN or kind is TokenType.R_BRACKET):
            opened.pop()
    return deepest


def _max_subscripts(kinds: Sequence[TokenType]) -> int:
    """The maximum number of subscripts of one value: parse time grows with each."""
    chains, longest = [0], 0
    for before, kind in pairwise(kinds):
        if kind is _BRACKET:
            chains[-1] = chains[-1] + 1 if before is TokenType.R_BRACKET else 1
            longest = max(longest, chains[-1])
            chains.append(0)
        elif kind is TokenType.R_BRACKET and len(chains) > 1:
            chains.pop()
    return longest


def _max_depth(kinds: Sequence[TokenType]) -> int:
    """The maximum number of open brackets and CASEs."""
    depth = deepest = 0
    for kind in kinds:
        if kind in _NESTING_STARTS:
            depth += 1
            deepest = max(deepest, depth)
        elif kind in _NESTING_ENDS:
            depth -= 1
    return deepest


def build_limit_finding(what: str, limit: str, end: int) -> ir.Finding:
    """The finding that something exceeds a limit, from the start of a statement to an offset."""
    return ir.Finding("LIMIT_EXCEEDED", (("what", what), ("limit", limit)), 0, end)


MAX_FALLBACK_TABLES = 10_000
"""The maximum number of table names that are read from an oversized statement."""

_SOURCE_KEYWORDS = frozenset({"FROM", "JOIN", "USING", "APPLY"})
_FROM_CLAUSE_ENDS = frozenset(
    "WHERE ON GROUP ORDER HAVING LIMIT UNION SELECT SET WHEN WINDOW QUALIFY INTERSECT EXCEPT MINUS VALUES".split()
)
_NOT_TABLES = frozenset({"SELECT", "VALUES", "LATERAL", "UNNEST", "TABLE", "WITH", "ONLY"})
_CREATED_KINDS = {"TABLE": "table", "VIEW": "view"}
_TEMPORARY_KEYWORDS = frozenset({"TEMP", "TEMPORARY", "VOLATILE"})


def compile_table_level_fallback(
    piece: RawStatement, traits: DialectTraits, kind: str, finding: ir.Finding
) -> ir.Placed:
    """A statement with only the tables it writes and reads, taken from its tokens, and the finding why."""
    cursor = TokenReader(piece.tokens, traits, piece.start)
    target, definition = _read_written_table(cursor)
    named = {source.alias: source.name for source in _read_sources(cursor) if source.name is not None}
    hidden = set(_read_cte_names(piece.tokens, traits))
    reads = tuple(
        name for name in named.values() if name.parts not in hidden and (target is None or name.parts != target.parts)
    )
    if target is not None and len(target.parts) == 1:  # UPDATE a … FROM t AS a writes t
        target = named.get(target.parts[0], target)
        reads = tuple(name for name in reads if name.parts != target.parts)
    statement = ir.Statement(
        kind,
        "partial" if target is not None or reads else "failed",
        definition=definition,
        relations=(ir.Select((), ()),),
        writes=(ir.Write(target, 0, "insert", ()),) if target is not None and definition is None else (),
        reads=reads,
        findings=(finding,),
    )
    return ir.Placed(piece.start, piece.end, piece.parent, statement)


def _read_written_table(cursor: TokenReader) -> tuple[ir.Name | None, ir.Definition | None]:
    """The object that a statement writes, and its definition if the statement creates it."""
    words = cursor.words[:24]
    match cursor.word():
        case "CREATE" | "REPLACE":
            at = next((index for index, word in enumerate(words) if word in _CREATED_KINDS), -1)
            if at < 0:
                return None, None
            kind, temporary = _CREATED_KINDS[words[at]], not _TEMPORARY_KEYWORDS.isdisjoint(words[:at])
            cursor.index = at + 1
            cursor.take("IF", "NOT", "EXISTS")
            name = cursor.read_name()
            if name is None:
                return None, None
            return name, ir.Definition(name, kind, temporary=temporary, replace="REPLACE" in words[:at])
        case "INSERT" | "MERGE" | "UPDATE" | "DELETE" | "REPLACE":
            cursor.index = 1
            while cursor.take_any("INTO", "OVERWRITE", "TABLE", "FROM", "ONLY", "IGNORE", "OR", "REPLACE"):
                pass
            return cursor.read_name(), None
    return None, None


def _read_sources(cursor: TokenReader) -> Iterator[ir.Source]:
    """The table names after FROM, JOIN, USING and APPLY, with their aliases."""
    found, listing = 0, False
    while not cursor.done and found < MAX_FALLBACK_TABLES:
        word, token = cursor.word(), cursor.tokens[cursor.index]
        begins = word in _SOURCE_KEYWORDS or (listing and token.token_type is TokenType.COMMA)
        listing = (listing or begins) and word not in _FROM_CLAUSE_ENDS and token.token_type is not TokenType.R_PAREN
        cursor.index += 1
        if begins and cursor.word() not in _NOT_TABLES:
            name = cursor.read_name()
            if name is not None and not cursor.at_open_paren():
                found += 1
                cursor.take("AS")
                yield ir.Source(_read_source_alias(cursor) or name.parts[-1], name=name)


def _read_source_alias(cursor: TokenReader) -> str:
    word = cursor.word()
    if not word.isidentifier() or word in _FROM_CLAUSE_ENDS or word in _SOURCE_KEYWORDS:
        return ""
    return fold_identifier(cursor.tokens[cursor.index].text, False, cursor.traits.tables)


def _read_cte_names(tokens: Sequence[Token], traits: DialectTraits) -> Iterator[tuple[str, ...]]:
    """The names of CTEs: `name AS (`."""
    for index in range(len(tokens) - 2):
        if tokens[index + 2].token_type is TokenType.L_PAREN and tokens[index + 1].text.upper() == "AS":
            name = TokenReader(tokens[index : index + 1], traits).read_name()
            if name is not None:
                yield name.parts
