"""A cursor over the tokens of a statement that is read without the parser."""

from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.folding import fold
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.words import behind_brackets, dotted_name, is_name, keywords
from lineage_pipeline.vocabulary import ir


class Cursor:
    """Where a reader stands in a statement."""

    def __init__(self, tokens: Sequence[Token], traits: Traits, origin: int = -1) -> None:
        """Start at the first token; places count from `origin`, or from that token."""
        self.shift = tokens[0].start - origin if origin >= 0 and tokens else 0
        self.tokens = tokens
        self.words = keywords(tokens)
        self.traits = traits
        self.index = 0

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return self.index >= len(self.tokens)

    def word(self, ahead: int = 0) -> str:
        """The keyword that many tokens ahead."""
        index = self.index + ahead
        return self.words[index] if index < len(self.words) else ""

    def take(self, *words: str) -> bool:
        """Go on behind some words if they stand here."""
        if tuple(self.words[self.index : self.index + len(words)]) != words:
            return False
        self.index += len(words)
        return True

    def take_any(self, *words: str) -> str:
        """Go on behind one of some words, and say which."""
        found = self.word() if self.word() in words else ""
        self.index += bool(found)
        return found

    def opens(self) -> bool:
        """Whether a bracket opens here."""
        return not self.done and self.tokens[self.index].token_type is TokenType.L_PAREN

    def brackets(self) -> list[list[Token]]:
        """The items of a list in brackets, going on behind it."""
        begin, self.index = self.index + 1, behind_brackets(self.tokens, self.index)
        return items(self.tokens[begin : self.index - 1])

    def name(self) -> ir.Name | None:
        """The dotted name that stands here, going on behind it."""
        if not is_name(self.tokens, self.index):
            return None
        if self.word() == "IDENTIFIER" and (spoken := self._spoken_name()) is not None:
            return spoken
        name, self.index = dotted_name(self.tokens, self.index, 0, self.traits)
        if self.shift:
            return ir.Name(name.parts, name.written, name.start + self.shift, name.end + self.shift)
        return name

    def _spoken_name(self) -> ir.Name | None:
        """The name in `IDENTIFIER('db.t')`, going on behind it."""
        inside = [token.token_type for token in self.tokens[self.index + 1 : self.index + 4]]
        if inside != [TokenType.L_PAREN, TokenType.STRING, TokenType.R_PAREN]:
            return None
        parts = self.tokens[self.index + 2].text.split(".")
        self.index += 4
        return ir.Name(tuple(fold(part, False, self.traits.tables) for part in parts), parts[-1])

    def column(self) -> str:
        """The name of a column that stands here, going on behind it."""
        if self.done:
            return ""
        token = self.tokens[self.index]
        self.index += 1
        return fold(token.text, token.token_type is TokenType.IDENTIFIER, self.traits.columns)

    def string(self) -> str:
        """The text of a string that stands here, going on behind it."""
        if self.done or self.tokens[self.index].token_type not in STRINGS:
            return ""
        self.index += 1
        return str(self.tokens[self.index - 1].text)

    def rest(self) -> list[Token]:
        """All tokens up to the next comma outside brackets, going on behind the comma."""
        begin = self.index
        depth = 0
        while not self.done:
            token = self.tokens[self.index]
            if depth == 0 and token.token_type is TokenType.COMMA:
                break
            depth += opening(token)
            self.index += 1
        found = list(self.tokens[begin : self.index])
        self.index += not self.done
        return found

    def find(self, *words: str) -> bool:
        """Go on to the first of some words outside brackets, if there is one."""
        depth = 0
        for index in range(self.index, len(self.tokens)):
            if depth == 0 and self.words[index] in words:
                self.index = index
                return True
            depth += opening(self.tokens[index])
        return False


STRINGS = (TokenType.STRING, TokenType.NATIONAL_STRING, TokenType.RAW_STRING, TokenType.HEREDOC_STRING)
_OPEN = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.LT)
_CLOSE = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.GT)


def opening(token: Token) -> int:
    """1 where a token opens a bracket, -1 where it closes one; types may have pointed ones."""
    return (token.token_type in _OPEN) - (token.token_type in _CLOSE)


def items(tokens: Sequence[Token]) -> list[list[Token]]:
    """The items of a list, cut at the commas outside brackets."""
    found: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if depth == 0 and token.token_type is TokenType.COMMA:
            found.append([])
        else:
            found[-1].append(token)
        depth += opening(token)
    return [item for item in found if item]
