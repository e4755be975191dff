"""Captions: the text of an expression as an engine prints it that names columns after their expressions.

The tokens are read once more, from left to right, because the tree no longer knows which function was written, and with
which arguments. What cannot be read has no caption.
"""

from collections.abc import Collection, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects import captions as rows
from lineage_pipeline.engine.compile.operands import Operands, Unprintable
from lineage_pipeline.engine.compile.words import behind_brackets, keyword


def caption(tokens: Sequence[Token], text: str, aliases: Collection[str], around: Sequence[Token]) -> str | None:
    """What an expression is called; `aliases` are the sources whose names are left out before columns.

    The tokens `around` it are those of the statement, which may define the windows that it names.
    """
    reader = Calls(tokens, text, aliases)
    reader.around = around
    try:
        found = reader.expression()
    except (Unprintable, IndexError, ValueError):
        return None
    return found if reader.index == len(tokens) else None


STAR = "*\0"
"""A star among arguments, which is no string."""


class Calls(Operands):
    """Reads expressions with functions, their windows, and types."""

    around: Sequence[Token] = ()

    def function(self) -> str:
        """A function with its arguments and what stands behind them."""
        word, name = self.word(), self.next().text.lower()
        if word in ("CAST", "TRY_CAST"):
            return self.conversion(word)
        if word == "EXISTS" and self.is_query(1):
            return self.subquery("exists")
        special = {"EXTRACT": self.extract, "TRIM": self.trim, "POSITION": self.position}.get(word)
        if special is not None:
            return special(name)
        distinct = "DISTINCT " if self.word(1) == "DISTINCT" else ""
        arguments = self.arguments()
        if word in rows.CONVERSIONS and len(arguments) == 1:
            return arguments[0]
        if word == "COUNT" and arguments == [STAR]:
            arguments = ["1"]
        offset = arguments[1] if len(arguments) > 1 else "1"
        return self.behind(name, _printed(name, arguments, distinct), offset)

    def arguments(self) -> list[str]:
        """What stands in brackets, part by part."""
        self.expect("(")
        if self.taken(")"):
            return []
        if not self.taken("DISTINCT"):
            self.taken("ALL")
        found = [self.argument()]
        while self.word() in (",", "FROM", "FOR", "PLACING"):
            self.index += 1
            found.append(self.argument())
        self.taken("IGNORE", "NULLS")
        self.expect(")")
        return found

    def argument(self) -> str:
        """One argument: a star that is counted, a lambda, or an expression that may have a name."""
        if self.kind() is TokenType.STAR:
            self.index += 1
            return STAR
        if self.kind(1) is TokenType.ARROW:
            return self.lambda_([self.tokens[self.index].text], self.index + 1)
        if self.kind(1) is TokenType.FARROW:
            self.index += 2
        found = self.expression()
        return f"{found} AS {self.next().text}" if self.taken("AS") else found

    def conversion(self, word: str) -> str:
        """CAST and TRY_CAST; one to a nested type leaves no trace."""
        self.expect("(")
        value = self.expression()
        self.expect("AS")
        kind = self.type()
        self.expect(")")
        return value if kind.startswith(rows.NESTED) else f"{word}({value} AS {kind})"

    def type(self) -> str:
        """A type in capitals, by its usual name."""
        name = self.next().text.upper()
        found = rows.TYPES.get(name, name)
        if self.word() in ("(", "<"):
            behind = behind_brackets(self.tokens, self.index) if self.word() == "(" else self._behind_angles()
            found += "".join(token.text.upper() for token in self.tokens[self.index : behind])
            self.index = behind
            found = "STRING" if name in rows.STRINGS else found
        if found == "INTERVAL":
            found += f" {self.next().text.upper()}"
            found += f" TO {self.next().text.upper()}" if self.taken("TO") else ""
        return f"{found}(10,0)" if found == "DECIMAL" else found

    def _behind_angles(self) -> int:
        depth, index = 0, self.index
        while index == self.index or depth > 0:
            text = self.tokens[index].text
            depth += (text == "<") - (text == ">")
            index += 1
        return index

    def extract(self, name: str) -> str:
        """EXTRACT, whose unit stands before FROM."""
        self.expect("(")
        unit = self.next().text
        self.expect("FROM")
        value = self.expression()
        self.expect(")")
        return f"{name}({unit} FROM {value})"

    def trim(self, name: str) -> str:
        """TRIM: of blanks, or of other characters from a side."""
        self.expect("(")
        if self.word() not in ("BOTH", "LEADING", "TRAILING"):
            parts = [self.expression()]
            if self.taken("FROM"):
                parts = [f"BOTH {parts[0]} FROM {self.expression()}"]
                name = "TRIM"
            while self.taken(","):
                parts.append(self.expression())
            self.expect(")")
            return f"{name}({', '.join(parts)})"
        side = self.next().text.upper()
        characters = "" if self.word() == "FROM" else self.expression()
        self.expect("FROM")
        value = self.expression()
        self.expect(")")
        short = {"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}[side]
        return f"TRIM({side} {characters} FROM {value})" if characters else f"{short}({value})"

    def position(self, name: str) -> str:
        """POSITION with IN, or with commas like any function."""
        self.expect("(")
        wanted = self.expression(rows.PREDICATE + 1)
        if not self.taken("IN"):
            self.expect(",")
            name = "position"
        else:
            name = "locate"
        parts = [wanted, self.expression()]
        while self.taken(","):
            parts.append(self.expression())
        self.expect(")")
        return _printed("position", parts, "").replace("position", name, 1)

    # ── behind the arguments ─────────────────────────────────────────────────────────────────────────────────────

    def behind(self, name: str, printed: str, offset: str = "") -> str:
        """A function with its filter, its order and its window; LAG and LEAD look as far as their offset."""
        if self.taken("WITHIN", "GROUP"):
            self.expect("(", "ORDER BY")
            order = self.order() if name in ("listagg", "string_agg") else self.direction()
            printed = printed.replace("string_agg", "listagg", 1) if name == "string_agg" else printed
            printed += f" WITHIN GROUP (ORDER BY {order})"
            self.expect(")")
        if self.taken("FILTER"):
            self.expect("(", "WHERE")
            printed += f" FILTER (WHERE {self.expression()})"
            self.expect(")")
        if self.taken("IGNORE", "NULLS"):
            printed = rows.IGNORING[name].format(printed.removeprefix(name)) if name in rows.IGNORING else printed
        self.taken("RESPECT", "NULLS")
        return f"{printed} OVER ({self.window(name, offset)})" if self.taken("OVER") else printed

    def window(self, name: str, offset: str) -> str:
        """The keys and the frame of a window, which may have a name."""
        if self.word() != "(":
            return self.named_window(name, offset)
        self.expect("(")
        parts = []
        if self.taken("PARTITION BY"):
            keys = [self.expression()]
            while self.taken(","):
                keys.append(self.expression())
            parts.append(f"PARTITION BY {', '.join(keys)}")
        ordered = self.taken("ORDER BY")
        if ordered:
            parts.append(f"ORDER BY {self.order()}")
        parts.append(self.framed(name, offset, ordered))
        self.expect(")")
        return " ".join(filter(None, parts))

    def framed(self, name: str, offset: str, ordered: bool) -> str:
        """The frame of a window, be it given or not."""
        return self.frame() if self.word() in ("ROWS", "RANGE") else _frame(name, offset, ordered)

    def named_window(self, name: str, offset: str) -> str:
        """A window that is defined elsewhere in the statement."""
        wanted = self.next().text.lower()
        for index, token in enumerate(self.around[:-2]):
            defined = token.text.lower() == wanted and keyword(self.around[index + 1]) == "AS"
            if defined and self.around[index + 2].token_type is TokenType.L_PAREN:
                return type(self)(self.around[index + 2 :], self.text, self.aliases).window(name, offset)
        raise Unprintable

    def order(self) -> str:
        """Keys with their directions."""
        keys = [self.key()]
        while self.taken(","):
            keys.append(self.key())
        return ", ".join(keys)

    def key(self) -> str:
        """One key with its direction, and where its nulls stand."""
        value = self.expression()
        direction = "DESC" if self.taken("DESC") else "ASC"
        self.taken("ASC")
        nulls = "FIRST" if direction == "ASC" else "LAST"
        if self.taken("NULLS"):
            nulls = self.next().text.upper()
        return f"{value} {direction} NULLS {nulls}"

    def direction(self) -> str:
        """The key of a percentile, which says its direction only where it goes down."""
        value = self.expression()
        self.taken("ASC")
        return f"{value} DESC" if self.taken("DESC") else value

    def frame(self) -> str:
        """The frame of a window; one without an end goes up to the row at hand."""
        unit = self.next().text.upper()
        if not self.taken("BETWEEN"):
            return f"{unit} BETWEEN {self.bound()} AND CURRENT ROW"
        first = self.bound()
        self.expect("AND")
        return f"{unit} BETWEEN {first} AND {self.bound()}"

    def bound(self) -> str:
        """An end of a frame."""
        if self.word() in ("CURRENT", "UNBOUNDED"):
            return f"{self.next().text} {self.next().text}".upper()
        return f"{self.expression(rows.PREDICATE + 1)} {self.next().text.upper()}"


def _printed(name: str, arguments: Sequence[str], distinct: str) -> str:
    """A function as it is printed, with the arguments that it has by default."""
    if STAR in arguments:
        raise Unprintable
    name = rows.COUNTED.get((name, len(arguments)), name)
    shape = rows.SHAPES.get(name)
    if shape is not None and shape.count("{}") in (0, len(arguments)):
        return shape.format(*arguments)
    least, defaults = rows.DEFAULTS.get(name, (len(arguments), ()))
    given = [*arguments, *defaults[max(len(arguments) - least, 0) :]][: rows.SHOWN.get(name)]
    return f"{rows.PRINTED.get(name, name)}({distinct}{', '.join(given)})"


def _frame(name: str, offset: str, ordered: bool) -> str:
    """The frame that a window has where none is given."""
    if name in ("lag", "lead"):
        moved = f"{'-' if name == 'lag' else ''}{offset} FOLLOWING"
        return f"ROWS BETWEEN {moved} AND {moved}"
    if not ordered:
        return "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
    return f"{'ROWS' if name in rows.RANKS else 'RANGE'} BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
