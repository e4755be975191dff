"""Placeholders: parts of the SQL that get their text elsewhere, replaced in the tokens by names and values.

PLACEHOLDERS says how each one is written, when it is replaced, and by what; one walk recognizes them all. An
unknown part of a name or value, RUNTIME_PLACEHOLDER, is another idea: nobody writes it. Constant folding and templaters
leave it where only the run time knows the text, and it is taken out of the IR again, because it must not name a table.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.tsql import STATEMENT_STARTS
from lineage_pipeline.engine.compile.tokens import STRING_TOKENS, keyword
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import RUNTIME_PLACEHOLDER

# ── the walk ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class ReplacementStage(Enum):
    """When placeholders are replaced."""

    TSQL_SCRIPT = "T-SQL: before a script is split into statements"
    PLSQL_SCRIPT = "PL/SQL: before a script is split into statements"
    POSTGRES_SCRIPT = "PostgreSQL: before a script is split into statements"
    EXECUTED_TEXT = "in a text that is executed"
    FAILED_STATEMENT = "in a statement that did not parse"


class PlaceholderSyntax(msgspec.Struct, frozen=True):
    """A way to write placeholders.

    The first token ends with `opening`, or is a quoted name if that is `"`. `find_end` returns the index after the
    placeholder at an index, or that index; `replace` adds what it becomes, and returns the index to go on from.
    `written` must occur in a script that has such placeholders.
    """

    example: str
    stage: ReplacementStage
    opening: str
    find_end: Callable[["PlaceholderWalk", int], int]
    replace: Callable[["PlaceholderWalk", int, int], int]
    written: re.Pattern[str] = re.compile("")


class PlaceholderWalk:
    """Goes through tokens once, and replaces the placeholders of some syntaxes."""

    def __init__(self, syntaxes: Mapping[str, PlaceholderSyntax], values: dict[str, str]) -> None:
        """Start without tokens; `values` are those that the script sets."""
        self.syntaxes = syntaxes
        self.values = values
        self.tokens: Sequence[Token] = ()
        self.kept: list[Token] = []

    def replace_all(self, tokens: Sequence[Token]) -> list[Token]:
        """The tokens with what their placeholders become."""
        self.tokens = tokens
        done = 0
        for index in [index for index, token in enumerate(tokens) if _read_opening(token) in self.syntaxes]:
            if index < done:
                continue
            self.kept.extend(tokens[done:index])
            done = index
            end = self.find_end(index)
            if end > index:
                done = self.syntaxes[_read_opening(tokens[index])].replace(self, index, end)
        self.kept.extend(tokens[done:])
        return self.kept

    def find_end(self, index: int) -> int:
        """The index after a placeholder that begins at a token, or that index."""
        syntax = self.syntaxes.get(_read_opening(self.tokens[index]))
        return syntax.find_end(self, index) if syntax is not None else index

    def touches(self, index: int) -> bool:
        """Whether there is a token without a gap before it."""
        return index < len(self.tokens) and bool(self.tokens[index - 1].end + 1 == self.tokens[index].start)


def replace_placeholders(
    tokens: Sequence[Token], stage: ReplacementStage = ReplacementStage.FAILED_STATEMENT, text: str | None = None
) -> list[Token]:
    """The tokens with the placeholders of a stage replaced; in a script, `text` says which ones may occur."""
    syntaxes = _BY_STAGE[stage]
    if text is not None:
        syntaxes = {opening: syntax for opening, syntax in syntaxes.items() if syntax.written.search(text)}
    return PlaceholderWalk(syntaxes, {}).replace_all(tokens) if syntaxes else list(tokens)


def _read_opening(token: Token) -> str:
    """The sign by which a token may open a placeholder."""
    return '"' if token.token_type is TokenType.IDENTIFIER else token.text[-1:]


# ── what did not parse ───────────────────────────────────────────────────────────────────────────────────────────────

_BEFORE_NAMES = frozenset(
    "FROM JOIN INTO TABLE VIEW UPDATE OVERWRITE ONLY DATABASE SCHEMA USE EXISTS REFERENCES TRUNCATE INDEX".split()
)
"""Keywords before a name: a placeholder there is a name."""

_BEFORE_ANGLE_PLACEHOLDERS = _BEFORE_NAMES | frozenset(
    ["GROUP BY", "ORDER BY", *"SELECT WHERE AND OR ON FUNCTION PROCEDURE WAREHOUSE ROLE = AS".split()]
)
"""Keywords and signs before `<` where it opens a placeholder."""

_CLOSING_BRACKETS = {TokenType.L_BRACE: TokenType.R_BRACE, TokenType.L_PAREN: TokenType.R_PAREN}
_MAX_PLACEHOLDER_TOKENS = 40


def _find_dollar_end(walk: PlaceholderWalk, index: int) -> int:
    """`${x}` and `$(x)`."""
    return _find_bracket_end(walk, index + 1) or index


def _find_brace_end(walk: PlaceholderWalk, index: int) -> int:
    """`{{ x }}`, `{x}` and `{0}`."""
    single = _find_braced_word_end(walk, index)
    if single > index:
        return single
    end = _find_bracket_end(walk, index + 1) if walk.tokens[index].text == "{" else 0
    return end + 1 if 0 < end < len(walk.tokens) and walk.tokens[end].text == "}" else index


def _find_braced_word_end(walk: PlaceholderWalk, index: int) -> int:
    """`{x}`, as .NET writes it; an escape of ODBC has more than a word."""
    words = [token.text for token in walk.tokens[index : index + 3]]
    touching = words[:1] == ["{"] and words[2:] == ["}"] and walk.touches(index + 1) and walk.touches(index + 2)
    return index + 3 if touching and _is_plain_word(walk.tokens[index + 1]) else index


def _find_percent_end(walk: PlaceholderWalk, index: int) -> int:
    """`%(x)s` and `%s`."""
    if walk.tokens[index].text != "%" or not walk.touches(index + 1):
        return index
    if walk.tokens[index + 1].token_type not in _CLOSING_BRACKETS:
        return index + 2 if keyword(walk.tokens[index + 1]) == "S" else index
    end = _find_bracket_end(walk, index + 1)
    return end + 1 if 0 < end < len(walk.tokens) and keyword(walk.tokens[end]) in ("S", "D") else index


def _find_bracket_end(walk: PlaceholderWalk, index: int) -> int:
    """The index after brackets that follow a sign directly; 0 if there are none, or they close too far away."""
    closing = _CLOSING_BRACKETS.get(walk.tokens[index].token_type) if walk.touches(index) else None
    if closing is not None:
        for at in range(index + 1, min(index + _MAX_PLACEHOLDER_TOKENS, len(walk.tokens))):
            if walk.tokens[at].token_type is closing:
                return at + 1
    return 0


def _find_angle_end(walk: PlaceholderWalk, index: int) -> int:
    """`<x>`, where neither a comparable value nor a type precedes it."""
    tokens = walk.tokens
    if tokens[index].text != "<" or not walk.touches(index + 1) or not _is_plain_word(tokens[index + 1]):
        return index
    before = tokens[index - 1]
    separate = before.token_type in (TokenType.DOT, TokenType.COMMA, TokenType.L_PAREN)
    if index and not separate and keyword(before) not in _BEFORE_ANGLE_PLACEHOLDERS:
        return index
    for at in range(index + 1, min(index + _MAX_PLACEHOLDER_TOKENS, len(tokens))):
        if tokens[at].text == ">":
            return at + 1
        if not _is_plain_word(tokens[at]) and tokens[at].text != "-":
            return index
    return index


def _find_colon_end(walk: PlaceholderWalk, index: int) -> int:
    """`:x`, `:'x'` and `:"x"` after a gap."""
    tokens = walk.tokens
    named = walk.touches(index + 1) and tokens[index + 1].token_type in _BOUND_NAME_TOKENS
    apart = index > 0 and tokens[index - 1].end + 1 < tokens[index].start
    return index + 2 if named and apart and tokens[index].text == ":" else index


_BOUND_NAME_TOKENS = (TokenType.STRING, TokenType.IDENTIFIER, TokenType.VAR)


def _find_marked_end(walk: PlaceholderWalk, index: int) -> int:
    """`@x` and `&x`."""
    marked = walk.tokens[index].text in ("@", "&") and walk.touches(index + 1)
    return index + 2 if marked and _is_plain_word(walk.tokens[index + 1]) else index


def _is_plain_word(token: Token) -> bool:
    return token.token_type is not TokenType.STRING and (token.text[:1].isalnum() or token.text[:1] == "_")


def _replace_by_name_or_bind(walk: PlaceholderWalk, begin: int, end: int) -> int:
    """A quoted name as it is written, with the words that touch it, or a bind parameter."""
    tokens, kept = walk.tokens, walk.kept
    while walk.touches(end) and (_continues_name(tokens[end]) or walk.find_end(end) > end):
        end = max(walk.find_end(end), end + 1)
    first, last = tokens[begin], tokens[end - 1]
    whole = len(first.text) == 1 and first.text != "<"
    written = "".join(token.text for token in tokens[begin:end])
    if kept and kept[-1].end + 1 == first.start and _is_plain_word(kept[-1]):
        first, whole = kept.pop(), False
        written = first.text + written
    previous = kept[-1] if kept else None
    dotted = previous is not None and previous.token_type is TokenType.DOT
    dotted = dotted or (end < len(tokens) and tokens[end].token_type is TokenType.DOT)
    named = previous is not None and keyword(previous) in _BEFORE_NAMES
    place = (first.line, first.col, first.start, last.end)
    if dotted or named or not whole or last.token_type is TokenType.IDENTIFIER:
        kept.append(Token(TokenType.IDENTIFIER, written, *place))
    else:
        kept.extend((Token(TokenType.COLON, ":", *place), Token(TokenType.VAR, "blank", *place)))
    return end


def _continues_name(token: Token) -> bool:
    """Whether a token that touches a placeholder belongs to its name: `${x}_t`, `{x}[t]`."""
    return token.token_type is TokenType.IDENTIFIER or _is_plain_word(token)


# ── T-SQL scripts ────────────────────────────────────────────────────────────────────────────────────────────────────


def _find_variable_end(walk: PlaceholderWalk, index: int) -> int:
    """SQLCMD: `$(x)`."""
    words = [token.text for token in walk.tokens[index : index + 4]]
    return index + 4 if len(words) == 4 and (words[0], words[1], words[3]) == ("$", "(", ")") else index


def _replace_by_variable(walk: PlaceholderWalk, begin: int, end: int) -> int:
    """The value that `:setvar` gave a variable, or a name of its own."""
    first, name = walk.tokens[begin], walk.tokens[begin + 2].text
    value = walk.values.get(name.lower(), f"$({name})")
    last = walk.tokens[end - 1].end
    walk.kept.append(Token(TokenType.IDENTIFIER, value, first.line, first.col, first.start, last))
    return end


def _replace_by_joined_name(walk: PlaceholderWalk, begin: int, end: int) -> int:
    """A quoted name of the placeholder and of what touches it; one that stands alone waits for the parser."""
    tokens, behind = walk.tokens, end
    while walk.touches(behind) and (_continues_name(tokens[behind]) or walk.find_end(behind) > behind):
        behind = max(walk.find_end(behind), behind + 1)
    if behind == end:
        walk.kept.extend(tokens[begin:end])
        return end
    first, written = tokens[begin], "".join(token.text for token in tokens[begin:behind])
    walk.kept.append(
        Token(TokenType.IDENTIFIER, written, first.line, first.col, first.start, tokens[behind - 1].end, first.comments)
    )
    return behind


def _find_setting_end(walk: PlaceholderWalk, index: int) -> int:
    """SQLCMD: `:setvar x value`."""
    words = walk.tokens[index : index + 4]
    return index + 1 if len(words) == 4 and words[0].text == ":" and keyword(words[1]) == "SETVAR" else index


def _set_variable(walk: PlaceholderWalk, begin: int, end: int) -> int:
    """The command itself, which sets a value from here on."""
    walk.values[walk.tokens[begin + 2].text.lower()] = walk.tokens[begin + 3].text
    walk.kept.append(walk.tokens[begin])
    return end


def _find_quoted_end(walk: PlaceholderWalk, index: int) -> int:
    """SQLCMD: a variable inside a quoted name, `[$(x)]`."""
    return index + 1 if "$(" in walk.tokens[index].text else index


def _fill_quoted_name(walk: PlaceholderWalk, begin: int, end: int) -> int:
    """A quoted name with the values of the variables in it."""
    token = walk.tokens[begin]
    text = token.text
    for name, value in walk.values.items():
        at = text.lower().find(f"$({name})")
        if at >= 0:
            text = text[:at] + value + text[at + len(name) + 3 :]
    walk.kept.append(Token(token.token_type, text, token.line, token.col, token.start, token.end, token.comments))
    return end


_MAX_TEMPLATE_TOKENS = 60
"""The maximum number of tokens of an SSMS template parameter."""

_NOT_IN_TEMPLATE_NAMES = (
    STATEMENT_STARTS | frozenset("AND OR THEN FROM WHERE HAVING UNION".split()) | {"GROUP BY", "ORDER BY"}
)
"""Keywords after a `<` comparison that never occur in the name of a template parameter."""

_TEMPLATE_COMMENT = re.compile(r"(<[^<>,\n]+,[^<>,\n]*,[^<>\n]*?)(--[^<>\n]*)(?=>)")
"""A comment in a template parameter: it ends where the parameter ends, not at the end of the line."""


def mask_template_comments(text: str) -> str:
    """T-SQL: the text with comments in template parameters blanked."""
    if "<" not in text or "--" not in text:
        return text
    return _TEMPLATE_COMMENT.sub(lambda match: match[1] + " " * len(match[2]), text)


def _find_template_end(walk: PlaceholderWalk, index: int) -> int:
    """SSMS: `<name, type, default>`."""
    tokens = walk.tokens
    depth, commas = 0, 0
    if tokens[index].token_type is not TokenType.LT:
        return index
    for at in range(index + 1, min(index + _MAX_TEMPLATE_TOKENS, len(tokens))):
        kind = tokens[at].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        commas += kind is TokenType.COMMA and depth == 0
        if depth < 0 or kind in (TokenType.LT, TokenType.SEMICOLON):
            return index
        if kind is TokenType.GT:
            return at + 1 if commas >= 2 and depth == 0 else index
        marked = tokens[at - 1].token_type is TokenType.PARAMETER
        if commas == 0 and not marked and keyword(tokens[at]) in _NOT_IN_TEMPLATE_NAMES:
            return index
    return index


def _replace_by_default(walk: PlaceholderWalk, begin: int, end: int) -> int:
    """The default after the second comma, or else the name of the parameter."""
    inside = walk.tokens[begin + 1 : end - 1]
    commas = [index for index, token in enumerate(inside) if token.token_type is TokenType.COMMA]
    chosen = inside[commas[1] + 1 :] or inside[: commas[0]]
    walk.kept.extend(PlaceholderWalk(walk.syntaxes, walk.values).replace_all(chosen))
    return end


# ── scripts and executed texts of other dialects ─────────────────────────────────────────────────────────────────────


def _find_substitution_end(walk: PlaceholderWalk, index: int) -> int:
    """SQL*Plus: `&x` and `&&x`, with the dot that ends the name if another one follows."""
    if walk.tokens[index].token_type not in (TokenType.AMP, TokenType.DAMP) or not walk.touches(index + 1):
        return index
    dots = [token.token_type for token in walk.tokens[index + 2 : index + 4]]
    return index + (3 if dots == [TokenType.DOT, TokenType.DOT] else 2)


def _find_extension_name_end(walk: PlaceholderWalk, index: int) -> int:
    """PostgreSQL extensions: `@extschema@`, which is filled at installation."""
    words = [token.text for token in walk.tokens[index : index + 3]]
    return index + 3 if len(words) == 3 and words[0] == words[2] == "@" and walk.touches(index + 2) else index


def _replace_by_name(walk: PlaceholderWalk, begin: int, end: int) -> int:
    """The name between the marks."""
    first, name, last = walk.tokens[begin], walk.tokens[begin + 1], walk.tokens[end - 1]
    stop = name.end if last.token_type is TokenType.DOT else last.end
    walk.kept.append(Token(TokenType.VAR, name.text, first.line, first.col, first.start, stop, first.comments))
    return end


def _find_line_variable_end(walk: PlaceholderWalk, index: int) -> int:
    """psql: `:x` before the first keyword of a statement, usually EXPLAIN or empty."""
    first = not walk.kept or walk.kept[-1].token_type is TokenType.SEMICOLON
    if not first or walk.tokens[index].token_type is not TokenType.COLON:
        return index
    return index + 2 if walk.touches(index + 1) else index + 1


def _drop(walk: PlaceholderWalk, begin: int, end: int) -> int:
    """Nothing."""
    return end


_SLICE_STARTS = frozenset("NUMBER VAR IDENTIFIER R_PAREN R_BRACKET L_BRACKET".split())
"""Token types before the colon of a slice, `a[1:2]`."""


def _find_numbered_bind_end(walk: PlaceholderWalk, index: int) -> int:
    """`:1`."""
    kinds = [token.token_type for token in walk.tokens[index : index + 2]]
    slices = bool(walk.kept) and walk.kept[-1].token_type.name in _SLICE_STARTS
    return index + 2 if kinds == [TokenType.COLON, TokenType.NUMBER] and not slices else index


def _replace_by_bind(walk: PlaceholderWalk, begin: int, end: int) -> int:
    """The bind parameter `?`, which sqlglot reads."""
    first, last = walk.tokens[begin], walk.tokens[end - 1]
    walk.kept.append(Token(TokenType.PLACEHOLDER, "?", first.line, first.col, first.start, last.end, last.comments))
    return end


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────────

_SQLCMD = re.compile(r"\$\(")

PLACEHOLDERS = (
    PlaceholderSyntax(
        example="$(x)",
        stage=ReplacementStage.TSQL_SCRIPT,
        opening="$",
        find_end=_find_variable_end,
        replace=_replace_by_variable,
        written=_SQLCMD,
    ),
    PlaceholderSyntax(
        example=":setvar x value",
        stage=ReplacementStage.TSQL_SCRIPT,
        opening=":",
        find_end=_find_setting_end,
        replace=_set_variable,
        written=_SQLCMD,
    ),
    PlaceholderSyntax(
        example="[$(x)]",
        stage=ReplacementStage.TSQL_SCRIPT,
        opening='"',
        find_end=_find_quoted_end,
        replace=_fill_quoted_name,
        written=_SQLCMD,
    ),
    PlaceholderSyntax(
        example="{x}y",
        stage=ReplacementStage.TSQL_SCRIPT,
        opening="{",
        find_end=_find_braced_word_end,
        replace=_replace_by_joined_name,
        written=re.compile(r"\{\w+\}"),
    ),
    PlaceholderSyntax(
        example="<x, int, 1>",
        stage=ReplacementStage.TSQL_SCRIPT,
        opening="<",
        find_end=_find_template_end,
        replace=_replace_by_default,
        written=re.compile("<"),
    ),
    PlaceholderSyntax(
        example="&x.",
        stage=ReplacementStage.PLSQL_SCRIPT,
        opening="&",
        find_end=_find_substitution_end,
        replace=_replace_by_name,
        written=re.compile("&"),
    ),
    PlaceholderSyntax(
        example="@x@",
        stage=ReplacementStage.POSTGRES_SCRIPT,
        opening="@",
        find_end=_find_extension_name_end,
        replace=_replace_by_name,
        written=re.compile("@"),
    ),
    PlaceholderSyntax(
        example=":x SELECT 1",
        stage=ReplacementStage.POSTGRES_SCRIPT,
        opening=":",
        find_end=_find_line_variable_end,
        replace=_drop,
        written=re.compile(r"^\s*:\w+\s", re.MULTILINE),
    ),
    PlaceholderSyntax(
        example=":1",
        stage=ReplacementStage.EXECUTED_TEXT,
        opening=":",
        find_end=_find_numbered_bind_end,
        replace=_replace_by_bind,
    ),
    PlaceholderSyntax(
        example="${x} or $(x)",
        stage=ReplacementStage.FAILED_STATEMENT,
        opening="$",
        find_end=_find_dollar_end,
        replace=_replace_by_name_or_bind,
    ),
    PlaceholderSyntax(
        example="{{ x }} or {x}",
        stage=ReplacementStage.FAILED_STATEMENT,
        opening="{",
        find_end=_find_brace_end,
        replace=_replace_by_name_or_bind,
    ),
    PlaceholderSyntax(
        example="%(x)s or %s",
        stage=ReplacementStage.FAILED_STATEMENT,
        opening="%",
        find_end=_find_percent_end,
        replace=_replace_by_name_or_bind,
    ),
    PlaceholderSyntax(
        example="<x>",
        stage=ReplacementStage.FAILED_STATEMENT,
        opening="<",
        find_end=_find_angle_end,
        replace=_replace_by_name_or_bind,
    ),
    PlaceholderSyntax(
        example=":'x'",
        stage=ReplacementStage.FAILED_STATEMENT,
        opening=":",
        find_end=_find_colon_end,
        replace=_replace_by_name_or_bind,
    ),
    PlaceholderSyntax(
        example="@x",
        stage=ReplacementStage.FAILED_STATEMENT,
        opening="@",
        find_end=_find_marked_end,
        replace=_replace_by_name_or_bind,
    ),
    PlaceholderSyntax(
        example="&x",
        stage=ReplacementStage.FAILED_STATEMENT,
        opening="&",
        find_end=_find_marked_end,
        replace=_replace_by_name_or_bind,
    ),
)
"""All placeholders that the compiler knows; the templaters of discover replace others before it."""

_BY_STAGE = {
    stage: {syntax.opening: syntax for syntax in PLACEHOLDERS if syntax.stage is stage} for stage in ReplacementStage
}

# ── unknown parts ────────────────────────────────────────────────────────────────────────────────────────────────────

_ROW_COUNT_KEYWORDS = frozenset("TOP LIMIT OFFSET NEXT FIRST".split())
"""Keywords before a number of rows."""

_OPERAND_ENDS = frozenset({TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.R_PAREN, *STRING_TOKENS})
"""Token types that end an operand."""


def has_unknown_parts(tokens: Sequence[Token]) -> bool:
    """Whether a part that is not known may be a name: inside a string it is only a value."""
    return any(RUNTIME_PLACEHOLDER in token.text and token.token_type not in STRING_TOKENS for token in tokens)


def fill_row_counts(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with a number instead of an unknown part after LIMIT, TOP and the like."""
    return [
        Token(TokenType.NUMBER, "1", token.line, token.col, token.start, token.end, token.comments)
        if token.text == RUNTIME_PLACEHOLDER and index and keyword(tokens[index - 1]) in _ROW_COUNT_KEYWORDS
        else token
        for index, token in enumerate(tokens)
    ]


def drop_unknown_parts(tokens: Sequence[Token], *, behind_operands: bool = False) -> list[Token]:
    """The tokens without unknown parts, or only without those that directly follow an operand."""
    found: list[Token] = []
    for token in tokens:
        unknown = token.text == RUNTIME_PLACEHOLDER and token.token_type not in STRING_TOKENS
        if not unknown or (behind_operands and not (found and found[-1].token_type in _OPERAND_ENDS)):
            found.append(token)
    return found


GUESSED = "guessed"
"""The feature of a statement that was read from a text with unknown parts: its lineage is approximate."""

_UNKNOWN_NAME = ir.Name(("?",))

_COLUMN_FIELDS: dict[type[ir.Node], tuple[str, ...]] = {
    ir.Join: ("using",),
    ir.Pivot: ("keys", "group"),
    ir.Unpivot: ("inputs",),
}
"""IR fields that may hold only columns."""


def strip_unknown_parts(statement: ir.Statement) -> ir.Statement:
    """A statement without names that are not known: unknown sources give values from nowhere."""
    found: ir.Statement = _strip_node(statement)
    definition = found.definition
    if definition is not None and definition.like == _UNKNOWN_NAME:
        definition = msgspec.structs.replace(definition, like=None)
    return msgspec.structs.replace(
        found,
        definition=definition if definition is not None and definition.name != _UNKNOWN_NAME else None,
        writes=tuple(write for write in found.writes if write.target != _UNKNOWN_NAME),
        alterations=tuple(
            item for item in found.alterations if item.name != _UNKNOWN_NAME and item.to != _UNKNOWN_NAME
        ),
        drops=tuple(item for item in found.drops if item.name != _UNKNOWN_NAME),
        calls=tuple(item for item in found.calls if item.name != _UNKNOWN_NAME),
        reads=tuple(name for name in found.reads if name != _UNKNOWN_NAME),
        context=statement.context if not any(_is_unknown(part) for part in statement.context) else (),
        features=tuple(sorted({*found.features, GUESSED})),
    )


def _strip_node(node: Any) -> Any:
    if isinstance(node, tuple):
        return tuple(_strip_node(item) for item in node)
    if not isinstance(node, ir.Node):
        return "" if isinstance(node, str) and _is_unknown(node) else node
    if isinstance(node, ir.Name):
        return _strip_name(node)
    if isinstance(node, ir.Ref):
        return _strip_reference(node)
    columns = _COLUMN_FIELDS.get(type(node), ())
    filled = ((field, _strip_node(getattr(node, field))) for field in node.__struct_fields__)
    changed = type(node)(*(_known_columns(value) if field in columns else value for field, value in filled))
    if isinstance(changed, ir.Source) and changed.name == _UNKNOWN_NAME:
        return msgspec.structs.replace(changed, name=None, function=ir.Call("?", ()), lateral=True)
    return changed


def _known_columns(columns: Any) -> Any:
    """The columns that are known; no value can replace a column here."""
    if not isinstance(columns, tuple):
        return columns
    return tuple(_known_columns(item) for item in columns if isinstance(item, tuple | ir.Ref))


def _strip_name(name: ir.Name) -> ir.Name:
    """A name without the parts up to its last unknown one: the database is unknown, the table is not."""
    behind = _count_hidden_parts(name.parts)
    if not behind:
        return name
    parts = tuple(part for part in name.parts[behind:] if part)
    return msgspec.structs.replace(name, parts=parts) if parts else _UNKNOWN_NAME


def _strip_reference(ref: ir.Ref) -> ir.Expr:
    behind = _count_hidden_parts(ref.parts)
    if not behind:
        return ref
    if behind == len(ref.parts):
        return ir.Literal("other", "?")
    return msgspec.structs.replace(ref, parts=ref.parts[behind:])


def _count_hidden_parts(parts: Sequence[str]) -> int:
    """How many parts of a name there are up to its last unknown one."""
    return max((position for position, part in enumerate(parts, 1) if _is_unknown(part)), default=0)


def _is_unknown(text: str) -> bool:
    """Whether a name, or a part of it, is not known."""
    return RUNTIME_PLACEHOLDER in text.lower()
