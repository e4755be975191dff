"""Spark's names of columns without an alias: the printed expression.
The tokens are read again, because the tree no longer knows which function was written, and with which arguments.
An expression that cannot be read gets no name.
"""

from collections.abc import Collection, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects import spark_column_names as rows
from lineage_pipeline.engine.compile.column_names.printer import OperandPrinter, UnprintableError
from lineage_pipeline.engine.compile.tokens import keyword, skip_brackets


def print_spark_name(
    tokens: Sequence[Token], text: str, aliases: Collection[str], around: Sequence[Token]
) -> str | None:
    """The name of an expression in Spark; `aliases` are sources whose qualifiers are omitted.
    The tokens `around` it are those of the statement, which may define the windows that it names.
    """
    reader = SparkPrinter(tokens, text, aliases)
    reader.around = around
    try:
        found = reader.print_expression()
    except (UnprintableError, IndexError, ValueError):
        return None
    return found if reader.index == len(tokens) else None


STAR_ARGUMENT = "*\0"
"""A star among arguments, unlike any string."""


class SparkPrinter(OperandPrinter):
    """Prints functions, their windows, and types as Spark does."""

    around: Sequence[Token] = ()

    def print_function(self) -> str:
        """A function with its arguments and the clauses after them."""
        word, name = self.word(), self.next().text.lower()
        if word in ("CAST", "TRY_CAST"):
            return self.print_cast(word)
        if word == "EXISTS" and self.is_query_at(1):
            return self.print_subquery("exists")
        special = {"EXTRACT": self.print_extract, "TRIM": self.print_trim, "POSITION": self.print_position}.get(word)
        if special is not None:
            return special(name)
        distinct = "DISTINCT " if self.word(1) == "DISTINCT" else ""
        arguments = self.print_arguments()
        if word in rows.CONVERSION_FUNCTIONS and len(arguments) == 1:
            return arguments[0]
        if word == "COUNT" and arguments == [STAR_ARGUMENT]:
            arguments = ["1"]
        offset = arguments[1] if len(arguments) > 1 else "1"
        return self.print_call_clauses(name, _print_call(name, arguments, distinct), offset)

    def print_arguments(self) -> list[str]:
        """The arguments in parentheses, one by one."""
        self.expect("(")
        if self.take(")"):
            return []
        if not self.take("DISTINCT"):
            self.take("ALL")
        found = [self.print_argument()]
        while self.word() in (",", "FROM", "FOR", "PLACING"):
            self.index += 1
            found.append(self.print_argument())
        self.take("IGNORE", "NULLS")
        self.expect(")")
        return found

    def print_argument(self) -> str:
        """One argument: a counted star, a lambda, or an expression that may have a name."""
        if self.token_type() is TokenType.STAR:
            self.index += 1
            return STAR_ARGUMENT
        if self.token_type(1) is TokenType.ARROW:
            return self.print_lambda([self.tokens[self.index].text], self.index + 1)
        if self.token_type(1) is TokenType.FARROW:
            self.index += 2
        found = self.print_expression()
        return f"{found} AS {self.next().text}" if self.take("AS") else found

    def print_cast(self, word: str) -> str:
        """CAST and TRY_CAST; a cast to a nested type is omitted."""
        self.expect("(")
        value = self.print_expression()
        self.expect("AS")
        kind = self.print_type()
        self.expect(")")
        return value if kind.startswith(rows.NESTED_TYPES) else f"{word}({value} AS {kind})"

    def print_type(self) -> str:
        """A type in capitals, by its usual name."""
        name = self.next().text.upper()
        found = rows.TYPE_SYNONYMS.get(name, name)
        if self.word() in ("(", "<"):
            behind = skip_brackets(self.tokens, self.index) if self.word() == "(" else self._skip_angles()
            found += "".join(token.text.upper() for token in self.tokens[self.index : behind])
            self.index = behind
            found = "STRING" if name in rows.STRING_TYPES else found
        if found == "INTERVAL":
            found += f" {self.next().text.upper()}"
            found += f" TO {self.next().text.upper()}" if self.take("TO") else ""
        return f"{found}(10,0)" if found == "DECIMAL" else found

    def _skip_angles(self) -> int:
        depth, index = 0, self.index
        while index == self.index or depth > 0:
            text = self.tokens[index].text
            depth += (text == "<") - (text == ">")
            index += 1
        return index

    def print_extract(self, name: str) -> str:
        """EXTRACT, whose unit precedes FROM."""
        self.expect("(")
        unit = self.next().text
        self.expect("FROM")
        value = self.print_expression()
        self.expect(")")
        return f"{name}({unit} FROM {value})"

    def print_trim(self, name: str) -> str:
        """TRIM: of blanks, or of other characters from a side."""
        self.expect("(")
        if self.word() not in ("BOTH", "LEADING", "TRAILING"):
            parts = [self.print_expression()]
            if self.take("FROM"):
                parts = [f"BOTH {parts[0]} FROM {self.print_expression()}"]
                name = "TRIM"
            while self.take(","):
                parts.append(self.print_expression())
            self.expect(")")
            return f"{name}({', '.join(parts)})"
        side = self.next().text.upper()
        characters = "" if self.word() == "FROM" else self.print_expression()
        self.expect("FROM")
        value = self.print_expression()
        self.expect(")")
        short = {"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}[side]
        return f"TRIM({side} {characters} FROM {value})" if characters else f"{short}({value})"

    def print_position(self, name: str) -> str:
        """POSITION with IN, or with commas like any function."""
        self.expect("(")
        wanted = self.print_expression(rows.PREDICATE_PRECEDENCE + 1)
        if not self.take("IN"):
            self.expect(",")
            name = "position"
        else:
            name = "locate"
        parts = [wanted, self.print_expression()]
        while self.take(","):
            parts.append(self.print_expression())
        self.expect(")")
        return _print_call("position", parts, "").replace("position", name, 1)

    # ── behind the arguments ─────────────────────────────────────────────────────────────────────────────────────

    def print_call_clauses(self, name: str, printed: str, offset: str = "") -> str:
        """A function with its filter, order and window; the frame of LAG and LEAD depends on their offset."""
        if self.take("WITHIN", "GROUP"):
            self.expect("(", "ORDER BY")
            order = self.print_order() if name in ("listagg", "string_agg") else self.print_percentile_key()
            printed = printed.replace("string_agg", "listagg", 1) if name == "string_agg" else printed
            printed += f" WITHIN GROUP (ORDER BY {order})"
            self.expect(")")
        if self.take("FILTER"):
            self.expect("(", "WHERE")
            printed += f" FILTER (WHERE {self.print_expression()})"
            self.expect(")")
        if self.take("IGNORE", "NULLS"):
            printed = (
                rows.IGNORE_NULLS_SHAPES[name].format(printed.removeprefix(name))
                if name in rows.IGNORE_NULLS_SHAPES
                else printed
            )
        self.take("RESPECT", "NULLS")
        return f"{printed} OVER ({self.print_window(name, offset)})" if self.take("OVER") else printed

    def print_window(self, name: str, offset: str) -> str:
        """The keys and the frame of a window, which may be a named one."""
        if self.word() != "(":
            return self.print_named_window(name, offset)
        self.expect("(")
        parts = []
        if self.take("PARTITION BY"):
            keys = [self.print_expression()]
            while self.take(","):
                keys.append(self.print_expression())
            parts.append(f"PARTITION BY {', '.join(keys)}")
        ordered = self.take("ORDER BY")
        if ordered:
            parts.append(f"ORDER BY {self.print_order()}")
        parts.append(self.print_frame_or_default(name, offset, ordered))
        self.expect(")")
        return " ".join(filter(None, parts))

    def print_frame_or_default(self, name: str, offset: str, ordered: bool) -> str:
        """The frame of a window, or its default."""
        return self.print_frame() if self.word() in ("ROWS", "RANGE") else _default_frame(name, offset, ordered)

    def print_named_window(self, name: str, offset: str) -> str:
        """A window that is defined elsewhere in the statement."""
        wanted = self.next().text.lower()
        for index, token in enumerate(self.around[:-2]):
            defined = token.text.lower() == wanted and keyword(self.around[index + 1]) == "AS"
            if defined and self.around[index + 2].token_type is TokenType.L_PAREN:
                return type(self)(self.around[index + 2 :], self.text, self.aliases).print_window(name, offset)
        raise UnprintableError

    def print_order(self) -> str:
        """ORDER BY keys with their directions."""
        keys = [self.print_order_key()]
        while self.take(","):
            keys.append(self.print_order_key())
        return ", ".join(keys)

    def print_order_key(self) -> str:
        """One key with its direction and the position of nulls."""
        value = self.print_expression()
        direction = "DESC" if self.take("DESC") else "ASC"
        self.take("ASC")
        nulls = "FIRST" if direction == "ASC" else "LAST"
        if self.take("NULLS"):
            nulls = self.next().text.upper()
        return f"{value} {direction} NULLS {nulls}"

    def print_percentile_key(self) -> str:
        """The key of a percentile, which shows its direction only if descending."""
        value = self.print_expression()
        self.take("ASC")
        return f"{value} DESC" if self.take("DESC") else value

    def print_frame(self) -> str:
        """The frame of a window; one without an end ends at the current row."""
        unit = self.next().text.upper()
        if not self.take("BETWEEN"):
            return f"{unit} BETWEEN {self.print_frame_bound()} AND CURRENT ROW"
        first = self.print_frame_bound()
        self.expect("AND")
        return f"{unit} BETWEEN {first} AND {self.print_frame_bound()}"

    def print_frame_bound(self) -> str:
        """A bound of a frame."""
        if self.word() in ("CURRENT", "UNBOUNDED"):
            return f"{self.next().text} {self.next().text}".upper()
        return f"{self.print_expression(rows.PREDICATE_PRECEDENCE + 1)} {self.next().text.upper()}"


def _print_call(name: str, arguments: Sequence[str], distinct: str) -> str:
    """A function as Spark prints it, with its default arguments."""
    if STAR_ARGUMENT in arguments:
        raise UnprintableError
    name = rows.ARITY_FUNCTIONS.get((name, len(arguments)), name)
    shape = rows.PRINTED_SHAPES.get(name)
    if shape is not None and shape.count("{}") in (0, len(arguments)):
        return shape.format(*arguments)
    least, defaults = rows.DEFAULT_ARGUMENTS.get(name, (len(arguments), ()))
    given = [*arguments, *defaults[max(len(arguments) - least, 0) :]][: rows.MAX_PRINTED_ARGUMENTS.get(name)]
    return f"{rows.PRINTED_FUNCTIONS.get(name, name)}({distinct}{', '.join(given)})"


def _default_frame(name: str, offset: str, ordered: bool) -> str:
    """The frame that a window has if none is given."""
    if name in ("lag", "lead"):
        moved = f"{'-' if name == 'lag' else ''}{offset} FOLLOWING"
        return f"ROWS BETWEEN {moved} AND {moved}"
    if not ordered:
        return "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
    return f"{'ROWS' if name in rows.RANK_FUNCTIONS else 'RANGE'} BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
