"""Strings: what the text variables of a script hold, statement by statement, branch by branch."""

from collections.abc import Iterator, Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.engine.compile.texts import MOST, UNKNOWN, Known, Texts, parted, texts_of
from lineage_pipeline.engine.compile.words import behind_brackets, keyword
from lineage_pipeline.vocabulary import ir

_ASSIGNING = frozenset({"DECLARE", "SET", "SELECT"})
_ENDS = frozenset({"FROM", "WHERE", "OPTION", "ORDER", "GROUP"})


class _Branch(msgspec.Struct):
    """What is known inside a branch; `arms` are those that ran instead."""

    kind: str
    ordinal: int
    known: dict[str, Texts]
    assigned: set[str] = set()
    arms: list["_Branch"] = []
    origins: dict[str, int] = {}


class Strings:
    """The texts that variables may hold; pieces come in text order."""

    def __init__(self, source: str, traits: Traits) -> None:
        """Start with an empty script."""
        self.source = source
        self.traits = traits
        self.branches = [_Branch("", -1, {}, set(), [])]
        self.parents: list[int] = []

    @property
    def known(self) -> Known:
        """The texts that variables may hold here."""
        return Known(self.branches[-1].known, self.source, self.traits, self.branches[-1].origins)

    def advance(self, ordinal: int, piece: Piece) -> None:
        """Go on to a piece: leave and enter branches, and forget everything at the border of a batch or module."""
        self.parents.append(piece.parent)
        if len(self.branches) > 1:
            ancestors = self._ancestors(piece.parent)
            while len(self.branches) > 1 and self.branches[-1].ordinal not in ancestors:
                self._close(self.branches.pop())
        if piece.kind == "GO":
            self.branches = [_Branch("", -1, {}, set(), [])]
        elif (piece.kind or "").startswith("CREATE "):
            self.branches.append(_Branch("CREATE", ordinal, {}, set(), []))
        elif piece.kind in ir.BRANCHES:
            around = self.branches[-1]
            other = piece.kind in ir.ARMS and around.kind in ir.BRANCHES
            base = self.branches[-2] if other else around
            branch = _Branch(str(piece.kind), ordinal, dict(base.known), set(), [], dict(base.origins))
            self.branches.append(branch)

    def _ancestors(self, parent: int) -> set[int]:
        found: set[int] = set()
        while parent >= 0 and parent not in found:
            found.add(parent)
            parent = self.parents[parent]
        return found

    def _close(self, branch: _Branch) -> None:
        around = self.branches[-1]
        if branch.kind == "CREATE":  # what a module knows stays in it
            return
        if branch.kind in ir.ARMS and around.kind in ir.BRANCHES:
            around.arms.append(branch)
            return
        arms = [branch, *branch.arms]
        exhaustive = branch.kind in ("IF", "CASE") and bool(branch.arms) and branch.arms[-1].kind == "ELSE"
        for name in sorted(set().union(*(arm.assigned for arm in arms))):
            setting = [arm for arm in arms if name in arm.assigned]
            found = [text for arm in setting for text in arm.known[name]]
            if not exhaustive or len(setting) < len(arms):  # texts that grew come before those that did not
                found.extend(around.known.get(name, ()))
            self._put(around, name, tuple(dict.fromkeys(found))[:MOST])
            if exhaustive and len(found) == len(arms) == len(around.known[name]):
                around.origins[name] = branch.ordinal

    @staticmethod
    def _put(branch: _Branch, name: str, texts: Texts) -> None:
        branch.known[name] = texts
        branch.assigned.add(name)
        branch.origins.pop(name, None)

    def observe(self, piece: Piece) -> None:
        """Take in what a statement puts into variables."""
        if not piece.tokens:
            return
        if self.traits.batches:
            self._observe(piece.tokens)
        elif piece.use is not None and piece.use.variables and piece.use.role in ("assign", "row"):
            self._put_all(piece.use.variables, piece.tokens)
        elif piece.use is None and keyword(piece.tokens[0]) == "SET":
            for name, value in session(piece.tokens):
                self._put(self.branches[-1], name, texts_of(value, self.known))

    def _put_all(self, variables: Sequence[str], tokens: Sequence[Token]) -> None:
        """Take in one expression that a statement puts into a variable; what a query gives is not known."""
        words = {keyword(token) for token in tokens[1:]}
        known = len(variables) == 1 and keyword(tokens[0]) == "SELECT" and words.isdisjoint({"SELECT", "FROM"})
        for name in variables:
            self._put(self.branches[-1], name, texts_of(tokens[1:], self.known) if known else UNKNOWN)

    def _observe(self, tokens: Sequence[Token]) -> None:
        first = keyword(tokens[0])
        if first in _ASSIGNING:
            for name, added, value in assigned(tokens):
                texts = texts_of(value, self.known)
                if added:
                    before = self.known.texts.get(name, UNKNOWN)
                    texts = tuple((*old, *new) for old in before for new in texts)[:MOST]
                self._put(self.branches[-1], name, texts)
        elif first in ("FETCH", "EXEC", "EXECUTE"):
            for name in _filled(tokens):
                self._put(self.branches[-1], name, UNKNOWN)


def assigned(tokens: Sequence[Token]) -> Iterator[tuple[str, bool, Sequence[Token]]]:
    """The variables that DECLARE, SET or SELECT gives values, whether those are added, and their tokens."""
    depth, begin, index = 0, 1, 1
    while index <= len(tokens):
        token = tokens[index] if index < len(tokens) else None
        if token is not None:
            depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
            depth += (keyword(token) == "CASE") - (keyword(token) == "END")
        ends = token is None or (depth == 0 and keyword(token) in _ENDS)
        if ends or (token is not None and depth == 0 and token.token_type is TokenType.COMMA):
            found = _assignment(tokens[begin:index])
            if found is not None:
                yield found
            begin = index + 1
        if ends:
            return
        index += 1


def session(tokens: Sequence[Token]) -> Iterator[tuple[str, Sequence[Token]]]:
    """The variables of a session that SET gives values, as `$name` asks for them: `SET a = …`, `SET (a, b) = (…)`."""
    at = next((index for index, token in enumerate(tokens) if token.token_type is TokenType.EQ), 0)
    for name, value in zip(*map(_listed, (tokens[1:at], tokens[at + 1 :])), strict=False):
        if at and len(name) == 1:
            yield "@" + name[0].text.lower(), value


def _listed(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """What stands between the commas of a list in brackets, or all."""
    if not tokens or tokens[0].token_type is not TokenType.L_PAREN or behind_brackets(tokens, 0) < len(tokens):
        return [tokens]
    return list(parted(tokens[1:-1], TokenType.COMMA))


def _assignment(tokens: Sequence[Token]) -> tuple[str, bool, Sequence[Token]] | None:
    if len(tokens) < 4 or tokens[0].token_type is not TokenType.PARAMETER:
        return None
    at = next((index for index, token in enumerate(tokens) if token.token_type is TokenType.EQ), -1)
    if at < 2:
        return None
    added = tokens[at - 1].token_type is TokenType.PLUS
    return "@" + tokens[1].text.lower(), added, tokens[at + 1 :]


def _filled(tokens: Sequence[Token]) -> Iterator[str]:
    """The variables behind INTO of FETCH, and before OUTPUT of EXEC."""
    into = False
    for index, token in enumerate(tokens[:-1]):
        into = into or keyword(token) == "INTO"
        back = index + 2 < len(tokens) and keyword(tokens[index + 2]) in ("OUT", "OUTPUT")
        if token.token_type is TokenType.PARAMETER and (into or back):
            yield "@" + tokens[index + 1].text.lower()
