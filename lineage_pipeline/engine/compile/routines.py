"""Modules: the headers of procedures, functions, triggers and packages, and where their bodies are."""

from abc import abstractmethod
from collections.abc import Iterator

import msgspec

from lineage_pipeline.dialects.families import BEFORE_MODULE, MODULES, RUNNERS
from lineage_pipeline.dialects.folding import fold
from lineage_pipeline.engine.compile.assignments import QUERIES
from lineage_pipeline.engine.compile.declarations import EVERYTHING
from lineage_pipeline.engine.compile.literals import STRINGS
from lineage_pipeline.engine.compile.parse import Failure
from lineage_pipeline.engine.compile.pieces import Use
from lineage_pipeline.engine.compile.quoted import inner_tokens
from lineage_pipeline.engine.compile.rowtypes import RowTypes
from lineage_pipeline.engine.compile.walker import OPEN, Module, Parts
from lineage_pipeline.engine.compile.words import dotted_name, is_name
from lineage_pipeline.vocabulary import ir

_ROWS = ir.Name(ir.ROWS)
_BEHIND_DEFINER = frozenset({*MODULES, "VIEW", "SQL"})


class Routines(RowTypes):
    """A walk that knows modules."""

    @abstractmethod
    def section(self, ordinal: int) -> None:
        """Declarations up to BEGIN, and that word."""

    @abstractmethod
    def rest(self, ordinal: int) -> None:
        """What stands behind the BEGIN of a block, up to its END."""

    @abstractmethod
    def finish(self, ordinal: int) -> None:
        """Go behind END, what it ends and its label, and let the piece reach to there."""

    @abstractmethod
    def label_end(self) -> int:
        """The token behind a label, `<<name>>` or `name:`; 0 where there is none."""

    def module_at(self) -> int:
        """The word that says which kind of module is created here; 0 where none is."""
        if self.word() not in ("CREATE", "REPLACE"):
            return 0
        ahead = 1
        while self.word(ahead) in BEFORE_MODULE:
            ahead += 1
            if self.word(ahead - 1) == "DEFINER":
                while self.index + ahead < len(self.tokens) and self.word(ahead) not in _BEHIND_DEFINER:
                    ahead += 1
        word = self.word(ahead)
        known = word in MODULES or (word == "TYPE" and self.word(ahead + 1) == "BODY")
        known = known or (word == "RULE" and self.family.equals) or (word in RUNNERS and self.family.marked)
        return self.index + ahead if known else 0

    def routine(self, parent: int) -> None:
        """A module with everything inside."""
        begin = self.index
        at = self.module_at() or self.find(("PROCEDURE", "FUNCTION"), begin)
        word = self.words[at]
        name_at = at + (2 if self.words[at + 1] == "BODY" else 1)
        if self.words[name_at : name_at + 3] == ["IF", "NOT", "EXISTS"]:
            name_at += 3
        if not is_name(self.tokens, name_at):
            self.emit(begin, self.end(), parent)
            return
        name, behind = dotted_name(self.tokens, name_at, begin, self.traits)
        name = self.qualified(name)
        if word in ("PACKAGE", "TYPE"):
            self.package(name, behind, parent)
        elif word == "TRIGGER":
            self.trigger(name, behind, parent)
        elif word == "RULE":
            self.rule(name, behind, parent)
        elif word in RUNNERS:
            self.runner(word, behind, parent)
        else:
            self.defined(MODULES[word], name, behind, parent)

    def qualified(self, name: ir.Name) -> ir.Name:
        """The name of a module; one inside another is part of it."""
        around = self.module.name
        return name if around is None else msgspec.structs.replace(name, parts=(*around.parts, *name.parts))

    def runner(self, word: str, behind: int, parent: int) -> None:
        """A task or an alert: the statement or the block that it runs, under the condition of an alert."""
        begin, end = self.index, self.end(behind)
        at = self.find((RUNNERS[word],), behind, end)
        while self.words[at - 1] == "EXECUTE" and at < end:  # … AS USER u
            at = self.find((RUNNERS[word],), at + 1, end)
        asked = self.find(("IF",), behind, at) if word == "ALERT" else at
        ordinal = self.emit(begin, min(asked + 1, end) if asked == at else asked, parent, f"CREATE {word}")
        inner = self.condition(asked, at, ordinal, "IF") if asked < at else ordinal
        if at + 1 < end:
            self.statement(inner)
        for opened in {inner, ordinal}:
            self.close(opened)

    def package(self, name: ir.Name, behind: int, parent: int) -> None:
        """A package, its body or the body of a type: declarations and modules, and perhaps a block at the end."""
        begin = self.index
        at = self.find(("IS", "AS"), behind)
        if at >= self.end(behind):
            self.emit(begin, self.end(behind), parent, "CREATE PACKAGE")
            return
        ordinal = self.emit(begin, at + 1, parent, "CREATE PACKAGE")
        outer, self.module = self.module, Module("package", name)
        self.section(ordinal)
        if self.words[self.index - 1] == "BEGIN":
            self.rest(ordinal)
        else:
            self.finish(ordinal)
        self.module = outer

    def defined(self, kind: str, name: ir.Name, behind: int, parent: int) -> None:
        """A procedure or function: parameters, what it returns, its body."""
        begin, parameters = self.index, behind
        if self.kind(behind) is OPEN:
            behind = self.behind(behind)
        inputs = tuple(self.parameters(parameters + 1, behind - 1)) if behind > parameters else ()
        body, end = self.body_at(behind), self.end(behind)
        columns = self.returned_columns(parameters if kind == "function" else behind, behind, min(body, end))
        outputs = tuple(item.name for mode, item in inputs if mode in ("OUT", "INOUT"))
        # What a function of PL/pgSQL gives back is its row: callers hand nothing over for it.
        given = tuple(item for mode, item in inputs if mode != "OUT" or kind != "function" or not self.family.equals)
        row = self.returned_row(behind, min(body, end)) if kind == "function" and not columns else None
        definition = ir.Definition(name, kind, columns, like=row, replace=True, parameters=given, outputs=outputs)
        parts: Parts = (("definition", definition), *self.numbered(given))
        label = f"CREATE {kind.upper()}"
        names = tuple(column.name for column in columns)
        if not names and kind == "function":
            names = self.scalar(name, behind, min(body, end))
        cursors = frozenset(item.name.lstrip("@") for _, item in inputs) if kind == "procedure" else frozenset[str]()
        inline = self.language(behind, end) == "SQL"
        scalar = kind == "function" and not columns and row is None
        returns = self.returned_type(behind, min(body, end)) if scalar else ""
        module = Module(kind, name, names, inline=inline, typed=row is not None, cursors=cursors, returns=returns)
        if self.words[behind : behind + 2] == ["RETURNS", "TRIGGER"]:
            module = Module("trigger", name, watched=_ROWS)
            parts = (("definition", definition), *self.rows(_ROWS))
        if body >= len(self.tokens) or body > end:
            declared = self.module.kind == "package" and self.words[begin] != "CREATE"
            self.emit(begin, end, parent, kind.upper() if declared else label, () if declared else parts)
            return
        self.inner(begin, body, (parent, label, parts), module)

    def inner(self, begin: int, body: int, row: tuple[int, str, Parts], module: Module) -> None:
        """The row of a module and the statements of its body."""
        parent, label, parts = row
        if self.kind(body) in STRINGS:
            self.quoted(begin, body, row, module)
            return
        records, first = set(self.records), self.first
        ordinal = self.emit(begin, body, parent, label, parts)
        outer, self.module, self.first = self.module, module, ordinal
        self.bare(ordinal)
        self.module, self.records, self.first = outer, records, first
        self.close(ordinal)

    def bare(self, ordinal: int) -> None:
        """A body that is no string: a block, declarations and a block, a statement, a query or an expression."""
        word, begin, end = self.word(), self.index, self.end()
        if word in ("BEGIN", "DECLARE") or (word in self.family.opens and word not in QUERIES):
            self.statement(ordinal)
        elif self.family.result_word:
            self.section(ordinal)
            self.rest(ordinal)
        elif word == "TABLE" and self.words[begin + 1] in QUERIES:
            self.result(begin, begin + 1, end, ordinal, "SELECT")
        elif word in QUERIES:
            self.action(ordinal)
        elif begin < end:
            self.expression(ordinal, begin, end)

    def expression(self, ordinal: int, begin: int, end: int) -> None:
        """A body that is the value of a function."""
        name = self.module.name
        use = Use("result", "RETURN", columns=self.module.columns or ((name.parts[-1],) if name is not None else ()))
        self.keep(begin, end, ordinal, self.query(begin, begin, end), use)

    def quoted(self, begin: int, body: int, row: tuple[int, str, Parts], module: Module) -> None:
        """A body in a string: read as code in the languages that we know, and named in the others."""
        parent, label, parts = row
        end = self.end(body)
        language = self.language(begin, end)
        if language and language not in self.family.languages:
            named = ".".join(module.name.parts) if module.name is not None else label
            place = int(self.tokens[body].start) - int(self.tokens[begin].start)
            size = int(self.tokens[body].end) + 1 - int(self.tokens[body].start)
            values = (("name", named), ("language", language))
            finding = ir.Finding("FOREIGN_BODY", values, place, place + size)
            self.emit(begin, end, parent, label, (*parts, ("findings", (finding,))))
            return
        inner = inner_tokens(self.tokens[body], self.text, self.traits)
        if isinstance(inner, Failure):
            place = int(self.tokens[begin].start)
            finding = ir.Finding("PARSE_ERROR", (("reason", inner.reason),), inner.start - place, inner.end - place)
            self.emit(begin, end, parent, label, (*parts, ("status", "failed"), ("findings", (finding,))))
            return
        ordinal = self.emit(begin, end, parent, label, parts)
        if inner:
            self.inside(inner, module).contents(ordinal)

    def contents(self, ordinal: int) -> None:
        """The code of a quoted body: statements, or one expression."""
        known = self.family.equals or self.module.kind != "function"
        if known or self.word() in QUERIES or self.word() in ("BEGIN", "DECLARE") or self.label_end():
            self.script(ordinal)
        else:
            self.expression(ordinal, 0, self.end(0))

    def trigger(self, name: ir.Name, behind: int, parent: int) -> None:
        """A trigger: the rows that it sees are rows of the table that it watches."""
        begin, end = self.index, self.end(behind)
        on = self.find(("ON",), behind, end)
        watched = dotted_name(self.tokens, on + 1, begin, self.traits)[0] if on + 1 < end else None
        transitions = tuple(self.transitions(on, end))
        definition = ir.Definition(name, "trigger", replace=True, watches=watched, header=transitions)
        named = dict(self.aliases(on, end))
        parts: Parts = (("definition", definition), *self.rows(watched, tuple(named.values())))
        module = Module("trigger", name, watched=watched, row=named.get(self.family.rows[0], ""))
        called = self.find(("EXECUTE",), on, end)
        if called + 2 < end and self.words[called + 1] in ("FUNCTION", "PROCEDURE"):
            function = dotted_name(self.tokens, called + 2, begin, self.traits)[0]
            self.emit(begin, end, parent, "CREATE TRIGGER", (*parts, ("calls", (ir.Invocation(function),))))
            return
        row = self.find(("ROW",), on, end)
        body = self.body_at(row + 1 if row < end else on + 2)
        if body >= len(self.tokens):
            self.emit(begin, end, parent, "CREATE TRIGGER", parts)
            return
        if self.words[body] == "COMPOUND":
            ordinal = self.emit(begin, body + 2, parent, "CREATE TRIGGER", parts)
            outer, self.module = self.module, module
            self.section(ordinal)
            self.module = outer
            self.finish(ordinal)
            return
        self.inner(begin, body, (parent, "CREATE TRIGGER", parts), module)

    def rule(self, name: ir.Name, behind: int, parent: int) -> None:
        """CREATE RULE: statements that run beside or instead of one that changes a table, and see its rows."""
        begin, end = self.index, self.end(behind)
        to = self.find(("TO",), behind, end)
        first = self.find(("DO",), to, end) + 1
        first += self.words[first : first + 1] in (["ALSO"], ["INSTEAD"])
        if first >= end or self.words[first] == "NOTHING":
            self.emit(begin, end, parent, "CREATE RULE")
            return
        watched = dotted_name(self.tokens, to + 1, begin, self.traits)[0]
        last = end
        if self.kind(first) is OPEN:
            first, end = first + 1, self.behind(first)
            last = end - 1
        definition = ir.Definition(name, "trigger", replace=True, watches=watched)
        body = self.tokens[first:last]
        ordinal = self.emit(begin, end, parent, "CREATE RULE", (("definition", definition), *self.rows(watched)))
        self.inside(body, Module("trigger", name, watched=watched)).script(ordinal)

    def transitions(self, begin: int, end: int) -> Iterator[str]:
        """What a trigger calls the rows before and after the statement: REFERENCING NEW TABLE AS name."""
        if self.find(("REFERENCING",), begin, end) < end:
            for at in range(begin, end - 2):
                if self.words[at] in self.family.rows and self.words[at + 1] == "TABLE":
                    yield self.fold(self.tokens[at + (3 if self.words[at + 2] == "AS" else 2)])

    def aliases(self, begin: int, end: int) -> Iterator[tuple[str, str]]:
        """What a trigger calls its rows: REFERENCING NEW AS name."""
        first = self.find(("REFERENCING",), begin, end)
        for at in range(first, min(first + 8, end - 2)):
            named = at + (2 if self.words[at + 1] == "AS" else 1)
            if self.words[at] in self.family.rows and self.words[named] not in ("TABLE", "ROW"):
                yield self.words[at], self.fold(self.tokens[named])

    def rows(self, watched: ir.Name | None, others: tuple[str, ...] = ()) -> Parts:
        """The new and the old row as records with the columns of the watched table."""
        if watched is None:
            return ()
        everything = ir.Select((ir.Source(watched.parts[-1], name=watched),), EVERYTHING)
        # The words are the language's own: case does not matter, even where it does in names of sources.
        spelt = [word for row in self.family.rows for word in (row, row.lower())]
        kinds = (self.traits.columns, self.traits.aliases or self.traits.tables)
        called = [fold(word, False, kind) for word in spelt for kind in kinds]
        names = dict.fromkeys([*called, *others])
        self.records.update(names)
        assigns = tuple(ir.Assignment((row,), 0, row=True, declares=True) for row in names)
        return ("relations", (everything,)), ("assigns", assigns)

    def anonymous(self, parent: int) -> None:
        """DO: a block in a string; or an expression whose value nobody takes."""
        begin, end = self.index, self.end()
        texts = (at for at in range(begin, end) if self.kind(at) in STRINGS and self.word(at - 1 - begin) != "LANGUAGE")
        body = next(texts, end)
        if body == end:
            self.emit(begin, end, parent, "DO")
            return
        self.quoted(begin, body, (parent, "DO", ()), Module("do"))
