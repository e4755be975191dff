"""Tokens and trees: where each statement of a text lies, and sqlglot's tree of it."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import msgspec
from sqlglot import exp, parser
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, ParseError, TokenError
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects import functions
from lineage_pipeline.dialects.spellings import TABLE_QUERIES
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.callables import call_parsers, called_tokens
from lineage_pipeline.engine.compile.failures import Failure, failure
from lineage_pipeline.engine.compile.isolation import Pool
from lineage_pipeline.engine.compile.normalise import normalise
from lineage_pipeline.engine.compile.output import without_output
from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.engine.compile.pipes import unpiped
from lineage_pipeline.engine.compile.repairs import repaired
from lineage_pipeline.engine.compile.rewrites import respelled, rewritten
from lineage_pipeline.engine.compile.signs import signs_of
from lineage_pipeline.engine.compile.skeleton import skeleton
from lineage_pipeline.engine.compile.words import keyword, made

__all__ = ["Failure", "Items", "dialect_of", "parse"]


class Items(msgspec.Struct):
    """Where list items stand, as their first and last token: by node, and by the place of what they compare.

    Nodes are kept beside their ids, so that no other node can get the same one.
    """

    tokens: Sequence[Token]
    nodes: dict[int, tuple[exp.Expr, int, int]] = {}
    comparisons: dict[int, tuple[int, int]] = {}
    dropped: int = 0


PARSER_ERRORS = (AttributeError, KeyError, IndexError, TypeError, ValueError, AssertionError, TokenError, RuntimeError)
"""What sqlglot raises, beside errors of its own, on some texts that are not SQL."""

STRICT, GENEROUS, ANY_TYPE = "strict", "generous", "any type"
"""How a parser reads: as the grammar says, with more arguments than it knows, or with types that it does not know."""

_ITEMS: dict[int, Items] = {}
"""The recorder of each parser at work, by the id of the parser: its layout has no room for a further attribute."""


def parse(piece: Piece, text: str, traits: Traits) -> tuple[exp.Expr, Items] | Failure:
    """Parse one statement: its tree and the positions of its expressions, or why there is none."""
    kept = normalise(piece.tokens, traits, piece.words)
    tokens, outputs = without_output(rewritten(kept, traits), traits)
    if text.find("|>", piece.start, piece.end) >= 0:
        tokens = unpiped(tokens)
    if _ENDLESS_WORDS.search(text, piece.start, piece.end) is not None:
        tokens = [made("OPTION", token) if keyword(token) in _ENDLESS else token for token in tokens]
    grammar = _grammar(piece.tokens, traits)
    found = _parsed(tokens, piece, text, grammar)
    if _is_unread(found):
        found = _read_again(tokens, piece, text, traits) or found
    if len(kept) < len(piece.tokens) and not isinstance(found, Failure):
        found[1].dropped += left_out(piece.tokens, kept)
    if outputs and not isinstance(found, Failure):
        clauses = [_parsed(clause, piece, text, grammar) for clause in outputs]
        return _with_outputs(*found, [clause for clause in clauses if not isinstance(clause, Failure)])
    return found


_ENDLESS_WORDS = re.compile(r"_(?:[vV][eE][rR]|[dD][eE][lL])")
_ENDLESS = frozenset({"SYSTEM_VERSIONING", "DATA_DELETION"})
"""Options in whose brackets the parser waits for ever behind a word that it does not know."""


def _is_unread(found: tuple[exp.Expr, Items] | Failure) -> bool:
    return isinstance(found, Failure) or isinstance(found[0], exp.Command | exp.Alias)


def _read_again(tokens: list[Token], piece: Piece, text: str, traits: Traits) -> tuple[exp.Expr, Items] | None:
    """The tree of a statement in other words: as the parser knows them, or with what matters alone."""
    others = repaired(respelled(tokens, traits), tokens)
    grammar = _grammar(piece.tokens, traits)
    plain = skeleton(others or tokens)
    for reading, way in ((others, STRICT), (plain, STRICT), (others or tokens, ANY_TYPE), (plain, ANY_TYPE)):
        found = _parsed(reading, piece, text, grammar, way) if reading is not None else None
        if found is not None and not isinstance(found, Failure) and not isinstance(found[0], exp.Command):
            found[1].dropped = left_out(tokens, reading or ())
            return found
    return _generous(others or tokens, piece, text, grammar)


def left_out(tokens: Sequence[Token], kept: Sequence[Token]) -> int:
    """How many characters the tokens have that are not among those kept."""
    starts = {token.start for token in kept}
    return sum(token.end + 1 - token.start for token in tokens if token.start not in starts)


_TOO_MANY = "The number of provided arguments"


def _generous(tokens: list[Token], piece: Piece, text: str, grammar: str) -> tuple[exp.Expr, Items] | None:
    """The tree of a statement in which the only fault is that functions have more arguments than the parser knows."""
    strict = _parsed(tokens, piece, text, grammar)
    if not isinstance(strict, Failure) or not strict.reason.startswith(_TOO_MANY):
        return None
    found = _parsed(tokens, piece, text, grammar, GENEROUS)
    return found if not isinstance(found, Failure) else None


def _with_outputs(tree: exp.Expr, items: Items, clauses: Sequence[tuple[exp.Expr, Items]]) -> tuple[exp.Expr, Items]:
    """A statement with its OUTPUT clauses, which were parsed apart from it."""
    tokens, nodes, comparisons = list(items.tokens), dict(items.nodes), dict(items.comparisons)
    for _, found in clauses:
        shift = len(tokens)
        tokens.extend(found.tokens)
        nodes |= {key: (node, first + shift, last + shift) for key, (node, first, last) in found.nodes.items()}
        comparisons |= {key: (first + shift, last + shift) for key, (first, last) in found.comparisons.items()}
    tree.set("returning", [clause for clause, _ in clauses])
    return tree, Items(tokens, nodes, comparisons, items.dropped)


def _parsed(
    tokens: list[Token], piece: Piece, text: str, grammar: str, way: str = STRICT
) -> tuple[exp.Expr, Items] | Failure:
    with _parsers(grammar, way).borrow() as instance:
        items = _ITEMS[id(instance)] = Items(tokens)
        try:
            trees = instance.parse(tokens, text)
        except ParseError as error:
            return failure(error, piece)
        except RecursionError:
            return Failure("nested too deeply", piece.start, piece.end)
        except PARSER_ERRORS as error:
            return Failure(f"{type(error).__name__} in the parser", piece.start, piece.end)
        finally:
            del _ITEMS[id(instance)]
        errors = list(instance.errors)  # those that it did not stop at
    for fault in errors:
        if not str(fault).startswith(_TOO_MANY):
            return failure(fault, piece)
    if len(trees) != 1 or trees[0] is None:
        return Failure("more than one statement without a separator", piece.start, piece.end)
    return trees[0], items


@cache
def _parsers(grammar: str, way: str) -> Pool[parser.Parser]:
    """The parsers of a dialect: a parser holds the tokens that it reads, so that each serves one caller at a time."""

    def make() -> parser.Parser:
        dialect = Dialect.get_or_raise(grammar or None)
        if way == ANY_TYPE:
            dialect.SUPPORTS_USER_DEFINED_TYPES = True  # of this instance alone
        made = dialect.parser(error_level=ErrorLevel.WARN if way == GENEROUS else ErrorLevel.IMMEDIATE)
        made.__class__ = _parser_class(grammar)
        return made

    return Pool(make)


_DEFINITIONS = (TokenType.CREATE, TokenType.ALTER, TokenType.DROP)


def _grammar(tokens: Sequence[Token], traits: Traits) -> str:
    """The grammar of a statement: a dialect may borrow another one for definitions without a query."""
    own = traits.grammar or traits.name
    if not traits.definitions or tokens[0].token_type not in _DEFINITIONS:
        return own
    return own if any(token.token_type is TokenType.SELECT for token in tokens) else traits.definitions


# sqlglot keeps the positions of names and literals, not of whole expressions. The compiled parser passes the parsers
# of list items on as values, so that overriding these two in a subclass is enough to learn where each item ends.
# May go when sqlglot records the range of an expression itself.
_ITEM_PARSERS = ("_parse_expression", "_parse_update_assignment")


def _recording(original: Callable[..., Any]) -> Callable[..., Any]:
    def parse_item(self: parser.Parser) -> Any:
        items = _ITEMS.get(id(self))
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


def _placing(original: Callable[..., Any]) -> Callable[..., Any]:
    """Keep the place of a variable, mark and name, as sqlglot does for other names."""

    def parse_parameter(self: parser.Parser) -> Any:
        items = _ITEMS.get(id(self))
        first = self._index - 1  # the mark has been read already
        node = original(self)
        if items is not None and isinstance(node, exp.Expr):
            node.meta["start"], node.meta["end"] = items.tokens[first].start, items.tokens[self._index - 1].end
        return node

    return parse_parameter


def _computing(original: Callable[..., Any]) -> Callable[..., Any]:
    """Let a pivot compute with its aggregates: sqlglot reads one function and no more."""

    def parse_aggregation(self: parser.Parser) -> Any:
        first = self._index
        node = original(self)
        if not self._curr or self._curr.token_type not in _OPERATORS:
            return node
        self._retreat(first)
        return self._parse_alias(self._parse_term())

    return parse_aggregation


_OPERATORS = (TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.MOD, TokenType.DIV)


_OVERRIDES = dict.fromkeys(_ITEM_PARSERS, _recording) | {
    "_parse_parameter": _placing,
    "_parse_pivot_aggregation": _computing,
}


@cache
def _parser_class(grammar: str) -> type[parser.Parser]:
    """The parser class of a dialect with our changes, as a subclass: sqlglot's own stays as it is for everybody else.

    sqlglot's compiled classes refuse to make instances of a subclass (tobymao/sqlglot#7923), but an instance of theirs
    may be given a subclass of the same layout. Tables and flags are then looked up in the subclass, and so are methods
    that sqlglot passes on as values or looks up by name; methods that it calls directly are not.
    """
    base = Dialect.get_or_raise(grammar or None).parser_class
    plain = functions.PLAIN.get(grammar, frozenset())
    parsers = call_parsers(grammar, base.FUNCTION_PARSERS)
    changes: dict[str, Any] = {
        "__slots__": (),
        "SUPPORTS_IMPLICIT_UNNEST": False,  # `FROM t, t.items` as written: sqlglot copies subqueries to resolve `t`
        "SUPPORTS_TABLE_QUERY": base.SUPPORTS_TABLE_QUERY or grammar in TABLE_QUERIES,
        "UNARY_PARSERS": signs_of(grammar, base.UNARY_PARSERS),
        "FUNC_TOKENS": called_tokens(grammar, base.FUNC_TOKENS),
        "FUNCTION_PARSERS": {name: parse for name, parse in parsers.items() if name not in plain},
        "FUNCTIONS": {name: build for name, build in base.FUNCTIONS.items() if name not in plain},
        **{name: override(getattr(base, name)) for name, override in _OVERRIDES.items() if hasattr(base, name)},
    }
    return type(f"Lineage{base.__name__}", (base,), changes)


@cache
def dialect_of(name: str) -> Dialect:
    """Give sqlglot's dialect of that name."""
    return Dialect.get_or_raise(name or None)
