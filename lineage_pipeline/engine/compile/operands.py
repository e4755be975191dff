"""Operands: constants, names and operators of an expression, printed as an engine prints them."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects import captions as rows
from lineage_pipeline.dialects.captions import BINARY, PREDICATE, PREFIXES
from lineage_pipeline.engine.compile.words import behind_brackets, keyword

_SHIFTS = ("<<", ">>", ">>>")
_MOVES = ("({} + {})", "({} - {})")
_PREDICATES = frozenset({"BETWEEN", "IN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "IS", "NOT"})


class Unprintable(Exception):
    """An expression that has no caption."""


class Operands(ABC):
    """Reads the tokens of one expression from left to right; how functions are called, others know."""

    def __init__(self, tokens: Sequence[Token], text: str, aliases: Collection[str]) -> None:
        """Start before the first token."""
        self.tokens = tokens
        self.text = text
        self.aliases = aliases
        self.index = 0
        self.parameters: list[str] = []

    # ── tokens ───────────────────────────────────────────────────────────────────────────────────────────────────

    def word(self, ahead: int = 0) -> str:
        """The token ahead in capitals, or nothing; names in quotes and strings are no words."""
        position = self.index + ahead
        if position >= len(self.tokens) or self.tokens[position].token_type is TokenType.STRING:
            return ""
        return keyword(self.tokens[position])

    def kind(self, ahead: int = 0) -> TokenType | None:
        """The kind of the token ahead."""
        position = self.index + ahead
        return self.tokens[position].token_type if position < len(self.tokens) else None

    def next(self) -> Token:
        """The next token."""
        self.index += 1
        return self.tokens[self.index - 1]

    def taken(self, *words: str) -> bool:
        """Whether these words come next; they are passed over then."""
        if all(self.word(ahead) == word for ahead, word in enumerate(words)):
            self.index += len(words)
            return True
        return False

    def expect(self, *words: str) -> None:
        """Pass over these words."""
        if not self.taken(*words):
            raise Unprintable

    # ── expressions ──────────────────────────────────────────────────────────────────────────────────────────────

    def expression(self, level: int = 0) -> str:
        """An expression of operators that bind at least that tight."""
        left = self.prefixed()
        while True:
            operator = BINARY.get(self.operator())
            if operator is not None and operator[0] >= level:
                self.index += len(self.operator()) if self.operator() in _SHIFTS else 1
                right = self.expression(operator[0] + 1)
                moved = right.startswith("INTERVAL ") and operator[1] in _MOVES  # of a moment, which has no brackets
                left = (operator[1][1:-1] if moved else operator[1]).format(left, right)
            elif self.word() in _PREDICATES and level <= PREDICATE:
                left = self.predicate(left)
            else:
                return left

    def operator(self) -> str:
        """The operator ahead; the parts of a shift are tokens of their own."""
        word = self.word()
        following = self.word(1)
        if (
            word in ("<", ">")
            and following == word
            and self.tokens[self.index].end + 1 == self.tokens[self.index + 1].start
        ):
            return word * (3 if self.word(2) == word == ">" else 2)
        return word

    def prefixed(self) -> str:
        """An operand with the operators before it."""
        operator = PREFIXES.get(self.word())
        if operator is None:
            return self.member(self.primary())
        self.index += 1
        if operator[1] == "(- {})" and self.kind() is TokenType.NUMBER:
            return "-" + self.member(self.primary())
        return operator[1].format(self.expression(operator[0]))

    def predicate(self, left: str) -> str:
        """What an operand is compared with by words."""
        shape = "(NOT {})" if self.taken("NOT") else "{}"
        if self.taken("BETWEEN"):
            low = self.expression(PREDICATE + 1)
            self.expect("AND")
            return shape.format(f"between({left}, {low}, {self.expression(PREDICATE + 1)})")
        if self.taken("IN"):
            inside = self.subquery("listquery") if self.is_query(1) else ", ".join(self.arguments())
            return shape.format(f"({left} IN ({inside}))")
        if self.taken("LIKE"):
            pattern = self.expression(PREDICATE + 1)
            escape = f" ESCAPE '{self.next().text}'" if self.taken("ESCAPE") else ""
            return shape.format(f"{left} LIKE {pattern}{escape}")
        if self.taken("ILIKE"):
            pattern = self.expression(PREDICATE + 1)
            self.index += 2 if self.word() == "ESCAPE" else 0
            return shape.format(f"ilike({left}, {pattern})")
        if self.taken("RLIKE") or self.taken("REGEXP"):
            return shape.format(f"RLIKE({left}, {self.expression(PREDICATE + 1)})")
        self.expect("IS")
        return self.known(left)

    def known(self, left: str) -> str:
        """What stands behind IS."""
        denied = self.taken("NOT")
        if self.taken("NULL"):
            return f"({left} IS NOT NULL)" if denied else f"({left} IS NULL)"
        if self.taken("DISTINCT", "FROM"):
            same = f"({left} <=> {self.expression(PREDICATE + 1)})"
            return same if denied else f"(NOT {same})"
        same = f"({left} <=> {rows.CONSTANTS[self.word()]})" if self.word() in rows.CONSTANTS else ""
        self.index += 1
        if not same:
            raise Unprintable
        return f"(NOT {same})" if denied else same

    def member(self, base: str) -> str:
        """An operand with the members, elements and conversions behind it."""
        while True:
            if self.kind() is TokenType.L_BRACKET:
                self.index += 1
                base = f"{base}[{self.expression()}]"
                self.expect("]")
            elif self.kind() is TokenType.DOT:
                self.index += 1
                base = f"{base}.{self.next().text}"
            elif self.kind() is TokenType.DCOLON:
                token = self.next()
                if self.text[token.start : token.end + 1] == "::":
                    base = f"CAST({base} AS {self.type()})"
                else:  # the letter behind a number
                    base += ".0" if self.next().text.upper() in ("D", "F") and base.lstrip("-").isdigit() else ""
            else:
                return base

    def primary(self) -> str:
        """A constant, a name, a function, or something in brackets."""
        word, kind = self.word(), self.kind()
        if kind is TokenType.L_PAREN:
            return self.bracketed()
        if kind is TokenType.STRING:
            return self.string()
        if kind is TokenType.NUMBER:
            return number(self.next().text)
        if kind is TokenType.HEX_STRING:
            return f"X'{self.next().text.upper()}'"
        if word in rows.CONSTANTS and kind is not TokenType.IDENTIFIER:
            self.index += 1
            return rows.CONSTANTS[word]
        if word in rows.DATED and self.kind(1) is TokenType.STRING:
            self.index += 1
            return f"{word} '{moment(word, self.next().text)}'"
        if word == "INTERVAL" and self.kind(1) in (TokenType.STRING, TokenType.NUMBER):
            return self.interval()
        if word == "CASE" and self.kind() is not TokenType.IDENTIFIER:
            return self.case()
        if self.kind(1) is TokenType.L_PAREN:
            return self.function()
        return self.name()

    def string(self) -> str:
        """A string; where a quote is doubled, the parts on its two sides are tokens of their own."""
        token = self.next()
        found = token.text
        while self.kind() is TokenType.STRING:
            following = self.next()
            found += ("'" if token.end + 1 == following.start else "") + following.text
            token = following
        return found

    def interval(self) -> str:
        """An interval of one unit, or from one to another."""
        self.index += 1
        amount, unit = self.next().text, self.next().text.upper().rstrip("S")
        if self.taken("TO"):
            return f"INTERVAL '{amount}' {unit} TO {self.next().text.upper()}"
        if not amount.lstrip("-").isdigit():
            raise Unprintable
        return f"INTERVAL '{amount.zfill(2) if unit in rows.PADDED else amount}' {unit}"

    def name(self) -> str:
        """A column without the source it is asked of, or a parameter of the lambda around."""
        parts = [self.next().text]
        if self.tokens[self.index - 1].token_type is TokenType.STAR:
            raise Unprintable
        while self.kind() is TokenType.DOT and self.kind(1) is not TokenType.STAR:
            self.index += 1
            parts.append(self.next().text)
        if parts[0].lower() in self.parameters:
            return ".".join(["namedlambdavariable()", *parts[1:]])
        if len(parts) == 1 and parts[0].upper() in rows.BARE:
            return f"{parts[0].lower()}()"
        named = [position for position, part in enumerate(parts[:-1]) if part.lower() in self.aliases]
        return ".".join(parts[named[0] + 1 :] if named else parts)

    def bracketed(self) -> str:
        """An expression, a row, a query or the parameters of a lambda."""
        if self.is_query(1):
            return self.subquery("scalarsubquery")
        behind = behind_brackets(self.tokens, self.index)
        if behind < len(self.tokens) and self.tokens[behind].token_type is TokenType.ARROW:
            return self.lambda_([token.text for token in self.tokens[self.index + 1 : behind : 2]], behind)
        parts = self.arguments()
        return parts[0] if len(parts) == 1 else f"named_struct({', '.join(f'{part}, {part}' for part in parts)})"

    def lambda_(self, parameters: Sequence[str], arrow: int) -> str:
        """An anonymous function."""
        self.index = arrow + 1
        known = len(self.parameters)
        self.parameters.extend(parameter.lower() for parameter in parameters)
        body = self.expression()
        del self.parameters[known:]
        return f"lambdafunction({', '.join([body, *('namedlambdavariable()' for _ in parameters)])})"

    def case(self) -> str:
        """CASE, its operand compared in each branch."""
        self.index += 1
        operand = "" if self.word() == "WHEN" else self.expression()
        parts = []
        while self.taken("WHEN"):
            condition = self.expression()
            self.expect("THEN")
            parts.append(f"WHEN {f'({operand} = {condition})' if operand else condition} THEN {self.expression()}")
        if self.taken("ELSE"):
            parts.append(f"ELSE {self.expression()}")
        self.expect("END")
        return f"CASE {' '.join(parts)} END"

    # ── what others know ─────────────────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def function(self) -> str:
        """A function with its arguments."""

    @abstractmethod
    def arguments(self) -> list[str]:
        """What stands in brackets, part by part."""

    @abstractmethod
    def type(self) -> str:
        """A type."""

    # ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────

    def is_query(self, ahead: int) -> bool:
        """Whether a query begins behind the bracket."""
        return self.kind(ahead - 1) is TokenType.L_PAREN and self.word(ahead) in ("SELECT", "WITH", "FROM", "VALUES")

    def subquery(self, name: str) -> str:
        """A query, called by the columns that it takes from outside."""
        behind = behind_brackets(self.tokens, self.index)
        inside, self.index = self.tokens[self.index : behind], behind
        taken = [
            after.text
            for qualifier, dot, after in zip(inside, inside[1:], inside[2:], strict=False)
            if dot.token_type is TokenType.DOT and qualifier.text.lower() in self.aliases
        ]
        return f"{name}({', '.join(dict.fromkeys(taken))})"


def moment(kind: str, text: str) -> str:
    """A date or a moment that is written out; a moment has an hour."""
    return f"{text} 00:00:00" if kind.startswith("TIMESTAMP") and len(text) == len("2020-01-01") else text


def number(text: str) -> str:
    """A number as it is printed: one with an exponent as a machine writes it."""
    if "E" not in text.upper():
        return f"0{text}" if text.startswith(".") else text
    value = float(text)
    if 1e-3 <= abs(value) < 1e7 or not value:
        return str(value)
    digits, _, power = f"{value:e}".partition("e")
    whole, _, rest = digits.partition(".")
    return f"{whole}.{rest.rstrip('0') or '0'}E{int(power)}"
