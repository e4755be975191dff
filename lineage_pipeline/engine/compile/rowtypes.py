"""Types of rows: what CREATE TYPE and the packages of PL/SQL declare, and functions that return such rows."""

from collections.abc import Iterator

from sqlglot.tokens import TokenType

from lineage_pipeline.dialects.families import BEFORE_MODULE, MEMBERS
from lineage_pipeline.engine.compile.interfaces import Headers
from lineage_pipeline.engine.compile.walker import OPEN, Parts
from lineage_pipeline.engine.compile.words import dotted_name, is_name
from lineage_pipeline.vocabulary import ir

_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_ELEMENT = "COLUMN_VALUE"
"""What Oracle calls the one column of a collection of plain values."""


class RowTypes(Headers):
    """A walk that knows types of rows."""

    def type_at(self) -> int:
        """The word TYPE of a statement that creates one; 0 where none is created."""
        ahead = 1
        while self.word() == "CREATE" and self.word(ahead) in BEFORE_MODULE:
            ahead += 1
        known = self.word() == "CREATE" and self.word(ahead) == "TYPE" and self.word(ahead + 1) != "BODY"
        return self.index + ahead if known else 0

    def created_type(self, parent: int) -> None:
        """CREATE TYPE: one of rows has columns, all others none."""
        begin, end, at = self.index, self.end(), self.type_at()
        if not is_name(self.tokens, at + 1):
            self.emit(begin, end, parent, "CREATE TYPE")
            return
        name, behind = dotted_name(self.tokens, at + 1, begin, self.traits)
        self.emit(begin, end, parent, "CREATE TYPE", self.row_type(name, behind, end))

    def type(self, parent: int) -> None:
        """A type of a module's own; one of a package can be named from elsewhere."""
        begin, end = self.index, self.end()
        if self.is_row_type(begin + 2, end):
            self.row_types.add(self.fold(self.tokens[begin + 1]))
        parts: Parts = ()
        if self.words[begin] == "TYPE" and self.module.kind == "package" and self.module.name is not None:
            name, behind = dotted_name(self.tokens, begin + 1, begin, self.traits)
            own = ir.Name((*self.module.name.parts, *name.parts), name.written, name.start, name.end)
            parts = self.row_type(own, behind, end)
        self.emit(begin, end, parent, self.words[begin], parts)

    def row_type(self, name: ir.Name, behind: int, end: int) -> Parts:
        """What a type of rows, or of collections of them, is: columns of its own, or those of another."""
        opened = next((at for at in range(behind, end) if self.kind(at) is OPEN), end)
        collected = self.find(("OF",), behind, end)
        if collected < end and collected < opened + 4:
            first = collected + 1
            if self.kind(first) in _NAMES:
                element = dotted_name(self.tokens, first, self.index, self.traits)[0]
                return (("definition", ir.Definition(name, "table type", like=element, replace=True)),)
            columns = (ir.ColumnDef(_ELEMENT, _ELEMENT, self.type_of(first, end)),)
            return (("definition", ir.Definition(name, "table type", columns, replace=True)),)
        under = self.find(("UNDER",), behind, opened)
        if under == opened and self.words[opened - 1] not in ("AS", "IS", "OBJECT", "RECORD"):
            return ()
        fields = tuple(self.fields(opened + 1, self.behind(opened) - 1)) if opened < end else ()
        base = dotted_name(self.tokens, under + 1, self.index, self.traits)[0] if under < opened else None
        return (("definition", ir.Definition(name, "table type", fields, like=base, replace=True)),)

    def fields(self, begin: int, end: int) -> Iterator[ir.ColumnDef]:
        """The fields of a type of rows; methods are none."""
        while begin < end:
            stop = self.comma(begin, end)
            if self.words[begin] not in MEMBERS and is_name(self.tokens, begin):
                yield self.parameter(begin, stop, 0)[1]
            begin = stop + 1

    def returned_row(self, behind: int, end: int) -> ir.Name | None:
        """The type behind RETURNS that may be one of rows: none of the language's own."""
        at = self.find(("RETURN" if self.family.result_word else "RETURNS",), behind, end) + 1
        if not (self.family.result_word or self.family.equals):
            return None
        at += self.words[at : at + 1] == ["SETOF"]
        if at >= end or self.kind(at) not in _NAMES or self.words[at] in ("TRIGGER", "RECORD", "VOID"):
            return None
        name, after = dotted_name(self.tokens, at, self.index, self.traits)
        return None if self.words[after : after + 2] == ["%", "TYPE"] or self.kind(after) is OPEN else name
