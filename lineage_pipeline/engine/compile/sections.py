"""Sections of a statement: CTEs, target, source or main query, branches and subqueries as slices of the text.
The order is fixed: CTEs as declared, the target, the source query or the main query, and below each query its
branches, then the queries in FROM, then scalar subqueries, depth first.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.generic import GENERIC
from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.engine.compile.compiler import compile_source
from lineage_pipeline.engine.compile.grammar.parser import ParseFailure
from lineage_pipeline.engine.compile.lexer import tokenize
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import InputFile
from lineage_pipeline.model.components import Component, ComponentKind, Dissection
from lineage_pipeline.model.source_map import SourceText, find_line_starts

_QUOTED_TOKENS = frozenset({TokenType.IDENTIFIER, TokenType.STRING, TokenType.NATIONAL_STRING, TokenType.RAW_STRING})
_OPEN_PAREN, _CLOSE_PAREN = TokenType.L_PAREN, TokenType.R_PAREN

_SET_KEYWORDS = frozenset({"UNION", "INTERSECT", "EXCEPT", "MINUS"})
_CLAUSE_NAMES = {
    "SELECT": "SELECT list",
    "FROM": "FROM clause",
    "USING": "USING clause",
    "SET": "SET clause",
    "WHERE": "WHERE clause",
    "GROUP": "GROUP BY clause",
    "HAVING": "HAVING clause",
    "QUALIFY": "QUALIFY clause",
    "WINDOW": "WINDOW clause",
    "ORDER": "ORDER BY clause",
    "LIMIT": "LIMIT clause",
    "OFFSET": "LIMIT clause",
    "FETCH": "LIMIT clause",
    "ON": "JOIN condition",
    "WHEN": "MERGE action",
    "RETURNING": "RETURNING clause",
    "OUTPUT": "OUTPUT clause",
}
"""Keywords that begin a clause, and the name of the clause."""

_SOURCE_CLAUSES = frozenset({"FROM clause", "USING clause"})
_JOIN_KEYWORDS = frozenset({"JOIN", "APPLY", "LATERAL", ","})
"""What ends a join condition: another source follows."""

_TRAILING_CLAUSES = frozenset({"ORDER", "LIMIT", "OFFSET", "FETCH", "FOR", "OPTION"})
"""Clauses after a set operation that belong to all of it."""


class TokenRange(msgspec.Struct, frozen=True, order=True):
    """Tokens from one index to before another."""

    start: int
    end: int


class CteSection(msgspec.Struct, frozen=True):
    """A CTE: its whole definition, its name, and its body."""

    name: str
    whole: TokenRange
    body: TokenRange


class BranchSection(msgspec.Struct, frozen=True):
    """One query of a set operation, and the keywords before it."""

    body: TokenRange
    words: str


class SubquerySection(msgspec.Struct, frozen=True):
    """A query in parentheses: its content, the clause around it, and the alias after it."""

    body: TokenRange
    clause: str
    name: str | None

    @property
    def is_source(self) -> bool:
        """Whether rows are read from it, and not a value."""
        return self.clause in _SOURCE_CLAUSES


class QuerySection(msgspec.Struct, frozen=True):
    """A query: its CTEs, and the rest, which is one select or several."""

    whole: TokenRange
    ctes: tuple[CteSection, ...]
    body: TokenRange
    recursive: bool
    branches: tuple[BranchSection, ...]


class StatementOutline:
    """The tokens of one statement, with parentheses matched."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        """Match the parentheses once."""
        self.tokens = tokens
        # A token may be two words, as GROUP BY is: the first one tells.
        self.words = [
            "" if token.token_type in _QUOTED_TOKENS else token.text.upper().partition(" ")[0] for token in tokens
        ]
        self.close: dict[int, int] = {}
        waiting: list[int] = []
        for place, token in enumerate(tokens):
            if token.token_type is _OPEN_PAREN:
                waiting.append(place)
            elif token.token_type is _CLOSE_PAREN and waiting:
                self.close[waiting.pop()] = place

    @property
    def whole_range(self) -> TokenRange:
        """All tokens."""
        return TokenRange(0, len(self.tokens))

    def strip_parens(self, part: TokenRange) -> TokenRange:
        """A range without parentheses around all of it."""
        while part.start < part.end and self.close.get(part.start) == part.end - 1:
            part = TokenRange(part.start + 1, part.end - 1)
        return part

    def begins_query(self, place: int) -> bool:
        """Whether a query begins here, perhaps in parentheses."""
        while place in self.close:
            place += 1
        if place >= len(self.words):
            return False
        word = self.words[place]
        return word in ("SELECT", "WITH", "VALUES") or (
            word == "FROM" and self.tokens[place - 1].token_type is _OPEN_PAREN
        )

    def top_level_indexes(self, part: TokenRange) -> Iterator[int]:
        """The indexes of a range outside parentheses; an opening one represents all inside."""
        place = part.start
        while place < part.end:
            yield place
            place = self.close.get(place, place) + 1

    def read_query(self, part: TokenRange) -> QuerySection:
        """The CTEs and branches of a query."""
        whole = part
        part = self.strip_parens(part)
        ctes: list[CteSection] = []
        recursive = False
        start = part.start
        if start < part.end and self.words[start] == "WITH":
            recursive = start + 1 < part.end and self.words[start + 1] == "RECURSIVE"
            start += 2 if recursive else 1
            while (cte := self._read_cte(start, part.end)) is not None:
                ctes.append(cte)
                start = cte.whole.end
                if start >= part.end or self.words[start] != ",":
                    break
                start += 1
        body = TokenRange(start, part.end)
        return QuerySection(
            whole=whole, ctes=tuple(ctes), body=body, recursive=recursive, branches=tuple(self.read_branches(body))
        )

    def _read_cte(self, start: int, end: int) -> CteSection | None:
        """`name [(columns)] AS [hint] (query)`, if one begins here."""
        place = start + 1
        if place in self.close:
            place = self.close[place] + 1
        if place >= end or self.words[place] != "AS":
            return None
        while place < end and place not in self.close:
            place += 1
        if place >= end:
            return None
        closing = self.close[place]
        return CteSection(self.tokens[start].text, TokenRange(start, closing + 1), TokenRange(place + 1, closing))

    def read_branches(self, body: TokenRange) -> Iterator[BranchSection]:
        """The queries of a set operation, including those in parentheses; none for a select."""
        cuts = [place for place in self.top_level_indexes(body) if self.words[place] in _SET_KEYWORDS]
        if not cuts:
            return
        end = next(
            (
                place
                for place in self.top_level_indexes(TokenRange(cuts[-1], body.end))
                if self.words[place] in _TRAILING_CLAUSES
            ),
            body.end,
        )
        starts, words = [body.start], [""]
        for cut in cuts:
            start = cut + 1
            while start < body.end and self.words[start] in ("ALL", "DISTINCT", "BY", "NAME"):
                start += 1
            starts.append(start)
            words.append(" ".join(self.words[cut:start]))
        for start, stop, said in zip(starts, [*cuts, end], words, strict=True):
            part = self.strip_parens(TokenRange(start, stop))
            inside = list(self.read_branches(part)) if part.start != start else []
            if inside:
                yield BranchSection(inside[0].body, said)
                yield from inside[1:]
            else:
                yield BranchSection(part, said)

    def read_subqueries(self, part: TokenRange, clause: str = "") -> Iterator[SubquerySection]:
        """The queries in parentheses directly inside a range, in text order."""
        place, own = part.start, clause
        while place < part.end:
            word = self.words[place]
            if word in _CLAUSE_NAMES and not (word == "FROM" and own not in ("", "SELECT list", "SET clause")):
                own = _CLAUSE_NAMES[word]
            elif word in _JOIN_KEYWORDS and own == "JOIN condition":
                own = "FROM clause"
            if place not in self.close:
                place += 1
                continue
            inside = TokenRange(place + 1, self.close[place])
            place = inside.end + 1
            if self.begins_query(inside.start) and self.words[inside.start] != "VALUES":
                yield SubquerySection(inside, own, self._read_alias(place, part.end))
            else:
                yield from self.read_subqueries(inside, own)

    def _read_alias(self, place: int, end: int) -> str | None:
        """The alias after a parenthesis."""
        if place < end and self.words[place] == "AS":
            place += 1
        if place >= end:
            return None
        token = self.tokens[place]
        named = token.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
        return token.text if named else None

    def read_relation_names(self, part: TokenRange) -> Iterator[str]:
        """The unqualified names after FROM, JOIN and the like, including those of nested queries."""
        for place in range(part.start, part.end):
            word = self.words[place]
            if word not in ("FROM", "JOIN", ",", "USING", "INTO", "APPLY") or place + 1 >= part.end:
                continue
            token = self.tokens[place + 1]
            qualified = place + 2 < part.end and self.tokens[place + 2].token_type is TokenType.DOT
            if not qualified and token.token_type not in (_OPEN_PAREN, _CLOSE_PAREN):
                yield token.text

    def read_qualifiers(self, part: TokenRange) -> set[str]:
        """The names before the last dot of columns."""
        return {
            self.tokens[place - 1].text.lower()
            for place in range(part.start + 1, part.end)
            if self.tokens[place].token_type is TokenType.DOT
        }

    def read_aliases(self, part: TokenRange) -> set[str]:
        """The names of the sources of a query: aliases and the sources' own names."""
        found: set[str] = set()
        for place in self.top_level_indexes(part):
            if self.words[place] not in ("FROM", "JOIN", ",", "USING", "APPLY"):
                continue
            place += 1
            if place in self.close:
                place = self.close[place] + 1
            else:
                while place + 2 < part.end and self.tokens[place + 1].token_type is TokenType.DOT:
                    place += 2
                if place < part.end:
                    found.add(self.tokens[place].text.lower())
                place += 1
                if place in self.close:
                    place = self.close[place] + 1
            alias = self._read_alias(place, part.end)
            if alias is not None:
                found.add(alias.lower())
        return found


PREVIEW_LENGTH = 100


def dissect_source(file: InputFile) -> Iterator[Dissection]:
    """The sections of every statement of a text that has some; a statement in a block is one of its own."""
    path, text, options = file.path, file.text, file.options
    script = compile_source(text, options)
    traits = find_traits(options.dialect, options.case_sensitivity) or GENERIC
    written = file.written
    places = (
        SourceText(path, written.lines, text, written.copies)
        if written
        else SourceText(path, find_line_starts(text), text)
    )
    outer = {placed.parent for placed in script.statements if not placed.quoted}
    for ordinal, placed in enumerate(script.statements):
        if ordinal in outer or placed.quoted:
            continue
        tokens = tokenize(text[placed.start : placed.end], traits)
        if isinstance(tokens, ParseFailure) or not tokens:
            continue
        cutter = _StatementDissector(places, placed, tokens)
        components = tuple(cutter.dissect())
        preview = " ".join(text[placed.start : placed.end].split())[:PREVIEW_LENGTH]
        yield Dissection(
            path=path, statement=ordinal, kind=placed.statement.kind, preview=preview, components=components
        )


class _SectionScope(msgspec.Struct, frozen=True):
    """The scope of a query: visible CTEs, names of outer sources, and its parent."""

    ctes: Mapping[str, CteSection] = {}
    outer: frozenset[str] = frozenset()
    parent: int | None = None
    depth: int = 0
    place: str = ""
    recursive: bool = False


class _StatementDissector:
    """Divides one statement into sections."""

    def __init__(self, text: SourceText, placed: ir.Placed, tokens: Sequence[Token]) -> None:
        self.text, self.placed = text, placed
        self.outline = StatementOutline(tokens)
        self.found: list[Component] = []

    def dissect(self) -> list[Component]:
        """All sections, in order."""
        outline, verb = self.outline, self.placed.statement.kind.split(" ")[0]
        head = outline.read_query(outline.whole_range)
        scope = self._add_ctes(head, _SectionScope())
        targets = list(self._find_targets())
        source = self._find_source(head.body) if targets else None
        query = outline.read_query(source) if source is not None else head
        if source is not None:
            scope = self._add_ctes(query, scope)
        for part in targets:
            self._add_section(ComponentKind.TARGET_TABLE, self._slice(part), part, scope, f"{verb} target")
        if source is not None:
            self._add_query(ComponentKind.SOURCE_QUERY, None, query, scope, f"{verb} source")
            self._add_subqueries(head.body, scope, verb, source)
        elif not targets and outline.begins_query(head.body.start):
            self._add_query(ComponentKind.MAIN_QUERY, None, head, scope, "top-level query")
        else:
            around = self.outline.read_aliases(head.body) | {
                outline.tokens[part.end - 1].text.lower() for part in targets
            }
            self._add_subqueries(head.body, msgspec.structs.replace(scope, outer=frozenset(around)), verb)
        return self.found

    def _find_targets(self) -> Iterator[TokenRange]:
        """The names of what the statement defines or writes, at their first occurrence."""
        statement = self.placed.statement
        defined = statement.definition
        names = [write.target for write in statement.writes]
        if defined is not None and (defined.columns or defined.relation != ir.NOWHERE):
            names.insert(0, defined.name)
        for name in {name.parts: name for name in reversed(names) if name.start >= 0}.values():
            part = self._tokens_at(name.start, name.end)
            if part.end > part.start:
                yield part

    def _tokens_at(self, start: int, end: int) -> TokenRange:
        places = [place for place, token in enumerate(self.outline.tokens) if token.start >= start and token.end < end]
        return TokenRange(places[0], places[-1] + 1) if places else TokenRange(0, 0)

    def _find_source(self, body: TokenRange) -> TokenRange | None:
        """The query whose rows a statement stores: after AS or the target, or in the parentheses of USING."""
        outline = self.outline
        first = outline.words[body.start] if body.start < body.end else ""
        if first in ("UPDATE", "DELETE"):
            return None
        for place in outline.top_level_indexes(body):
            word = outline.words[place]
            if first == "MERGE":
                if word == "USING" and place + 1 in outline.close and outline.begins_query(place + 2):
                    return TokenRange(place + 2, outline.close[place + 1])
            elif word in ("SELECT", "WITH") and not (place and outline.words[place - 1] == "."):
                if word == "WITH" and not self._is_with_query(place):
                    continue
                return TokenRange(place, self._find_query_end(place, body.end))
            elif place in outline.close and outline.begins_query(place + 1) and outline.words[place - 1] != "VALUES":
                return TokenRange(place, self._find_query_end(place, body.end))
        return None

    def _is_with_query(self, place: int) -> bool:
        """Whether WITH begins a query: `WITH (FORMAT = …)` and `WITH NO DATA` do not."""
        words = self.outline.words
        behind = place + (2 if words[place + 1 : place + 2] == ["RECURSIVE"] else 1)
        query = self.outline.read_query(TokenRange(place, len(words)))
        return behind < len(words) and bool(query.ctes)

    def _find_query_end(self, start: int, end: int) -> int:
        """The end of the query of a statement: clauses of the statement may follow it."""
        words = self.outline.words
        for place in self.outline.top_level_indexes(TokenRange(start + 1, end)):
            if words[place] == "WITH" and words[place + 1 : place + 2] in (["NO"], ["DATA"], ["CHECK"]):
                return place
            if words[place] == "ON" and words[place + 1 : place + 2] in (["CONFLICT"], ["DUPLICATE"]):
                return place
            if words[place] == "RETURNING":
                return place
        return end

    def _add_ctes(self, query: QuerySection, scope: _SectionScope) -> _SectionScope:
        """Add the CTEs of a query, and bring them into scope."""
        known = dict(scope.ctes)
        for cte in query.ctes:
            known[cte.name.lower()] = cte
        for number, cte in enumerate(query.ctes):
            before = {one.name.lower(): one for one in query.ctes[: number + 1]}
            seen = known if query.recursive else {**scope.ctes, **before}
            inner = msgspec.structs.replace(scope, ctes=seen, recursive=scope.recursive or query.recursive)
            self._add_query(ComponentKind.CTE, cte, self.outline.read_query(cte.body), inner, "WITH clause")
        return msgspec.structs.replace(scope, ctes=known, recursive=scope.recursive or query.recursive)

    def _add_query(
        self,
        kind: ComponentKind,
        named: CteSection | str | None,
        query: QuerySection,
        scope: _SectionScope,
        location: str,
    ) -> None:
        """One query and everything inside."""
        name = named.name if isinstance(named, CteSection) else named
        index = self._add_section(
            kind, name, query.whole, scope, location, named if isinstance(named, CteSection) else None
        )
        own = kind if name is None else f"{kind} {name}"
        below = msgspec.structs.replace(
            scope, parent=index, depth=scope.depth + 1, place=str(own), outer=scope.outer | self._own_aliases(query)
        )
        if kind not in (ComponentKind.MAIN_QUERY, ComponentKind.SOURCE_QUERY):  # theirs are out already
            below = self._add_ctes(query, below)
        branches = query.branches
        for number, branch in enumerate(branches, start=1):
            said = f" ({branch.words})" if branch.words else ""
            location = f"branch {number} of {len(branches)}{said}"
            part = self.outline.read_query(branch.body)
            outer = msgspec.structs.replace(below, outer=scope.outer)
            self._add_query(ComponentKind.UNION_BRANCH, f"branch_{number}", part, outer, location)
        if not branches:
            self._add_subqueries(query.body, below, str(own))
        elif query.body.end > branches[-1].body.end:
            self._add_subqueries(TokenRange(branches[-1].body.end, query.body.end), below, str(own))

    def _own_aliases(self, query: QuerySection) -> frozenset[str]:
        return frozenset() if query.branches else frozenset(self.outline.read_aliases(query.body))

    def _add_subqueries(
        self, part: TokenRange, scope: _SectionScope, owner: str, apart: TokenRange | None = None
    ) -> None:
        """The queries in parentheses: those in FROM first, then scalar subqueries."""
        nested = list(self.outline.read_subqueries(part))
        if apart is not None:  # what is inside the source query is out already
            nested = [one for one in nested if one.body.end < apart.start or one.body.start > apart.end]
        for one in (*(one for one in nested if one.is_source), *(one for one in nested if not one.is_source)):
            self._add_subquery(one, scope, owner)

    def _add_subquery(self, one: SubquerySection, scope: _SectionScope, owner: str) -> None:
        kind = ComponentKind.SUBQUERY if one.is_source else ComponentKind.SCALAR_SUBQUERY
        location = f"{one.clause or 'expression'} in {owner}"
        self._add_query(kind, one.name, self.outline.read_query(one.body), scope, location)

    def _add_section(
        self,
        kind: ComponentKind,
        name: str | None,
        part: TokenRange,
        scope: _SectionScope,
        location: str,
        cte: CteSection | None = None,
    ) -> int:
        """Add a section, and return its number."""
        index = len(self.found)
        read: tuple[str, ...] = ()
        runnable = None
        if kind is not ComponentKind.TARGET_TABLE:
            read = self._dependencies(part, scope)
            runnable = None if self._is_correlated(part, scope) else self._build_runnable(part, read, scope, cte)
        needed = tuple(scope.ctes[one].name for one in read)
        span = self.text.span(*self._offsets(part))
        where = (scope.parent, scope.depth, runnable is not None, needed, location, span, runnable)
        self.found.append(Component(index, kind, name, self._slice(part), *where))
        return index

    def _dependencies(self, part: TokenRange, scope: _SectionScope) -> tuple[str, ...]:
        """The CTEs that a section reads, in order; its own CTEs count as far as it reads them itself."""
        query = self.outline.read_query(part)
        read = {name.lower() for name in self.outline.read_relation_names(query.body)}
        for cte in query.ctes:
            read |= set(self._dependencies(cte.body, scope)) - {one.name.lower() for one in query.ctes}
        return tuple(name for name in scope.ctes if name in read)

    def _is_correlated(self, part: TokenRange, scope: _SectionScope) -> bool:
        """Whether a query names a source of a query around it."""
        if not scope.outer:
            return False
        own = set(self.outline.read_aliases(part))
        for place in range(part.start, part.end):
            if place in self.outline.close and self.outline.begins_query(place + 1):
                own |= self.outline.read_aliases(TokenRange(place + 1, self.outline.close[place]))
        own |= self.outline.read_aliases(self.outline.strip_parens(part))
        return bool((self.outline.read_qualifiers(part) & scope.outer) - own)

    def _build_runnable(
        self, part: TokenRange, read: Sequence[str], scope: _SectionScope, cte: CteSection | None
    ) -> str:
        """A text that runs on its own, with the CTEs it needs in front."""
        query = self.outline.read_query(part)
        own = {one.name.lower() for one in query.ctes}
        wanted: dict[str, None] = {}
        waiting = [name for name in read if name not in own]
        while waiting:
            name = waiting.pop()
            if name not in wanted:
                wanted[name] = None
                waiting += self._dependencies(scope.ctes[name].body, scope)
        sql = self._strip_into(part, query)
        if not wanted:
            return sql
        listed = ", ".join(self._slice(scope.ctes[name].whole) for name in scope.ctes if name in wanted)
        word = "WITH RECURSIVE" if scope.recursive else "WITH"
        if cte is not None and cte.name.lower() in wanted:  # it reads itself
            return f"{word} {listed} SELECT * FROM {self._slice(TokenRange(cte.whole.start, cte.whole.start + 1))}"
        if query.ctes:
            rest = self._slice(TokenRange(query.ctes[0].whole.start, self.outline.strip_parens(part).end))
            return f"{'WITH RECURSIVE' if query.recursive else word} {listed}, {rest}"
        return f"{word} {listed} {sql}"

    def _strip_into(self, part: TokenRange, query: QuerySection) -> str:
        """A query without `INTO table`, which would store its rows."""
        words = self.outline.words
        place = next((place for place in self.outline.top_level_indexes(query.body) if words[place] == "INTO"), None)
        after = next(
            (
                end
                for end in self.outline.top_level_indexes(query.body)
                if place and end > place and words[end] == "FROM"
            ),
            0,
        )
        if place is None or not after:
            return self._slice(part)
        return f"{self._slice(TokenRange(part.start, place))} {self._slice(TokenRange(after, part.end))}"

    def _slice(self, part: TokenRange) -> str:
        start, end = self._offsets(part)
        return self.text.text[start:end]

    def _offsets(self, part: TokenRange) -> tuple[int, int]:
        tokens = self.outline.tokens
        base = self.placed.start
        if part.end <= part.start:
            return base, base
        return base + tokens[part.start].start, base + tokens[part.end - 1].end + 1
