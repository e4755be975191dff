"""Captions of DuckDB: functions and types by the names that it has for them."""

from collections.abc import Callable, Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects import duckdb as rows
from lineage_pipeline.engine.compile.captions import Calls
from lineage_pipeline.engine.compile.operands import Unprintable
from lineage_pipeline.engine.compile.printed_operands import PrintedOperands
from lineage_pipeline.engine.compile.prints import quoted


def printed(tokens: Sequence[Token], text: str, around: Sequence[Token]) -> str | None:
    """What an expression is called, or None where it cannot be read."""
    reader = Printed(tokens, text, ())
    reader.around = around
    try:
        found = reader.expression()
    except (Unprintable, IndexError, ValueError):
        return None
    return str(found) if reader.index == len(tokens) else None


class Printed(PrintedOperands):
    """Reads expressions as DuckDB does."""

    def function(self) -> str:
        """A function with its arguments and what stands behind them."""
        word, name = self.word(), self.next().text
        special = self.WORDED.get(word)
        if special is not None:
            return special(self, word)
        if word == "EXISTS" and self.is_query(1):
            return f"EXISTS{self.bracketed()}"
        self.expect("(")
        inside = self.inside()
        if word == "COUNT" and inside in ("", "*"):
            found = self.behind("count", "count()")
            return found if " OVER (" in found else found.replace("count()", "count_star()", 1)
        found = rows.FUNCTIONS.get(name.lower()) or quoted(name.lower())
        return self.behind(name.lower(), f"{found}({inside})")

    def inside(self) -> str:
        """What stands in the brackets of a function, and the bracket that ends it."""
        if self.taken(")"):
            return ""
        distinct = "DISTINCT " if self.taken("DISTINCT") else ""
        parts = [self.argument()]
        while self.taken(","):
            parts.append(self.argument())
        found = distinct + ", ".join(parts)
        if self.taken("ORDER BY"):
            found += f" ORDER BY {self.order()}"
        if self.word() in ("IGNORE", "RESPECT"):
            found += f" {self.next().text.upper()} {self.next().text.upper()}"
        self.expect(")")
        return found

    def argument(self) -> str:
        """One argument, which may have a name."""
        if self.kind() is TokenType.STAR:
            self.index += 1
            return "*"
        if self.kind(1) is TokenType.COLON_EQ:
            name = self.identifier()
            self.index += 1
            return f"{name} := {self.expression()}"
        return self.expression()

    def arguments(self) -> list[str]:
        """Values in brackets."""
        self.expect("(")
        found = [self.expression()]
        while self.taken(","):
            found.append(self.expression())
        self.expect(")")
        return found

    def behind(self, name: str, printed: str, offset: str = "") -> str:
        """A function with its filter, its order and its window."""
        if self.taken("WITHIN", "GROUP"):
            self.expect("(", "ORDER BY")
            order = f"ORDER BY {self.order()}"
            self.expect(")")
            known = rows.ORDERED.get(name)
            inside = printed.partition("(")[2][:-1]
            printed = f"{known}({inside} {order})" if known else f"{printed} WITHIN GROUP ( {order})"
        if self.taken("FILTER"):
            self.expect("(")
            self.taken("WHERE")
            printed += f" FILTER (WHERE {self.expression()})"
            self.expect(")")
        return f"{printed} OVER ({self.window(name, printed)})" if self.taken("OVER") else printed

    def framed(self, name: str, printed: str, ordered: bool) -> str:
        """The frame of a window, unless it goes without saying."""
        frame = self.frame() if self.word() in ("ROWS", "RANGE", "GROUPS") else ""
        if self.taken("EXCLUDE"):
            frame += f" EXCLUDE {self.next().text.upper()}"
            frame += f" {self.next().text.upper()}" if self.word() in ("ROW", "OTHERS") else ""
        return "" if frame == rows.USUAL_FRAME else frame

    def key(self) -> str:
        """One key with what is said of its direction."""
        found = self.expression()
        if self.word() in ("ASC", "DESC"):
            found += f" {self.next().text.upper()}"
        if self.taken("NULLS"):
            found += f" NULLS {self.next().text.upper()}"
        return found

    def extract(self, name: str) -> str:
        """EXTRACT, whose unit stands before FROM."""
        self.expect("(")
        unit = self.raw() if self.kind() is TokenType.STRING else self.next().text
        if unit[0] != "'":
            unit = f"'{unit.upper() if unit.lower() in rows.UNITS else unit}'"
        self.expect("FROM")
        value = self.expression()
        self.expect(")")
        return f"date_part({unit}, {value})"

    def position(self, name: str) -> str:
        """POSITION with IN."""
        self.expect("(")
        wanted = self.expression(rows.PREDICATE + 1)
        self.expect("IN")
        value = self.expression()
        self.expect(")")
        return f'"position"({value}, {wanted})'

    def trim(self, name: str) -> str:
        """TRIM: of blanks, or of other characters from a side."""
        self.expect("(")
        side = self.next().text.upper() if self.word() in ("BOTH", "LEADING", "TRAILING") else "BOTH"
        parts = [] if self.word() == "FROM" else [self.expression()]
        if self.taken("FROM"):
            parts.insert(0, self.expression())
        while self.taken(","):
            parts.append(self.expression())
        self.expect(")")
        return f"{ {'LEADING': 'ltrim', 'TRAILING': 'rtrim'}.get(side, quoted('trim')) }({', '.join(parts)})"

    def stretch(self, name: str) -> str:
        """SUBSTRING and OVERLAY, whose arguments stand behind words or commas."""
        self.expect("(")
        parts = [self.expression()]
        while self.word() in (",", "FROM", "FOR", "PLACING"):
            self.index += 1
            parts.append(self.expression())
        self.expect(")")
        return f'"{name.lower()}"({", ".join(parts)})'

    def date(self, name: str) -> str:
        """DATE(…), which is a conversion."""
        return f"CAST({self.arguments()[0]} AS DATE)"

    def type(self) -> str:
        """A type by the name that the grammar has for it, or as it is written."""
        name = self.next().text
        if name.upper() == "DOUBLE PRECISION" or (name.upper() == "DOUBLE" and self.taken("PRECISION")):
            found = "DOUBLE"
        elif name.upper() == "CHARACTER" and self.taken("VARYING"):
            found = "VARCHAR"
        else:
            found = rows.TYPES.get(name.upper()) or name
        if self.taken("("):
            found += f"({', '.join(self.parameters_of(found))})"
        if self.word() in ("WITH", "WITHOUT"):
            found += " WITH TIME ZONE" if self.word() == "WITH" else ""
            self.index += 3
        while self.kind() is TokenType.L_BRACKET:
            self.index += 1
            size = "" if self.kind() is TokenType.R_BRACKET else self.next().text
            self.expect("]")
            found += f"[{size}]"
        return found

    def parameters_of(self, name: str) -> list[str]:
        """What stands in the brackets of a type: numbers, types, or names with types."""
        found = []
        while not self.taken(")"):
            if self.kind() is TokenType.NUMBER:
                found.append(self.raw())
            else:
                member = f"{self.identifier()} " if name == "STRUCT" else ""
                found.append(member + self.type())
            self.taken(",")
        return found

    WORDED: dict[str, Callable[["Printed", str], str]] = {
        "CAST": Calls.conversion,
        "TRY_CAST": Calls.conversion,
        "EXTRACT": extract,
        "POSITION": position,
        "TRIM": trim,
        "SUBSTRING": stretch,
        "OVERLAY": stretch,
        "DATE": date,
    }
    """Functions whose arguments stand behind words."""
