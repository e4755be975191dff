"""A statement taken apart: CTEs, target, source or main query, branches, subqueries, each a slice of the text.

The order is fixed: CTEs as they are declared, the target, the source query or the main query, and below each query its
branches, then the queries that it reads from, then those whose values it takes, depth first.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from sqlglot.tokens import Token

from lineage_pipeline.dialects.traits import GENERIC, traits_of
from lineage_pipeline.engine.compile.outline import Cte, Nested, Outline, Query, Range
from lineage_pipeline.engine.compile.parse import Failure
from lineage_pipeline.engine.compile.source import compile_source
from lineage_pipeline.engine.compile.tokenizing import tokenize
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import InputFile
from lineage_pipeline.vocabulary.components import Component, ComponentKind, Dissection
from lineage_pipeline.vocabulary.places import Text, line_starts

PREVIEW = 100


def dissect_source(file: InputFile) -> Iterator[Dissection]:
    """The parts of every statement of a text that has some; what stands in a block is a statement of its own."""
    path, text, options = file.path, file.text, file.options
    script = compile_source(text, options)
    traits = traits_of(options.dialect, options.case_sensitivity) or GENERIC
    written = file.written
    places = Text(path, written.lines, text, written.copies) if written else Text(path, line_starts(text), text)
    outer = {placed.parent for placed in script.statements if not placed.quoted}
    for ordinal, placed in enumerate(script.statements):
        if ordinal in outer or placed.quoted:
            continue
        tokens = tokenize(text[placed.start : placed.end], traits)
        if isinstance(tokens, Failure) or not tokens:
            continue
        cutter = _Cutter(places, placed, tokens)
        components = tuple(cutter.cut())
        preview = " ".join(text[placed.start : placed.end].split())[:PREVIEW]
        yield Dissection(path, ordinal, placed.statement.kind, preview, components)


class _Scope(msgspec.Struct, frozen=True):
    """What is known around a query: the CTEs to be seen, the names of outer sources, and where it hangs."""

    ctes: Mapping[str, Cte] = {}
    outer: frozenset[str] = frozenset()
    parent: int | None = None
    depth: int = 0
    place: str = ""
    recursive: bool = False


class _Cutter:
    """Takes one statement apart."""

    def __init__(self, text: Text, placed: ir.Placed, tokens: Sequence[Token]) -> None:
        self.text, self.placed = text, placed
        self.outline = Outline(tokens)
        self.found: list[Component] = []

    def cut(self) -> list[Component]:
        """All parts, in their order."""
        outline, verb = self.outline, self.placed.statement.kind.split(" ")[0]
        head = outline.query(outline.everything)
        scope = self._ctes(head, _Scope())
        targets = list(self._targets())
        source = self._source(head.body) if targets else None
        query = outline.query(source) if source is not None else head
        if source is not None:
            scope = self._ctes(query, scope)
        for part in targets:
            self._add(ComponentKind.TARGET_TABLE, self._slice(part), part, scope, f"{verb} target")
        if source is not None:
            self._query(ComponentKind.SOURCE_QUERY, None, query, scope, f"{verb} source")
            self._children(head.body, scope, verb, source)
        elif not targets and outline.begins_query(head.body.start):
            self._query(ComponentKind.MAIN_QUERY, None, head, scope, "top-level query")
        else:
            around = self.outline.aliases(head.body) | {outline.tokens[part.end - 1].text.lower() for part in targets}
            self._children(head.body, msgspec.structs.replace(scope, outer=frozenset(around)), verb)
        return self.found

    def _targets(self) -> Iterator[Range]:
        """The names of what the statement defines or writes, where each stands first."""
        statement = self.placed.statement
        defined = statement.definition
        names = [write.target for write in statement.writes]
        if defined is not None and (defined.columns or defined.relation != ir.NOWHERE):
            names.insert(0, defined.name)
        for name in {name.parts: name for name in reversed(names) if name.start >= 0}.values():
            part = self._tokens_at(name.start, name.end)
            if part.end > part.start:
                yield part

    def _tokens_at(self, start: int, end: int) -> Range:
        places = [place for place, token in enumerate(self.outline.tokens) if token.start >= start and token.end < end]
        return Range(places[0], places[-1] + 1) if places else Range(0, 0)

    def _source(self, body: Range) -> Range | None:
        """The query whose rows a statement stores: behind AS or the target, or in the brackets of USING."""
        outline = self.outline
        first = outline.words[body.start] if body.start < body.end else ""
        if first in ("UPDATE", "DELETE"):
            return None
        for place in outline.flat(body):
            word = outline.words[place]
            if first == "MERGE":
                if word == "USING" and place + 1 in outline.close and outline.begins_query(place + 2):
                    return Range(place + 2, outline.close[place + 1])
            elif word in ("SELECT", "WITH") and not (place and outline.words[place - 1] == "."):
                if word == "WITH" and not self._is_query(place):
                    continue
                return Range(place, self._end_of(place, body.end))
            elif place in outline.close and outline.begins_query(place + 1) and outline.words[place - 1] != "VALUES":
                return Range(place, self._end_of(place, body.end))
        return None

    def _is_query(self, place: int) -> bool:
        """Whether WITH begins a query: `WITH (FORMAT = …)` and `WITH NO DATA` do not."""
        words = self.outline.words
        behind = place + (2 if words[place + 1 : place + 2] == ["RECURSIVE"] else 1)
        query = self.outline.query(Range(place, len(words)))
        return behind < len(words) and bool(query.ctes)

    def _end_of(self, start: int, end: int) -> int:
        """Where the query of a statement ends: clauses of the statement may stand behind it."""
        words = self.outline.words
        for place in self.outline.flat(Range(start + 1, end)):
            if words[place] == "WITH" and words[place + 1 : place + 2] in (["NO"], ["DATA"], ["CHECK"]):
                return place
            if words[place] == "ON" and words[place + 1 : place + 2] in (["CONFLICT"], ["DUPLICATE"]):
                return place
            if words[place] == "RETURNING":
                return place
        return end

    def _ctes(self, query: Query, scope: _Scope) -> _Scope:
        """Take out the CTEs of a query, and see them from there on."""
        known = dict(scope.ctes)
        for cte in query.ctes:
            known[cte.name.lower()] = cte
        for number, cte in enumerate(query.ctes):
            before = {one.name.lower(): one for one in query.ctes[: number + 1]}
            seen = known if query.recursive else {**scope.ctes, **before}
            inner = msgspec.structs.replace(scope, ctes=seen, recursive=scope.recursive or query.recursive)
            self._query(ComponentKind.CTE, cte, self.outline.query(cte.body), inner, "WITH clause")
        return msgspec.structs.replace(scope, ctes=known, recursive=scope.recursive or query.recursive)

    def _query(self, kind: ComponentKind, named: Cte | str | None, query: Query, scope: _Scope, location: str) -> None:
        """One query and all that is inside."""
        name = named.name if isinstance(named, Cte) else named
        index = self._add(kind, name, query.whole, scope, location, named if isinstance(named, Cte) else None)
        own = kind if name is None else f"{kind} {name}"
        below = msgspec.structs.replace(
            scope, parent=index, depth=scope.depth + 1, place=str(own), outer=scope.outer | self._own_aliases(query)
        )
        if kind not in (ComponentKind.MAIN_QUERY, ComponentKind.SOURCE_QUERY):  # theirs are out already
            below = self._ctes(query, below)
        branches = query.branches
        for number, branch in enumerate(branches, start=1):
            said = f" ({branch.words})" if branch.words else ""
            location = f"branch {number} of {len(branches)}{said}"
            part = self.outline.query(branch.body)
            outer = msgspec.structs.replace(below, outer=scope.outer)
            self._query(ComponentKind.UNION_BRANCH, f"branch_{number}", part, outer, location)
        if not branches:
            self._children(query.body, below, str(own))
        elif query.body.end > branches[-1].body.end:
            self._children(Range(branches[-1].body.end, query.body.end), below, str(own))

    def _own_aliases(self, query: Query) -> frozenset[str]:
        return frozenset() if query.branches else frozenset(self.outline.aliases(query.body))

    def _children(self, part: Range, scope: _Scope, owner: str, apart: Range | None = None) -> None:
        """The queries in brackets: those that rows are read from first, then those that give values."""
        nested = list(self.outline.nested(part))
        if apart is not None:  # what is inside the source query is out already
            nested = [one for one in nested if one.body.end < apart.start or one.body.start > apart.end]
        for one in (*(one for one in nested if one.is_source), *(one for one in nested if not one.is_source)):
            self._nested(one, scope, owner)

    def _nested(self, one: Nested, scope: _Scope, owner: str) -> None:
        kind = ComponentKind.SUBQUERY if one.is_source else ComponentKind.SCALAR_SUBQUERY
        location = f"{one.clause or 'expression'} in {owner}"
        self._query(kind, one.name, self.outline.query(one.body), scope, location)

    def _add(
        self, kind: ComponentKind, name: str | None, part: Range, scope: _Scope, location: str, cte: Cte | None = None
    ) -> int:
        """Keep a part, and give its number."""
        index = len(self.found)
        read: tuple[str, ...] = ()
        runnable = None
        if kind is not ComponentKind.TARGET_TABLE:
            read = self._dependencies(part, scope)
            runnable = None if self._is_correlated(part, scope) else self._runnable(part, read, scope, cte)
        needed = tuple(scope.ctes[one].name for one in read)
        span = self.text.span(*self._offsets(part))
        where = (scope.parent, scope.depth, runnable is not None, needed, location, span, runnable)
        self.found.append(Component(index, kind, name, self._slice(part), *where))
        return index

    def _dependencies(self, part: Range, scope: _Scope) -> tuple[str, ...]:
        """The CTEs that a part reads, as they are declared; its own CTEs count as far as it reads them itself."""
        query = self.outline.query(part)
        read = {name.lower() for name in self.outline.relations(query.body)}
        for cte in query.ctes:
            read |= set(self._dependencies(cte.body, scope)) - {one.name.lower() for one in query.ctes}
        return tuple(name for name in scope.ctes if name in read)

    def _is_correlated(self, part: Range, scope: _Scope) -> bool:
        """Whether a query names a source of a query around it."""
        if not scope.outer:
            return False
        own = set(self.outline.aliases(part))
        for place in range(part.start, part.end):
            if place in self.outline.close and self.outline.begins_query(place + 1):
                own |= self.outline.aliases(Range(place + 1, self.outline.close[place]))
        own |= self.outline.aliases(self.outline.inner(part))
        return bool((self.outline.qualifiers(part) & scope.outer) - own)

    def _runnable(self, part: Range, read: Sequence[str], scope: _Scope, cte: Cte | None) -> str:
        """A text that runs on its own, with what it needs in front."""
        query = self.outline.query(part)
        own = {one.name.lower() for one in query.ctes}
        wanted: dict[str, None] = {}
        waiting = [name for name in read if name not in own]
        while waiting:
            name = waiting.pop()
            if name not in wanted:
                wanted[name] = None
                waiting += self._dependencies(scope.ctes[name].body, scope)
        sql = self._without_into(part, query)
        if not wanted:
            return sql
        listed = ", ".join(self._slice(scope.ctes[name].whole) for name in scope.ctes if name in wanted)
        word = "WITH RECURSIVE" if scope.recursive else "WITH"
        if cte is not None and cte.name.lower() in wanted:  # it reads itself
            return f"{word} {listed} SELECT * FROM {self._slice(Range(cte.whole.start, cte.whole.start + 1))}"
        if query.ctes:
            rest = self._slice(Range(query.ctes[0].whole.start, self.outline.inner(part).end))
            return f"{'WITH RECURSIVE' if query.recursive else word} {listed}, {rest}"
        return f"{word} {listed} {sql}"

    def _without_into(self, part: Range, query: Query) -> str:
        """A query without `INTO table`, which would store its rows."""
        words = self.outline.words
        place = next((place for place in self.outline.flat(query.body) if words[place] == "INTO"), None)
        after = next(
            (end for end in self.outline.flat(query.body) if place and end > place and words[end] == "FROM"), 0
        )
        if place is None or not after:
            return self._slice(part)
        return f"{self._slice(Range(part.start, place))} {self._slice(Range(after, part.end))}"

    def _slice(self, part: Range) -> str:
        start, end = self._offsets(part)
        return self.text.text[start:end]

    def _offsets(self, part: Range) -> tuple[int, int]:
        tokens = self.outline.tokens
        base = self.placed.start
        if part.end <= part.start:
            return base, base
        return base + tokens[part.start].start, base + tokens[part.end - 1].end + 1
