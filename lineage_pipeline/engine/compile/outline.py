"""The outline of a statement by its tokens: queries, their CTEs, branches and clauses, each a range of tokens."""

from collections.abc import Iterator, Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

QUOTED = frozenset({TokenType.IDENTIFIER, TokenType.STRING, TokenType.NATIONAL_STRING, TokenType.RAW_STRING})
OPENING, CLOSING = TokenType.L_PAREN, TokenType.R_PAREN

SET_WORDS = frozenset({"UNION", "INTERSECT", "EXCEPT", "MINUS"})
CLAUSES = {
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
"""Words that begin a clause, and what the clause is called."""

SOURCES = frozenset({"FROM clause", "USING clause"})
JOINING = frozenset({"JOIN", "APPLY", "LATERAL", ","})
"""What ends a condition of a join: another source follows."""

ENDING = frozenset({"ORDER", "LIMIT", "OFFSET", "FETCH", "FOR", "OPTION"})
"""Clauses behind a set operation that belong to all of it."""


class Range(msgspec.Struct, frozen=True, order=True):
    """Tokens from one to before another."""

    start: int
    end: int


class Cte(msgspec.Struct, frozen=True):
    """A named query: all of its definition, its name, and its body."""

    name: str
    whole: Range
    body: Range


class Branch(msgspec.Struct, frozen=True):
    """One query of a set operation, and the words before it."""

    body: Range
    words: str


class Nested(msgspec.Struct, frozen=True):
    """A query in brackets: what is inside them, the clause it stands in, and the alias behind it."""

    body: Range
    clause: str
    name: str | None

    @property
    def is_source(self) -> bool:
        """Whether rows are read from it, and not a value."""
        return self.clause in SOURCES


class Query(msgspec.Struct, frozen=True):
    """A query: its CTEs, and the rest, which is one select or several."""

    whole: Range
    ctes: tuple[Cte, ...]
    body: Range
    recursive: bool
    branches: tuple[Branch, ...]


class Outline:
    """The tokens of one statement, with brackets matched."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        """Match the brackets once."""
        self.tokens = tokens
        # A token may be two words, as GROUP BY is: the first one tells.
        self.words = ["" if token.token_type in QUOTED else token.text.upper().partition(" ")[0] for token in tokens]
        self.close: dict[int, int] = {}
        waiting: list[int] = []
        for place, token in enumerate(tokens):
            if token.token_type is OPENING:
                waiting.append(place)
            elif token.token_type is CLOSING and waiting:
                self.close[waiting.pop()] = place

    @property
    def everything(self) -> Range:
        """All tokens."""
        return Range(0, len(self.tokens))

    def inner(self, part: Range) -> Range:
        """A range without brackets around all of it."""
        while part.start < part.end and self.close.get(part.start) == part.end - 1:
            part = Range(part.start + 1, part.end - 1)
        return part

    def begins_query(self, place: int) -> bool:
        """Whether a query begins here, perhaps in brackets of its own."""
        while place in self.close:
            place += 1
        if place >= len(self.words):
            return False
        word = self.words[place]
        return word in ("SELECT", "WITH", "VALUES") or (word == "FROM" and self.tokens[place - 1].token_type is OPENING)

    def flat(self, part: Range) -> Iterator[int]:
        """The places of a range outside of brackets; an opening bracket stands for all inside."""
        place = part.start
        while place < part.end:
            yield place
            place = self.close.get(place, place) + 1

    def query(self, part: Range) -> Query:
        """The CTEs and branches of a query."""
        whole = part
        part = self.inner(part)
        ctes: list[Cte] = []
        recursive = False
        start = part.start
        if start < part.end and self.words[start] == "WITH":
            recursive = start + 1 < part.end and self.words[start + 1] == "RECURSIVE"
            start += 2 if recursive else 1
            while (cte := self._cte(start, part.end)) is not None:
                ctes.append(cte)
                start = cte.whole.end
                if start >= part.end or self.words[start] != ",":
                    break
                start += 1
        body = Range(start, part.end)
        return Query(whole, tuple(ctes), body, recursive, tuple(self.branches(body)))

    def _cte(self, start: int, end: int) -> Cte | None:
        """`name [(columns)] AS [hint] (query)`, where one begins here."""
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
        return Cte(self.tokens[start].text, Range(start, closing + 1), Range(place + 1, closing))

    def branches(self, body: Range) -> Iterator[Branch]:
        """The queries that a set operation puts together, those in brackets too; none for a select."""
        cuts = [place for place in self.flat(body) if self.words[place] in SET_WORDS]
        if not cuts:
            return
        end = next((place for place in self.flat(Range(cuts[-1], body.end)) if self.words[place] in ENDING), body.end)
        starts, words = [body.start], [""]
        for cut in cuts:
            start = cut + 1
            while start < body.end and self.words[start] in ("ALL", "DISTINCT", "BY", "NAME"):
                start += 1
            starts.append(start)
            words.append(" ".join(self.words[cut:start]))
        for start, stop, said in zip(starts, [*cuts, end], words, strict=True):
            part = self.inner(Range(start, stop))
            inside = list(self.branches(part)) if part.start != start else []
            if inside:
                yield Branch(inside[0].body, said)
                yield from inside[1:]
            else:
                yield Branch(part, said)

    def nested(self, part: Range, clause: str = "") -> Iterator[Nested]:
        """The queries in brackets directly inside a range, in the order of the text."""
        place, own = part.start, clause
        while place < part.end:
            word = self.words[place]
            if word in CLAUSES and not (word == "FROM" and own not in ("", "SELECT list", "SET clause")):
                own = CLAUSES[word]
            elif word in JOINING and own == "JOIN condition":
                own = "FROM clause"
            if place not in self.close:
                place += 1
                continue
            inside = Range(place + 1, self.close[place])
            place = inside.end + 1
            if self.begins_query(inside.start) and self.words[inside.start] != "VALUES":
                yield Nested(inside, own, self._alias(place, part.end))
            else:
                yield from self.nested(inside, own)

    def _alias(self, place: int, end: int) -> str | None:
        """The alias that stands behind a bracket."""
        if place < end and self.words[place] == "AS":
            place += 1
        if place >= end:
            return None
        token = self.tokens[place]
        named = token.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
        return token.text if named else None

    def relations(self, part: Range) -> Iterator[str]:
        """The unqualified names that stand where rows are read from, those of nested queries included."""
        for place in range(part.start, part.end):
            word = self.words[place]
            if word not in ("FROM", "JOIN", ",", "USING", "INTO", "APPLY") or place + 1 >= part.end:
                continue
            token = self.tokens[place + 1]
            qualified = place + 2 < part.end and self.tokens[place + 2].token_type is TokenType.DOT
            if not qualified and token.token_type not in (OPENING, CLOSING):
                yield token.text

    def qualifiers(self, part: Range) -> set[str]:
        """The names before the last dot of columns."""
        return {
            self.tokens[place - 1].text.lower()
            for place in range(part.start + 1, part.end)
            if self.tokens[place].token_type is TokenType.DOT
        }

    def aliases(self, part: Range) -> set[str]:
        """The names that a query may give to its sources: what stands behind a source, or the source's own name."""
        found: set[str] = set()
        for place in self.flat(part):
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
            alias = self._alias(place, part.end)
            if alias is not None:
                found.add(alias.lower())
        return found
