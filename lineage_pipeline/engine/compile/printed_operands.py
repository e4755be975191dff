"""Captions of DuckDB: operators in full brackets, constants, names, lists and structs."""

from collections.abc import Callable, Sequence

from sqlglot.tokens import TokenType

from lineage_pipeline.dialects import duckdb as rows
from lineage_pipeline.engine.compile.captions import Calls
from lineage_pipeline.engine.compile.operands import Unprintable
from lineage_pipeline.engine.compile.prints import joined, quoted


class PrintedOperands(Calls):
    """Reads operators and operands as DuckDB does; functions and types, others know."""

    def expression(self, level: int = 0) -> str:
        """An expression of operators that bind at least that tight."""
        left = self.prefixed()
        while True:
            word = self.operator()
            tight = rows.BINARY.get(word)
            if word in rows.JOINING and tight is not None and tight >= level:
                self.index += 1
                left = joined(word, left, self.expression(tight + 1))
            elif tight is not None and tight >= level:
                self.index += 2 if word in rows.SPLIT else 1
                right = self.expression(tight if word in rows.RIGHT else tight + 1)
                left = rows.SHAPES.get(word, f"({{}} {word} {{}})").format(left, right)
            elif self.word() in rows.PREDICATES and level <= rows.PREDICATE:
                left = self.predicate(left)
            else:
                return left

    def prefixed(self) -> str:
        """An operand with the operators before it."""
        if self.taken("NOT"):
            return f"(NOT {self.expression(rows.NOT)})"
        word = self.word()
        if word not in rows.SIGNS:
            return self.member(self.primary())
        self.index += 1
        value = self.expression(rows.SIGN)
        if word == "-" and value[:1].isdigit() and "(" not in value:
            return f"-{value}"
        return f"({word}({value}))"

    def predicate(self, left: str) -> str:
        """What an operand is compared with by words."""
        if self.word() in ("ISNULL", "NOTNULL"):
            return f"({left} IS {'NOT ' if self.next().text.upper() == 'NOTNULL' else ''}NULL)"
        if self.taken("IS"):
            return self.known(left)
        denied = self.taken("NOT")
        word = self.next().text.upper()
        if word in rows.PATTERNS:
            return self.pattern(left, word, denied)
        if word == "SIMILAR TO":
            found = f"regexp_full_match({left}, {self.expression(rows.PREDICATE + 1)})"
        elif word == "BETWEEN":
            low = self.expression(rows.PREDICATE + 1)
            self.expect("AND")
            found = f"({left} BETWEEN {low} AND {self.expression(rows.PREDICATE + 1)})"
        elif word == "IN":
            found = self.membership(left)
        else:
            raise Unprintable
        return f"(NOT {found})" if denied else found

    def membership(self, left: str) -> str:
        """IN over values, or over a list."""
        if self.is_query(1):
            return f"({left} = ANY{self.bracketed()})"
        if self.kind() is not TokenType.L_PAREN:
            return f"contains({self.expression(rows.PREDICATE + 1)}, {left})"
        return f"({left} IN ({', '.join(self.arguments())}))"

    def pattern(self, left: str, word: str, denied: bool) -> str:
        """LIKE and its kin."""
        right = self.expression(rows.PREDICATE + 1)
        if self.taken("ESCAPE"):
            found = f"{word.lower()}_escape({left}, {right}, {self.expression(rows.PREDICATE + 1)})"
            return f"(NOT {found})" if denied else found
        return f"({left} {'!' if denied else ''}{rows.PATTERNS[word]} {right})"

    def known(self, left: str) -> str:
        """What stands behind IS."""
        denied = self.taken("NOT")
        if self.taken("NULL") or self.taken("UNKNOWN"):
            return f"({left} IS NOT NULL)" if denied else f"({left} IS NULL)"
        if self.taken("DISTINCT", "FROM"):
            return f"({left} IS {'NOT ' if denied else ''}DISTINCT FROM {self.expression(rows.PREDICATE + 1)})"
        word = self.next().text.lower()
        if word not in ("true", "false"):
            raise Unprintable
        return f"(CAST({left} AS BOOLEAN) IS {'' if denied else 'NOT '}DISTINCT FROM {word})"

    def member(self, base: str) -> str:
        """An operand with the members, elements and conversions behind it."""
        while True:
            if self.kind() is TokenType.L_BRACKET:
                self.index += 1
                base = f"{base}[{self.position_in()}]"
                self.expect("]")
            elif self.kind() is TokenType.DOT and self.kind(2) is not TokenType.L_PAREN:
                self.index += 1
                base = f"({base}).{self.identifier()}"
            elif self.kind() is TokenType.DCOLON:
                self.index += 1
                base = f"CAST({base} AS {self.type()})"
            elif self.taken("AT", "TIME", "ZONE"):
                base = f"timezone({self.expression(rows.SIGN)}, {base})"
            elif self.taken("COLLATE"):
                base = f"{base} COLLATE {self.next().text}"
            else:
                return base

    def position_in(self) -> str:
        """A position in a list, or a stretch of them."""
        parts = [""]
        while self.kind() is not TokenType.R_BRACKET:
            if self.taken(":"):
                parts.append("")
            else:
                parts[-1] = self.expression()
        return ":".join(parts)

    def primary(self) -> str:
        """A constant, a name, a function, or something in brackets."""
        word, kind = self.word(), self.kind()
        reader = self.BEGINNINGS.get(kind) if kind is not None else None
        if reader is not None:
            return reader(self)
        if kind is not TokenType.IDENTIFIER:
            if word in rows.CONSTANTS:
                self.index += 1
                return rows.CONSTANTS[word]
            if word == "INTERVAL":
                return self.interval()
            if word == "CASE":
                return self.case()
            if word in rows.DATED and self.kind(1) is TokenType.STRING:
                name = self.type()
                return f"CAST({self.raw()} AS {name})"
            if word == "LAMBDA":
                return self.anonymous()
            built = self.BUILT.get((word, self.kind(1)))
            if built is not None:
                return built(self)
        return self.function() if self.kind(1) is TokenType.L_PAREN else self.name()

    def raw(self) -> str:
        """The next token as it is written."""
        token = self.next()
        return self.text[token.start : token.end + 1]

    def name(self) -> str:
        """A column with all that stands before it."""
        parts = [self.identifier()]
        while self.kind() is TokenType.DOT:
            self.index += 1
            if self.kind(1) is TokenType.L_PAREN or self.kind() is TokenType.STAR:
                raise Unprintable
            parts.append(self.identifier())
        bare = len(parts) == 1 and parts[0].strip('"').upper() in rows.BARE
        return parts[0].strip('"') if bare else ".".join(parts)

    def identifier(self) -> str:
        """A name, in quotes where it needs them."""
        if self.tokens[self.index].token_type is TokenType.STAR:
            raise Unprintable
        return quoted(self.next().text)

    def bracketed(self) -> str:
        """An expression, a row or a query."""
        if self.is_query(1):
            return self.query()
        self.index += 1
        parts = [self.expression()]
        several = False
        while self.taken(","):
            several = True
            if self.kind() is not TokenType.R_PAREN:
                parts.append(self.expression())
        self.expect(")")
        return f'"row"({", ".join(parts)})' if several else parts[0]

    def query(self) -> str:
        """A plain query over one table; others have no caption."""
        self.index += 1
        self.expect("SELECT")
        found = f"SELECT {'DISTINCT ' if self.taken('DISTINCT') else ''}{self.item()}"
        while self.taken(","):
            found += f", {self.item()}"
        if self.taken("FROM"):
            found += f" FROM {self.name()}"
            if self.taken("AS") or self.kind() is TokenType.VAR:
                found += f" AS {self.identifier()}"
        for word in ("WHERE", "LIMIT"):
            if self.taken(word):
                found += f" {word} {self.expression()}"
        self.expect(")")
        return f"({found})"

    def item(self) -> str:
        """An item of a select list."""
        found = self.expression()
        return f"{found} AS {self.identifier()}" if self.taken("AS") else found

    def listed(self) -> str:
        """A list that is written out, or made of another one."""
        self.index += 1
        parts = []
        while not self.taken("]"):
            parts.append(self.expression())
            if self.taken("FOR"):
                name = self.identifier()
                self.expect("IN")
                whole = self.expression()
                shape = rows.CHOSEN if self.taken("IF") else rows.APPLIED
                condition = self.expression() if shape is rows.CHOSEN else ""
                self.expect("]")
                return shape.format(whole=whole, name=name, made=parts[0], condition=condition)
            self.taken(",")
        return f"list_value({', '.join(parts)})"

    def array(self) -> str:
        """A list that is written out behind the word ARRAY."""
        self.index += 1
        return f"(ARRAY[{self.listed().removeprefix('list_value(')[:-1]}])"

    def struct(self) -> str:
        """A struct that is written out."""
        return f"struct_pack({', '.join(f'{key} := {value}' for key, value in self.pairs(quoted))})"

    def map(self) -> str:
        """A map that is written out."""
        self.index += 1
        pairs = self.pairs(None)
        keys, values = (", ".join(part) for part in (zip(*pairs, strict=True) if pairs else ((), ())))
        return f'"map"(list_value({keys}), list_value({values}))'

    def pairs(self, key: Callable[[str], str] | None) -> Sequence[tuple[str, str]]:
        """Keys and values in braces."""
        self.index += 1
        found = []
        while not self.taken("}"):
            first = key(self.next().text) if key is not None else self.expression()
            self.expect(":")
            found.append((first, self.expression()))
            self.taken(",")
        return found

    def anonymous(self) -> str:
        """`lambda x, y : …`."""
        self.index += 1
        names = [self.next().text]
        while self.taken(","):
            names.append(self.next().text)
        self.expect(":")
        return f"(lambda {', '.join(names)}: {self.expression()})"

    def case(self) -> str:
        """CASE, its operand compared in each branch."""
        self.index += 1
        operand = "" if self.word() == "WHEN" else self.expression()
        parts = []
        while self.taken("WHEN"):
            condition = self.expression()
            self.expect("THEN")
            tested = f"({operand} = {condition})" if operand else condition
            parts.append(f"WHEN ({tested}) THEN ({self.expression()})")
        default = self.expression() if self.taken("ELSE") else "NULL"
        self.expect("END")
        return f"CASE  {' '.join(parts)} ELSE {default} END"

    def interval(self) -> str:
        """An interval, as the function that makes one of its unit."""
        self.index += 1
        value = self.raw() if self.kind() in (TokenType.STRING, TokenType.NUMBER) else self.bracketed()
        unit = self.word().rstrip("S").lower()
        if unit not in rows.UNITS:
            return f"CAST({value} AS INTERVAL)"
        self.index += 1
        name = "centuries" if unit == "century" else f"{unit}s"
        return f"to_{name}({rows.UNITS[unit].format(value)})"

    BUILT: dict[tuple[str, TokenType | None], Callable[["PrintedOperands"], str]] = {
        ("MAP", TokenType.L_BRACE): map,
        ("ARRAY", TokenType.L_BRACKET): array,
    }
    """What words begin that brackets follow."""

    BEGINNINGS: dict[TokenType, Callable[["PrintedOperands"], str]] = {
        TokenType.L_PAREN: bracketed,
        TokenType.L_BRACKET: listed,
        TokenType.L_BRACE: struct,
        TokenType.STRING: raw,
        TokenType.NUMBER: raw,
    }
