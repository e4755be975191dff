"""Tokens: keywords, brackets, dotted names and strings in a token list, and TokenReader."""

from collections.abc import Iterator, Sequence

from sqlglot.tokens import Token, Tokenizer, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.identifier_folding import fold_identifier
from lineage_pipeline.dialects.statement_words import OBJECT_WORDS
from lineage_pipeline.model import ir

_QUOTED_TOKENS = (TokenType.STRING, TokenType.IDENTIFIER, TokenType.NATIONAL_STRING)

OPERAND_END_TOKENS = (
    TokenType.VAR,
    TokenType.IDENTIFIER,
    TokenType.NUMBER,
    TokenType.STRING,
    TokenType.R_PAREN,
    TokenType.R_BRACKET,
)
"""Token types that can end an operand."""

UNARY_PLUS = "sign"
"""Meta key of synthetic parentheses that represent a unary plus."""


def keyword(token: Token) -> str:
    """The upper-case text of a token that is not quoted."""
    if token.token_type in _QUOTED_TOKENS:
        return ""
    return token.text.upper()


def keywords_of(tokens: Sequence[Token]) -> list[str]:
    """The keywords of tokens, in order; faster than one call per token."""
    return ["" if token.token_type in _QUOTED_TOKENS else token.text.upper() for token in tokens]


def synthetic_token(word: str, token: Token) -> Token:
    """A token with the given text at the position of another token."""
    kind = Tokenizer.KEYWORDS.get(word) or Tokenizer.SINGLE_TOKENS.get(word, TokenType.VAR)
    return Token(kind, word, token.line, token.col, token.start, token.end)


def insert_before(token: Token, kind: TokenType, text: str) -> Token:
    """A token that is inserted before another one and has no width."""
    return Token(kind, text, token.line, token.col, token.start, token.start - 1)


def skip_brackets(tokens: Sequence[Token], index: int) -> int:
    """The index after the parentheses that open at a token."""
    depth = 0
    while index < len(tokens):
        kind = tokens[index].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        index += 1
        if depth == 0:
            break
    return index


def is_name_at(tokens: Sequence[Token], index: int) -> bool:
    """Whether a name can begin at a token: a quoted identifier or any word."""
    if index >= len(tokens):
        return False
    token = tokens[index]
    if token.token_type is TokenType.IDENTIFIER:
        return True
    return token.token_type is not TokenType.STRING and (token.text[:1].isalpha() or token.text[:1] in ("_", "#"))


def skip_name(tokens: Sequence[Token], index: int) -> int:
    """The index after a dotted name that begins at a token, or that index."""
    while is_name_at(tokens, index):
        index += 1
        if index >= len(tokens) or tokens[index].token_type is not TokenType.DOT:
            return index
        index += 1
    return index


def read_dotted_name(tokens: Sequence[Token], index: int, first: int, traits: DialectTraits) -> tuple[ir.Name, int]:
    """The dotted name at a token, its span relative to the token `first`, and the index after it."""
    begin, parts, written = index, [], ""
    while index < len(tokens):
        token = tokens[index]
        if token.token_type is TokenType.DOT:
            parts.append("")
            index += 1
            continue
        written, index = _read_name_part(tokens, index)
        parts.append(fold_identifier(written, token.token_type is TokenType.IDENTIFIER, traits.tables))
        if index >= len(tokens) or tokens[index].token_type is not TokenType.DOT:
            break
        index += 1
    origin = tokens[first].start
    return ir.Name(tuple(parts), written, tokens[begin].start - origin, tokens[index - 1].end + 1 - origin), index


def _read_name_part(tokens: Sequence[Token], index: int) -> tuple[str, int]:
    """One part of a name with the `#` of a temporary object, and the index after it."""
    text = tokens[index].text
    while tokens[index].text in ("#", "##") and index + 1 < len(tokens):
        index += 1
        text += tokens[index].text
    return text, index + 1


def read_search_path(tokens: Sequence[Token], traits: DialectTraits) -> tuple[str, ...]:
    """The context set by `SET search_path`, which sqlglot does not parse."""
    words = [keyword(token) for token in tokens[:3]]
    if "SEARCH_PATH" not in words:
        return ()
    names = [token for token in tokens[words.index("SEARCH_PATH") + 2 :] if token.token_type is not TokenType.COMMA]
    folded = (
        fold_identifier(token.text, token.token_type in _QUOTED_TOKENS, traits.tables)
        for token in names
        if token.text != "$user"
    )
    return "SEARCH_PATH", *folded


class TokenReader:
    """Reads the tokens of a statement from left to right, without the parser."""

    def __init__(self, tokens: Sequence[Token], traits: DialectTraits, origin: int = -1) -> None:
        """Start at the first token; spans are relative to `origin`, or to that token."""
        self.shift = tokens[0].start - origin if origin >= 0 and tokens else 0
        self.tokens = tokens
        self.words = keywords_of(tokens)
        self.traits = traits
        self.index = 0

    @property
    def done(self) -> bool:
        """Whether no token is left."""
        return self.index >= len(self.tokens)

    def word(self, ahead: int = 0) -> str:
        """The keyword `ahead` tokens from here."""
        index = self.index + ahead
        return self.words[index] if index < len(self.words) else ""

    def take(self, *words: str) -> bool:
        """Consume the given keywords if they come next."""
        if tuple(self.words[self.index : self.index + len(words)]) != words:
            return False
        self.index += len(words)
        return True

    def take_any(self, *words: str) -> str:
        """Consume one of the given keywords, and return it."""
        found = self.word() if self.word() in words else ""
        self.index += bool(found)
        return found

    def read_object_kind(self) -> str:
        """Read the kind of object of a CREATE, ALTER or DROP, from its beginning."""
        self.index = 1
        while self.word() in OBJECT_WORDS:
            self.index += 1
        self.index += 1
        return self.word(-1)

    def at_open_paren(self) -> bool:
        """Whether the next token is an opening parenthesis."""
        return not self.done and self.tokens[self.index].token_type is TokenType.L_PAREN

    def read_list(self) -> list[list[Token]]:
        """Read the items of a list in parentheses."""
        begin, self.index = self.index + 1, skip_brackets(self.tokens, self.index)
        return split_list(self.tokens[begin : self.index - 1])

    def read_name(self) -> ir.Name | None:
        """Read a dotted name; None if there is none."""
        if not is_name_at(self.tokens, self.index):
            return None
        if self.word() == "IDENTIFIER" and (spoken := self._read_identifier_call()) is not None:
            return spoken
        name, self.index = read_dotted_name(self.tokens, self.index, 0, self.traits)
        if self.shift:
            return ir.Name(name.parts, name.written, name.start + self.shift, name.end + self.shift)
        return name

    def _read_identifier_call(self) -> ir.Name | None:
        """Read the name in `IDENTIFIER('db.t')`."""
        inside = [token.token_type for token in self.tokens[self.index + 1 : self.index + 4]]
        if inside != [TokenType.L_PAREN, TokenType.STRING, TokenType.R_PAREN]:
            return None
        parts = self.tokens[self.index + 2].text.split(".")
        self.index += 4
        return ir.Name(tuple(fold_identifier(part, False, self.traits.tables) for part in parts), parts[-1])

    def read_column(self) -> str:
        """Read the name of a column."""
        if self.done:
            return ""
        token = self.tokens[self.index]
        self.index += 1
        return fold_identifier(token.text, token.token_type is TokenType.IDENTIFIER, self.traits.columns)

    def read_string(self) -> str:
        """Read the text of a string."""
        if self.done or self.tokens[self.index].token_type not in TEXT_TOKENS:
            return ""
        self.index += 1
        return str(self.tokens[self.index - 1].text)

    def read_item(self) -> list[Token]:
        """Read all tokens up to the next comma outside brackets, and the comma."""
        begin = self.index
        depths = enumerate(walk_brackets(self.tokens[begin:]), begin)
        commas = (at for at, depth in depths if depth == 0 and self.tokens[at].token_type is TokenType.COMMA)
        self.index = next(commas, len(self.tokens))
        found = list(self.tokens[begin : self.index])
        self.index += not self.done
        return found

    def seek(self, *words: str) -> bool:
        """Move to the first of some keywords outside brackets, if there is one."""
        depths = enumerate(walk_brackets(self.tokens[self.index :]), self.index)
        found = next((at for at, depth in depths if depth == 0 and self.words[at] in words), -1)
        self.index = found if found >= 0 else self.index
        return found >= 0


TEXT_TOKENS = (TokenType.STRING, TokenType.NATIONAL_STRING, TokenType.RAW_STRING, TokenType.HEREDOC_STRING)
"""Types of string tokens without byte and unicode strings."""


def walk_brackets(tokens: Sequence[Token]) -> Iterator[int]:
    """How many brackets are open before each token, `<` of types among them; elsewhere, it compares."""
    depth, angles, before = 0, 0, ""
    for token in tokens:
        yield depth
        word = keyword(token)
        step = (word == "<" and before in _NESTED_TYPES) - (word == ">" and angles > 0)
        depth, angles, before = depth + step + paren_step(token), angles + step, word


_NESTED_TYPES = frozenset("ARRAY STRUCT MAP ROW MULTISET UNIONTYPE RANGE TABLE OBJECT".split())
"""Types whose members stand between `<` and `>`."""


def paren_step(token: Token) -> int:
    """1 for an opening parenthesis or square bracket, -1 for a closing one."""
    kind = token.token_type
    return (kind in (TokenType.L_PAREN, TokenType.L_BRACKET)) - (kind in (TokenType.R_PAREN, TokenType.R_BRACKET))


def split_list(tokens: Sequence[Token]) -> list[list[Token]]:
    """The items of a list, split at the commas outside brackets."""
    found: list[list[Token]] = [[]]
    for depth, token in zip(walk_brackets(tokens), tokens, strict=True):
        if depth == 0 and token.token_type is TokenType.COMMA:
            found.append([])
        else:
            found[-1].append(token)
    return [item for item in found if item]


STATEMENT_KEYWORDS = frozenset(
    "SELECT SEL WITH INSERT INS UPDATE UPD DELETE DEL MERGE CREATE REPLACE UNLOAD VALUES TABLE".split()
)
"""Keywords that begin a statement after a prefix such as LOCKING or PREPARE."""

STRING_TOKENS = frozenset(
    {
        TokenType.STRING,
        TokenType.HEREDOC_STRING,
        TokenType.RAW_STRING,
        TokenType.NATIONAL_STRING,
        TokenType.BYTE_STRING,
        TokenType.UNICODE_STRING,
    }
)
"""All types of string tokens."""


def decode_string(written: str, traits: DialectTraits) -> tuple[str, int, list[int]]:
    """The code in a written string, its offset in the string, and the positions of dropped characters."""
    begin = 0
    while begin < len(written) and written[begin].isalpha():
        begin += 1
    if written[begin] == "$":
        size = written.index("$", begin + 1) + 1
        return written[size : len(written) - size], size, []
    quote = written[begin]
    if begin and written[begin - 1] in "qQ":  # Oracle: q'[…]'
        return written[begin + 2 : -2], begin + 2, []
    if traits.triple_quotes and written[begin : begin + 3] == quote * 3 and len(written) - begin >= 6:
        return written[begin + 3 : -3], begin + 3, []
    return _unescape_quotes(written[begin + 1 : -1], quote + "\\" * (not traits.transact_sql), begin + 1)


def _unescape_quotes(written: str, marks: str, offset: int) -> tuple[str, int, list[int]]:
    """The code in a string with doubled quotes or quotes after a backslash."""
    quote = marks[0]
    if quote not in written:
        return written, offset, []
    code: list[str] = []
    skips: list[int] = []
    index = 0
    twice = "\\\\" + quote * 2  # a quote in a string inside the string
    nested = "\\" in marks and twice in written
    while index < len(written):
        doubled = nested and written.startswith(twice, index)
        if doubled or (written[index] in marks and written[index + 1 : index + 2] == quote):
            skips.append(len(code))
            index += 1
        code.append(written[index])
        index += 1
        if doubled:
            skips.append(len(code))
            code.append(quote)
            index += 2
    return "".join(code), offset, skips


def find_top_level_keyword(tokens: Sequence[Token], *words: str, start: int = 0) -> int:
    """The index of the first of some keywords outside parentheses, or -1."""
    depth = 0
    for index in range(start, len(tokens)):
        kind = tokens[index].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth == 0 and keyword(tokens[index]) in words:
            return index
    return -1


def retype_token(token: Token, kind: TokenType, text: str) -> Token:
    """A token of another type and text at the position of a token."""
    return Token(kind, text, token.line, token.col, token.start, token.end, token.comments)


def token_type_at(tokens: Sequence[Token], index: int) -> TokenType | None:
    """The type of a token, or None behind the last one."""
    return tokens[index].token_type if index < len(tokens) else None


def is_open_paren_at(tokens: Sequence[Token], index: int) -> bool:
    """Whether a parenthesis opens at a token."""
    return index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN


TABLE_NAME_WORDS = frozenset("INTO TABLE EXISTS".split())
"""Keywords behind which the name of a table stands, whatever word it is."""


def is_called_at(tokens: Sequence[Token], index: int) -> bool:
    """Whether the word at a token is a function with its arguments, and not a table with its columns."""
    named = index > 0 and keyword(tokens[index - 1]) in TABLE_NAME_WORDS
    return is_open_paren_at(tokens, index + 1) and not named


def defines_table(tokens: Sequence[Token]) -> bool:
    """Whether a statement creates, alters or declares a table."""
    words = [keyword(token) for token in tokens[:5]]
    return words[0] in ("CREATE", "ALTER", "DECLARE") and "TABLE" in words
