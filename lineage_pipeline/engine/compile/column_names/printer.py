"""Printer of expressions from their tokens: constants, names and operators as Spark prints them; others override it."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects import spark_column_names as rows
from lineage_pipeline.dialects.spark_column_names import BINARY_OPERATORS, PREDICATE_PRECEDENCE, PREFIX_OPERATORS
from lineage_pipeline.engine.compile.tokens import keyword, skip_brackets

_SHIFT_OPERATORS = ("<<", ">>", ">>>")
_INTERVAL_SHAPES = ("({} + {})", "({} - {})")
_PREDICATE_KEYWORDS = frozenset({"BETWEEN", "IN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "IS", "NOT"})


class UnprintableError(Exception):
    """An expression that cannot be printed, so that its column gets no name from it."""


class OperandPrinter(ABC):
    """Reads the tokens of one expression from left to right; subclasses print function calls."""

    def __init__(self, tokens: Sequence[Token], text: str, aliases: Collection[str]) -> None:
        """Start before the first token."""
        self.tokens = tokens
        self.text = text
        self.aliases = aliases
        self.index = 0
        self.parameters: list[str] = []

    # ── tokens ───────────────────────────────────────────────────────────────────────────────────────────────────

    def word(self, ahead: int = 0) -> str:
        """The keyword `ahead` tokens from here, or ""; quoted names and strings are not keywords."""
        position = self.index + ahead
        if position >= len(self.tokens) or self.tokens[position].token_type is TokenType.STRING:
            return ""
        return keyword(self.tokens[position])

    def token_type(self, ahead: int = 0) -> TokenType | None:
        """The type of the token `ahead` tokens from here."""
        position = self.index + ahead
        return self.tokens[position].token_type if position < len(self.tokens) else None

    def next(self) -> Token:
        """Consume the next token."""
        self.index += 1
        return self.tokens[self.index - 1]

    def take(self, *words: str) -> bool:
        """Consume the given keywords if they come next."""
        if all(self.word(ahead) == word for ahead, word in enumerate(words)):
            self.index += len(words)
            return True
        return False

    def expect(self, *words: str) -> None:
        """Consume the given keywords, or give up."""
        if not self.take(*words):
            raise UnprintableError

    # ── expressions ──────────────────────────────────────────────────────────────────────────────────────────────

    def print_expression(self, level: int = 0) -> str:
        """An expression of operators that bind at least as tightly as `level`."""
        left = self.print_prefixed()
        while True:
            operator = BINARY_OPERATORS.get(self.peek_operator())
            if operator is not None and operator[0] >= level:
                self.index += len(self.peek_operator()) if self.peek_operator() in _SHIFT_OPERATORS else 1
                right = self.print_expression(operator[0] + 1)
                moved = (
                    right.startswith("INTERVAL ") and operator[1] in _INTERVAL_SHAPES
                )  # of a moment, which has no brackets
                left = (operator[1][1:-1] if moved else operator[1]).format(left, right)
            elif self.word() in _PREDICATE_KEYWORDS and level <= PREDICATE_PRECEDENCE:
                left = self.print_predicate(left)
            else:
                return left

    def peek_operator(self) -> str:
        """The next operator; the characters of a shift are separate tokens."""
        word = self.word()
        following = self.word(1)
        if (
            word in ("<", ">")
            and following == word
            and self.tokens[self.index].end + 1 == self.tokens[self.index + 1].start
        ):
            return word * (3 if self.word(2) == word == ">" else 2)
        return word

    def print_prefixed(self) -> str:
        """An operand with its prefix operators."""
        operator = PREFIX_OPERATORS.get(self.word())
        if operator is None:
            return self.print_member(self.print_primary())
        self.index += 1
        if operator[1] == "(- {})" and self.token_type() is TokenType.NUMBER:
            return "-" + self.print_member(self.print_primary())
        return operator[1].format(self.print_expression(operator[0]))

    def print_predicate(self, left: str) -> str:
        """BETWEEN, IN, LIKE, IS and the like."""
        shape = "(NOT {})" if self.take("NOT") else "{}"
        if self.take("BETWEEN"):
            low = self.print_expression(PREDICATE_PRECEDENCE + 1)
            self.expect("AND")
            return shape.format(f"between({left}, {low}, {self.print_expression(PREDICATE_PRECEDENCE + 1)})")
        if self.take("IN"):
            inside = self.print_subquery("listquery") if self.is_query_at(1) else ", ".join(self.print_arguments())
            return shape.format(f"({left} IN ({inside}))")
        if self.take("LIKE"):
            pattern = self.print_expression(PREDICATE_PRECEDENCE + 1)
            escape = f" ESCAPE '{self.next().text}'" if self.take("ESCAPE") else ""
            return shape.format(f"{left} LIKE {pattern}{escape}")
        if self.take("ILIKE"):
            pattern = self.print_expression(PREDICATE_PRECEDENCE + 1)
            self.index += 2 if self.word() == "ESCAPE" else 0
            return shape.format(f"ilike({left}, {pattern})")
        if self.take("RLIKE") or self.take("REGEXP"):
            return shape.format(f"RLIKE({left}, {self.print_expression(PREDICATE_PRECEDENCE + 1)})")
        self.expect("IS")
        return self.print_is(left)

    def print_is(self, left: str) -> str:
        """What follows IS."""
        denied = self.take("NOT")
        if self.take("NULL"):
            return f"({left} IS NOT NULL)" if denied else f"({left} IS NULL)"
        if self.take("DISTINCT", "FROM"):
            same = f"({left} <=> {self.print_expression(PREDICATE_PRECEDENCE + 1)})"
            return same if denied else f"(NOT {same})"
        same = f"({left} <=> {rows.PRINTED_CONSTANTS[self.word()]})" if self.word() in rows.PRINTED_CONSTANTS else ""
        self.index += 1
        if not same:
            raise UnprintableError
        return f"(NOT {same})" if denied else same

    def print_member(self, base: str) -> str:
        """An operand with its members, subscripts and casts."""
        while True:
            if self.token_type() is TokenType.L_BRACKET:
                self.index += 1
                base = f"{base}[{self.print_expression()}]"
                self.expect("]")
            elif self.token_type() is TokenType.DOT:
                self.index += 1
                base = f"{base}.{self.next().text}"
            elif self.token_type() is TokenType.DCOLON:
                token = self.next()
                if self.text[token.start : token.end + 1] == "::":
                    base = f"CAST({base} AS {self.print_type()})"
                else:  # the letter behind a number
                    base += ".0" if self.next().text.upper() in ("D", "F") and base.lstrip("-").isdigit() else ""
            else:
                return base

    def print_primary(self) -> str:
        """A constant, a name, a function, or something in parentheses."""
        word, kind = self.word(), self.token_type()
        if kind is TokenType.L_PAREN:
            return self.print_parenthesized()
        if kind is TokenType.STRING:
            return self.print_string()
        if kind is TokenType.NUMBER:
            return format_number(self.next().text)
        if kind is TokenType.HEX_STRING:
            return f"X'{self.next().text.upper()}'"
        if word in rows.PRINTED_CONSTANTS and kind is not TokenType.IDENTIFIER:
            self.index += 1
            return rows.PRINTED_CONSTANTS[word]
        if word in rows.LITERAL_TYPES and self.token_type(1) is TokenType.STRING:
            self.index += 1
            return f"{word} '{format_timestamp(word, self.next().text)}'"
        if word == "INTERVAL" and self.token_type(1) in (TokenType.STRING, TokenType.NUMBER):
            return self.print_interval()
        if word == "CASE" and self.token_type() is not TokenType.IDENTIFIER:
            return self.print_case()
        if self.token_type(1) is TokenType.L_PAREN:
            return self.print_function()
        return self.print_name()

    def print_string(self) -> str:
        """A string; a doubled quote splits it into several tokens."""
        token = self.next()
        found = token.text
        while self.token_type() is TokenType.STRING:
            following = self.next()
            found += ("'" if token.end + 1 == following.start else "") + following.text
            token = following
        return found

    def print_interval(self) -> str:
        """An interval of one unit, or from one to another."""
        self.index += 1
        amount, unit = self.next().text, self.next().text.upper().rstrip("S")
        if self.take("TO"):
            return f"INTERVAL '{amount}' {unit} TO {self.next().text.upper()}"
        if not amount.lstrip("-").isdigit():
            raise UnprintableError
        return f"INTERVAL '{amount.zfill(2) if unit in rows.PADDED_UNITS else amount}' {unit}"

    def print_name(self) -> str:
        """A column without its source, or a lambda parameter."""
        parts = [self.next().text]
        if self.tokens[self.index - 1].token_type is TokenType.STAR:
            raise UnprintableError
        while self.token_type() is TokenType.DOT and self.token_type(1) is not TokenType.STAR:
            self.index += 1
            parts.append(self.next().text)
        if parts[0].lower() in self.parameters:
            return ".".join(["namedlambdavariable()", *parts[1:]])
        if len(parts) == 1 and parts[0].upper() in rows.BARE_FUNCTIONS:
            return f"{parts[0].lower()}()"
        named = [position for position, part in enumerate(parts[:-1]) if part.lower() in self.aliases]
        return ".".join(parts[named[0] + 1 :] if named else parts)

    def print_parenthesized(self) -> str:
        """An expression, a row, a query or the parameters of a lambda."""
        if self.is_query_at(1):
            return self.print_subquery("scalarsubquery")
        behind = skip_brackets(self.tokens, self.index)
        if behind < len(self.tokens) and self.tokens[behind].token_type is TokenType.ARROW:
            return self.print_lambda([token.text for token in self.tokens[self.index + 1 : behind : 2]], behind)
        parts = self.print_arguments()
        return parts[0] if len(parts) == 1 else f"named_struct({', '.join(f'{part}, {part}' for part in parts)})"

    def print_lambda(self, parameters: Sequence[str], arrow: int) -> str:
        """A lambda."""
        self.index = arrow + 1
        known = len(self.parameters)
        self.parameters.extend(parameter.lower() for parameter in parameters)
        body = self.print_expression()
        del self.parameters[known:]
        return f"lambdafunction({', '.join([body, *('namedlambdavariable()' for _ in parameters)])})"

    def print_case(self) -> str:
        """CASE, its operand compared in each branch."""
        self.index += 1
        operand = "" if self.word() == "WHEN" else self.print_expression()
        parts = []
        while self.take("WHEN"):
            condition = self.print_expression()
            self.expect("THEN")
            parts.append(
                f"WHEN {f'({operand} = {condition})' if operand else condition} THEN {self.print_expression()}"
            )
        if self.take("ELSE"):
            parts.append(f"ELSE {self.print_expression()}")
        self.expect("END")
        return f"CASE {' '.join(parts)} END"

    # ── what others know ─────────────────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def print_function(self) -> str:
        """A function with its arguments."""

    @abstractmethod
    def print_arguments(self) -> list[str]:
        """The arguments in parentheses, one by one."""

    @abstractmethod
    def print_type(self) -> str:
        """A type."""

    # ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────

    def is_query_at(self, ahead: int) -> bool:
        """Whether a query begins after the parenthesis."""
        return self.token_type(ahead - 1) is TokenType.L_PAREN and self.word(ahead) in (
            "SELECT",
            "WITH",
            "FROM",
            "VALUES",
        )

    def print_subquery(self, name: str) -> str:
        """A query, named after the outer columns that it uses."""
        behind = skip_brackets(self.tokens, self.index)
        inside, self.index = self.tokens[self.index : behind], behind
        taken = [
            after.text
            for qualifier, dot, after in zip(inside, inside[1:], inside[2:], strict=False)
            if dot.token_type is TokenType.DOT and qualifier.text.lower() in self.aliases
        ]
        return f"{name}({', '.join(dict.fromkeys(taken))})"


def format_timestamp(kind: str, text: str) -> str:
    """A date or timestamp literal; a timestamp has a time."""
    return f"{text} 00:00:00" if kind.startswith("TIMESTAMP") and len(text) == len("2020-01-01") else text


def format_number(text: str) -> str:
    """A number as Spark prints it; one with an exponent is printed as a double."""
    if "E" not in text.upper():
        return f"0{text}" if text.startswith(".") else text
    value = float(text)
    if 1e-3 <= abs(value) < 1e7 or not value:
        return str(value)
    digits, _, power = f"{value:e}".partition("e")
    whole, _, rest = digits.partition(".")
    return f"{whole}.{rest.rstrip('0') or '0'}E{int(power)}"
