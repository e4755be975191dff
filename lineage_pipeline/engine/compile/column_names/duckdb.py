"""DuckDB's names of columns without an alias: the printed expression with all its parentheses."""

from collections.abc import Callable, Collection, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects import duckdb_column_names as rows
from lineage_pipeline.engine.compile.column_names.printer import UnprintableError
from lineage_pipeline.engine.compile.column_names.spark import SparkPrinter


class Connective(str):
    """Conditions joined by AND or OR: more of them join without further parentheses."""

    word: str
    parts: tuple[str, ...]


def join_conditions(word: str, *sides: str) -> Connective:
    """Conditions joined by AND or OR."""
    parts: list[str] = []
    for side in sides:
        parts.extend(side.parts if isinstance(side, Connective) and side.word == word else [side])
    found = Connective(f"({f' {word} '.join(parts)})")
    found.word, found.parts = word, tuple(parts)
    return found


def quote_name(name: str, keywords: Collection[str] = rows.RESERVED_KEYWORDS) -> str:
    """A name, quoted if it is a keyword or not a plain word."""
    plain = name.isidentifier() and name.isascii()
    return name if plain and name.lower() not in keywords else f'"{name}"'


class DuckdbOperandPrinter(SparkPrinter):
    """Prints operators and operands as DuckDB does; DuckdbPrinter prints functions and types."""

    def print_expression(self, level: int = 0) -> str:
        """An expression of operators that bind at least as tightly as `level`."""
        left = self.print_prefixed()
        while True:
            word = self.peek_operator()
            tight = rows.BINARY_PRECEDENCE.get(word)
            if word in rows.LOGICAL_OPERATORS and tight is not None and tight >= level:
                self.index += 1
                left = join_conditions(word, left, self.print_expression(tight + 1))
            elif tight is not None and tight >= level:
                self.index += 2 if word in rows.TWO_TOKEN_OPERATORS else 1
                right = self.print_expression(tight if word in rows.RIGHT_ASSOCIATIVE else tight + 1)
                left = rows.OPERATOR_SHAPES.get(word, f"({{}} {word} {{}})").format(left, right)
            elif self.word() in rows.PREDICATE_KEYWORDS and level <= rows.PREDICATE:
                left = self.print_predicate(left)
            else:
                return left

    def print_prefixed(self) -> str:
        """An operand with its prefix operators."""
        if self.take("NOT"):
            return f"(NOT {self.print_expression(rows.NOT)})"
        word = self.word()
        if word not in rows.PREFIX_SIGNS:
            return self.print_member(self.print_primary())
        self.index += 1
        value = self.print_expression(rows.SIGN)
        if word == "-" and value[:1].isdigit() and "(" not in value:
            return f"-{value}"
        return f"({word}({value}))"

    def print_predicate(self, left: str) -> str:
        """BETWEEN, IN, LIKE, IS and the like."""
        if self.word() in ("ISNULL", "NOTNULL"):
            return f"({left} IS {'NOT ' if self.next().text.upper() == 'NOTNULL' else ''}NULL)"
        if self.take("IS"):
            return self.print_is(left)
        denied = self.take("NOT")
        word = self.next().text.upper()
        if word in rows.PATTERN_OPERATORS:
            return self.print_like(left, word, denied)
        if word == "SIMILAR TO":
            found = f"regexp_full_match({left}, {self.print_expression(rows.PREDICATE + 1)})"
        elif word == "BETWEEN":
            low = self.print_expression(rows.PREDICATE + 1)
            self.expect("AND")
            found = f"({left} BETWEEN {low} AND {self.print_expression(rows.PREDICATE + 1)})"
        elif word == "IN":
            found = self.print_in(left)
        else:
            raise UnprintableError
        return f"(NOT {found})" if denied else found

    def print_in(self, left: str) -> str:
        """IN over values, or over a list."""
        if self.is_query_at(1):
            return f"({left} = ANY{self.print_parenthesized()})"
        if self.token_type() is not TokenType.L_PAREN:
            return f"contains({self.print_expression(rows.PREDICATE + 1)}, {left})"
        return f"({left} IN ({', '.join(self.print_arguments())}))"

    def print_like(self, left: str, word: str, denied: bool) -> str:
        """LIKE, ILIKE, GLOB and the like."""
        right = self.print_expression(rows.PREDICATE + 1)
        if self.take("ESCAPE"):
            found = f"{word.lower()}_escape({left}, {right}, {self.print_expression(rows.PREDICATE + 1)})"
            return f"(NOT {found})" if denied else found
        return f"({left} {'!' if denied else ''}{rows.PATTERN_OPERATORS[word]} {right})"

    def print_is(self, left: str) -> str:
        """What follows IS."""
        denied = self.take("NOT")
        if self.take("NULL") or self.take("UNKNOWN"):
            return f"({left} IS NOT NULL)" if denied else f"({left} IS NULL)"
        if self.take("DISTINCT", "FROM"):
            return f"({left} IS {'NOT ' if denied else ''}DISTINCT FROM {self.print_expression(rows.PREDICATE + 1)})"
        word = self.next().text.lower()
        if word not in ("true", "false"):
            raise UnprintableError
        return f"(CAST({left} AS BOOLEAN) IS {'' if denied else 'NOT '}DISTINCT FROM {word})"

    def print_member(self, base: str) -> str:
        """An operand with its members, subscripts and casts."""
        while True:
            if self.token_type() is TokenType.L_BRACKET:
                self.index += 1
                base = f"{base}[{self.print_subscript()}]"
                self.expect("]")
            elif self.token_type() is TokenType.DOT and self.token_type(2) is not TokenType.L_PAREN:
                self.index += 1
                base = f"({base}).{self.print_identifier()}"
            elif self.token_type() is TokenType.DCOLON:
                self.index += 1
                base = f"CAST({base} AS {self.print_type()})"
            elif self.take("AT", "TIME", "ZONE"):
                base = f"timezone({self.print_expression(rows.SIGN)}, {base})"
            elif self.take("COLLATE"):
                base = f"{base} COLLATE {self.next().text}"
            else:
                return base

    def print_subscript(self) -> str:
        """A position in a list, or a slice."""
        parts = [""]
        while self.token_type() is not TokenType.R_BRACKET:
            if self.take(":"):
                parts.append("")
            else:
                parts[-1] = self.print_expression()
        return ":".join(parts)

    def print_primary(self) -> str:
        """A constant, a name, a function, or something in parentheses."""
        word, kind = self.word(), self.token_type()
        reader = self.TOKEN_PRINTERS.get(kind) if kind is not None else None
        if reader is not None:
            return reader(self)
        if kind is not TokenType.IDENTIFIER:
            if word in rows.PRINTED_CONSTANTS:
                self.index += 1
                return rows.PRINTED_CONSTANTS[word]
            if word == "INTERVAL":
                return self.print_interval()
            if word == "CASE":
                return self.print_case()
            if word in rows.LITERAL_TYPES and self.token_type(1) is TokenType.STRING:
                name = self.print_type()
                return f"CAST({self.take_raw()} AS {name})"
            if word == "LAMBDA":
                return self.print_lambda_keyword()
            built = self.KEYWORD_LITERALS.get((word, self.token_type(1)))
            if built is not None:
                return built(self)
        return self.print_function() if self.token_type(1) is TokenType.L_PAREN else self.print_name()

    def take_raw(self) -> str:
        """Consume the next token and return it as written."""
        token = self.next()
        return self.text[token.start : token.end + 1]

    def print_name(self) -> str:
        """A column with all its qualifiers."""
        parts = [self.print_identifier()]
        while self.token_type() is TokenType.DOT:
            self.index += 1
            if self.token_type(1) is TokenType.L_PAREN or self.token_type() is TokenType.STAR:
                raise UnprintableError
            parts.append(self.print_identifier())
        bare = len(parts) == 1 and parts[0].strip('"').upper() in rows.BARE_FUNCTIONS
        return parts[0].strip('"') if bare else ".".join(parts)

    def print_identifier(self) -> str:
        """A name, quoted if needed."""
        if self.tokens[self.index].token_type is TokenType.STAR:
            raise UnprintableError
        return quote_name(self.next().text)

    def print_parenthesized(self) -> str:
        """An expression, a row or a query."""
        if self.is_query_at(1):
            return self.print_query()
        self.index += 1
        parts = [self.print_expression()]
        several = False
        while self.take(","):
            several = True
            if self.token_type() is not TokenType.R_PAREN:
                parts.append(self.print_expression())
        self.expect(")")
        return f'"row"({", ".join(parts)})' if several else parts[0]

    def print_query(self) -> str:
        """A plain query over one table; others cannot be printed."""
        self.index += 1
        self.expect("SELECT")
        found = f"SELECT {'DISTINCT ' if self.take('DISTINCT') else ''}{self.print_select_item()}"
        while self.take(","):
            found += f", {self.print_select_item()}"
        if self.take("FROM"):
            found += f" FROM {self.print_name()}"
            if self.take("AS") or self.token_type() is TokenType.VAR:
                found += f" AS {self.print_identifier()}"
        for word in ("WHERE", "LIMIT"):
            if self.take(word):
                found += f" {word} {self.print_expression()}"
        self.expect(")")
        return f"({found})"

    def print_select_item(self) -> str:
        """An item of a select list."""
        found = self.print_expression()
        return f"{found} AS {self.print_identifier()}" if self.take("AS") else found

    def print_list(self) -> str:
        """A list literal, or a list comprehension."""
        self.index += 1
        parts = []
        while not self.take("]"):
            parts.append(self.print_expression())
            if self.take("FOR"):
                name = self.print_identifier()
                self.expect("IN")
                whole = self.print_expression()
                shape = rows.FILTERED_COMPREHENSION_SHAPE if self.take("IF") else rows.COMPREHENSION_SHAPE
                condition = self.print_expression() if shape is rows.FILTERED_COMPREHENSION_SHAPE else ""
                self.expect("]")
                return shape.format(whole=whole, name=name, made=parts[0], condition=condition)
            self.take(",")
        return f"list_value({', '.join(parts)})"

    def print_array(self) -> str:
        """A list literal after the keyword ARRAY."""
        self.index += 1
        return f"(ARRAY[{self.print_list().removeprefix('list_value(')[:-1]}])"

    def print_struct(self) -> str:
        """A struct literal."""
        return f"struct_pack({', '.join(f'{key} := {value}' for key, value in self.print_pairs(quote_name))})"

    def print_map(self) -> str:
        """A map literal."""
        self.index += 1
        pairs = self.print_pairs(None)
        keys, values = (", ".join(part) for part in (zip(*pairs, strict=True) if pairs else ((), ())))
        return f'"map"(list_value({keys}), list_value({values}))'

    def print_pairs(self, key: Callable[[str], str] | None) -> Sequence[tuple[str, str]]:
        """Keys and values in braces."""
        self.index += 1
        found = []
        while not self.take("}"):
            first = key(self.next().text) if key is not None else self.print_expression()
            self.expect(":")
            found.append((first, self.print_expression()))
            self.take(",")
        return found

    def print_lambda_keyword(self) -> str:
        """`lambda x, y : …`."""
        self.index += 1
        names = [self.next().text]
        while self.take(","):
            names.append(self.next().text)
        self.expect(":")
        return f"(lambda {', '.join(names)}: {self.print_expression()})"

    def print_case(self) -> str:
        """CASE, its operand compared in each branch."""
        self.index += 1
        operand = "" if self.word() == "WHEN" else self.print_expression()
        parts = []
        while self.take("WHEN"):
            condition = self.print_expression()
            self.expect("THEN")
            tested = f"({operand} = {condition})" if operand else condition
            parts.append(f"WHEN ({tested}) THEN ({self.print_expression()})")
        default = self.print_expression() if self.take("ELSE") else "NULL"
        self.expect("END")
        return f"CASE  {' '.join(parts)} ELSE {default} END"

    def print_interval(self) -> str:
        """An interval, as the function that makes one of its unit."""
        self.index += 1
        value = (
            self.take_raw() if self.token_type() in (TokenType.STRING, TokenType.NUMBER) else self.print_parenthesized()
        )
        unit = self.word().rstrip("S").lower()
        if unit not in rows.INTERVAL_UNITS:
            return f"CAST({value} AS INTERVAL)"
        self.index += 1
        name = "centuries" if unit == "century" else f"{unit}s"
        return f"to_{name}({rows.INTERVAL_UNITS[unit].format(value)})"

    KEYWORD_LITERALS: dict[tuple[str, TokenType | None], Callable[["DuckdbOperandPrinter"], str]] = {
        ("MAP", TokenType.L_BRACE): print_map,
        ("ARRAY", TokenType.L_BRACKET): print_array,
    }
    """What words begin that brackets follow."""

    TOKEN_PRINTERS: dict[TokenType, Callable[["DuckdbOperandPrinter"], str]] = {
        TokenType.L_PAREN: print_parenthesized,
        TokenType.L_BRACKET: print_list,
        TokenType.L_BRACE: print_struct,
        TokenType.STRING: take_raw,
        TokenType.NUMBER: take_raw,
    }


def print_duckdb_name(tokens: Sequence[Token], text: str, around: Sequence[Token]) -> str | None:
    """The name of an expression in DuckDB, or None if it cannot be read."""
    reader = DuckdbPrinter(tokens, text, ())
    reader.around = around
    try:
        found = reader.print_expression()
    except (UnprintableError, IndexError, ValueError):
        return None
    return str(found) if reader.index == len(tokens) else None


class DuckdbPrinter(DuckdbOperandPrinter):
    """Prints functions and types as DuckDB does."""

    def print_function(self) -> str:
        """A function with its arguments and the clauses after them."""
        word, name = self.word(), self.next().text
        special = self.KEYWORD_FUNCTIONS.get(word)
        if special is not None:
            return special(self, word)
        if word == "EXISTS" and self.is_query_at(1):
            return f"EXISTS{self.print_parenthesized()}"
        self.expect("(")
        inside = self.print_call_contents()
        if word == "COUNT" and inside in ("", "*"):
            found = self.print_call_clauses("count", "count()")
            return found if " OVER (" in found else found.replace("count()", "count_star()", 1)
        found = rows.PRINTED_FUNCTIONS.get(name.lower()) or quote_name(name.lower())
        return self.print_call_clauses(name.lower(), f"{found}({inside})")

    def print_call_contents(self) -> str:
        """The content of the parentheses of a function, including the closing one."""
        if self.take(")"):
            return ""
        distinct = "DISTINCT " if self.take("DISTINCT") else ""
        parts = [self.print_argument()]
        while self.take(","):
            parts.append(self.print_argument())
        found = distinct + ", ".join(parts)
        if self.take("ORDER BY"):
            found += f" ORDER BY {self.print_order()}"
        if self.word() in ("IGNORE", "RESPECT"):
            found += f" {self.next().text.upper()} {self.next().text.upper()}"
        self.expect(")")
        return found

    def print_argument(self) -> str:
        """One argument, which may have a name."""
        if self.token_type() is TokenType.STAR:
            self.index += 1
            return "*"
        if self.token_type(1) is TokenType.COLON_EQ:
            name = self.print_identifier()
            self.index += 1
            return f"{name} := {self.print_expression()}"
        return self.print_expression()

    def print_arguments(self) -> list[str]:
        """Values in parentheses."""
        self.expect("(")
        found = [self.print_expression()]
        while self.take(","):
            found.append(self.print_expression())
        self.expect(")")
        return found

    def print_call_clauses(self, name: str, printed: str, offset: str = "") -> str:
        """A function with its filter, order and window."""
        if self.take("WITHIN", "GROUP"):
            self.expect("(", "ORDER BY")
            order = f"ORDER BY {self.print_order()}"
            self.expect(")")
            known = rows.ORDERED_SET_FUNCTIONS.get(name)
            inside = printed.partition("(")[2][:-1]
            printed = f"{known}({inside} {order})" if known else f"{printed} WITHIN GROUP ( {order})"
        if self.take("FILTER"):
            self.expect("(")
            self.take("WHERE")
            printed += f" FILTER (WHERE {self.print_expression()})"
            self.expect(")")
        return f"{printed} OVER ({self.print_window(name, printed)})" if self.take("OVER") else printed

    def print_frame_or_default(self, name: str, printed: str, ordered: bool) -> str:
        """The frame of a window, unless it is the default."""
        frame = self.print_frame() if self.word() in ("ROWS", "RANGE", "GROUPS") else ""
        if self.take("EXCLUDE"):
            frame += f" EXCLUDE {self.next().text.upper()}"
            frame += f" {self.next().text.upper()}" if self.word() in ("ROW", "OTHERS") else ""
        return "" if frame == rows.DEFAULT_FRAME else frame

    def print_order_key(self) -> str:
        """One key with its written direction."""
        found = self.print_expression()
        if self.word() in ("ASC", "DESC"):
            found += f" {self.next().text.upper()}"
        if self.take("NULLS"):
            found += f" NULLS {self.next().text.upper()}"
        return found

    def print_extract(self, name: str) -> str:
        """EXTRACT, whose unit precedes FROM."""
        self.expect("(")
        unit = self.take_raw() if self.token_type() is TokenType.STRING else self.next().text
        if unit[0] != "'":
            unit = f"'{unit.upper() if unit.lower() in rows.INTERVAL_UNITS else unit}'"
        self.expect("FROM")
        value = self.print_expression()
        self.expect(")")
        return f"date_part({unit}, {value})"

    def print_position(self, name: str) -> str:
        """POSITION with IN."""
        self.expect("(")
        wanted = self.print_expression(rows.PREDICATE + 1)
        self.expect("IN")
        value = self.print_expression()
        self.expect(")")
        return f'"position"({value}, {wanted})'

    def print_trim(self, name: str) -> str:
        """TRIM: of blanks, or of other characters from a side."""
        self.expect("(")
        side = self.next().text.upper() if self.word() in ("BOTH", "LEADING", "TRAILING") else "BOTH"
        parts = [] if self.word() == "FROM" else [self.print_expression()]
        if self.take("FROM"):
            parts.insert(0, self.print_expression())
        while self.take(","):
            parts.append(self.print_expression())
        self.expect(")")
        return f"{ {'LEADING': 'ltrim', 'TRAILING': 'rtrim'}.get(side, quote_name('trim')) }({', '.join(parts)})"

    def print_substring(self, name: str) -> str:
        """SUBSTRING and OVERLAY, whose arguments follow keywords or commas."""
        self.expect("(")
        parts = [self.print_expression()]
        while self.word() in (",", "FROM", "FOR", "PLACING"):
            self.index += 1
            parts.append(self.print_expression())
        self.expect(")")
        return f'"{name.lower()}"({", ".join(parts)})'

    def print_date(self, name: str) -> str:
        """DATE(…), which is a cast."""
        return f"CAST({self.print_arguments()[0]} AS DATE)"

    def print_type(self) -> str:
        """A type by DuckDB's own name, or as written."""
        name = self.next().text
        if name.upper() == "DOUBLE PRECISION" or (name.upper() == "DOUBLE" and self.take("PRECISION")):
            found = "DOUBLE"
        elif name.upper() == "CHARACTER" and self.take("VARYING"):
            found = "VARCHAR"
        else:
            found = rows.GRAMMAR_TYPES.get(name.upper()) or name
        if self.take("("):
            found += f"({', '.join(self.print_type_parameters(found))})"
        if self.word() in ("WITH", "WITHOUT"):
            found += " WITH TIME ZONE" if self.word() == "WITH" else ""
            self.index += 3
        while self.token_type() is TokenType.L_BRACKET:
            self.index += 1
            size = "" if self.token_type() is TokenType.R_BRACKET else self.next().text
            self.expect("]")
            found += f"[{size}]"
        return found

    def print_type_parameters(self, name: str) -> list[str]:
        """The content of the parentheses of a type: numbers, types, or names with types."""
        found = []
        while not self.take(")"):
            if self.token_type() is TokenType.NUMBER:
                found.append(self.take_raw())
            else:
                member = f"{self.print_identifier()} " if name == "STRUCT" else ""
                found.append(member + self.print_type())
            self.take(",")
        return found

    KEYWORD_FUNCTIONS: dict[str, Callable[["DuckdbPrinter", str], str]] = {
        "CAST": SparkPrinter.print_cast,
        "TRY_CAST": SparkPrinter.print_cast,
        "EXTRACT": print_extract,
        "POSITION": print_position,
        "TRIM": print_trim,
        "SUBSTRING": print_substring,
        "OVERLAY": print_substring,
        "DATE": print_date,
    }
    """Functions whose arguments stand behind words."""
