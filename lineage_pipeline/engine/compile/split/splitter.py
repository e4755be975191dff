"""Splits a script into raw statements before the parser sees it: semicolons, T-SQL batches, procedural blocks."""

from collections.abc import Iterator, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.procedural_languages import (
    MODULE_KINDS,
    STATEMENT_RUNNERS,
    ProceduralLanguage,
)
from lineage_pipeline.engine.compile.split.blocks import WALKED_KEYWORDS, BlockWalker
from lineage_pipeline.engine.compile.split.procedural_tokens import normalize_tokens, strip_line_continuations
from lineage_pipeline.engine.compile.split.raw_statements import (
    RawStatement,
    is_batch_separator,
    separate_macro_overloads,
    separate_schema_elements,
    split_at_semicolons,
    split_multi_insert,
)
from lineage_pipeline.engine.compile.split.tsql import BatchSplitter
from lineage_pipeline.engine.compile.tokens import keyword, keywords_of
from lineage_pipeline.engine.faults import contain
from lineage_pipeline.model import ir


def split_statements(
    tokens: Sequence[Token], traits: DialectTraits, text: str
) -> tuple[list[RawStatement], tuple[ir.Finding, ...]]:
    """The raw statements of a script in text order; if splitting fails, it is split at semicolons."""

    def split_plainly(fault: ir.Finding) -> tuple[list[RawStatement], tuple[ir.Finding, ...]]:
        return [RawStatement(statement) for statement in split_at_semicolons(tokens)], (fault,)

    def split() -> tuple[list[RawStatement], tuple[ir.Finding, ...]]:
        try:
            return list(_split_by_dialect(tokens, traits, text)), ()
        except RecursionError:
            nesting = (("what", "the nesting of blocks"), ("limit", "what can be followed"))
            return split_plainly(ir.Finding("LIMIT_EXCEEDED", nesting, 0, 0))

    return contain(split, split_plainly, "the blocks of the file", 0, 0)


def _split_by_dialect(tokens: Sequence[Token], traits: DialectTraits, text: str) -> Iterator[RawStatement]:
    """The raw statements of a script in text order."""
    tokens = separate_schema_elements(tokens)
    if traits.transact_sql:
        yield from _split_batches(tokens, traits)
        return
    family = traits.procedural
    if family is not None:
        tokens = separate_macro_overloads(tokens)
        tokens = normalize_tokens(tokens, text, family)
        if not is_plain_script(tokens, family):
            pieces: list[RawStatement] = []
            BlockWalker(tokens=tokens, text=text, traits=traits, family=family, pieces=pieces).walk_script(-1)
            yield from pieces
            return
    continued = family is not None and family.plsql
    for statement in split_at_semicolons(tokens):
        yield from split_multi_insert(strip_line_continuations(statement, text) if continued else statement)


_CREATED_BODIES = frozenset({*MODULE_KINDS, *STATEMENT_RUNNERS, "TYPE", "RULE", "DEFINER"})
"""Words near CREATE that may mean a body of statements."""

_LOOKAHEAD = 10
"""How many words after CREATE are checked for one of those."""


def is_plain_script(tokens: Sequence[Token], family: ProceduralLanguage) -> bool:
    """Whether a script has no blocks, routines or client variables, so that semicolons are enough to split it."""
    if family.variable_first and any(token.token_type is TokenType.PARAMETER for token in tokens):
        return False  # MySQL assigns session variables in queries
    if family.plsql and any(_is_plsql_sign(tokens, index) for index in range(len(tokens))):
        return False
    for statement in split_at_semicolons(tokens):
        word = keyword(statement[0])
        if word in ("CREATE", "ALTER"):
            following = keywords_of(statement[1 : _LOOKAHEAD + 1])
            if not _CREATED_BODIES.isdisjoint(following) or not "".join(following[:1]).isalpha():
                return False  # a body, or no definition at all: `create = x` assigns
        elif word in WALKED_KEYWORDS or _may_be_label(statement):
            return False
    return True


def _is_plsql_sign(tokens: Sequence[Token], index: int) -> bool:
    """Whether a token may be the slash that ends a block, or the WITH before functions of a query."""
    token = tokens[index]
    if token.token_type is TokenType.SLASH:
        return index == 0 or tokens[index - 1].line != token.line
    if token.token_type is not TokenType.WITH or index + 1 >= len(tokens):
        return False
    return keyword(tokens[index + 1]) in ("FUNCTION", "PROCEDURE")


def _may_be_label(statement: Sequence[Token]) -> bool:
    """Whether a statement may begin with a label, `<<name>>` or `name:`."""
    first = statement[0].token_type
    return first is TokenType.LT or (len(statement) > 1 and statement[1].token_type is TokenType.COLON)


def _split_batches(tokens: Sequence[Token], traits: DialectTraits) -> Iterator[RawStatement]:
    begin, ordinal = 0, 0
    words = keywords_of(tokens)
    for index in [index for index, word in enumerate(words) if word == "GO"] if "GO" in words else ():
        if not is_batch_separator(tokens, index):
            continue
        pieces = BatchSplitter(tokens[begin:index], words[begin:index], traits, ordinal).split_batch()
        yield from pieces
        begin = index + 1
        counted = begin < len(tokens) and tokens[begin].token_type is TokenType.NUMBER
        if counted and tokens[begin].line == tokens[index].line:
            begin += 1
        yield RawStatement(tokens[index:begin], kind="GO")
        ordinal += len(pieces) + 1
    yield from BatchSplitter(tokens[begin:], words[begin:], traits, ordinal).split_batch()
