"""Headers of T-SQL modules, read off the tokens before the body: parameters, what is returned, what is watched."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

import msgspec
from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.engine.compile.types import NOT_A_TYPE, spelling
from lineage_pipeline.engine.compile.words import behind_brackets, dotted_name, is_name, keyword
from lineage_pipeline.vocabulary import ir

_OPEN, _CLOSE = TokenType.L_PAREN, TokenType.R_PAREN
_NO_TYPE = frozenset("AS NULL NOT VARYING OUT OUTPUT READONLY =".split())
_HEADER_ENDS = frozenset("RETURNS WITH FOR AS BEGIN".split())


class Header(msgspec.Struct, frozen=True):
    """What the header of a module says.

    A function that fills a `table` variable returns it, an `inline` one is a query; a trigger `watches` a table.
    """

    kind: str
    name: ir.Name
    parameters: tuple[ir.ColumnDef, ...]
    outputs: tuple[str, ...] = ()
    inline: bool = False
    table: str = ""
    watches: ir.Name | None = None
    rows: tuple[Piece, ...] = ()
    returns: tuple[Token, ...] = ()

    def parts(self) -> tuple[tuple[str, object], ...]:
        """The parts of the statement that creates the module."""
        definition = ir.Definition(
            self.name,
            self.kind.lower(),
            replace=True,
            parameters=self.parameters,
            outputs=self.outputs,
            watches=self.watches,
        )
        return ("definition", definition), ("reads", (self.watches,) if self.watches is not None else ())

    def tables(self, parent: int) -> list[Piece]:
        """The variables that the header declares as tables, as statements inside the module."""
        return [msgspec.structs.replace(piece, parent=parent) for piece in self.rows]


def header_of(kind: str, name: ir.Name, tokens: Sequence[Token], origin: int, traits: Traits) -> Header:
    """The header of a module; `tokens` begin behind its name, places count from `origin`."""
    parts = list(_parts(tokens))
    words = [keyword(token) for token in tokens]
    returns = words.index("RETURNS") + 1 if "RETURNS" in words else len(words)
    table, rows = "", [piece for part in parts for piece in _table_parameter(part, traits)]
    if returns + 2 < len(tokens) and tokens[returns].token_type is TokenType.PARAMETER:
        table = "@" + tokens[returns + 1].text.lower()
        end = behind_brackets(tokens, returns + 3)
        before = tokens[returns - 1]
        declares = Token(TokenType.DECLARE, "DECLARE", before.line, before.col, before.start, before.end)
        rows.append(Piece([declares, *tokens[returns:end]]))
    return Header(
        kind,
        name,
        tuple(_parameter(part, origin, traits) for part in parts),
        tuple("@" + part[1].text.lower() for part in parts if _has(part, "OUT", "OUTPUT")),
        words[returns : returns + 1] == ["TABLE"],
        table,
        _watched(tokens, words, origin, traits) if kind == "TRIGGER" else None,
        tuple(rows),
        tuple(takewhile(lambda token: keyword(token) not in _HEADER_ENDS, tokens[returns:])),
    )


def _has(tokens: Sequence[Token], *words: str) -> bool:
    return any(keyword(token) in words for token in tokens[2:])


def _watched(tokens: Sequence[Token], words: Sequence[str], origin: int, traits: Traits) -> ir.Name | None:
    """The table or view that a trigger watches; one on a database or server watches none."""
    at = words.index("ON") + 1 if "ON" in words else len(words)
    if at >= len(tokens) or words[at] in ("DATABASE", "ALL") or not is_name(tokens, at):
        return None
    name, _ = dotted_name(tokens, at, 0, traits)
    moved = int(tokens[0].start) - origin
    return msgspec.structs.replace(name, start=name.start + moved, end=name.end + moved)


def _table_parameter(tokens: Sequence[Token], traits: Traits) -> Iterator[Piece]:
    """`@rows dbo.ids READONLY`: a table with the columns of its type."""
    if _has(tokens, "READONLY"):
        yield table_like(tokens, 2 + (keyword(tokens[2]) == "AS"), traits)


def table_like(tokens: Sequence[Token], type_at: int, traits: Traits) -> Piece:
    """A variable, the first two of the tokens, that is a table of a named type."""
    kind, _ = dotted_name(tokens, type_at, 0, traits)
    size = tokens[1].end + 1 - tokens[0].start
    name = ir.Name(("@" + tokens[1].text.lower(),), "@" + tokens[1].text, 0, size)
    definition = ir.Definition(name, "table", like=kind, temporary=True, replace=True)
    return Piece(tokens, kind="DECLARE", parts=(("definition", definition),))


def _parts(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The tokens of each parameter: from its mark to the comma or bracket behind it."""
    depth, begin = 0, -1
    base = 1 if tokens and tokens[0].token_type is _OPEN else 0
    for index, token in enumerate(tokens):
        depth += (token.token_type is _OPEN) - (token.token_type is _CLOSE)
        word = keyword(token) if depth == base and tokens[index - 1].token_type is not TokenType.PARAMETER else ""
        ended = depth < base or word in _HEADER_ENDS - {"AS" if begin >= 0 else ""}
        if begin >= 0 and (ended or (token.token_type is TokenType.COMMA and depth == base)):
            yield tokens[begin:index]
            begin = -1
        if ended:
            return
        if begin < 0 and depth == base and token.token_type is TokenType.PARAMETER:
            begin = index
    if begin >= 0:
        yield tokens[begin:]


def _parameter(tokens: Sequence[Token], origin: int, traits: Traits) -> ir.ColumnDef:
    name = tokens[1] if len(tokens) > 1 else tokens[0]
    declared: list[str] = []
    default = ""
    for index, token in enumerate(tokens[2:], 2):
        if token.token_type is TokenType.EQ:
            default = "".join(item.text for item in tokens[index + 1 :] if keyword(item) not in _NO_TYPE)
            break
        if keyword(token) not in _NO_TYPE:
            declared.append(token.text)
    return ir.ColumnDef(
        "@" + name.text.lower(),
        "@" + name.text,
        _type(declared, traits),
        default=default,
        start=tokens[0].start - origin,
        end=name.end + 1 - origin,
    )


def _type(words: Sequence[str], traits: Traits) -> str:
    text = "".join(words)
    try:
        return spelling(exp.DataType.build(text, dialect=traits.name, udt=True), traits.name) if text else ""
    except NOT_A_TYPE:
        return text.upper()
