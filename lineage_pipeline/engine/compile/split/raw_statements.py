"""RawStatement: the tokens of one statement of a script and its role, and the plain ways to split tokens."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.model import ir

_TOKEN_TYPE = attrgetter("token_type")


class StatementRole(msgspec.Struct, frozen=True):
    """What becomes of the tree of a raw statement: its role (`roles.ROLES`) and the names that it involves."""

    role: str
    kind: str = ""
    variables: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    declares: bool = False
    target: ir.Name | None = None
    records: frozenset[str] = frozenset()
    typed: bool = False
    returns: str = ""


class DynamicExecution(msgspec.Struct, frozen=True):
    """An executed text: the tokens that build it, the arguments of its parameters, and where the result goes.
    The result goes to a `target` with its columns, to variables, or to the routine with `columns` of its own;
    a `row` takes all columns. A `lost` result goes nowhere.
    """

    text: tuple[Token, ...]
    declared: tuple[Token, ...] = ()
    given: tuple[tuple[str, ir.Expr], ...] = ()
    target: ir.Name | None = None
    columns: tuple[str, ...] | None = None
    into: tuple[str, ...] = ()
    row: bool = False
    lost: bool = False


class RawStatement(msgspec.Struct, frozen=True, dict=True):
    """The tokens of one statement; `kind` if it needs no parser, `stop` if other statements are inside it.
    `run` says how the text of a statement that executes a text is built; `aside` marks a line for the client.
    If the tokens are a rewritten form, `use` says what becomes of them. `words` are the keywords of the tokens,
    where the splitter knows them.
    """

    tokens: Sequence[Token]
    parent: int = -1
    kind: str | None = None
    parts: tuple[tuple[str, Any], ...] = ()
    begin: int = -1
    stop: int = -1
    run: DynamicExecution | None = None
    use: StatementRole | None = None
    aside: bool = False
    words: Sequence[str] = ()

    @cached_property
    def token_types(self) -> list[TokenType]:
        """The types of the tokens."""
        return list(map(_TOKEN_TYPE, self.tokens))

    @property
    def start(self) -> int:
        """The offset of the first character."""
        return self.begin if self.begin >= 0 else int(self.tokens[0].start)

    @property
    def end(self) -> int:
        """The offset after the last character."""
        return self.stop if self.stop >= 0 else int(self.tokens[-1].end) + 1


_SEMICOLON = TokenType.SEMICOLON  # Python 3.11 takes long to look a member up, and there are many tokens


def split_at_semicolons(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The tokens of the statements between semicolons."""
    begin = 0
    for index in [index for index, token in enumerate(tokens) if token.token_type is _SEMICOLON]:
        if index > begin:
            yield tokens[begin:index]
        begin = index + 1
    if begin < len(tokens):
        yield tokens[begin:]


_CLAUSE_KEYWORDS = frozenset("WHERE GROUP HAVING ORDER SORT DISTRIBUTE CLUSTER LIMIT UNION LATERAL WINDOW".split())


def split_multi_insert(tokens: Sequence[Token]) -> Iterator[RawStatement]:
    """A statement, or each INSERT of Hive's `FROM source INSERT … INSERT …` with the source after its select list."""
    begin = _find_statement_set(tokens)
    if begin:
        yield RawStatement(tokens[:begin])
        tokens = tokens[begin:]
    several = tokens[0].token_type in _SOURCE_FIRST_TOKENS and _INSERT_TOKEN in map(_TYPE_OF_TOKEN, tokens)
    start, heads = _find_inserts(tokens) if several else (-1, [])
    if not heads:
        yield RawStatement(tokens)
        return
    shared = tokens[start : heads[0]]
    for position, head in enumerate(heads):
        end = heads[position + 1] if position + 1 < len(heads) else len(tokens)
        arm = tokens[head:end]
        cut_at = _find_clause(arm)
        ordered = [*tokens[:start], *arm[:cut_at], *shared, *arm[cut_at:]]
        first = tokens[0].start if position == 0 else arm[0].start
        yield RawStatement(ordered, begin=first, stop=int(arm[-1].end) + 1)


def _find_statement_set(tokens: Sequence[Token]) -> int:
    """Flink: the index of the first statement of `EXECUTE STATEMENT SET BEGIN …`, or 0."""
    if tokens[0].text.upper() not in ("EXECUTE", "COMPILE"):
        return 0
    words = [token.text.upper() for token in tokens[:12]]
    begin = words.index("BEGIN") + 1 if "BEGIN" in words else 0
    return begin if words[max(begin - 3, 0) : begin] == ["STATEMENT", "SET", "BEGIN"] and begin < len(tokens) else 0


_SOURCE_FIRST_TOKENS = (TokenType.FROM, TokenType.WITH)
_INSERT_TOKEN = TokenType.INSERT
_TYPE_OF_TOKEN = attrgetter("token_type")


def _find_inserts(tokens: Sequence[Token]) -> tuple[int, list[int]]:
    """The index of the leading source of a statement, and those of its INSERTs."""
    depth, start, heads = 0, -1, []
    opening, closing = TokenType.L_PAREN, TokenType.R_PAREN
    for index, token in enumerate(tokens):
        depth += (token.token_type is opening) - (token.token_type is closing)
        if depth:
            continue
        if token.token_type is TokenType.FROM and start < 0:
            start = index
        elif token.token_type is TokenType.INSERT and start >= 0:
            heads.append(index)
        elif token.token_type in (TokenType.SELECT, TokenType.INSERT) and start < 0:
            break
    return start, heads


def _find_clause(tokens: Sequence[Token]) -> int:
    """The index of the first clause after a select list."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if (
            depth == 0
            and token.text.upper().split(" ")[0] in _CLAUSE_KEYWORDS
            and token.token_type is not TokenType.IDENTIFIER
        ):
            return index
    return len(tokens)


def is_batch_separator(tokens: Sequence[Token], index: int) -> bool:
    """Whether a GO is alone on its line, apart from a count."""
    token = tokens[index]
    if index and tokens[index - 1].line == token.line and tokens[index - 1].token_type is not TokenType.SEMICOLON:
        return False
    index += index + 1 < len(tokens) and tokens[index + 1].token_type is TokenType.SEMICOLON  # which many clients take
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return following is None or following.line != token.line or following.token_type is TokenType.NUMBER
