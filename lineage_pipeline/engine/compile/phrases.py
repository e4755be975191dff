"""Phrases that the parser does not know, and how it can read them: repairs of queries."""

from collections.abc import Sequence

from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.phrases import GROUP_ENDS, JSON_CLAUSES, LITERAL_FORMATS, PIPE_STARS, VALUE_TYPES
from lineage_pipeline.engine.compile.words import behind_brackets, is_name, keyword, made

_STRINGS = frozenset(
    {
        TokenType.STRING,
        TokenType.RAW_STRING,
        TokenType.BYTE_STRING,
        TokenType.BIT_STRING,
        TokenType.HEX_STRING,
        TokenType.NATIONAL_STRING,
        TokenType.UNICODE_STRING,
    }
)
_MOVED = frozenset({TokenType.NUMBER, TokenType.VAR, TokenType.IDENTIFIER, TokenType.PARAMETER})
"""What stands behind `>>>` where it moves bits; where it closes types, nothing of this can."""

_OPERATOR = set("+-*/<>=~!@#%^&|?")
_SPECIAL = set("~!@#%^&|?")


def joined_strings(tokens: Sequence[Token]) -> list[Token]:
    """Strings that follow each other are one."""
    kept: list[Token] = []
    for token in tokens:
        if not (kept and kept[-1].token_type in _STRINGS and token.token_type in _STRINGS):
            kept.append(token)
    return kept


def joined_numbers(tokens: Sequence[Token]) -> list[Token]:
    """`10_000` is one number."""
    kept: list[Token] = []
    for token in tokens:
        before = kept[-1] if kept else None
        digits = token.text[:1] == "_" and token.text.replace("_", "").isdigit()
        if digits and before is not None and before.token_type is TokenType.NUMBER and before.end + 1 == token.start:
            text = before.text + token.text.replace("_", "")
            kept[-1] = Token(TokenType.NUMBER, text, before.line, before.col, before.start, token.end)
        else:
            kept.append(token)
    return kept


def custom_operators(tokens: Sequence[Token]) -> list[Token]:
    """An operator of somebody's own, `a <->> b`, is written `a OPERATOR(<->>) b`."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        end = index
        while end < len(tokens) and set(tokens[end].text) <= _OPERATOR and _touches(tokens, index, end):
            end += 1
        written = "".join(token.text for token in tokens[index:end])
        alone = written == "@" and index > 0 and tokens[index - 1].end + 1 < tokens[index].start
        own = end - index > 1 and written != "<<" and set(written) != {">"}  # which may close types
        if written == ">>>" and end < len(tokens) and tokens[end].token_type in _MOVED:
            kept.extend(tokens[index : index + 2])  # the parser knows the other one that moves bits
        elif (own and (written[-1] not in "+-" or set(written) & _SPECIAL)) or alone:
            opened = made("OPERATOR", tokens[index])
            place = (opened.line, opened.col, opened.start, opened.end)
            kept.append(Token(TokenType.OPERATOR, "OPERATOR", *place))
            kept.extend([Token(TokenType.L_PAREN, "(", *place), *tokens[index:end]])
            kept.append(Token(TokenType.R_PAREN, ")", *place))
        else:
            kept.extend(tokens[index : max(end, index + 1)])
        index = max(end, index + 1)
    return kept


def _touches(tokens: Sequence[Token], begin: int, index: int) -> bool:
    return index == begin or bool(tokens[index - 1].end + 1 == tokens[index].start)


def function_names(tokens: Sequence[Token]) -> list[Token]:
    """IS with brackets where a value begins is somebody's function."""
    begins = (TokenType.SELECT, TokenType.L_PAREN, TokenType.COMMA)
    return [
        Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end)
        if keyword(token) == "IS" and _is_opened(tokens, index + 1) and index and tokens[index - 1].token_type in begins
        else token
        for index, token in enumerate(tokens)
    ]


def _is_opened(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN


def bracketed_using(tokens: Sequence[Token]) -> list[Token]:
    """`USING a, b` of a join with brackets around the columns."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        kept.append(token)
        index += 1
        cycle = index > 2 and keyword(tokens[index - 3]) in ("SET", "DEFAULT")  # of a recursion: USING names a column
        if keyword(token) != "USING" or cycle or not is_name(tokens, index):
            continue
        place = (token.line, token.col, token.start, token.end)
        kept.append(Token(TokenType.L_PAREN, "(", *place))
        kept.append(tokens[index])
        index += 1
        while index + 1 < len(tokens) and tokens[index].token_type is TokenType.COMMA and is_name(tokens, index + 1):
            kept.extend(tokens[index : index + 2])
            index += 2
        kept.append(Token(TokenType.R_PAREN, ")", *place))
    return kept


def aliased_views(tokens: Sequence[Token]) -> list[Token]:
    """`LATERAL VIEW f(x) t c` with the AS before its columns."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        if keyword(tokens[index]) != "VIEW" or not index or keyword(tokens[index - 1]) != "LATERAL":
            kept.append(tokens[index])
            index += 1
            continue
        opened = index + 1
        while opened < len(tokens) and tokens[opened].token_type is not TokenType.L_PAREN:
            opened += 1
        alias = behind_brackets(tokens, opened)
        kept.extend(tokens[index : alias + 1])
        index = alias + 1
        if is_name(tokens, alias) and is_name(tokens, index) and tokens[index].token_type is TokenType.VAR:
            kept.append(made("AS", tokens[alias]))
    return kept


def plain_json(tokens: Sequence[Token]) -> list[Token]:
    """Functions over documents without what they do with errors, wrappers and missing values."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        kept.append(tokens[index])
        index += 1
        if not keyword(tokens[index - 1]).startswith("JSON_") or not _is_opened(tokens, index):
            continue
        end, depth = behind_brackets(tokens, index), 0
        for at in range(index, end):
            kind = tokens[at].token_type
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            words = tuple(keyword(token) for token in tokens[at : at + 2])
            if depth == 1 and at > index and any(words[: len(clause)] == clause for clause in JSON_CLAUSES):
                kept.extend([*plain_json(tokens[index:at]), tokens[end - 1]])
                index = end
                break
    return kept


def plain_columns(tokens: Sequence[Token]) -> list[Token]:
    """The columns of a JSON_TABLE without what they are where a document has nothing or something else for them."""
    kept: list[Token] = []
    for token in tokens:
        kept.append(token)
        words = [keyword(item) for item in kept[-4:]]
        if words[-2:-1] == ["ON"] and words[-1] in ("EMPTY", "ERROR"):
            del kept[-4 if words[0] == "DEFAULT" else -3 :]
    return kept


def ungrouped_order(tokens: Sequence[Token]) -> list[Token]:
    """`GROUP BY a DESC` without the order."""
    kept: list[Token] = []
    grouping = False
    for token in tokens:
        word = keyword(token)
        grouping = (grouping or word == "GROUP BY") and word not in GROUP_ENDS
        if not (grouping and word in ("ASC", "DESC")):
            kept.append(token)
    return kept


def piped_stars(tokens: Sequence[Token]) -> list[Token]:
    """`|> DROP a` as `|> SELECT * EXCEPT (a)`, and so on; `|> SET a = x` has its sides changed."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        kept.append(token)
        index += 1
        word = keyword(tokens[index]) if index < len(tokens) else ""
        if token.token_type is not TokenType.PIPE_GT or word not in PIPE_STARS:
            continue
        end = _behind_pipe(tokens, index + 1)
        place = (token.line, token.col, token.start, token.end)
        kept.append(Token(TokenType.SELECT, "SELECT", *place))
        kept.append(Token(TokenType.STAR, "*", *place))
        kept.extend([made(PIPE_STARS[word], token), Token(TokenType.L_PAREN, "(", *place)])
        kept.extend(_swapped(tokens[index + 1 : end]) if word == "SET" else tokens[index + 1 : end])
        kept.append(Token(TokenType.R_PAREN, ")", *place))
        index = end
    return kept


def _behind_pipe(tokens: Sequence[Token], index: int) -> int:
    depth = 0
    while index < len(tokens):
        kind = tokens[index].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth < 0 or (depth == 0 and kind is TokenType.PIPE_GT):
            break
        index += 1
    return index


def _swapped(tokens: Sequence[Token]) -> list[Token]:
    """`a = x, b = y` as `x AS a, y AS b`."""
    kept: list[Token] = []
    depth, begin = 0, 0
    for index in range(len(tokens) + 1):
        kind = tokens[index].token_type if index < len(tokens) else TokenType.COMMA
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth == 0 and kind is TokenType.COMMA:
            item = tokens[begin:index]
            swapped = [*item[2:], made("AS", item[0]), item[0]] if item else []
            kept.extend([*swapped, *tokens[index : index + 1]])
            begin = index + 1
    return kept


def without_formats(tokens: Sequence[Token]) -> list[Token]:
    """Teradata: `x (FORMAT 'YYYY')` and `x (NOT CASESPECIFIC)` without the brackets, and `x (DATE)` as a cast."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        said = _said(tokens, index, kept[-1]) if kept and _is_opened(tokens, index) else ""
        if kept and keyword(tokens[index]) in _LETTERS and (behind := _behind_set(tokens, index)) > index:
            index = behind
            continue
        if not said:
            kept.append(tokens[index])
            index += 1
            continue
        end = behind_brackets(tokens, index)
        if said in VALUE_TYPES:
            ends = (at for at in range(index, end) if keyword(tokens[at]) in (",", "FORMAT"))
            comma = next(ends, end - 1)
            sized = behind_brackets(tokens, index + 2) if _is_opened(tokens, index + 2) else comma
            place = tokens[index]
            if said == "NAMED":
                kept.extend([made("AS", place), *tokens[index + 2 : sized]])
            else:
                kept.append(Token(TokenType.DCOLON, "::", place.line, place.col, place.start, place.end))
                kept.extend(tokens[index + 1 : sized])
        index = end
    return kept


_LETTERS = ("CHARACTER", "NOT")


def _behind_set(tokens: Sequence[Token], index: int) -> int:
    """The token behind what a type in a cast says of its letters, `CHARACTER SET LATIN NOT CASESPECIFIC`."""
    words = [keyword(token) for token in tokens[index : index + 3]]
    if words[:2] == ["CHARACTER", "SET"] and len(words) == 3:
        return _behind_set(tokens, index + 3)
    if words[:2] in (["NOT", "CASESPECIFIC"], ["NOT", "CS"]):
        return index + 2
    return index


_VALUES = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER, TokenType.R_PAREN)


def _said(tokens: Sequence[Token], index: int, before: Token) -> str:
    """What brackets behind a value say of how it is shown, compared or kept; a call has no blank before them."""
    words = [keyword(token) for token in tokens[index + 1 : index + 3]]
    said = next(iter(words[1:] if words[:1] == ["NOT"] else words), "")
    apart = before.token_type in _VALUES and before.end + 1 < tokens[index].start
    return said if said in LITERAL_FORMATS or (apart and said in VALUE_TYPES) else ""


def as_transform(tokens: Sequence[Token]) -> list[Token]:
    """`MAP a, b USING` and `REDUCE a, b USING` as `SELECT TRANSFORM(a, b) USING`."""
    kept: list[Token] = []
    pending = False
    for index, token in enumerate(tokens):
        following = tokens[index + 1].token_type if index + 1 < len(tokens) else TokenType.L_PAREN
        place = (token.line, token.col, token.start, token.end)
        if keyword(token) in ("MAP", "REDUCE") and following not in (TokenType.L_PAREN, TokenType.LT):
            kept.extend([made("SELECT", token), Token(TokenType.VAR, "TRANSFORM", *place)])
            kept.append(Token(TokenType.L_PAREN, "(", *place))
            pending = True
            continue
        if pending and keyword(token) == "USING":
            kept.append(Token(TokenType.R_PAREN, ")", *place))
            pending = False
        kept.append(token)
    return kept
