"""Placeholders: `${x}`, `{{ x }}`, `:'x'`, `$(x)`, `<x, type, default>`, and the holes of partly known texts.
Where a name is expected, a placeholder is part of that name; elsewhere it is a value from outside.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.tsql_statements import STATEMENT_STARTS
from lineage_pipeline.engine.compile.tokens import keyword
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import RUNTIME_PLACEHOLDER

_BEFORE_NAMES = frozenset(
    "FROM JOIN INTO TABLE VIEW UPDATE OVERWRITE ONLY DATABASE SCHEMA USE EXISTS REFERENCES TRUNCATE INDEX".split()
)
"""Keywords before a name: a placeholder there is a name."""

_BEFORE_ANGLE_PLACEHOLDERS = _BEFORE_NAMES | frozenset(
    ["GROUP BY", "ORDER BY", *"SELECT WHERE AND OR ON FUNCTION PROCEDURE WAREHOUSE ROLE = AS".split()]
)
"""Keywords and signs before `<` where it opens a placeholder."""

_PLACEHOLDER_OPENINGS = (TokenType.L_BRACE, TokenType.L_PAREN)
_PLACEHOLDER_CLOSINGS = {TokenType.L_BRACE: TokenType.R_BRACE, TokenType.L_PAREN: TokenType.R_PAREN}
_MAX_PLACEHOLDER_TOKENS = 40


def replace_placeholders(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with names and bind parameters instead of placeholders."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        end = _skip_placeholder(tokens, index)
        if end == index:
            kept.append(tokens[index])
            index += 1
            continue
        begin = index
        while end < len(tokens) and _touches_previous(tokens, end) and _continues_placeholder(tokens, end):
            end = max(_skip_placeholder(tokens, end), end + 1)
        first = kept[-1] if kept else None
        if first is not None and first.end + 1 == tokens[begin].start and _is_plain_word(first):
            kept.pop()
        else:
            first = tokens[begin]
        kept.extend(
            _build_placeholder_tokens(first, tokens[begin:end], kept, tokens[end] if end < len(tokens) else None)
        )
        index = end
    return kept


def _skip_placeholder(tokens: Sequence[Token], index: int) -> int:
    """The index after a placeholder that begins at a token, or that index."""
    text = tokens[index].text
    following = tokens[index + 1] if index + 1 < len(tokens) and _touches_previous(tokens, index + 1) else None
    if following is None:
        return index
    if text[-1:] in ("$", "%", "{") and following.token_type in _PLACEHOLDER_OPENINGS:
        end = _skip_closing(tokens, index + 1)
        if text == "{":
            return end + 1 if end < len(tokens) and tokens[end].text == "}" else index
        typed = text == "%" and end < len(tokens) and keyword(tokens[end]) in ("S", "D")
        return end + typed if text[-1] == "$" or typed else index
    if text == "%" and keyword(following) == "S":
        return index + 2
    if text == "<" and _is_plain_word(following) and (not index or _is_not_compared(tokens, index)):
        end = next(
            (
                at
                for at in range(index + 2, min(index + _MAX_PLACEHOLDER_TOKENS, len(tokens)))
                if tokens[at].text == ">"
            ),
            0,
        )
        inner = tokens[index + 1 : end]
        return end + 1 if end and all(_is_plain_word(token) or token.text == "-" for token in inner) else index
    if text == ":" and following.token_type in (TokenType.STRING, TokenType.IDENTIFIER, TokenType.VAR):
        return index + 2 if index and tokens[index - 1].end + 1 < tokens[index].start else index
    return index + 2 if text in ("@", "&") and _is_plain_word(following) else index


def _is_not_compared(tokens: Sequence[Token], index: int) -> bool:
    """Whether neither a comparable value nor a type precedes `<`."""
    before = tokens[index - 1]
    return (
        before.token_type in (TokenType.DOT, TokenType.COMMA, TokenType.L_PAREN)
        or keyword(before) in _BEFORE_ANGLE_PLACEHOLDERS
    )


def _skip_closing(tokens: Sequence[Token], index: int) -> int:
    """The index after the matching bracket; the index before the opening one if that is too far away."""
    closing = _PLACEHOLDER_CLOSINGS[tokens[index].token_type]
    for at in range(index + 1, min(index + _MAX_PLACEHOLDER_TOKENS, len(tokens))):
        if tokens[at].token_type is closing:
            return at + 1
    return index - 1


def _touches_previous(tokens: Sequence[Token], index: int) -> bool:
    return bool(tokens[index - 1].end + 1 == tokens[index].start)


def _is_plain_word(token: Token) -> bool:
    return token.token_type is not TokenType.STRING and (token.text[:1].isalnum() or token.text[:1] == "_")


def _continues_placeholder(tokens: Sequence[Token], index: int) -> bool:
    return _is_plain_word(tokens[index]) or _skip_placeholder(tokens, index) > index


def _build_placeholder_tokens(
    first: Token, blank: Sequence[Token], before: Sequence[Token], after: Token | None
) -> list[Token]:
    """The tokens of a placeholder: a quoted name as it is written, or a bind parameter."""
    written = "".join(token.text for token in ([first, *blank] if first is not blank[0] else blank))
    last = blank[-1]
    previous = before[-1] if before else None
    dotted = previous is not None and previous.token_type is TokenType.DOT
    dotted = dotted or (after is not None and after.token_type is TokenType.DOT)
    named = previous is not None and keyword(previous) in _BEFORE_NAMES
    whole = first is blank[0] and len(first.text) == 1 and first.text != "<"
    if dotted or named or not whole or last.token_type is TokenType.IDENTIFIER:
        return [Token(TokenType.IDENTIFIER, written, first.line, first.col, first.start, last.end)]
    place = (first.line, first.col, first.start, last.end)
    return [Token(TokenType.COLON, ":", *place), Token(TokenType.VAR, "blank", *place)]


_MAX_TEMPLATE_TOKENS = 60
"""The maximum number of tokens of an SSMS template parameter."""

_NOT_IN_TEMPLATE_NAMES = (
    STATEMENT_STARTS | frozenset("AND OR THEN FROM WHERE HAVING UNION".split()) | {"GROUP BY", "ORDER BY"}
)
"""Keywords after a `<` comparison that never occur in the name of a template parameter."""

_TEMPLATE_COMMENT = re.compile(r"(<[^<>,\n]+,[^<>,\n]*,[^<>\n]*?)(--[^<>\n]*)(?=>)")
"""A comment in a template parameter: it ends where the parameter ends, not at the end of the line."""


_CONTINUED_BINARY = re.compile(r"\b0x[0-9a-f]*(?:\\\r?\n[0-9a-f]*)+", re.IGNORECASE)
"""Bytes that continue after a backslash at the end of a line."""


def mask_template_comments(text: str) -> str:
    """T-SQL: the text with comments in template parameters blanked, and binary constants on one line."""
    if "\\" in text and "0x" in text:
        text = _CONTINUED_BINARY.sub(lambda match: re.sub(r"[\\\r\n]", "0", match[0]), text)
    if "<" not in text or "--" not in text:
        return text
    return _TEMPLATE_COMMENT.sub(lambda match: match[1] + " " * len(match[2]), text)


def read_temporary_names(tokens: Sequence[Token]) -> Sequence[Token]:
    """T-SQL: names instead of keywords in temporary tables such as `#values`."""
    marks = [index for index, token in enumerate(tokens[:-1]) if token.text in ("#", "##")]
    words = [index + 1 for index in marks if _is_keyword_at(tokens[index + 1], tokens[index].end + 1)]
    if not words:
        return tokens
    kept = list(tokens)
    for index in words:
        word = kept[index]
        kept[index] = Token(TokenType.VAR, word.text, word.line, word.col, word.start, word.end, word.comments)
    return kept


def _is_keyword_at(token: Token, start: int) -> bool:
    """Whether a keyword, not a name, begins at an offset."""
    named = token.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
    return not named and token.start == start and token.text.isidentifier()


def fill_templates(tokens: Sequence[Token], text: str) -> Sequence[Token]:
    """T-SQL: the tokens of a script with its `$(variable)` and `<name, type, default>` filled."""
    if "$(" in text:
        tokens = _fill_sqlcmd_variables(tokens)
    if "#" in text:
        tokens = read_temporary_names(tokens)
    if "<" in text and any(
        _find_template_end(tokens, index) for index, token in enumerate(tokens) if token.text == "<"
    ):
        tokens = _fill_template_parameters(tokens)
    return tokens


def _fill_template_parameters(tokens: Sequence[Token]) -> list[Token]:
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        end = _find_template_end(tokens, index) if tokens[index].token_type is TokenType.LT else 0
        if not end:
            kept.append(tokens[index])
            index += 1
            continue
        kept.extend(_template_default(tokens[index + 1 : end]))
        index = end + 1
    return kept


def _find_template_end(tokens: Sequence[Token], index: int) -> int:
    """The token that closes a template parameter which opens at a token, or 0."""
    depth, commas = 0, 0
    for at in range(index + 1, min(index + _MAX_TEMPLATE_TOKENS, len(tokens))):
        kind = tokens[at].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        commas += kind is TokenType.COMMA and depth == 0
        if depth < 0 or kind in (TokenType.LT, TokenType.SEMICOLON):
            return 0
        if kind is TokenType.GT:
            return at if commas >= 2 and depth == 0 else 0
        marked = tokens[at - 1].token_type is TokenType.PARAMETER
        if commas == 0 and not marked and keyword(tokens[at]) in _NOT_IN_TEMPLATE_NAMES:
            return 0
    return 0


def _template_default(tokens: Sequence[Token]) -> Sequence[Token]:
    """The default after the second comma, or else the name of the parameter."""
    commas = [index for index, token in enumerate(tokens) if token.token_type is TokenType.COMMA]
    return tokens[commas[1] + 1 :] or tokens[: commas[0]]


def _fill_sqlcmd_variables(tokens: Sequence[Token]) -> list[Token]:
    """`$(name)` as the value that `:setvar` gave it, or as a name of its own."""
    values: dict[str, str] = {}
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        following = tokens[index + 1 : index + 4]
        if token.text == ":" and len(following) == 3 and keyword(following[0]) == "SETVAR":
            values[following[1].text.lower()] = following[2].text
        if token.text == "$" and len(following) == 3 and (following[0].text, following[2].text) == ("(", ")"):
            name = following[1].text
            value = values.get(name.lower(), f"$({name})")
            kept.append(Token(TokenType.IDENTIFIER, value, token.line, token.col, token.start, following[2].end))
            index += 4
            continue
        quoted = token.token_type is TokenType.IDENTIFIER and "$(" in token.text
        kept.append(_fill_quoted_name(token, values) if quoted else token)
        index += 1
    return kept


def _fill_quoted_name(token: Token, values: dict[str, str]) -> Token:
    """A quoted name with the values of the variables in it."""
    text = token.text
    for name, value in values.items():
        at = text.lower().find(f"$({name})")
        if at >= 0:
            text = text[:at] + value + text[at + len(name) + 3 :]
    return Token(token.token_type, text, token.line, token.col, token.start, token.end, token.comments)


GUESSED = "guessed"
"""The feature of a statement that was read from a text with holes: its lineage is approximate."""

_UNKNOWN_NAME = ir.Name(("?",))

_COLUMN_FIELDS: dict[type[ir.Node], tuple[str, ...]] = {
    ir.Join: ("using",),
    ir.Pivot: ("keys", "group"),
    ir.Unpivot: ("inputs",),
}
"""IR fields that may hold only columns."""


def strip_holes(statement: ir.Statement) -> ir.Statement:
    """A statement without the names that its holes hide: unknown sources give values from nowhere."""
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
        context=statement.context if not any(RUNTIME_PLACEHOLDER in part.lower() for part in statement.context) else (),
        features=tuple(sorted({*found.features, GUESSED})),
    )


def _strip_node(node: Any) -> Any:
    if isinstance(node, tuple):
        return tuple(_strip_node(item) for item in node)
    if not isinstance(node, ir.Node):
        return "" if isinstance(node, str) and RUNTIME_PLACEHOLDER in node.lower() else node
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
    """A name without the parts up to its last hole: the database is unknown, the table is not."""
    if not any(RUNTIME_PLACEHOLDER in part.lower() for part in name.parts):
        return name
    behind = max(position for position, part in enumerate(name.parts) if RUNTIME_PLACEHOLDER in part.lower()) + 1
    parts = tuple(part for part in name.parts[behind:] if part)
    return msgspec.structs.replace(name, parts=parts) if parts else _UNKNOWN_NAME


def _strip_reference(ref: ir.Ref) -> ir.Expr:
    if not any(RUNTIME_PLACEHOLDER in part.lower() for part in ref.parts):
        return ref
    if RUNTIME_PLACEHOLDER in ref.parts[-1].lower():
        return ir.Literal("other", "?")
    behind = max(position for position, part in enumerate(ref.parts) if RUNTIME_PLACEHOLDER in part.lower()) + 1
    return msgspec.structs.replace(ref, parts=ref.parts[behind:])
