"""The headers of modules: parameters, what a function returns, its language, and where the body begins."""

from collections.abc import Iterator, Sequence

import msgspec
from sqlglot.tokens import TokenType

from lineage_pipeline.engine.compile.actions import Actions
from lineage_pipeline.engine.compile.types import written_type
from lineage_pipeline.engine.compile.walker import OPEN, SEMICOLON, Parts
from lineage_pipeline.engine.compile.words import is_name
from lineage_pipeline.vocabulary import ir

_MODES = frozenset("IN OUT INOUT VARIADIC NOCOPY".split())

_TYPE_WORDS = frozenset("PRECISION VARYING WITH WITHOUT LOCAL TIME ZONE UNSIGNED".split())
"""What goes on with a type behind its first word."""

_NO_VALUES = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.TABLE, TokenType.STRUCT, TokenType.ARRAY, None)
"""What begins a type of the user's own, or one that is more than a value."""


class Headers(Actions):
    """A walk that knows the headers of modules."""

    def scalar(self, name: ir.Name, behind: int, end: int) -> tuple[str, ...]:
        """The one column of a function in SQL that returns a value: it has its name.

        In PL/pgSQL a type that is none of the language's own may be that of a row.
        """
        at = self.find(("RETURNS",), behind, end) + 1
        rows = (TokenType.VAR, TokenType.IDENTIFIER) if self.family.equals else ()
        plain = self.kind(at) not in (*rows, TokenType.TABLE, None)
        return (name.parts[-1],) if at < end and plain else ()

    def returned_type(self, behind: int, end: int) -> str:
        """The type of the one value that a function gives, if it is one of the language's own."""
        at = self.find(("RETURN" if self.family.result_word else "RETURNS",), behind, end) + 1
        if at >= end or self.kind(at) in _NO_VALUES:
            return ""
        stop = at + 1
        while stop < end and (self.words[stop] in _TYPE_WORDS or self.kind(stop) is OPEN):
            stop = self.behind(stop) if self.kind(stop) is OPEN else stop + 1
        if self.words[stop : stop + 1] in (["%"], ["["], ["<"]):
            return ""
        return self.type_of(at, stop)

    def language(self, begin: int, end: int) -> str:
        """The language that a header names."""
        at = self.find(("LANGUAGE",), begin, end)
        return self.tokens[at + 1].text.upper() if at + 1 < end else ""

    def body_at(self, index: int) -> int:
        """Where the body of a module begins, or the end."""
        while index < len(self.tokens) and self.tokens[index].token_type is not SEMICOLON:
            word = self.words[index]
            if self.kind(index) is OPEN:
                index = self.behind(index)
                continue
            if word in self.family.marks and self.words[index - 1] != "EXECUTE":
                external = self.words[index + 1 : index + 2] in (["LANGUAGE"], ["EXTERNAL"])
                return len(self.tokens) if external else index + 1
            if word in self.family.opens and self.words[index - 1] not in ("CHARACTER", "CHAR"):  # … SET of a type
                return index
            index += 1
        return len(self.tokens)

    def parameters(self, begin: int, end: int) -> Iterator[tuple[str, ir.ColumnDef]]:
        """The parameters in brackets, each with its mode."""
        position = 0
        while begin < end:
            stop = self.comma(begin, end)
            position += 1
            yield self.parameter(begin, stop, position)
            begin = stop + 1

    def parameter(self, begin: int, end: int, position: int) -> tuple[str, ir.ColumnDef]:
        """One parameter; in some languages one without a name is known by its position."""
        mode, at = "IN", begin
        while at < end - 1 and self.words[at] in _MODES:
            mode = self.words[at]
            at += 1
        origin = int(self.tokens[self.index].start)
        named = at < end and (end - at > 1 or not self.family.equals) and is_name(self.tokens, at)
        if not named:
            return mode, ir.ColumnDef(f"@{position}", f"${position}", self.type_of(at, end))
        token, first = self.tokens[at], at + 1
        while first < end and self.words[first] in _MODES:
            if self.words[first] != "NOCOPY":
                mode = "INOUT" if mode == "IN" and self.words[first] == "OUT" and first > at + 1 else self.words[first]
            first += 1
        stop = first
        while (
            stop < end and self.words[stop] != "DEFAULT" and self.kind(stop) not in (TokenType.COLON_EQ, TokenType.EQ)
        ):
            stop += 1
        start = int(token.start) - origin
        place = (start, start + len(token.text))
        default = self.text[self.tokens[stop].end + 1 : self.tokens[end - 1].end + 1].strip() if stop < end else ""
        declared = self.type_of(first, stop)
        shown = ir.ColumnDef(self.fold(token), token.text, declared, default=default, start=place[0], end=place[1])
        return mode, msgspec.structs.replace(shown, identity=True) if mode == "OUT" else shown

    def type_of(self, begin: int, end: int) -> str:
        """The type that some tokens spell."""
        if begin >= end or self.words[end - 2 : end] == ["%", "TYPE"]:
            return ""
        return written_type(self.text[self.tokens[begin].start : self.tokens[end - 1].end + 1], self.traits.name)

    def numbered(self, parameters: Sequence[ir.ColumnDef]) -> Parts:
        """`$1` is another name of the first parameter."""
        if not self.family.equals or all(item.name.startswith("@") for item in parameters):
            return ()
        values = tuple(
            ir.Output("", "", ir.Variable(item.name, ir.NOWHERE, ir.NOWHERE), ir.NOWHERE, ir.NOWHERE)
            for item in parameters
        )
        names = tuple(f"@{position}" for position in range(1, len(parameters) + 1))
        return ("relations", (ir.Select((), values),)), ("assigns", (ir.Assignment(names, 0, declares=True),))

    def returned_columns(self, parameters: int, behind: int, end: int) -> tuple[ir.ColumnDef, ...]:
        """The columns of a function that says which it returns: RETURNS TABLE (…), or its OUT parameters."""
        at = self.find(("RETURNS",), behind, end)
        if self.words[at + 1 : at + 2] == ["TABLE"] and self.kind(at + 2) is OPEN:
            return tuple(item for _, item in self.parameters(at + 3, self.behind(at + 2) - 1))
        if self.words[at + 1 : at + 3] == ["TABLE", "<"]:
            stop = self.find(self.family.marks, at, end)
            return tuple(item for _, item in self.parameters(at + 3, stop - 1))
        if not self.family.equals:
            return ()
        listed = self.parameters(parameters + 1, behind - 1) if behind > parameters else ()
        return tuple(item for mode, item in listed if mode in ("OUT", "INOUT"))
