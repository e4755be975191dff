"""RawStatement: the tokens of one statement of a script and its role, and the plain ways to split tokens."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.tokens import (
    insert_before,
    keywords_of,
    paren_step,
    skip_brackets,
    skip_name,
    synthetic_token,
    token_type_at,
)
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


def separate_schema_elements(tokens: Sequence[Token]) -> Sequence[Token]:
    """`CREATE SCHEMA s CREATE TABLE t … CREATE VIEW v …` as statements of their own, on `s.t` and `s.v`."""
    if not any(token.token_type is TokenType.SCHEMA for token in tokens):
        return tokens
    words = keywords_of(tokens)
    heads = [index for index, word in enumerate(words) if word == "SCHEMA" and words[max(index - 1, 0)] == "CREATE"]
    kept: list[Token] = []
    done = 0
    for head in heads:
        end = _find_schema_end(tokens, words, head)
        starts = _find_elements(tokens, words, head, end)
        name = head + 1 + 3 * (words[head + 1 : head + 4] == ["IF", "NOT", "EXISTS"])
        name += words[name : name + 1] == ["AUTHORIZATION"]
        if not starts or name >= starts[0]:
            continue
        own = {tokens[_find_element_name(words, start)].text.upper() for start in starts}
        kept.extend(tokens[done : starts[0]])
        for index in range(starts[0], end):
            if index in starts:
                kept.append(synthetic_token(";", tokens[index - 1]))
            token = tokens[index]
            named = words[index - 1] in _BEFORE_OBJECTS and words[index + 1 : index + 2] != ["."]
            if named and token.text.upper() in own:
                kept.append(insert_before(token, tokens[name].token_type, tokens[name].text))
                kept.append(insert_before(token, TokenType.DOT, "."))
            kept.append(token)
        done = end
    return [*kept, *tokens[done:]] if done else tokens


_SCHEMA_ELEMENTS = frozenset({"CREATE", "GRANT"})
"""First words of the statements that may stand inside CREATE SCHEMA."""

_BEFORE_OBJECTS = frozenset("TABLE VIEW SEQUENCE EXISTS FROM JOIN REFERENCES ON OF INTO ONLY".split())
"""Words before the name of an object in such a statement."""


def _find_schema_end(tokens: Sequence[Token], words: Sequence[str], index: int) -> int:
    """The index after a CREATE SCHEMA: that of a semicolon, of GO, or of the end."""
    while index < len(tokens):
        if tokens[index].token_type is _SEMICOLON or (words[index] == "GO" and is_batch_separator(tokens, index)):
            break
        index += 1
    return index


def _find_elements(tokens: Sequence[Token], words: Sequence[str], index: int, end: int) -> list[int]:
    """The indices of the first words of the statements inside a CREATE SCHEMA."""
    depth, starts = 0, list[int]()
    while index < end:
        depth += paren_step(tokens[index])
        if depth == 0 and words[index] in _SCHEMA_ELEMENTS:
            starts.append(index)
        index += 1
    return starts


def _find_element_name(words: Sequence[str], start: int) -> int:
    """The index of the name that a CREATE inside CREATE SCHEMA defines, or that of its first word."""
    for index in range(start, min(start + _ELEMENT_HEAD, len(words) - 1)):
        if words[index] in _ELEMENT_KINDS:
            return index + 1 + 3 * (words[index + 1 : index + 4] == ["IF", "NOT", "EXISTS"])
    return start


_ELEMENT_KINDS = frozenset({"TABLE", "VIEW", "SEQUENCE"})
_ELEMENT_HEAD = 4
"""How many words of such a CREATE are looked at for its kind."""


def separate_macro_overloads(tokens: Sequence[Token]) -> Sequence[Token]:
    """DuckDB: `CREATE MACRO m (a) AS a, (a, b) AS a + b` as a statement for each list of parameters."""
    words = keywords_of(tokens)
    if "MACRO" not in words:
        return tokens
    kept, head = list[Token](), list[Token]()
    begin, depth, index = 0, 0, 0
    while index < len(tokens):
        token = tokens[index]
        depth += paren_step(token)
        if token.token_type is _SEMICOLON:
            head, begin, depth = [], index + 1, 0
        elif words[index] == "MACRO" and words[begin : begin + 1] == ["CREATE"] and not head:
            head = list(tokens[begin : skip_name(tokens, index + 1)])
        opens = token.token_type is TokenType.COMMA and token_type_at(tokens, index + 1) is TokenType.L_PAREN
        if head and depth == 0 and opens and words[(end := skip_brackets(tokens, index + 1)) : end + 1] == ["AS"]:
            kept.append(synthetic_token(";", token))
            kept.extend(insert_before(tokens[index + 1], copied.token_type, copied.text) for copied in head)
        else:
            kept.append(token)
        index += 1
    return kept


def is_batch_separator(tokens: Sequence[Token], index: int) -> bool:
    """Whether a GO is alone on its line, apart from a count."""
    token = tokens[index]
    if index and tokens[index - 1].line == token.line and tokens[index - 1].token_type is not TokenType.SEMICOLON:
        return False
    index += index + 1 < len(tokens) and tokens[index + 1].token_type is TokenType.SEMICOLON  # which many clients take
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return following is None or following.line != token.line or following.token_type is TokenType.NUMBER
