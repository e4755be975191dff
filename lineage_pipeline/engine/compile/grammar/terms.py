"""Terms of expressions: rewrites of literals, signs, operators, casts and intervals, and parsers of prefix signs."""

from collections.abc import Sequence

from sqlglot import exp, parser
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.grammar.overrides import Override
from lineage_pipeline.engine.compile.tokens import (
    OPERAND_END_TOKENS,
    UNARY_PLUS,
    is_open_paren_at,
    keyword,
    paren_step,
    retype_token,
    skip_brackets,
    synthetic_token,
)

_JOINABLE_STRINGS = frozenset(
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
_SHIFTED_OPERANDS = frozenset({TokenType.NUMBER, TokenType.VAR, TokenType.IDENTIFIER, TokenType.PARAMETER})
"""Token types after `>>>` where it shifts bits; after the `>>>` of nested types none of these can follow."""

_OPERATOR_CHARACTERS = set("+-*/<>=~!@#%^&|?")
_SPECIAL_CHARACTERS = set("~!@#%^&|?")


def join_strings(tokens: Sequence[Token]) -> list[Token]:
    """Adjacent string literals as one."""
    kept: list[Token] = []
    for token in tokens:
        if not (kept and kept[-1].token_type in _JOINABLE_STRINGS and token.token_type in _JOINABLE_STRINGS):
            kept.append(token)
    return kept


def join_numbers(tokens: Sequence[Token]) -> list[Token]:
    """`10_000` as one number."""
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


def rewrite_custom_operators(tokens: Sequence[Token]) -> list[Token]:
    """PostgreSQL: a user-defined operator, `a <->> b`, as `a OPERATOR(<->>) b`."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        end = index
        while end < len(tokens) and _is_operator_part(tokens[end].text) and _is_adjacent(tokens, index, end):
            end += 1
        written = "".join(token.text for token in tokens[index:end])
        alone = written == "@" and index > 0 and tokens[index - 1].end + 1 < tokens[index].start
        own = end - index > 1 and written != "<<" and set(written) != {">"}  # which may close types
        if written == ">>>" and end < len(tokens) and tokens[end].token_type in _SHIFTED_OPERANDS:
            kept.extend(tokens[index : index + 2])  # the parser knows the other one that moves bits
        elif (own and (written[-1] not in "+-" or set(written) & _SPECIAL_CHARACTERS)) or alone:
            opened = synthetic_token("OPERATOR", tokens[index])
            place = (opened.line, opened.col, opened.start, opened.end)
            kept.append(Token(TokenType.OPERATOR, "OPERATOR", *place))
            kept.extend([Token(TokenType.L_PAREN, "(", *place), *tokens[index:end]])
            kept.append(Token(TokenType.R_PAREN, ")", *place))
        else:
            kept.extend(tokens[index : max(end, index + 1)])
        index = max(end, index + 1)
    return kept


def _is_operator_part(text: str) -> bool:
    return bool(text) and set(text) <= _OPERATOR_CHARACTERS  # an empty string has no text


def _is_adjacent(tokens: Sequence[Token], begin: int, index: int) -> bool:
    return index == begin or bool(tokens[index - 1].end + 1 == tokens[index].start)


def rewrite_teradata_formats(tokens: Sequence[Token]) -> list[Token]:
    """Teradata: drops `x (FORMAT 'YYYY')` and `x (NOT CASESPECIFIC)`, and rewrites `x (DATE)` as a cast."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        said = _read_format_keyword(tokens, index, kept[-1]) if kept and is_open_paren_at(tokens, index) else ""
        if (
            kept
            and keyword(tokens[index]) in _CHARACTER_SET_KEYWORDS
            and (behind := _skip_character_set(tokens, index)) > index
        ):
            index = behind
            continue
        if not said:
            kept.append(tokens[index])
            index += 1
            continue
        end = skip_brackets(tokens, index)
        if said in VALUE_TYPES:
            ends = (at for at in range(index, end) if keyword(tokens[at]) in (",", "FORMAT"))
            comma = next(ends, end - 1)
            sized = skip_brackets(tokens, index + 2) if is_open_paren_at(tokens, index + 2) else comma
            place = tokens[index]
            if said == "NAMED":
                kept.extend([synthetic_token("AS", place), *tokens[index + 2 : sized]])
            else:
                kept.append(Token(TokenType.DCOLON, "::", place.line, place.col, place.start, place.end))
                kept.extend(tokens[index + 1 : sized])
        index = end
    return kept


_CHARACTER_SET_KEYWORDS = ("CHARACTER", "NOT")


def _skip_character_set(tokens: Sequence[Token], index: int) -> int:
    """The index after `CHARACTER SET LATIN NOT CASESPECIFIC` of a cast."""
    words = [keyword(token) for token in tokens[index : index + 3]]
    if words[:2] == ["CHARACTER", "SET"] and len(words) == 3:
        return _skip_character_set(tokens, index + 3)
    if words[:2] in (["NOT", "CASESPECIFIC"], ["NOT", "CS"]):
        return index + 2
    return index


_VALUE_ENDS = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER, TokenType.R_PAREN)


def _read_format_keyword(tokens: Sequence[Token], index: int, before: Token) -> str:
    """The keyword in parentheses after a value that sets its format or type; a call has no blank before them."""
    words = [keyword(token) for token in tokens[index + 1 : index + 3]]
    said = next(iter(words[1:] if words[:1] == ["NOT"] else words), "")
    apart = before.token_type in _VALUE_ENDS and before.end + 1 < tokens[index].start
    formatted = said in LITERAL_FORMATS and keyword(before) != "USING"  # USING (format) names a column
    return said if formatted or (apart and said in VALUE_TYPES) else ""


def parse_unary_plus(self: parser.Parser) -> exp.Expr | None:
    """An operand with a unary plus, which sqlglot drops although engines name columns after it."""
    operand = self._parse_unary()
    if operand is None:
        return None
    found = exp.Paren(this=operand)
    found.meta[UNARY_PLUS] = True
    return found


def parse_absolute(self: parser.Parser) -> exp.Expr | None:
    """PostgreSQL: `@ x`, the absolute value; a name that touches the sign is a client variable."""
    sign, following = self._prev, self._curr
    touches = following.start == sign.end + 1
    if sign.text != "@" or (touches and following.token_type not in _ABSOLUTE_OPERANDS):
        self._retreat(self._index - 1)
        return self._parse_type()
    return self.expression(exp.Abs(this=self._parse_term()))  # which is an error where no operand follows


_ABSOLUTE_OPERANDS = (TokenType.L_PAREN, TokenType.DASH, TokenType.PLUS)


def parse_sign_function(name: str) -> Override:
    """A sign that is a function of its operand, which includes sums and products."""
    return lambda _: lambda self: exp.Anonymous(this=name, expressions=[self._parse_term()])


def rewrite_intervals(tokens: list[Token]) -> list[Token]:
    """PostgreSQL: `INTERVAL '1' DAY` as `'1'::INTERVAL DAY`, which sqlglot keeps apart from `INTERVAL '1 day'`."""
    starts = [index for index, token in enumerate(tokens) if token.token_type is TokenType.INTERVAL]
    kept: list[Token] = []
    begin = 0
    for index in starts:
        digits = skip_brackets(tokens, index + 1) if _type_at(tokens, index + 1) is TokenType.L_PAREN else index + 1
        unit = digits + 1
        if _type_at(tokens, digits) is not TokenType.STRING or (
            digits == index + 1 and not _is_interval_unit(tokens, unit)
        ):
            continue
        text, word = tokens[digits], tokens[index]
        sign = Token(TokenType.DCOLON, "::", word.line, word.col, word.start, word.end)
        kept += [*tokens[begin:index], text, sign, synthetic_token("INTERVAL", word), *tokens[index + 1 : digits]]
        begin = unit
        while _is_interval_unit(tokens, begin):
            kept.append(tokens[begin])
            begin += 1
            begin = skip_brackets(tokens, begin) if _type_at(tokens, begin) is TokenType.L_PAREN else begin
            if begin < len(tokens) and keyword(tokens[begin]) == "TO" and _is_interval_unit(tokens, begin + 1):
                kept.append(tokens[begin])
                begin += 1
    return [*kept, *tokens[begin:]] if begin else tokens


def _is_interval_unit(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and keyword(tokens[index]) in INTERVAL_SUFFIX_UNITS


def _type_at(tokens: Sequence[Token], index: int) -> TokenType | None:
    return tokens[index].token_type if index < len(tokens) else None


def rewrite_typed_texts(tokens: Sequence[Token]) -> list[Token]:
    """`cidr '10.0.0.0/8'`, a typed literal, as `'10.0.0.0/8'::cidr`."""
    kept: list[Token] = []
    index = 0
    listed = any(keyword(token) == "COLUMNS" for token in tokens)  # of a document: there PATH says where they are
    types = TEXT_TYPES - {"PATH"} if listed else TEXT_TYPES
    while index < len(tokens):
        word = tokens[index]
        if keyword(word) in types and _type_at(tokens, index + 1) is TokenType.STRING:
            sign = Token(TokenType.DCOLON, "::", word.line, word.col, word.start, word.end)
            kept += [tokens[index + 1], sign, word]
            index += 2
            continue
        kept.append(word)
        index += 1
    return kept


def rewrite_factorials(tokens: Sequence[Token]) -> list[Token]:
    """PostgreSQL: `5!`, `n!` and `(n + 1)!` as a call of FACTORIAL."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        follows = _type_at(tokens, index + 1)
        if keyword(token) != "!" or not kept or follows in (TokenType.EQ, TokenType.TILDE):
            kept.append(token)
            continue
        begin = _find_operand(kept)
        opened = [synthetic_token("factorial", kept[begin]), synthetic_token("(", kept[begin])]
        kept = [*kept[:begin], *opened, *kept[begin:], synthetic_token(")", kept[-1])]
    return kept


def _find_operand(tokens: Sequence[Token]) -> int:
    """The index where the operand begins that ends with the last token."""
    begin, depth = len(tokens) - 1, 0
    while begin > 0:
        depth += (tokens[begin].token_type is TokenType.R_PAREN) - (tokens[begin].token_type is TokenType.L_PAREN)
        before = tokens[begin - 1]
        called = tokens[begin].token_type is TokenType.L_PAREN and before.token_type is TokenType.VAR
        dotted = TokenType.DOT in (before.token_type, tokens[begin].token_type)
        if depth == 0 and not called and not dotted:
            break
        begin -= 1
    return begin


def read_bound_texts(tokens: Sequence[Token]) -> list[Token]:
    """psql: `:'v'` is a client variable as a text."""
    return [token for index, token in enumerate(tokens) if not _is_bound_text(tokens, index)]


def _is_bound_text(tokens: Sequence[Token], index: int) -> bool:
    """Whether a colon begins a client variable: a text follows, and nothing precedes that it could belong to."""
    before, following = tokens[max(index - 1, 0)], tokens[min(index + 1, len(tokens) - 1)]
    text = following.token_type is TokenType.STRING and before.token_type not in OPERAND_END_TOKENS
    return tokens[index].token_type is TokenType.COLON and text


_COMPARISONS = {"<": TokenType.LTE, ">": TokenType.GTE, "!": TokenType.NEQ}


def join_comparisons(tokens: Sequence[Token]) -> list[Token]:
    """Oracle and T-SQL: `a < = b` with one comparison sign."""
    kept: list[Token] = []
    for token in tokens:
        sign = kept[-1] if kept else None
        kind = _COMPARISONS.get(sign.text) if sign is not None and token.token_type is TokenType.EQ else None
        if sign is not None and kind is not None:
            kept[-1] = Token(kind, f"{sign.text}=", sign.line, sign.col, sign.start, token.end)
        else:
            kept.append(token)
    return kept


def rewrite_multisets(tokens: Sequence[Token]) -> list[Token]:
    """Oracle: `a MULTISET UNION ALL b` as a user-defined operator of two values."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if keyword(token) != "MULTISET" or keyword(tokens[min(index, len(tokens) - 1)]) not in _MULTISET_OPERATORS:
            kept.append(token)
            continue
        index += 1 + (index + 1 < len(tokens) and keyword(tokens[index + 1]) in ("ALL", "DISTINCT"))
        place = (token.line, token.col, token.start, token.end)
        kept += [
            Token(TokenType.OPERATOR, "OPERATOR", *place),
            synthetic_token("(", token),
            synthetic_token("+", token),
            synthetic_token(")", token),
        ]
    return kept


_MULTISET_OPERATORS = ("UNION", "EXCEPT", "INTERSECT")


_SCALED_TYPES = frozenset("NUMBER NUMERIC DECIMAL DEC".split())


def drop_negative_scale(tokens: Sequence[Token]) -> list[Token]:
    """Oracle and PostgreSQL: `NUMBER(7, -2)` without its scale."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        scale = [token.token_type for token in tokens[index + 1 : index + 7]]
        kept.append(tokens[index])
        if keyword(tokens[index]) in _SCALED_TYPES and scale == _NEGATIVE_SCALE:
            kept.extend([*tokens[index + 1 : index + 3], tokens[index + 6]])
            index += 6
        index += 1
    return kept


_NEGATIVE_SCALE = [
    TokenType.L_PAREN,
    TokenType.NUMBER,
    TokenType.COMMA,
    TokenType.DASH,
    TokenType.NUMBER,
    TokenType.R_PAREN,
]


def drop_interval_precision(tokens: Sequence[Token]) -> list[Token]:
    """`INTERVAL DAY(2) TO SECOND(6)` without the precisions."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        kept.append(tokens[index])
        index += 1
        words = [keyword(token) for token in kept[-2:]]
        unit = words[0] == "INTERVAL" or words in (["TO", "SECOND"], ["TO", "MONTH"])
        if (
            unit
            and words[-1] in _PRECISION_UNITS
            and index < len(tokens)
            and tokens[index].token_type is TokenType.L_PAREN
        ):
            index = skip_brackets(tokens, index)
    return kept


_PRECISION_UNITS = frozenset("YEAR MONTH DAY HOUR MINUTE SECOND".split())


LITERAL_FORMATS = frozenset("FORMAT CASESPECIFIC CS UPPERCASE UC TITLE".split())
"""Words in brackets after a value that only say how it is displayed or compared."""

VALUE_TYPES = frozenset(
    "DATE INTEGER INT SMALLINT BIGINT BYTEINT DECIMAL NUMERIC FLOAT CHAR VARCHAR TIMESTAMP TIME DEC NAMED".split()
)
"""Types that may stand there too."""

INTERVAL_SUFFIX_UNITS = frozenset("YEAR MONTH DAY HOUR MINUTE SECOND".split())
"""Units that may follow the text of an interval."""

TEXT_TYPES = frozenset(
    "XML CIDR MACADDR MACADDR8 PATH LINE LSEG BOX CIRCLE POLYGON TSVECTOR TSQUERY REGCLASS REGTYPE PG_LSN NUMRANGE "
    "INT4RANGE INT8RANGE TSRANGE TSTZRANGE DATERANGE LTREE LQUERY PG_SNAPSHOT CITEXT HSTORE GEOMETRY GEOGRAPHY "
    "TIMESTAMPLOCALTZ".split()
)
"""Types that may precede a text constant, and that the parser does not know there."""


def unwrap_odbc_escapes(tokens: Sequence[Token]) -> list[Token]:
    """`{ts '2024-01-01'}`, `{d '…'}` and `{fn f(a)}` without the braces and the word behind the first one."""
    kept: list[Token] = []
    open_escapes: list[bool] = []
    index = 0
    while index < len(tokens):
        kind = tokens[index].token_type
        if kind is TokenType.L_BRACE:
            escape = index + 1 < len(tokens) and keyword(tokens[index + 1]) in _ODBC_ESCAPES
            open_escapes.append(escape)
            if escape:
                index += 2
                continue
        elif kind is TokenType.R_BRACE and open_escapes and open_escapes.pop():
            index += 1
            continue
        kept.append(tokens[index])
        index += 1
    return kept


_ODBC_ESCAPES = frozenset("TS D T FN OJ".split())
"""Words behind the brace of an ODBC escape."""


def drop_parameter_numbers(tokens: Sequence[Token]) -> list[Token]:
    """SQLite: `?1` as `?`."""
    return [
        token
        for index, token in enumerate(tokens)
        if not (
            index
            and token.token_type is TokenType.NUMBER
            and tokens[index - 1].token_type is TokenType.PLACEHOLDER
            and tokens[index - 1].end + 1 == token.start
        )
    ]


def merge_static_methods(tokens: Sequence[Token]) -> list[Token]:
    """T-SQL: `geography::Point(a, b, 4326)`, a method of a type, as a function of that whole name."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        called = _type_at(tokens, index + 1) is TokenType.DCOLON and is_open_paren_at(tokens, index + 3)
        if called and keyword(tokens[index]) not in _BEFORE_TABLES:  # FROM ::fn_helpcollations() has no type
            kind, method = tokens[index], tokens[index + 2]
            name = f"{kind.text}::{method.text}"
            kept.append(Token(TokenType.VAR, name, kind.line, kind.col, kind.start, method.end))
            index += 3
            continue
        kept.append(tokens[index])
        index += 1
    return kept


_BEFORE_TABLES = frozenset({"FROM", "JOIN", "APPLY", ","})


def insert_interval_keywords(tokens: Sequence[Token]) -> list[Token]:
    """Hive: `at - '1 2:3:4' DAY TO SECOND` and `day + 30 DAYS` with INTERVAL before the number."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        signed = index and tokens[index - 1].token_type in (TokenType.PLUS, TokenType.DASH)
        if signed and token.token_type in (TokenType.STRING, TokenType.NUMBER) and _is_any_unit(tokens, index + 1):
            kept.append(synthetic_token("INTERVAL", token))
        kept.append(token)
    return kept


def _is_any_unit(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and keyword(tokens[index]).removesuffix("S") in INTERVAL_SUFFIX_UNITS


def bracket_lambda_choices(tokens: Sequence[Token]) -> list[Token]:
    """ClickHouse: `x -> x > 0 ? x : 0` with parentheses around the choice."""
    kept: list[Token] = []
    open_choices: list[int] = []  # the depths at which such parentheses are open
    depth = 0
    for index, token in enumerate(tokens):
        step = paren_step(token)
        while open_choices and (
            (step < 0 and depth == open_choices[-1])
            or (depth == open_choices[-1] and token.token_type is TokenType.COMMA)
        ):
            kept.append(synthetic_token(")", token))
            open_choices.pop()
        depth += step
        kept.append(token)
        if token.token_type is TokenType.ARROW and _has_choice(tokens, index + 1):
            kept.append(synthetic_token("(", token))
            open_choices.append(depth)
    return kept


def _has_choice(tokens: Sequence[Token], index: int) -> bool:
    """Whether a `?` stands in the body of the lambda that begins at a token."""
    depth = 0
    while index < len(tokens):
        depth += paren_step(tokens[index])
        if depth < 0 or (depth == 0 and tokens[index].token_type in (TokenType.COMMA, TokenType.ARROW)):
            return False
        if depth == 0 and tokens[index].token_type is TokenType.PLACEHOLDER:
            return True
        index += 1
    return False


def bracket_negative_positions(tokens: Sequence[Token]) -> list[Token]:
    """ClickHouse: `pair.-1`, an element counted from the end, as `pair[-1]`."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        kinds = [token.token_type for token in tokens[index : index + 3]]
        if kinds != [TokenType.DOT, TokenType.DASH, TokenType.NUMBER]:
            kept.append(tokens[index])
            index += 1
            continue
        opened, closed = synthetic_token("[", tokens[index]), synthetic_token("]", tokens[index + 2])
        kept += [opened, *tokens[index + 1 : index + 3], closed]
        index += 3
    return kept


def drop_union_members(tokens: Sequence[Token]) -> list[Token]:
    """Hive: `UNIONTYPE<int, string>` without the types that it may have."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        kept.append(tokens[index])
        index += 1
        if keyword(kept[-1]) != "UNIONTYPE" or _type_at(tokens, index) is not TokenType.LT:
            continue
        depth = 0
        while index < len(tokens):
            kind = tokens[index].token_type
            depth += (kind is TokenType.LT) - (kind is TokenType.GT)
            index += 1
            if depth == 0:
                break
    return kept


def qualify_object_types(tokens: Sequence[Token]) -> list[Token]:
    """PostgreSQL: `REGTYPE[]` and `OID[]` as `pg_catalog.regtype[]`, which sqlglot reads with brackets too."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        known = token.token_type is TokenType.OBJECT_IDENTIFIER and _type_at(tokens, index + 1) is TokenType.L_BRACKET
        kept += [synthetic_token("pg_catalog", token), synthetic_token(".", token)] if known else []
        kept.append(retype_token(token, TokenType.VAR, token.text) if known else token)
    return kept


def read_parameter_members(tokens: Sequence[Token]) -> list[Token]:
    """PostgreSQL: `$1.a`, a field of an argument, as `($1).a`: the tokenizer takes the point for that of a number."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        numbered = kept and kept[-1].token_type is TokenType.PARAMETER and token.token_type is TokenType.NUMBER
        if numbered and token.text.endswith(".") and _type_at(tokens, index + 1) is TokenType.VAR:
            mark = kept.pop()
            number = Token(TokenType.NUMBER, token.text[:-1], token.line, token.col, token.start, token.end - 1)
            kept += [synthetic_token("(", mark), mark, number, synthetic_token(")", number)]
            kept.append(Token(TokenType.DOT, ".", token.line, token.col, token.end, token.end))
        else:
            kept.append(token)
    return kept


def read_cube_types(tokens: Sequence[Token]) -> list[Token]:
    """PostgreSQL: `corner cube`, `a::cube` and `cube(a)` of an extension, where nothing is grouped by a cube."""
    grouped = any(token.token_type is TokenType.GROUP_BY for token in tokens)
    return [
        retype_token(token, TokenType.VAR, token.text)
        if token.token_type is TokenType.CUBE and not (grouped and is_open_paren_at(tokens, index + 1))
        else token
        for index, token in enumerate(tokens)
    ]


def drop_float_signs(tokens: Sequence[Token]) -> list[Token]:
    """MySQL: `FLOAT(3, 2) UNSIGNED` without the sign."""
    kept: list[Token] = []
    for token in tokens:
        if keyword(token) == "UNSIGNED" and _ends_with_float(kept):
            continue
        kept.append(token)
    return kept


def _ends_with_float(tokens: Sequence[Token]) -> bool:
    """Whether the last tokens are a floating type with or without its digits."""
    begin = len(tokens) - 1
    while (
        begin >= 0 and tokens[-1].token_type is TokenType.R_PAREN and tokens[begin].token_type is not TokenType.L_PAREN
    ):
        begin -= 1
    begin -= tokens[-1].token_type is TokenType.R_PAREN
    return begin >= 0 and keyword(tokens[begin]) in ("FLOAT", "REAL")
