"""Parser: tokens to sqlglot's tree, rewritten tokens where sqlglot fails, and the source spans of list items."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec
from sqlglot import exp, parser
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, ParseError, TokenError
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.registry import DIALECTS
from lineage_pipeline.engine.compile.grammar.ddl import reduce_definition
from lineage_pipeline.engine.compile.grammar.dml import extract_outputs
from lineage_pipeline.engine.compile.grammar.isolation import Pool, load_dialect
from lineage_pipeline.engine.compile.grammar.overrides import Override
from lineage_pipeline.engine.compile.grammar.pipe_syntax import rewrite_pipes
from lineage_pipeline.engine.compile.grammar.rules import When, apply_rules, overrides_for, table_entries_for
from lineage_pipeline.engine.compile.split.raw_statements import RawStatement
from lineage_pipeline.engine.compile.tokens import keyword, synthetic_token

__all__ = ["ParseFailure", "SpanRecorder", "get_sqlglot_dialect", "parse_statement"]


class ParseFailure(msgspec.Struct, frozen=True):
    """Why a text could not be read, and the span where the reader stopped."""

    reason: str
    start: int
    end: int


_TOKEN_IN_MESSAGE = re.compile(r"<Token .*?text: (.*?), line: .*?>")
"""How sqlglot prints a token in its messages."""

_MISSING_IN_MESSAGE = re.compile(r"Required keyword: .* missing for <class '(?:\w+\.)*(\w+)'>")
"""How sqlglot reports that a clause or an operator is incomplete."""


def describe_parse_error(error: ParseError, piece: RawStatement) -> ParseFailure:
    """The failure that an error of sqlglot describes."""
    detail = error.errors[0] if error.errors else {}
    said = first_line_of(str(detail.get("description") or error))
    lacking = _MISSING_IN_MESSAGE.match(said)
    reason = (
        f"something is missing for {lacking[1].upper()}" if lacking else _TOKEN_IN_MESSAGE.sub(r"\1", said).rstrip(".")
    )
    place = (detail.get("line"), detail.get("col"))
    for token in piece.tokens:
        if (token.line, token.col) == place:
            return ParseFailure(reason, token.start, token.end + 1)
    return ParseFailure(reason, piece.start, piece.end)


def first_line_of(text: str) -> str:
    """The first line of a message."""
    return text.strip().split("\n", 1)[0]


class SpanRecorder(msgspec.Struct):
    """The first and last token of list items: by node, and by the offset of what they compare.
    Nodes are kept beside their ids, so that an id cannot be reused.
    """

    tokens: Sequence[Token]
    nodes: dict[int, tuple[exp.Expr, int, int]] = {}
    comparisons: dict[int, tuple[int, int]] = {}
    dropped: int = 0


PARSER_ERRORS = (AttributeError, KeyError, IndexError, TypeError, ValueError, AssertionError, TokenError, RuntimeError)
"""What sqlglot raises, beside errors of its own, on some texts that are not SQL."""

STRICT, GENEROUS, ANY_TYPE = "strict", "generous", "any type"
"""How a parser reads: as the grammar says, with more arguments than it knows, or with types that it does not know."""

_RECORDERS: dict[int, SpanRecorder] = {}
"""The recorder of each parser at work, by the id of the parser: its layout has no room for a further attribute."""


def parse_statement(
    piece: RawStatement, text: str, traits: DialectTraits
) -> tuple[exp.Expr, SpanRecorder] | ParseFailure:
    """The tree of one statement and the spans of its list items, or why there is none."""
    kept = apply_rules(piece.tokens, traits, When.DROPPED, piece.words)
    tokens = apply_rules(kept, traits, When.BEFORE, piece.words)
    outputs: list[list[Token]] = []
    if traits.transact_sql:
        tokens, outputs = extract_outputs(tokens)
    if text.find("|>", piece.start, piece.end) >= 0:
        tokens = rewrite_pipes(tokens)
    if _ENDLESS_OPTION_PATTERN.search(text, piece.start, piece.end) is not None:
        tokens = [synthetic_token("OPTION", token) if keyword(token) in _ENDLESS_OPTIONS else token for token in tokens]
    grammar = _choose_grammar(piece.tokens, traits)
    found = _parse_tokens(tokens, piece, text, grammar)
    if _is_unparsed(found):
        found = _parse_with_repairs(tokens, piece, text, traits) or found
    if len(kept) < len(piece.tokens) and not isinstance(found, ParseFailure):
        found[1].dropped += count_dropped_characters(piece.tokens, kept)
    if outputs and not isinstance(found, ParseFailure):
        clauses = [_parse_tokens(clause, piece, text, grammar) for clause in outputs]
        return _attach_outputs(*found, [clause for clause in clauses if not isinstance(clause, ParseFailure)])
    return found


_ENDLESS_OPTION_PATTERN = re.compile(r"_(?:[vV][eE][rR]|[dD][eE][lL])")
_ENDLESS_OPTIONS = frozenset({"SYSTEM_VERSIONING", "DATA_DELETION"})
"""Options in whose parentheses sqlglot loops forever at an unknown word."""


def _is_unparsed(found: tuple[exp.Expr, SpanRecorder] | ParseFailure) -> bool:
    return isinstance(found, ParseFailure) or isinstance(found[0], exp.Command | exp.Alias)


def _parse_with_repairs(
    tokens: list[Token], piece: RawStatement, text: str, traits: DialectTraits
) -> tuple[exp.Expr, SpanRecorder] | None:
    """The tree of a statement after repairs, or reduced to what matters for lineage."""
    others = _changed_tokens(tokens, apply_rules(tokens, traits, When.FAILED))
    grammar = _choose_grammar(piece.tokens, traits)
    plain = reduce_definition(others or tokens)
    for reading, way in ((others, STRICT), (plain, STRICT), (others or tokens, ANY_TYPE), (plain, ANY_TYPE)):
        found = _parse_tokens(reading, piece, text, grammar, way) if reading is not None else None
        if found is not None and not isinstance(found, ParseFailure) and not isinstance(found[0], exp.Command):
            found[1].dropped = count_dropped_characters(tokens, reading or ())
            return found
    return _parse_extra_arguments(others or tokens, piece, text, grammar)


def _changed_tokens(before: list[Token], after: list[Token]) -> list[Token] | None:
    """The tokens after some rules, or None if they are the same."""
    same = len(before) == len(after) and all(one is other for one, other in zip(before, after, strict=True))
    return None if same else after


def count_dropped_characters(tokens: Sequence[Token], kept: Sequence[Token]) -> int:
    """The number of characters of tokens that are not among those kept."""
    starts = {token.start for token in kept}
    return sum(token.end + 1 - token.start for token in tokens if token.start not in starts)


_TOO_MANY_ARGUMENTS = "The number of provided arguments"


def _parse_extra_arguments(
    tokens: list[Token], piece: RawStatement, text: str, grammar: str
) -> tuple[exp.Expr, SpanRecorder] | None:
    """The tree of a statement whose only fault is that functions have more arguments than sqlglot knows."""
    strict = _parse_tokens(tokens, piece, text, grammar)
    if not isinstance(strict, ParseFailure) or not strict.reason.startswith(_TOO_MANY_ARGUMENTS):
        return None
    found = _parse_tokens(tokens, piece, text, grammar, GENEROUS)
    return found if not isinstance(found, ParseFailure) else None


def _attach_outputs(
    tree: exp.Expr, items: SpanRecorder, clauses: Sequence[tuple[exp.Expr, SpanRecorder]]
) -> tuple[exp.Expr, SpanRecorder]:
    """T-SQL: a statement with its OUTPUT clauses, which were parsed separately."""
    tokens, nodes, comparisons = list(items.tokens), dict(items.nodes), dict(items.comparisons)
    for _, found in clauses:
        shift = len(tokens)
        tokens.extend(found.tokens)
        nodes |= {key: (node, first + shift, last + shift) for key, (node, first, last) in found.nodes.items()}
        comparisons |= {key: (first + shift, last + shift) for key, (first, last) in found.comparisons.items()}
    tree.set("returning", [clause for clause, _ in clauses])
    return tree, SpanRecorder(tokens, nodes, comparisons, items.dropped)


def _parse_tokens(
    tokens: list[Token], piece: RawStatement, text: str, grammar: str, way: str = STRICT
) -> tuple[exp.Expr, SpanRecorder] | ParseFailure:
    with _parser_pool(grammar, way).borrow() as instance:
        items = _RECORDERS[id(instance)] = SpanRecorder(tokens)
        try:
            trees = instance.parse(tokens, text)
        except ParseError as error:
            return describe_parse_error(error, piece)
        except RecursionError:
            return ParseFailure("nested too deeply", piece.start, piece.end)
        except PARSER_ERRORS as error:
            if _is_own_fault(error):
                raise
            return ParseFailure(f"{type(error).__name__} in the parser", piece.start, piece.end)
        finally:
            del _RECORDERS[id(instance)]
        errors = list(instance.errors)  # those that it did not stop at
    for fault in errors:
        if not str(fault).startswith(_TOO_MANY_ARGUMENTS):
            return describe_parse_error(fault, piece)
    if len(trees) != 1 or trees[0] is None:
        return ParseFailure("more than one statement without a separator", piece.start, piece.end)
    return trees[0], items


def _is_own_fault(error: Exception) -> bool:
    """Whether an error was raised by an override or a recorder of ours, and not by sqlglot."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place is not None and str(place.tb_frame.f_globals.get("__name__")).startswith(_OWN_PACKAGE)


_OWN_PACKAGE = __name__.partition(".")[0] + "."
"""Overrides call functions of other modules of ours, too."""


@cache
def _parser_pool(grammar: str, way: str) -> Pool[parser.Parser]:
    """The parsers of a dialect: a parser holds the tokens that it reads, so that each serves one caller at a time."""

    def make() -> parser.Parser:
        dialect = load_dialect(grammar)
        if way == ANY_TYPE:
            dialect.SUPPORTS_USER_DEFINED_TYPES = True  # of this instance alone
        made = dialect.parser(error_level=ErrorLevel.WARN if way == GENEROUS else ErrorLevel.IMMEDIATE)
        made.__class__ = _parser_class(grammar)
        return made

    return Pool(make)


_DDL_TOKENS = (TokenType.CREATE, TokenType.ALTER, TokenType.DROP)


def _choose_grammar(tokens: Sequence[Token], traits: DialectTraits) -> str:
    """The grammar of a statement: a dialect may use another one for DDL without a query."""
    own = traits.grammar or traits.name
    if not traits.definitions or tokens[0].token_type not in _DDL_TOKENS:
        return own
    return own if any(token.token_type is TokenType.SELECT for token in tokens) else traits.definitions


def _recording_item_parser(original: Callable[..., Any]) -> Callable[..., Any]:
    """Record the span of a list item."""
    # sqlglot keeps the positions of names and literals, not of whole expressions. The compiled parser passes the
    # parser of list items on as a value, so that overriding it in a subclass is enough to learn where each item ends.
    # May go when sqlglot records the range of an expression itself.

    def parse_item(self: parser.Parser) -> Any:
        items = _RECORDERS.get(id(self))
        if items is None:
            return original(self)
        first = self._index
        node = original(self)
        last = self._index - 1
        if node is not None and first <= last:
            items.nodes[id(node)] = (node, first, last)
            if type(node) is exp.EQ:  # T-SQL's `alias = expr`, which sqlglot replaces by another node
                items.comparisons[items.tokens[first].start] = (first, last)
        return node

    return parse_item


def _recording_parameter_parser(original: Callable[..., Any]) -> Callable[..., Any]:
    """Record the span of a variable, prefix and name, as sqlglot does for other names."""

    def parse_parameter(self: parser.Parser) -> Any:
        items = _RECORDERS.get(id(self))
        first = self._index - 1  # the mark has been read already
        node = original(self)
        if items is not None and isinstance(node, exp.Expr):
            node.meta["start"], node.meta["end"] = items.tokens[first].start, items.tokens[self._index - 1].end
        return node

    return parse_parameter


RECORDERS: Mapping[str, Override] = {
    "_parse_expression": _recording_item_parser,
    "_parse_parameter": _recording_parameter_parser,
}
"""Overrides that record spans, of every grammar."""


@cache
def _parser_class(grammar: str) -> type[parser.Parser]:
    """The parser class of a dialect with our changes, as a subclass: sqlglot's own stays as it is for everybody else.

    sqlglot's compiled classes refuse to make instances of a subclass (tobymao/sqlglot#7923), but an instance of theirs
    may be given a subclass of the same layout. Tables and flags are then looked up in the subclass, and so are methods
    that sqlglot passes on as values or looks up by name; methods that it calls directly are not.
    """
    base = load_dialect(grammar).parser_class
    traits = DIALECTS[grammar]
    callable_tokens = {TokenType[word] for word in traits.callable_keywords}
    changes: dict[str, Any] = {
        "__slots__": (),
        "SUPPORTS_IMPLICIT_UNNEST": False,  # `FROM t, t.items` as written: sqlglot copies subqueries to resolve `t`
        "FUNC_TOKENS": {*base.FUNC_TOKENS, *callable_tokens},
    }
    for name, override in {**RECORDERS, **overrides_for(traits.family)}.items():
        changes[name] = override(getattr(base, name))
    for table, entries in table_entries_for(traits.family).items():
        known = getattr(base, table)
        changes[table] = {**known, **{key: override(known.get(key)) for key, override in entries.items()}}
    for table in ("FUNCTION_PARSERS", "FUNCTIONS"):
        known = changes.get(table) or getattr(base, table)
        changes[table] = {name: parse for name, parse in known.items() if name not in traits.plain_functions}
    return type(f"Lineage{base.__name__}", (base,), changes)


@cache
def get_sqlglot_dialect(name: str) -> Dialect:
    """sqlglot's dialect of that name."""
    return load_dialect(name)


_CHAIN_SUMS = (exp.Add, exp.Sub, exp.DPipe)
_MAX_CHAIN, _MIN_CHAIN_TOKENS = 64, 100
_CHAIN_OPERATORS = frozenset(
    {TokenType.PLUS, TokenType.DASH, TokenType.DPIPE, TokenType.STAR, TokenType.AND, TokenType.OR, TokenType.XOR}
)


def has_operator_chain(tokens: Sequence[Token]) -> bool:
    """Whether a statement has enough operators for a deep chain such as `a + b + c + …`."""
    return (
        len(tokens) > 2 * _MIN_CHAIN_TOKENS
        and sum(token.token_type in _CHAIN_OPERATORS for token in tokens) > _MIN_CHAIN_TOKENS
    )


def balance_chains(tree: exp.Expr, items: SpanRecorder) -> exp.Expr:
    """A tree without deep operator chains; the operands and their order stay as they are."""
    pending = [tree]
    while pending:
        node = pending.pop()
        operands = _chain_operands(node)
        pending.extend(operands or node.iter_expressions())
        if len(operands) > _MAX_CHAIN:
            flat = _build_balanced_tree(node, operands)
            place = items.nodes.get(id(node))
            if place is not None:
                items.nodes[id(flat)] = (flat, place[1], place[2])
            if node is tree:
                tree = flat
            else:
                node.replace(flat)
    return tree


def _chain_operands(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a chain in order; empty if a node is not a chain operator."""
    kinds = (
        _CHAIN_SUMS
        if isinstance(node, _CHAIN_SUMS)
        else (type(node),)
        if isinstance(node, exp.Connector | exp.Mul)
        else ()
    )
    found: list[exp.Expr] = []
    while kinds and isinstance(node, kinds):
        found.append(node.expression)
        node = node.this
    return [node, *reversed(found)] if found else []


def _build_balanced_tree(node: exp.Expr, operands: Sequence[exp.Expr]) -> exp.Expr:
    """The operands under the operator of a node, as a tree of minimal depth."""
    level = list(operands)
    others = {key: value for key, value in node.args.items() if key not in ("this", "expression")}
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [type(node)(this=left, expression=right, **others) for left, right in pairs] + level[len(level) & ~1 :]
    return level[0]
