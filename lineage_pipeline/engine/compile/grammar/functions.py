"""Functions: calls with keywords among their arguments, and functions whose names sqlglot reserves."""

from collections.abc import Sequence
from typing import Any

from sqlglot import exp, parser
from sqlglot.dialects.clickhouse import ClickHouse
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.grammar.overrides import Override, Parse
from lineage_pipeline.engine.compile.tokens import (
    OPERAND_END_TOKENS,
    STRING_TOKENS,
    is_open_paren_at,
    keyword,
    retype_token,
    skip_brackets,
    split_list,
    synthetic_token,
    token_type_at,
)


def merge_call_parameters(tokens: Sequence[Token]) -> list[Token]:
    """ClickHouse: `f('x')(a, b)` as `f('x', a, b)`."""
    kept = list(tokens)
    for index in range(len(kept) - 2):
        named = token_type_at(kept, index) is TokenType.VAR and kept[index].text not in _PARAMETRIC_AGGREGATES
        if named and token_type_at(kept, index + 1) is TokenType.L_PAREN:
            end = skip_brackets(kept, index + 1)
            called = token_type_at(kept, end) is TokenType.L_PAREN and token_type_at(kept, end + 1) not in _QUERY_TOKENS
            if called and end - index > 3:
                kept[end - 1 : end + 1] = [retype_token(kept[end], TokenType.COMMA, ",")]
    return kept


_PARAMETRIC_AGGREGATES = frozenset(getattr(ClickHouse.parser_class, "AGG_FUNC_MAPPING", ()))
"""Functions that sqlglot already reads with two argument lists."""

_QUERY_TOKENS = (TokenType.SELECT, TokenType.WITH, TokenType.VALUES, TokenType.R_PAREN)


def rewrite_is_function(tokens: Sequence[Token]) -> list[Token]:
    """`IS(…)` where a value begins as a user-defined function."""
    return [
        Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end)
        if keyword(token) == "IS"
        and is_open_paren_at(tokens, index + 1)
        and index
        and keyword(tokens[index - 1]) in _VALUE_STARTS
        else token
        for index, token in enumerate(tokens)
    ]


_VALUE_STARTS = frozenset("SELECT ( , WHEN THEN ELSE AND OR NOT WHERE ON RETURN =".split())
"""What a value follows."""


def drop_json_clauses(tokens: Sequence[Token]) -> list[Token]:
    """JSON functions without ON ERROR, ON EMPTY, RETURNING and WRAPPER clauses."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        kept.append(tokens[index])
        index += 1
        if not keyword(tokens[index - 1]).startswith("JSON_") or not is_open_paren_at(tokens, index):
            continue
        end, depth = skip_brackets(tokens, index), 0
        for at in range(index, end):
            kind = tokens[at].token_type
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            words = tuple(keyword(token) for token in tokens[at : at + 2])
            if depth == 1 and at > index and any(words[: len(clause)] == clause for clause in JSON_CLAUSES):
                kept.extend([*drop_json_clauses(tokens[index:at]), tokens[end - 1]])
                index = end
                break
    return kept


def drop_json_column_clauses(tokens: Sequence[Token]) -> list[Token]:
    """The columns of a JSON_TABLE without ON EMPTY and ON ERROR."""
    kept: list[Token] = []
    for token in tokens:
        kept.append(token)
        words = [keyword(item) for item in kept[-4:]]
        if words[-2:-1] == ["ON"] and words[-1] in ("EMPTY", "ERROR"):
            del kept[-4 if words[0] == "DEFAULT" else -3 :]
    return kept


def unwrap_lambdas(tokens: Sequence[Token]) -> list[Token]:
    """DuckDB: `f(a, (LAMBDA x: x + 1))` as `f(a, LAMBDA x: x + 1)`."""
    dropped: set[int] = set()
    for index in range(2, len(tokens)):
        before = tokens[index - 2].token_type
        bracket = keyword(tokens[index]) == "LAMBDA" and is_open_paren_at(tokens, index - 1)
        if bracket and before in (TokenType.L_PAREN, TokenType.COMMA):
            dropped |= {index - 1, skip_brackets(tokens, index - 1) - 1}
    return [token for index, token in enumerate(tokens) if index not in dropped]


def unwrap_xml_constants(tokens: Sequence[Token]) -> list[Token]:
    """XMLTABLE with bare constants: `(('/r'::text)` as `('/r'` and `PATH ('a'::text)` as `PATH 'a'`."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        words = [keyword(token) for token in tokens[index : index + 5]]
        kinds = [token.token_type for token in tokens[index : index + 5]]
        if words[0] == "(" and kinds[1:3] == [TokenType.STRING, TokenType.DCOLON] and words[3:] == ["TEXT", ")"]:
            kept.append(tokens[index + 1])
            index += 5
            continue
        kept.append(tokens[index])
        index += 1
    return kept


def rewrite_transform(tokens: Sequence[Token]) -> list[Token]:
    """Hive: `MAP a, b USING` and `REDUCE a, b USING` as `SELECT TRANSFORM(a, b) USING`."""
    kept: list[Token] = []
    pending = False
    for index, token in enumerate(tokens):
        following = tokens[index + 1].token_type if index + 1 < len(tokens) else TokenType.L_PAREN
        place = (token.line, token.col, token.start, token.end)
        if keyword(token) in ("MAP", "REDUCE") and following not in (TokenType.L_PAREN, TokenType.LT):
            kept.extend([synthetic_token("SELECT", token), Token(TokenType.VAR, "TRANSFORM", *place)])
            kept.append(Token(TokenType.L_PAREN, "(", *place))
            pending = True
            continue
        if pending and keyword(token) == "USING":
            kept.append(Token(TokenType.R_PAREN, ")", *place))
            pending = False
        kept.append(token)
    return kept


def parse_json_object(with_keys: Parse) -> Parse:
    """JSON_OBJECT of texts that hold keys and values, or of pairs of them."""

    def parse(self: parser.Parser) -> Any:
        first = self._index
        texts = self._try_parse(lambda: self._parse_csv(self._parse_bitwise))
        if texts and len(texts) <= 2 and self._curr and self._curr.token_type is TokenType.R_PAREN:
            return exp.Anonymous(this="JSON_OBJECT", expressions=texts)
        self._retreat(first)
        return with_keys(self)

    return parse


def parse_extract(with_field: Parse) -> Parse:
    """Oracle: EXTRACT(document, path) beside EXTRACT(year FROM d)."""

    def parse(self: parser.Parser) -> Any:
        first = self._index
        arguments = self._try_parse(lambda: self._parse_csv(self._parse_bitwise))
        if arguments and len(arguments) > 1 and self._curr and self._curr.token_type is TokenType.R_PAREN:
            return exp.Anonymous(this="XMLEXTRACT", expressions=arguments)
        self._retreat(first)
        return with_field(self)

    return parse


def parse_xml_function(name: str) -> Override:
    """XMLPARSE(CONTENT x) and XMLSERIALIZE(DOCUMENT x AS type)."""

    def parse(self: parser.Parser) -> exp.Expr | None:
        if not self._match_text_seq("CONTENT"):
            self._match_text_seq("DOCUMENT")
        value = self._parse_bitwise()
        if value is not None and self._match_text_seq("AS"):
            value = exp.Cast(this=value, to=self._parse_types())
        while self._curr and self._curr.token_type is not TokenType.R_PAREN:  # NO INDENT, ENCODING 'utf-8', …
            self._advance()
        return exp.Anonymous(this=name, expressions=[value])

    return lambda _: parse


def parse_xml_instruction(_: Parse | None) -> Parse:
    """XMLPI(NAME target, content)."""

    def parse(self: parser.Parser) -> exp.Expr | None:
        self._match_text_seq("NAME")
        self._advance()
        content = [self._parse_bitwise()] if self._match(TokenType.COMMA) else []
        return exp.Anonymous(this="XMLPI", expressions=content)

    return parse


def parse_xml_root(_: Parse | None) -> Parse:
    """XMLROOT(document, VERSION text, STANDALONE YES)."""

    def parse(self: parser.Parser) -> exp.Expr | None:
        arguments = [self._parse_bitwise()]
        while self._match(TokenType.COMMA):
            self._match_text_seq("VERSION")
            self._match_text_seq("STANDALONE")
            if self._match_text_seq("NO", "VALUE") or self._match_texts(("YES", "NO")):
                continue
            arguments.append(self._parse_bitwise())
        return exp.Anonymous(this="XMLROOT", expressions=arguments)

    return parse


def parse_culture(_: Parse | None) -> Parse:
    """T-SQL: PARSE(text AS type USING culture) is a cast."""

    def parse(self: parser.Parser) -> exp.Expr | None:
        value = self._parse_bitwise()
        self._match(TokenType.ALIAS)
        kind = self._parse_types()
        if self._match(TokenType.USING):
            self._parse_bitwise()
        return self.expression(exp.Cast(this=value, to=kind))

    return parse


def parse_translate(_: Parse | None) -> Parse:
    """Oracle: TRANSLATE(text USING CHAR_CS) beside TRANSLATE(text, from, to)."""

    def parse(self: parser.Parser) -> exp.Expr | None:
        arguments = self._parse_csv(self._parse_bitwise)
        if self._match(TokenType.USING):
            self._advance()
        return exp.Anonymous(this="TRANSLATE", expressions=arguments)

    return parse


def parse_xml_passing(name: str) -> Override:
    """XMLQUERY(path PASSING document AS "d" RETURNING CONTENT) and XMLEXISTS."""

    def parse(self: parser.Parser) -> exp.Expr | None:
        arguments = [self._parse_bitwise()]
        listed = self._match_text_seq("PASSING")
        while listed:
            if self._match_text_seq("BY"):
                self._match_texts(("VALUE", "REF"))
            arguments.append(self._parse_bitwise())
            if self._match(TokenType.ALIAS):
                self._advance()
            listed = self._match(TokenType.COMMA)
        while self._curr and self._curr.token_type is not TokenType.R_PAREN:  # RETURNING CONTENT, BY REF, …
            self._advance()
        return exp.Anonymous(this=name, expressions=arguments)

    return lambda _: parse


def rewrite_prediction(tokens: Sequence[Token]) -> list[Token]:
    """Oracle: `PREDICTION(model COST MODEL USING a AS x, b)` as `PREDICTION(a, b)`; the model is not data."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        kept.append(tokens[index])
        index += 1
        opened = index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN
        if not opened or not keyword(tokens[index - 1]).startswith(SCORING_PREFIXES):
            continue
        end = skip_brackets(tokens, index)
        words = [keyword(token) for token in tokens[index:end]]
        if "USING" in words:
            kept.append(tokens[index])
            kept.extend(_strip_aliases(rewrite_prediction(tokens[index + words.index("USING") + 1 : end - 1])))
            kept.append(tokens[end - 1])
            index = end
    return kept


def _strip_aliases(tokens: Sequence[Token]) -> list[Token]:
    """The items of a list without their aliases."""
    kept: list[Token] = []
    for item in split_list(tokens):
        named = len(item) > 2 and keyword(item[-2]) == "AS"
        if kept:
            kept.append(Token(TokenType.COMMA, ",", item[0].line, item[0].col, item[0].start, item[0].start))
        kept.extend(item[:-2] if named else item)
    return kept


def rewrite_json_row(tokens: Sequence[Token]) -> list[Token]:
    """`JSON_OBJECT(t.*)` as a function that takes any arguments."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        inner = tokens[index + 2 : index + 5]
        starred = any(item.token_type is TokenType.STAR for item in inner[: 1 if len(inner) < 3 else 3])
        opened = keyword(token) == "JSON_OBJECT" and keyword(tokens[min(index + 1, len(tokens) - 1)]) == "("
        if opened and starred:
            token = Token(TokenType.VAR, "JSON_ROW", token.line, token.col, token.start, token.end, token.comments)
        kept.append(token)
    return kept


def alias_struct_members(tokens: Sequence[Token]) -> list[Token]:
    """Spark: `struct(1 a, x b)` with AS before the names of members."""
    kept: list[Token] = []
    around: list[str] = []  # what stands before each bracket that is open
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else token
        if token.token_type is TokenType.L_PAREN:
            around.append(keyword(before))
        elif token.token_type is TokenType.R_PAREN and around:
            around.pop()
        named = before.token_type in OPERAND_END_TOKENS and token.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
        ended = index + 1 < len(tokens) and tokens[index + 1].token_type in (TokenType.COMMA, TokenType.R_PAREN)
        if named and ended and around[-1:] == ["STRUCT"]:
            kept.append(synthetic_token("AS", token))
        kept.append(token)
    return kept


def rewrite_window_functions(tokens: Sequence[Token]) -> list[Token]:
    """`window(time, '5 minutes')` and `session(time, …)` are functions, not clauses."""
    return [
        Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end, token.comments)
        if keyword(token) in ("WINDOW", "SESSION") and _is_call_at(tokens, index + 1)
        else token
        for index, token in enumerate(tokens)
    ]


def _is_call_at(tokens: Sequence[Token], index: int) -> bool:
    """Whether a parenthesis opens at a token."""
    return index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN


def drop_call_distinct(tokens: Sequence[Token]) -> list[Token]:
    """`f(DISTINCT x, y)` without DISTINCT: sqlglot takes both arguments for one."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        before = tokens[index - 1].token_type if index else None
        called = index > 1 and tokens[index - 2].token_type is not TokenType.IN
        if not (keyword(token) == "DISTINCT" and before is TokenType.L_PAREN and called):
            kept.append(token)
    return kept


def rewrite_rows(tokens: Sequence[Token]) -> list[Token]:
    """Flink: `ROW<a INT>` and `ROW(a, b)` as STRUCT, and drops ON CONFLICT DO."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        following = tokens[index + 1].token_type if index + 1 < len(tokens) else None
        if keyword(token) == "ON" and [keyword(item) for item in tokens[index + 1 : index + 3]] == ["CONFLICT", "DO"]:
            return kept if index + 4 == len(tokens) else list(tokens)
        row = keyword(token) == "ROW" and following in (TokenType.LT, TokenType.L_PAREN)
        kept.append(synthetic_token("STRUCT", token) if row else token)
    return kept


JSON_CLAUSES: tuple[tuple[str, ...], ...] = (
    ("RETURNING",),
    ("WITH",),
    ("WITHOUT",),
    ("KEEP",),
    ("OMIT",),
    ("ERROR", "ON"),
    ("EMPTY",),
    ("ABSENT", "ON"),
    ("NULL", "ON"),
    ("FORMAT",),
)
"""Words that begin the options of a JSON function, after its arguments."""

SCORING_PREFIXES = ("PREDICTION", "CLUSTER_", "FEATURE_", "ORA_DM_")
"""Prefixes of functions that apply a model to columns: `PREDICTION(model USING a, b)`."""


def expand_column_lists(tokens: Sequence[Token]) -> list[Token]:
    """ClickHouse: `COLUMNS(a, b) EXCEPT (b) APPLY f` as `f(a)`."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        end = skip_brackets(tokens, index + 1) if is_open_paren_at(tokens, index + 1) else index
        given = split_list(tokens[index + 2 : end - 1]) if keyword(tokens[index]) == "COLUMNS" else []
        if not given or (len(given) == 1 and given[0][0].token_type in STRING_TOKENS):
            kept.append(tokens[index])
            index += 1
            continue
        owner = kept[-2:] if kept and kept[-1].token_type is TokenType.DOT else []
        del kept[len(kept) - len(owner) :]
        columns = {
            item[-1].text: [*(retype_token(item[0], token.token_type, token.text) for token in owner), *item]
            for item in given
        }
        while end < len(tokens) and keyword(tokens[end]) in _COLUMN_CHANGES:
            end = _change_columns(columns, tokens, end)
        comma = retype_token(tokens[index], TokenType.COMMA, ",")
        columns = {name: _name_result(item) for name, item in columns.items()}
        kept += [token for item in columns.values() for token in (comma, *item)][1:]
        index = end
    return kept


_COLUMN_CHANGES = frozenset("APPLY EXCEPT REPLACE".split())


def _change_columns(columns: dict[str, list[Token]], tokens: Sequence[Token], index: int) -> int:
    """Change a list of columns by the step at an index; the index after the step."""
    word, opened = keyword(tokens[index]), is_open_paren_at(tokens, index + 1)
    begin = index + 2 if opened else index + 1
    end = skip_brackets(tokens, index + 1) - 1 if opened else _skip_plain_change(tokens, begin)
    for item in split_list(tokens[begin:end]):
        if word == "EXCEPT":
            columns.pop(item[-1].text, None)
        elif word == "REPLACE" and item[-1].text in columns:
            columns[item[-1].text] = item
        elif word == "APPLY":
            columns.update({name: _apply_function(item, given) for name, given in columns.items()})
    return end + opened


def _name_result(item: list[Token]) -> list[Token]:
    """A column with the name that it has after functions were applied to it."""
    if item[-1].token_type is not TokenType.R_PAREN:
        return item
    shown = "".join(token.text for token in item)
    return [*item, synthetic_token("AS", item[-1]), retype_token(item[-1], TokenType.IDENTIFIER, shown)]


def _skip_plain_change(tokens: Sequence[Token], index: int) -> int:
    """The index after what a step without parentheses names: up to the next item, step or clause."""
    while index < len(tokens) and keyword(tokens[index]) not in _COLUMN_CHANGES | {",", ")", "FROM", ";"}:
        index = skip_brackets(tokens, index) if is_open_paren_at(tokens, index) else index + 1
    return index


def _apply_function(function: Sequence[Token], value: list[Token]) -> list[Token]:
    """A column as the argument of a function, or of a lambda."""
    near = value[-1]
    arrow = next((at for at, token in enumerate(function) if token.token_type is TokenType.ARROW), 0)
    if arrow:
        return [token for one in function[arrow + 1 :] for token in (value if one.text == function[0].text else [one])]
    return [*function, synthetic_token("(", near), *value, synthetic_token(")", near)]


def rewrite_ranking_arguments(tokens: Sequence[Token]) -> list[Token]:
    """Oracle: `APPROX_RANK(PARTITION BY a ORDER BY b)` as `APPROX_RANK() OVER (…)`."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        kept.append(token)
        ranked = keyword(token) == "(" and index and keyword(tokens[index - 1]) == "APPROX_RANK"
        if ranked and token_type_at(tokens, index + 1) in (TokenType.PARTITION_BY, TokenType.ORDER_BY):
            kept += [synthetic_token(")", token), synthetic_token("OVER", token), synthetic_token("(", token)]
    return kept


def bracket_applied_functions(tokens: Sequence[Token]) -> list[Token]:
    """ClickHouse: `* APPLY f` as `* APPLY(f)`."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        kept.append(tokens[index])
        index += 1
        if keyword(kept[-1]) == "APPLY" and not is_open_paren_at(tokens, index):
            end = _skip_plain_change(tokens, index)
            kept += [synthetic_token("(", kept[-1]), *tokens[index:end], synthetic_token(")", kept[-1])]
            index = end
    return kept


def bracket_transformed_columns(tokens: Sequence[Token]) -> list[Token]:
    """Hive: `TRANSFORM (a) USING 'cat' AS k BINARY, v INT` with parentheses around the columns."""
    words = [keyword(token) for token in tokens]
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        kept.append(tokens[index])
        index += 1
        if (
            words[index - 1] == "AS"
            and words[index - 3 : index - 2] == ["USING"]
            and not is_open_paren_at(tokens, index)
        ):
            ends = (at for at in range(index, len(tokens)) if words[at] in ("FROM", "ROW", "RECORDREADER", ")"))
            end = next(ends, len(tokens))
            kept += [synthetic_token("(", kept[-1]), *tokens[index:end], synthetic_token(")", tokens[end - 1])]
            index = end
    return kept
