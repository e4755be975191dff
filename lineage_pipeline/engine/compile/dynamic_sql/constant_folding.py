"""Constant folding of strings: the texts that an expression or a variable may hold, branch by branch."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.identifier_folding import fold_identifier
from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.engine.compile.split.raw_statements import RawStatement
from lineage_pipeline.engine.compile.tokens import (
    STRING_TOKENS,
    decode_string,
    is_name_at,
    keyword,
    skip_brackets,
    skip_name,
)
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import RUNTIME_PLACEHOLDER

MAX_TEXTS, MAX_TEXT_LENGTH = 8, 200_000
"""How many texts a variable may hold one of, and how long one may be, before only the first ones count."""

_OPEN_PAREN, _CLOSE_PAREN = TokenType.L_PAREN, TokenType.R_PAREN


class TextFragment(msgspec.Struct, frozen=True):
    """A part of a text and its offset in the file; an unknown part has no offset, and `unknown` is its written length.
    `within` is the span of the string that it is part of.
    """

    text: str
    offset: int = -1
    unknown: int = 0
    within: tuple[int, int] = (-1, -1)


FoldedText = tuple[TextFragment, ...]
FoldedTexts = tuple[FoldedText, ...]

UNKNOWN_TEXTS: FoldedTexts = ((TextFragment(RUNTIME_PLACEHOLDER, unknown=1),),)


class KnownTexts(msgspec.Struct, frozen=True):
    """The texts of variables, by name, in a file of a dialect.
    Variables that share one of `origins` got their texts in the arms of the same branch, one in each.
    """

    texts: Mapping[str, FoldedTexts]
    source: str
    traits: DialectTraits
    origins: Mapping[str, int] = {}

    def variable_of(self, tokens: Sequence[Token]) -> str:
        """The variable that some tokens name, or ""."""
        marked = len(tokens) == 2 and tokens[0].token_type in (TokenType.PARAMETER, TokenType.COLON)
        if marked and tokens[0].token_type is TokenType.PARAMETER:
            return "@" + tokens[1].text.lower()
        if self.traits.transact_sql or len(tokens) != (2 if marked else 1) or not is_name_at(tokens, int(marked)):
            return ""
        return fold_identifier(tokens[-1].text, tokens[-1].token_type is TokenType.IDENTIFIER, self.traits.columns)


def fold_texts(tokens: Sequence[Token], known: KnownTexts) -> FoldedTexts:
    """The texts that an expression may evaluate to."""
    terms = list(split_outside_brackets(tokens, TokenType.PLUS, TokenType.DPIPE))
    choices = _combine_choices(terms, [_fold_term(term, known) for term in terms], known)
    joined = (tuple(part for text in choice for part in text) for choice in choices)
    return (
        tuple(islice((text for text in joined if sum(len(part.text) for part in text) < MAX_TEXT_LENGTH), MAX_TEXTS))
        or UNKNOWN_TEXTS
    )


def _combine_choices(
    terms: Sequence[Sequence[Token]], found: Sequence[FoldedTexts], known: KnownTexts
) -> Iterator[list[FoldedText]]:
    """One text for each term; variables of the same branch are chosen together."""
    groups: dict[tuple[object, int], list[int]] = {}
    for position, (term, texts) in enumerate(zip(terms, found, strict=True)):
        name = known.variable_of(term) if len(texts) > 1 else ""
        key = known.origins.get(name, name) if name else (position,)
        groups.setdefault((key, len(texts)), []).append(position)
    for picked in product(*(range(size) for _, size in groups)):
        chosen = {at: pick for pick, members in zip(picked, groups.values(), strict=True) for at in members}
        yield [texts[chosen[position]] for position, texts in enumerate(found)]


def split_outside_brackets(tokens: Sequence[Token], *at: TokenType) -> Iterator[Sequence[Token]]:
    """The parts between tokens of some types, outside brackets and CASE."""
    depth, begin = 0, 0
    for index, token in enumerate(tokens):
        depth += (token.token_type is _OPEN_PAREN) - (token.token_type is _CLOSE_PAREN)
        depth += (keyword(token) == "CASE") - (keyword(token) == "END")
        if depth == 0 and token.token_type in at:
            yield tokens[begin:index]
            begin = index + 1
    yield tokens[begin:]


def _fold_term(tokens: Sequence[Token], known: KnownTexts) -> FoldedTexts:
    if not tokens:
        return ((),)
    first = tokens[0]
    cast = next((index for index, token in enumerate(tokens) if token.token_type is TokenType.DCOLON), 0)
    if cast:
        return _fold_term(tokens[:cast], known)
    if len(tokens) == 1 and first.token_type in STRING_TOKENS:
        return (fold_literal(first, known),)
    if len(tokens) == 1 and first.token_type is TokenType.NUMBER:
        return ((TextFragment(first.text),),)
    if known.variable_of(tokens):
        return known.texts.get(known.variable_of(tokens)) or _build_unknown_text(tokens)
    if first.token_type is _OPEN_PAREN and skip_brackets(tokens, 0) == len(tokens):
        return fold_texts(tokens[1:-1], known)
    if keyword(first) == "CASE":
        return _fold_case(tokens, known)
    return _fold_call(tokens, known)


def _fold_call(tokens: Sequence[Token], known: KnownTexts) -> FoldedTexts:
    """A function call, or something else that is known only at run time."""
    behind = skip_name(tokens, 0)
    opened = 0 < behind < len(tokens) - 1 and tokens[behind].token_type is _OPEN_PAREN
    if opened and skip_brackets(tokens, behind) == len(tokens):
        args = list(split_outside_brackets(tokens[behind + 1 : -1], TokenType.COMMA))
        return fold_function(keyword(tokens[behind - 1]), args, known) or _build_unknown_text(tokens)
    return _build_unknown_text(tokens)


def _build_unknown_text(tokens: Sequence[Token]) -> FoldedTexts:
    return ((TextFragment(RUNTIME_PLACEHOLDER, unknown=max(int(tokens[-1].end) + 1 - int(tokens[0].start), 1)),),)


def fold_literal(token: Token, known: KnownTexts) -> FoldedText:
    """A constant, split where the written form has a character more than the text."""
    code, offset, skips = decode_string(known.source[token.start : token.end + 1], known.traits)
    within = (int(token.start), int(token.end) + 1)
    base = int(token.start) + offset
    cuts = [0, *(skip + 1 for skip in skips), len(code)]
    return tuple(
        TextFragment(code[begin:end], base + begin + position, within=within)
        for position, (begin, end) in enumerate(zip(cuts, cuts[1:], strict=False))
        if end > begin
    )


def _fold_case(tokens: Sequence[Token], known: KnownTexts) -> FoldedTexts:
    """The texts after THEN and ELSE."""
    found: list[FoldedText] = []
    depth, begin = 0, -1
    for index, token in enumerate(tokens):
        word = keyword(token)
        depth += (token.token_type is _OPEN_PAREN or word == "CASE") - (
            token.token_type is _CLOSE_PAREN or word == "END"
        )
        ends = (depth == 1 and word in ("WHEN", "ELSE")) or (depth == 0 and word == "END")
        if ends and begin >= 0:
            found.extend(fold_texts(tokens[begin:index], known))
            begin = -1
        if depth == 1 and word in ("THEN", "ELSE"):
            begin = index + 1
    return tuple(found[:MAX_TEXTS]) or UNKNOWN_TEXTS


def fold_function(name: str, args: Sequence[Sequence[Token]], known: KnownTexts) -> FoldedTexts:
    """The texts of a string function, if it can be evaluated."""
    if name in ("CONCAT", "FORMAT"):
        values = [fold_texts(arg, known) for arg in args]
        joins = _format_text if name == "FORMAT" else _concatenate
        return tuple(islice((joins(one) for one in product(*values)), MAX_TEXTS))
    if name in ("CHAR", "NCHAR", "CHR"):
        return ((TextFragment(" "),),)
    if name in ("CAST", "TRY_CAST") and args:
        end = next((index for index, token in enumerate(args[0]) if keyword(token) == "AS"), len(args[0]))
        return fold_texts(args[0][:end], known)
    chosen = _PASS_THROUGH_FUNCTIONS.get(name)
    if chosen is not None and chosen < len(args):
        return fold_texts(args[chosen], known)
    if name in ("IIF", "IF", "IFF") and len(args) == 3:
        return (*fold_texts(args[1], known), *fold_texts(args[2], known))[:MAX_TEXTS]
    if name in _QUOTING_FUNCTIONS and args:
        before, after = _QUOTING_FUNCTIONS[name]
        return tuple((TextFragment(before), *text, TextFragment(after)) for text in fold_texts(args[0], known))
    if name == "REPLACE" and len(args) == 3:
        return _replace_text(fold_texts(args[0], known), fold_texts(args[1], known), fold_texts(args[2], known))
    return ()


_PASS_THROUGH_FUNCTIONS = {
    **dict.fromkeys("ISNULL COALESCE NVL IFNULL RTRIM LTRIM TRIM UPPER LOWER QUOTE_IDENT TO_CHAR STRING".split(), 0),
    **dict.fromkeys("SIMPLE_SQL_NAME SQL_OBJECT_NAME QUALIFIED_SQL_NAME SCHEMA_NAME ENQUOTE_NAME NOOP".split(), 0),
    "CONVERT": 1,
}
"""Functions that return one of their arguments, as far as names and texts go, and its position."""

_QUOTING_FUNCTIONS = {
    "QUOTENAME": ("[", "]"),
    "QUOTE_LITERAL": ("'", "'"),
    "QUOTE": ("'", "'"),
    "ENQUOTE_LITERAL": ("'", "'"),
}
"""Functions that put quotes around a text."""

_FORMAT_SPECIFIER = re.compile(r"%(?:(\d+)\$)?[-+ #0']*\d*(?:\.\d+)?([A-Za-z%])")
"""A format specifier in the text of FORMAT."""


def _concatenate(texts: Sequence[FoldedText]) -> FoldedText:
    return tuple(part for text in texts for part in text)


def _format_text(texts: Sequence[FoldedText]) -> FoldedText:
    """FORMAT of its first argument with the others; a missing argument is unknown."""
    found: list[TextFragment] = []
    position = 0
    for piece in texts[0]:
        end = 0
        for match in _FORMAT_SPECIFIER.finditer(piece.text):
            found.extend(_slice_fragment(piece, end, match.start()))
            end = match.end()
            if match[2] == "%":
                found.append(TextFragment("%"))
                continue
            position = parse_whole_number(match[1]) if match[1] else position + 1
            value = texts[position] if position < len(texts) else UNKNOWN_TEXTS[0]
            quote = (TextFragment("'"),) if match[2] in "LT" else ()
            found.extend((*quote, *value, *quote))
        found.extend(_slice_fragment(piece, end, len(piece.text)))
    return tuple(found)


def _slice_fragment(piece: TextFragment, begin: int, end: int) -> Iterator[TextFragment]:
    """Some characters of a fragment, at their offset."""
    if end > begin:
        offset = piece.offset + begin if piece.offset >= 0 else piece.offset
        yield msgspec.structs.replace(piece, text=piece.text[begin:end], offset=offset)


def _replace_text(texts: FoldedTexts, old: FoldedTexts, new: FoldedTexts) -> FoldedTexts:
    """The texts with one constant replaced by another text."""
    (wanted,), (instead,) = (join_text(old[0]),), (new[0],)
    if not wanted or any(part.unknown for part in old[0]):
        return texts
    return tuple(
        tuple(part for piece in text for part in _replace_in_fragment(piece, wanted, instead)) for text in texts
    )


def _replace_in_fragment(piece: TextFragment, wanted: str, instead: FoldedText) -> Iterator[TextFragment]:
    begin = 0
    for position, part in enumerate(piece.text.split(wanted)):
        if position:
            yield from instead
        yield from _slice_fragment(piece, begin, begin + len(part))
        begin += len(part) + len(wanted)


def join_text(text: FoldedText, filler: str = RUNTIME_PLACEHOLDER) -> str:
    """A text as one string."""
    return "".join(filler if part.unknown else part.text for part in text)


def compute_constant_share(texts: FoldedTexts) -> int:
    """The constant share of the longest text, in percent of what is written."""
    longest = max(texts, key=lambda text: sum(len(part.text) for part in text))
    fixed = sum(len(part.text) for part in longest if not part.unknown)
    missing = sum(part.unknown for part in longest)
    return 100 * fixed // (fixed + missing) if fixed else 0


_ASSIGNING_KEYWORDS = frozenset({"DECLARE", "SET", "SELECT"})
_ASSIGNMENT_ENDS = frozenset({"FROM", "WHERE", "OPTION", "ORDER", "GROUP"})


class _BranchState(msgspec.Struct):
    """The texts known inside a branch; `arms` are its alternatives."""

    kind: str
    ordinal: int
    known: dict[str, FoldedTexts]
    assigned: set[str] = set()
    arms: list["_BranchState"] = []
    origins: dict[str, int] = {}


class VariableTexts:
    """Tracks the texts of the variables of a script; raw statements come in text order."""

    def __init__(self, source: str, traits: DialectTraits) -> None:
        """Start before the first statement."""
        self.source = source
        self.traits = traits
        self.branches = [_BranchState(kind="", ordinal=-1, known={}, assigned=set(), arms=[])]
        self.parents: list[int] = []

    @property
    def known(self) -> KnownTexts:
        """The texts of the variables at this point."""
        return KnownTexts(self.branches[-1].known, self.source, self.traits, self.branches[-1].origins)

    def advance(self, ordinal: int, piece: RawStatement) -> None:
        """Go to a statement: leave and enter branches; forget everything at the border of a batch or routine."""
        self.parents.append(piece.parent)
        if len(self.branches) > 1:
            ancestors = self._ancestors(piece.parent)
            while len(self.branches) > 1 and self.branches[-1].ordinal not in ancestors:
                self._leave_branch(self.branches.pop())
        if piece.kind == "GO":
            self.branches = [_BranchState(kind="", ordinal=-1, known={}, assigned=set(), arms=[])]
        elif (piece.kind or "").startswith("CREATE "):
            self.branches.append(_BranchState(kind="CREATE", ordinal=ordinal, known={}, assigned=set(), arms=[]))
        elif piece.kind in ir.BRANCH_KINDS:
            around = self.branches[-1]
            other = piece.kind in ir.ARM_KINDS and around.kind in ir.BRANCH_KINDS
            base = self.branches[-2] if other else around
            branch = _BranchState(
                kind=str(piece.kind),
                ordinal=ordinal,
                known=dict(base.known),
                assigned=set(),
                arms=[],
                origins=dict(base.origins),
            )
            self.branches.append(branch)

    def _ancestors(self, parent: int) -> set[int]:
        found: set[int] = set()
        while parent >= 0 and parent not in found:
            found.add(parent)
            parent = self.parents[parent]
        return found

    def _leave_branch(self, branch: _BranchState) -> None:
        around = self.branches[-1]
        if branch.kind == "CREATE":  # what a module knows stays in it
            return
        if branch.kind in ir.ARM_KINDS and around.kind in ir.BRANCH_KINDS:
            around.arms.append(branch)
            return
        arms = [branch, *branch.arms]
        exhaustive = branch.kind in ("IF", "CASE") and bool(branch.arms) and branch.arms[-1].kind == "ELSE"
        for name in sorted(set().union(*(arm.assigned for arm in arms))):
            setting = [arm for arm in arms if name in arm.assigned]
            found = [text for arm in setting for text in arm.known[name]]
            if not exhaustive or len(setting) < len(arms):  # texts that grew come before those that did not
                found.extend(around.known.get(name, ()))
            self._assign(around, name, tuple(dict.fromkeys(found))[:MAX_TEXTS])
            if exhaustive and len(found) == len(arms) == len(around.known[name]):
                around.origins[name] = branch.ordinal

    @staticmethod
    def _assign(branch: _BranchState, name: str, texts: FoldedTexts) -> None:
        branch.known[name] = texts
        branch.assigned.add(name)
        branch.origins.pop(name, None)

    def observe(self, piece: RawStatement) -> None:
        """Apply the assignments of a statement."""
        if not piece.tokens:
            return
        if self.traits.transact_sql:
            self._observe_tsql(piece.tokens)
        elif piece.use is not None and piece.use.variables and piece.use.role in ("assign", "row"):
            self._assign_all(piece.use.variables, piece.tokens)
        elif piece.use is None and keyword(piece.tokens[0]) == "SET":
            for name, value in read_session_assignments(piece.tokens):
                self._assign(self.branches[-1], name, fold_texts(value, self.known))

    def _assign_all(self, variables: Sequence[str], tokens: Sequence[Token]) -> None:
        """Assign one expression to variables; the result of a query is unknown."""
        words = {keyword(token) for token in tokens[1:]}
        known = len(variables) == 1 and keyword(tokens[0]) == "SELECT" and words.isdisjoint({"SELECT", "FROM"})
        for name in variables:
            self._assign(self.branches[-1], name, fold_texts(tokens[1:], self.known) if known else UNKNOWN_TEXTS)

    def _observe_tsql(self, tokens: Sequence[Token]) -> None:
        first = keyword(tokens[0])
        if first in _ASSIGNING_KEYWORDS:
            for name, added, value in read_assignments(tokens):
                texts = fold_texts(value, self.known)
                if added:
                    before = self.known.texts.get(name, UNKNOWN_TEXTS)
                    texts = tuple((*old, *new) for old in before for new in texts)[:MAX_TEXTS]
                self._assign(self.branches[-1], name, texts)
        elif first in ("FETCH", "EXEC", "EXECUTE"):
            for name in _read_output_variables(tokens):
                self._assign(self.branches[-1], name, UNKNOWN_TEXTS)


def read_assignments(tokens: Sequence[Token]) -> Iterator[tuple[str, bool, Sequence[Token]]]:
    """T-SQL: the variables that DECLARE, SET or SELECT assigns, whether the value is appended, and its tokens."""
    depth, begin, index = 0, 1, 1
    while index <= len(tokens):
        token = tokens[index] if index < len(tokens) else None
        if token is not None:
            depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
            depth += (keyword(token) == "CASE") - (keyword(token) == "END")
        ends = token is None or (depth == 0 and keyword(token) in _ASSIGNMENT_ENDS)
        if ends or (token is not None and depth == 0 and token.token_type is TokenType.COMMA):
            found = _read_assignment(tokens[begin:index])
            if found is not None:
                yield found
            begin = index + 1
        if ends:
            return
        index += 1


def read_session_assignments(tokens: Sequence[Token]) -> Iterator[tuple[str, Sequence[Token]]]:
    """Snowflake: the session variables of `SET a = …` and `SET (a, b) = (…)`, as `$name` reads them."""
    at = next((index for index, token in enumerate(tokens) if token.token_type is TokenType.EQ), 0)
    for name, value in zip(*map(_split_parenthesized, (tokens[1:at], tokens[at + 1 :])), strict=False):
        if at and len(name) == 1:
            yield "@" + name[0].text.lower(), value


def _split_parenthesized(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """The items of a list in parentheses, or all tokens as one item."""
    if not tokens or tokens[0].token_type is not TokenType.L_PAREN or skip_brackets(tokens, 0) < len(tokens):
        return [tokens]
    return list(split_outside_brackets(tokens[1:-1], TokenType.COMMA))


def _read_assignment(tokens: Sequence[Token]) -> tuple[str, bool, Sequence[Token]] | None:
    if len(tokens) < 4 or tokens[0].token_type is not TokenType.PARAMETER:
        return None
    at = next((index for index, token in enumerate(tokens) if token.token_type is TokenType.EQ), -1)
    if at < 2:
        return None
    added = tokens[at - 1].token_type is TokenType.PLUS
    return "@" + tokens[1].text.lower(), added, tokens[at + 1 :]


def _read_output_variables(tokens: Sequence[Token]) -> Iterator[str]:
    """T-SQL: the variables after INTO of FETCH, and before OUTPUT of EXEC."""
    into = False
    for index, token in enumerate(tokens[:-1]):
        into = into or keyword(token) == "INTO"
        back = index + 2 < len(tokens) and keyword(tokens[index + 2]) in ("OUT", "OUTPUT")
        if token.token_type is TokenType.PARAMETER and (into or back):
            yield "@" + tokens[index + 1].text.lower()
