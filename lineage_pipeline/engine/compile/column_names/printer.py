"""Printer of expressions: the name that Spark or DuckDB gives to a column without an alias.

It reads the tokens once, by precedence climbing, and prints them by the rules of the dialect. The tokens are read again
because the tree no longer knows which function was written, and with which arguments.
"""

from collections.abc import Callable, Collection, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.column_names import PRINTED_CONSTANTS, BinaryOperator, ColumnNameRules, PatternOperator
from lineage_pipeline.engine.compile.tokens import keyword, keywords_of, skip_brackets

_SIGN_TOKENS = {"<<": 2, ">>": 2, ">>>": 3, "!~~": 2, "!~~*": 2, "!~~~": 2}
"""Operators of several tokens, and how many they are."""
_LITERAL_TOKENS = (TokenType.STRING, TokenType.NUMBER)
_STAR_ARGUMENT = "*\0"
"""A star among arguments, unlike any string."""


class OperatorChain(str):
    """Operands of one operator in parentheses, to which more can be added."""

    sign: str


class UnprintableError(Exception):
    """An expression that cannot be printed, so that its column gets no name from it."""


def fill_shape(shape: str, *parts: str, **named: str) -> str:
    """A shape with its parts; an empty one stands for what cannot be printed."""
    if not shape:
        raise UnprintableError
    return shape.format(*parts, **named)


def print_column_name(
    tokens: Sequence[Token],
    text: str,
    around: Sequence[Token],
    rules: ColumnNameRules,
    aliases: Collection[str] = (),
) -> str | None:
    """The name of an expression, or None if it cannot be printed; `aliases` are qualifiers that are omitted.
    The tokens `around` it are those of the statement, which may define the windows that it names.
    """
    printer = ExpressionPrinter(tokens=tokens, text=text, around=around, rules=rules, aliases=aliases)
    try:
        found = printer.print_expression()
    except (UnprintableError, IndexError, ValueError):
        return None
    return str(found) if printer.index == len(tokens) else None


class ExpressionPrinter:
    """Reads the tokens of one expression from left to right, and prints them by the rules of a dialect."""

    def __init__(
        self,
        tokens: Sequence[Token],
        text: str,
        around: Sequence[Token],
        rules: ColumnNameRules,
        aliases: Collection[str],
    ) -> None:
        """Start before the first token."""
        self.tokens = tokens
        self.words = keywords_of(tokens)
        self.text = text
        self.around = around
        self.rules = rules
        self.aliases = aliases
        self.index = 0
        self.parameters: list[str] = []

    # ── tokens ───────────────────────────────────────────────────────────────────────────────────────────────────

    def word(self, ahead: int = 0) -> str:
        """The keyword `ahead` tokens from here, or ""; quoted names and strings are not keywords."""
        position = self.index + ahead
        return self.words[position] if position < len(self.words) else ""

    def token_type(self, ahead: int = 0) -> TokenType | None:
        """The type of the token `ahead` tokens from here."""
        position = self.index + ahead
        return self.tokens[position].token_type if position < len(self.tokens) else None

    def next(self) -> Token:
        """Consume the next token."""
        self.index += 1
        return self.tokens[self.index - 1]

    def next_literal(self) -> str:
        """Consume a constant, and return it as written or without its quotes."""
        token = self.next()
        if self.rules.raw_literals and token.token_type is not TokenType.IDENTIFIER:
            return self.text[token.start : token.end + 1]
        return token.text

    def next_identifier(self) -> str:
        """Consume a name, and return it with quotes if it needs them."""
        if self.token_type() is TokenType.STAR and not self.rules.prints_member_stars:
            raise UnprintableError
        return self.rules.quote_name(self.next().text)

    def take(self, *words: str) -> bool:
        """Consume the given keywords if they come next."""
        for ahead, word in enumerate(words):
            if self.word(ahead) != word:
                return False
        self.index += len(words)
        return True

    def expect(self, *words: str) -> None:
        """Consume the given keywords, or give up."""
        if not self.take(*words):
            raise UnprintableError

    # ── operators ────────────────────────────────────────────────────────────────────────────────────────────────

    def print_expression(self, level: int = 0) -> str:
        """An expression of operators that bind at least as tightly as `level`."""
        rules = self.rules
        left = self.print_prefixed()
        while True:
            sign = self.peek_operator()
            operator = rules.operators.get(sign)
            if operator is not None and operator.precedence >= level:
                self.index += _SIGN_TOKENS.get(sign, 1)
                right = self.print_expression(operator.precedence + (not operator.right_associative))
                left = self.print_operation(sign, operator, left, right)
            elif level <= rules.predicate_precedence and sign in rules.predicates:
                left = self.print_predicate(left)
            else:
                return left

    def peek_operator(self) -> str:
        """The next operator; the characters of a shift are separate tokens, and so is the sign that denies LIKE."""
        word = self.word()
        if word == "!" and word + self.word(1) in _SIGN_TOKENS:
            return word + self.word(1)
        if (
            word in ("<", ">")
            and self.word(1) == word
            and self.tokens[self.index].end + 1 == self.tokens[self.index + 1].start
        ):
            return word * (3 if self.word(2) == word == ">" else 2)
        return word

    def print_operation(self, sign: str, operator: BinaryOperator, left: str, right: str) -> str:
        """A binary operator with its operands."""
        if operator.interval_shape and right.startswith("INTERVAL "):
            return operator.interval_shape.format(left, right)
        if not operator.flat:
            return operator.shape.format(left, right)
        sides = (
            side[1:-1] if isinstance(side, OperatorChain) and side.sign == sign else side for side in (left, right)
        )
        found = OperatorChain(operator.shape.format(*sides))
        found.sign = sign
        return found

    def print_prefixed(self) -> str:
        """An operand with its prefix operators."""
        operator = self.rules.prefixes.get(self.word())
        if operator is None:
            return self.print_member(self.print_primary())
        self.index += 1
        written = self.token_type() is TokenType.NUMBER
        value = self.print_expression(operator.precedence)
        number = written if self.rules.signs_number_tokens else value[:1].isdigit() and "(" not in value
        return (operator.number_shape if number and operator.number_shape else operator.shape).format(value)

    def print_predicate(self, left: str) -> str:
        """BETWEEN, IN, LIKE, IS and the like."""
        rules = self.rules
        denied = self.take("NOT")
        word = self.word()
        self.index += 1
        if word == "IS":
            return self.print_is(left)
        if word in rules.null_tests:
            return rules.null_tests[word].format(left)
        if word in rules.patterns:
            return self.print_pattern(left, rules.patterns[word], denied)
        if word == "BETWEEN":
            low = self.print_expression(rules.predicate_precedence + 1)
            self.expect("AND")
            high = self.print_expression(rules.predicate_precedence + 1)
            found = rules.between_shape.format(left, low, high)
        elif word == "IN":
            found = self.print_in(left)
        else:
            raise UnprintableError
        return f"(NOT {found})" if denied else found

    def print_pattern(self, left: str, pattern: PatternOperator, denied: bool) -> str:
        """LIKE and the like."""
        above = self.rules.predicate_precedence + 1
        right = self.print_expression(above)
        if pattern.escape_shape and self.take("ESCAPE"):
            found = pattern.escape_shape.format(left, right, self.print_expression(above))
            return f"(NOT {found})" if denied else found
        return (pattern.denied_shape if denied else pattern.shape).format(left, right)

    def print_in(self, left: str) -> str:
        """IN over a query, values, or a list."""
        rules = self.rules
        if self.is_query():
            return self.print_query(rules.in_query_shape, left)
        if self.token_type() is TokenType.L_PAREN:
            return f"({left} IN ({', '.join(self.print_arguments())}))"
        return fill_shape(rules.in_list_shape, left, self.print_expression(rules.predicate_precedence + 1))

    def print_is(self, left: str) -> str:
        """What follows IS."""
        rules = self.rules
        denied = self.take("NOT")
        word = self.word()
        if word in rules.null_words:
            self.index += 1
            return f"({left} IS NOT NULL)" if denied else f"({left} IS NULL)"
        if self.take("DISTINCT", "FROM"):
            right = self.print_expression(rules.predicate_precedence + 1)
            return (rules.same_shape if denied else rules.different_shape).format(left, right)
        if word not in PRINTED_CONSTANTS:
            raise UnprintableError
        self.index += 1
        shape = rules.different_shape if denied else rules.same_shape
        return shape.format(rules.truth_shape.format(left), PRINTED_CONSTANTS[word])

    def print_member(self, base: str) -> str:
        """An operand with its members, subscripts and casts."""
        rules = self.rules
        while True:
            kind, word = self.token_type(), self.word()
            if kind is TokenType.L_BRACKET:
                self.index += 1
                base = f"{base}[{self.print_subscript()}]"
            elif kind is TokenType.DOT and self.token_type(2) is not TokenType.L_PAREN:
                self.index += 1
                base = rules.member_shape.format(base, self.next_identifier())
            elif kind is TokenType.DCOLON:
                base = self.print_converted(base)
            elif word == "AT" and rules.time_zone_shape and self.take("AT", "TIME", "ZONE"):
                base = rules.time_zone_shape.format(base, self.print_expression(rules.prefixes["-"].precedence))
            elif word == "COLLATE" and rules.collate_shape:
                self.index += 1
                base = rules.collate_shape.format(base, self.next().text)
            else:
                return base

    def print_subscript(self) -> str:
        """A position in a list or a slice, and the closing bracket."""
        if not self.rules.slices:
            position = self.print_expression()
            self.expect("]")
            return position
        parts = [""]
        while not self.take("]"):
            if self.take(":"):
                parts.append("")
            else:
                parts[-1] = self.print_expression()
        return ":".join(parts)

    def print_converted(self, base: str) -> str:
        """An operand with `::` and a type, or a number with the letter behind it, which sqlglot reads as a cast."""
        token = self.next()
        if not self.rules.double_suffixes or self.text[token.start : token.end + 1] == "::":
            return f"CAST({base} AS {self.print_type()})"
        double = self.next().text.upper() in self.rules.double_suffixes and base.lstrip("-").isdigit()
        return f"{base}.0" if double else base

    # ── operands ─────────────────────────────────────────────────────────────────────────────────────────────────

    def print_primary(self) -> str:
        """A constant, a name, a function, or something in brackets."""
        rules = self.rules
        word, kind, following = self.word(), self.token_type(), self.token_type(1)
        printer = _TOKEN_PRINTERS.get(kind)
        if printer is None and rules.list_shape:
            printer = _BRACKET_PRINTERS.get(("", kind)) or _BRACKET_PRINTERS.get((word, following))
        if printer is not None:
            return printer(self)
        if word in PRINTED_CONSTANTS:
            self.index += 1
            return PRINTED_CONSTANTS[word]
        if following is TokenType.STRING and word in rules.literal_types:
            return rules.print_typed_literal(self.print_type(), self.next_literal())
        if word == "INTERVAL" and (following in _LITERAL_TOKENS or not rules.constant_intervals):
            return self.print_interval()
        if word == "CASE":
            return self.print_case()
        if word == rules.lambda_sign:
            return self.print_lambda_keyword()
        return self.print_function() if following is TokenType.L_PAREN else self.print_name()

    def print_string(self) -> str:
        """A string; where a doubled quote is no escape, it splits the string into several tokens."""
        token = self.tokens[self.index]
        found = self.next_literal()
        while self.token_type() is TokenType.STRING and not self.rules.raw_literals:
            following = self.next()
            found += ("'" if token.end + 1 == following.start else "") + following.text
            token = following
        return found

    def print_number(self) -> str:
        """A number."""
        return self.rules.print_number(self.next_literal())

    def print_hex_string(self) -> str:
        """Bytes in hexadecimal digits."""
        return f"X'{self.next().text.upper()}'"

    def print_interval(self) -> str:
        """An interval of one unit, or from one to another."""
        rules = self.rules
        self.index += 1
        amount = self.next_literal() if self.token_type() in _LITERAL_TOKENS else self.print_parenthesized()
        unit = self.word().rstrip("S")
        shape = rules.interval_shapes.get(unit)
        self.index += shape is not None
        if shape is not None and rules.interval_range_shape and self.take("TO"):
            return rules.interval_range_shape.format(amount, unit, self.next().text.upper())
        if rules.constant_intervals and not amount.lstrip("-").isdigit():
            raise UnprintableError
        return fill_shape(shape or rules.unitless_interval_shape, amount)

    def print_name(self) -> str:
        """A column without the qualifiers that are omitted, a function without parentheses, or a lambda parameter."""
        rules = self.rules
        if self.token_type() is TokenType.STAR:
            raise UnprintableError
        parts = [self.next_identifier()]
        while self.token_type() is TokenType.DOT and self.token_type(1) is not TokenType.STAR:
            if self.token_type(2) is TokenType.L_PAREN:  # a function with its schema
                raise UnprintableError
            self.index += 1
            parts.append(self.next_identifier())
        if self.parameters and rules.lambda_variable and parts[0].lower() in self.parameters:
            return ".".join([rules.lambda_variable, *parts[1:]])
        if len(parts) == 1:
            name = parts[0].strip('"')
            shape = rules.bare_functions.get(name.upper())
            return shape.format(name) if shape is not None else parts[0]
        named = [position for position, part in enumerate(parts[:-1]) if part.lower() in self.aliases]
        return ".".join(parts[named[0] + 1 :] if named else parts)

    def print_parenthesized(self) -> str:
        """An expression, a row, a query or the parameters of a lambda."""
        rules = self.rules
        if self.is_query():
            return self.print_query(rules.scalar_shape)
        behind = skip_brackets(self.tokens, self.index) if rules.lambda_sign == "->" else self.index
        if self.is_arrow(behind):
            return self.print_lambda([token.text for token in self.tokens[self.index + 1 : behind : 2]], behind)
        # Not by way of print_arguments, since every call counts where parentheses are nested deeply.
        self.index += 1
        arrow = self.is_arrow(self.index + 1)
        parts = [self.print_argument() if arrow else self.print_alias(self.print_expression())]
        row = self.word() == ","
        while self.take(","):
            if self.word() != ")":
                parts.append(self.print_argument())
        self.expect(")")
        if _STAR_ARGUMENT in parts:
            raise UnprintableError
        return rules.row_shape.format(", ".join(map(rules.row_item_shape.format, parts))) if row else parts[0]

    def is_arrow(self, position: int) -> bool:
        """Whether a token is the arrow of a lambda, and not an operator."""
        arrow = position < len(self.tokens) and self.tokens[position].token_type is TokenType.ARROW
        return arrow and self.rules.lambda_sign == "->"

    def print_lambda(self, parameters: list[str], sign: int) -> str:
        """A lambda, whose body follows the sign."""
        self.index = sign + 1
        known = len(self.parameters)
        self.parameters.extend(parameter.lower() for parameter in parameters)
        body = self.print_expression()
        del self.parameters[known:]
        return self.rules.print_lambda(body, parameters)

    def print_lambda_keyword(self) -> str:
        """`lambda x, y : …`."""
        self.index += 1
        parameters = [self.next().text]
        while self.take(","):
            parameters.append(self.next().text)
        if self.word() != ":":
            raise UnprintableError
        return self.print_lambda(parameters, self.index)

    def print_case(self) -> str:
        """CASE, its operand compared in each branch."""
        rules = self.rules
        self.index += 1
        operand = "" if self.word() == "WHEN" else self.print_expression()
        parts = []
        while self.take("WHEN"):
            condition = self.print_expression()
            self.expect("THEN")
            tested = f"({operand} = {condition})" if operand else condition
            parts.append(rules.branch_shape.format(tested, self.print_expression()))
        default = self.print_expression() if self.take("ELSE") else rules.default_else
        self.expect("END")
        return rules.case_shape.format(" ".join([*parts, f"ELSE {default}"] if default else parts))

    def print_list(self) -> str:
        """`[a, b]`, `ARRAY[a, b]`, or a list comprehension."""
        shape = self.rules.array_shape if self.take("ARRAY") else self.rules.list_shape
        self.index += 1
        parts: list[str] = []
        while not self.take("]"):
            parts.append(self.print_expression())
            if self.take("FOR"):
                return self.print_comprehension(parts[0])
            self.take(",")
        return shape.format(", ".join(parts))

    def print_comprehension(self, made: str) -> str:
        """`[… FOR x IN list IF condition]` from behind FOR."""
        name = self.next_identifier()
        self.expect("IN")
        whole = self.print_expression()
        shape, condition = self.rules.comprehension_shape, ""
        if self.take("IF"):
            shape, condition = self.rules.filtered_comprehension_shape, self.print_expression()
        self.expect("]")
        return shape.format(whole=whole, name=name, made=made, condition=condition)

    def print_struct(self) -> str:
        """`{'a': 1}`, with named values."""
        item = self.rules.named_arguments[":="]
        pairs = self.print_pairs(self.next_identifier)
        return self.rules.struct_shape.format(", ".join(item.format(*pair) for pair in pairs))

    def print_map(self) -> str:
        """`MAP {a: 1}`."""
        self.index += 1
        pairs = self.print_pairs(self.print_expression)
        return self.rules.map_shape.format(", ".join(pair[0] for pair in pairs), ", ".join(pair[1] for pair in pairs))

    def print_pairs(self, print_key: Callable[[], str]) -> list[tuple[str, str]]:
        """Keys and values in braces."""
        self.index += 1
        found = []
        while not self.take("}"):
            key = print_key()
            self.expect(":")
            found.append((key, self.print_expression()))
            self.take(",")
        return found

    # ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────

    def is_query(self) -> bool:
        """Whether a query in parentheses comes next."""
        opened = self.token_type() is TokenType.L_PAREN
        return opened and self.word(1) in ("SELECT", "WITH", "FROM", "VALUES")

    def print_query(self, shape: str, *outer: str) -> str:
        """A query in parentheses."""
        inside = self.print_select() if self.rules.prints_queries else self.print_outer_columns()
        return shape.format(*outer, inside)

    def print_outer_columns(self) -> str:
        """The outer columns that a query uses."""
        behind = skip_brackets(self.tokens, self.index)
        inside, self.index = self.tokens[self.index : behind], behind
        taken = [
            after.text
            for qualifier, dot, after in zip(inside, inside[1:], inside[2:], strict=False)
            if dot.token_type is TokenType.DOT and qualifier.text.lower() in self.aliases
        ]
        return ", ".join(dict.fromkeys(taken))

    def print_select(self) -> str:
        """A plain query over one table; others cannot be printed."""
        self.expect("(", "SELECT")
        found = f"SELECT {'DISTINCT ' if self.take('DISTINCT') else ''}{self.print_select_item()}"
        while self.take(","):
            found += f", {self.print_select_item()}"
        if self.take("FROM"):
            found += f" FROM {self.print_name()}"
            if self.take("AS") or self.token_type() is TokenType.VAR:
                found += f" AS {self.next_identifier()}"
        for word in ("WHERE", "LIMIT"):
            if self.take(word):
                found += f" {word} {self.print_expression()}"
        self.expect(")")
        return found

    def print_select_item(self) -> str:
        """An item of a select list."""
        found = self.print_expression()
        return f"{found} AS {self.next_identifier()}" if self.take("AS") else found

    # ── function calls ───────────────────────────────────────────────────────────────────────────────────────────

    def print_function(self) -> str:
        """A function with its arguments and the clauses after them."""
        rules = self.rules
        word, name = self.word(), self.next().text.lower()
        special = _CALL_PRINTERS.get(word)
        if special is not None:
            self.expect("(")
            found = special(self, word)
            self.expect(")")
            return found
        if word == "EXISTS" and self.is_query():
            return self.print_query(rules.exists_shape)
        distinct = "DISTINCT " if self.word(1) == "DISTINCT" else ""
        arguments = self.print_arguments()
        if len(arguments) == 1 and word in rules.conversion_functions:
            return arguments[0]
        if word == "COUNT" and arguments == [_STAR_ARGUMENT]:
            arguments = list(rules.counted_star)
        offset = arguments[1] if len(arguments) > 1 else "1"
        return self.print_call_clauses(name, self.print_call(name, arguments, distinct), offset)

    def print_call(self, name: str, arguments: Sequence[str], distinct: str = "") -> str:
        """A function with its arguments, those by default included."""
        rules = self.rules
        if _STAR_ARGUMENT in arguments:
            if not rules.star:
                raise UnprintableError
            arguments = [rules.star if argument == _STAR_ARGUMENT else argument for argument in arguments]
        name = rules.arity_functions.get((name, len(arguments)), name)
        shape = rules.call_shapes.get(name)
        if shape is not None and shape.count("{}") in (0, len(arguments)):
            return shape.format(*arguments)
        least, defaults = rules.default_arguments.get(name, (len(arguments), ()))
        given = [*arguments, *defaults[max(len(arguments) - least, 0) :]][: rules.max_printed_arguments.get(name)]
        return f"{rules.printed_functions.get(name) or rules.quote_name(name)}({distinct}{', '.join(given)})"

    def print_arguments(self) -> list[str]:
        """The arguments in parentheses, one by one; what follows them belongs to the last one."""
        self.expect("(")
        if self.take(")"):
            return []
        self.index += self.word() in self.rules.argument_quantifiers
        found = [self.print_argument()]
        while self.word() in (",", "FROM", "FOR", "PLACING"):
            self.index += 1
            found.append(self.print_argument())
        if not self.rules.prints_argument_order:
            self.take("IGNORE", "NULLS")
        else:
            found[-1] += self.print_argument_order()
        self.expect(")")
        return found

    def print_argument_order(self) -> str:
        """ORDER BY and IGNORE NULLS behind arguments."""
        found = f" ORDER BY {self.print_order()}" if self.take("ORDER BY") else ""
        if self.word() in ("IGNORE", "RESPECT"):
            found += f" {self.next().text.upper()} {self.next().text.upper()}"
        return found

    def print_argument(self) -> str:
        """One argument: a counted star, a lambda, or an expression that may have a name."""
        if self.token_type() is TokenType.STAR:
            self.index += 1
            return _STAR_ARGUMENT
        if self.is_arrow(self.index + 1):
            return self.print_lambda([self.tokens[self.index].text], self.index + 1)
        shape = self.rules.named_arguments.get(self.word(1))
        if shape is not None:
            name = self.next_identifier()
            self.index += 1
            return shape.format(name, self.print_expression())
        return self.print_alias(self.print_expression())

    def print_alias(self, value: str) -> str:
        """A value with the alias behind it, if it has one."""
        shape = self.rules.argument_alias_shape
        return shape.format(value, self.next().text) if shape and self.take("AS") else value

    def print_cast(self, word: str) -> str:
        """CAST and TRY_CAST."""
        value = self.print_expression()
        self.expect("AS")
        kind = self.print_type()
        return value if kind.startswith(self.rules.omitted_casts) else f"{word}({value} AS {kind})"

    def print_extract(self, word: str) -> str:
        """EXTRACT, whose unit precedes FROM."""
        unit = self.rules.print_unit(self.next_literal())
        self.expect("FROM")
        return self.rules.extract_shape.format(unit, self.print_expression())

    def print_trim(self, word: str) -> str:
        """TRIM: of blanks, or of other characters from a side."""
        side = self.next().text.upper() if self.word() in ("BOTH", "LEADING", "TRAILING") else ""
        characters = "" if self.word() == "FROM" else self.print_expression()
        given = bool(characters) and self.word() == "FROM"
        values = [self.print_expression()] if self.take("FROM") else [characters]
        while self.take(","):
            values.append(self.print_expression())
        return self.rules.trim_shapes[side][given].format(", ".join(values), characters)

    def print_position(self, word: str) -> str:
        """POSITION with IN, or with commas like any function."""
        parts = [self.print_expression(self.rules.predicate_precedence + 1)]
        if self.take("IN"):
            return self.rules.position_shape.format(parts[0], self.print_expression())
        while self.take(","):
            parts.append(self.print_expression())
        return self.print_call("position", parts)

    # ── behind the arguments ─────────────────────────────────────────────────────────────────────────────────────

    def print_call_clauses(self, name: str, printed: str, offset: str) -> str:
        """A function with its order, filter and window; the frame of LAG and LEAD depends on their offset."""
        rules = self.rules
        if self.take("WITHIN", "GROUP"):
            self.expect("(", "ORDER BY")
            order = self.print_order(name)
            self.expect(")")
            shape = rules.ordered_set_shapes.get(name, rules.within_group_shape)
            printed = shape.format(call=printed, arguments=printed.partition("(")[2][:-1], order=order)
        if self.take("FILTER"):
            self.expect("(")
            self.take("WHERE")
            printed += f" FILTER (WHERE {self.print_expression()})"
            self.expect(")")
        if not rules.prints_argument_order:
            printed = self.print_null_treatment(name, printed)
        if not self.take("OVER"):
            return printed
        function, opening, rest = printed.partition("(")
        function = rules.windowed_functions.get(function, function)
        return f"{function}{opening}{rest} OVER ({self.print_window(name, offset)})"

    def print_null_treatment(self, name: str, printed: str) -> str:
        """A function with IGNORE NULLS or RESPECT NULLS behind its arguments."""
        if self.take("IGNORE", "NULLS") and name in self.rules.ignore_nulls_shapes:
            return self.rules.ignore_nulls_shapes[name].format(printed.removeprefix(name))
        self.take("RESPECT", "NULLS")
        return printed

    def print_window(self, name: str, offset: str) -> str:
        """The keys and the frame of a window, which may be a named one."""
        if not self.take("("):
            return self.print_named_window(name, offset)
        parts = []
        if self.take("PARTITION BY"):
            keys = [self.print_expression()]
            while self.take(","):
                keys.append(self.print_expression())
            parts.append(f"PARTITION BY {', '.join(keys)}")
        ordered = self.take("ORDER BY")
        if ordered:
            parts.append(f"ORDER BY {self.print_order()}")
        parts.append(self.rules.print_frame(self.print_frame(), name, offset, ordered))
        self.expect(")")
        return " ".join(filter(None, parts))

    def print_named_window(self, name: str, offset: str) -> str:
        """A window that is defined elsewhere in the statement."""
        wanted = self.next().text.lower()
        for index, token in enumerate(self.around[:-2]):
            defined = token.text.lower() == wanted and keyword(self.around[index + 1]) == "AS"
            if defined and self.around[index + 2].token_type is TokenType.L_PAREN:
                window = self.around[index + 2 : skip_brackets(self.around, index + 2)]
                return ExpressionPrinter(
                    tokens=window, text=self.text, around=(), rules=self.rules, aliases=self.aliases
                ).print_window(name, offset)
        raise UnprintableError

    def print_order(self, function: str = "") -> str:
        """The keys of ORDER BY, of a window or of a function with WITHIN GROUP."""
        keys = [self.print_order_key(function)]
        while self.take(","):
            keys.append(self.print_order_key(function))
        return ", ".join(keys)

    def print_order_key(self, function: str) -> str:
        """One key with its direction and the position of nulls."""
        value = self.print_expression()
        direction = self.next().text.upper() if self.word() in ("ASC", "DESC") else ""
        nulls = self.next().text.upper() if self.take("NULLS") else ""
        return fill_shape(self.rules.print_order_key(direction, nulls, function), value)

    def print_frame(self) -> str:
        """The frame of a window as written, or ""; one without an end ends at the current row."""
        words = self.rules.frame_words
        if self.word() not in words:
            return ""
        unit = self.next().text.upper()
        between = self.take("BETWEEN")
        found = f"{unit} BETWEEN {self.print_frame_bound()} AND "
        if between:
            self.expect("AND")
        found += self.print_frame_bound() if between else "CURRENT ROW"
        if "EXCLUDE" in words and self.take("EXCLUDE"):
            found += f" EXCLUDE {self.next().text.upper()}"
            found += f" {self.next().text.upper()}" if self.word() in ("ROW", "OTHERS") else ""
        return found

    def print_frame_bound(self) -> str:
        """A bound of a frame."""
        if self.word() in ("CURRENT", "UNBOUNDED"):
            return f"{self.next().text} {self.next().text}".upper()
        return f"{self.print_expression(self.rules.predicate_precedence + 1)} {self.next().text.upper()}"

    # ── types ────────────────────────────────────────────────────────────────────────────────────────────────────

    def print_type(self) -> str:
        """A type by the name that the dialect prints."""
        rules = self.rules
        written = self.next().text
        name = written.upper()
        if f"{name} {self.word()}" in rules.types:  # DOUBLE PRECISION
            name += f" {self.next().text.upper()}"
        found = rules.types.get(name) or (written if rules.keeps_type_case else name)
        if self.word() in rules.type_brackets:
            found += self.print_type_parameters(found)
            found = rules.sized_types.get(name, found)
        if found == "INTERVAL" and rules.interval_range_shape:
            found += f" {self.next().text.upper()}"
            found += f" TO {self.next().text.upper()}" if self.take("TO") else ""
        if self.word() in ("WITH", "WITHOUT"):
            found += " WITH TIME ZONE" if self.word() == "WITH" else ""
            self.index += 3
        while rules.array_types and self.take("["):
            size = "" if self.token_type() is TokenType.R_BRACKET else self.next().text
            self.expect("]")
            found += f"[{size}]"
        return rules.bare_types.get(found, found)

    def print_type_parameters(self, name: str) -> str:
        """The parameters of a type: numbers, types, or names with types."""
        if self.word() == "<":
            return self.print_angle_brackets()
        self.index += 1
        found = []
        while not self.take(")"):
            if self.token_type() is TokenType.NUMBER:
                found.append(self.next_literal())
            else:
                member = f"{self.next_identifier()} " if name == "STRUCT" else ""
                found.append(member + self.print_type())
            self.take(",")
        return f"({self.rules.type_separator.join(found)})"

    def print_angle_brackets(self) -> str:
        """`<…>` behind the name of a nested type, in upper case."""
        depth, found = 0, ""
        while not found or depth > 0:
            text = self.next().text
            depth += (text == "<") - (text == ">")
            found += text.upper()
        return found


_TOKEN_PRINTERS: dict[TokenType | None, Callable[[ExpressionPrinter], str]] = {
    TokenType.HEX_STRING: ExpressionPrinter.print_hex_string,
    TokenType.L_PAREN: ExpressionPrinter.print_parenthesized,
    TokenType.NUMBER: ExpressionPrinter.print_number,
    TokenType.STRING: ExpressionPrinter.print_string,
}
"""Operands by their first token."""

_BRACKET_PRINTERS: dict[tuple[str, TokenType | None], Callable[[ExpressionPrinter], str]] = {
    ("", TokenType.L_BRACE): ExpressionPrinter.print_struct,
    ("", TokenType.L_BRACKET): ExpressionPrinter.print_list,
    ("ARRAY", TokenType.L_BRACKET): ExpressionPrinter.print_list,
    ("MAP", TokenType.L_BRACE): ExpressionPrinter.print_map,
}
"""Literals in brackets by the keyword before them, where the dialect has such literals."""

_CALL_PRINTERS: dict[str, Callable[[ExpressionPrinter, str], str]] = {
    "CAST": ExpressionPrinter.print_cast,
    "EXTRACT": ExpressionPrinter.print_extract,
    "POSITION": ExpressionPrinter.print_position,
    "TRIM": ExpressionPrinter.print_trim,
    "TRY_CAST": ExpressionPrinter.print_cast,
}
"""Functions whose arguments stand behind words."""
