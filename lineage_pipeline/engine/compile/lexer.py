"""Lexer: text to tokens, recovery of texts with unclosed quotes, lines for the client, T-SQL quotes and names."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import msgspec
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError
from sqlglot.tokens import Token, Tokenizer, TokenType

from lineage_pipeline.dialects.client_commands import ClientCommands
from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.engine.compile.grammar.isolation import Pool
from lineage_pipeline.engine.compile.grammar.parser import ParseFailure, get_sqlglot_dialect
from lineage_pipeline.engine.compile.split.raw_statements import RawStatement, is_batch_separator
from lineage_pipeline.engine.compile.tokens import keyword, keywords_of, retype_token
from lineage_pipeline.model import ir


def tokenize(text: str, traits: DialectTraits) -> list[Token] | ParseFailure:
    """The tokens of a text, or a failure."""
    dialect = get_sqlglot_dialect(traits.grammar or traits.name)
    family = traits.procedural
    dollars = family is not None and family.dollars
    with _tokenizer_pool(dialect, traits.quotes, dollars, traits.hash_comments).borrow() as tokenizer:
        marked = (
            _DOLLAR_ARGUMENT.sub(_substitute_mark(tokenizer), text)
            if "$" in text and tokenizer.HEREDOC_STRINGS
            else text
        )
        tokens = _try_tokenize(tokenizer, marked) or _try_tokenize(
            tokenizer, _SPACED_HEX_STRING.sub(_fill_hex_blanks, marked)
        )
    if tokens is None:
        return ParseFailure("a quote or a comment in it does not end", 0, len(text))
    return tokens if marked is text else [_restore_dollar(token, text) for token in tokens]


def _try_tokenize(tokenizer: Tokenizer, text: str) -> list[Token] | None:
    try:
        return tokenizer.tokenize(text)
    except TokenError:  # which says no more than that
        return None


_SPACED_HEX_STRING = re.compile(r"\b[xX]'[0-9a-fA-F]*(?:\s+[0-9a-fA-F]+)+\s*'")
"""`X'65 66'`: bytes with blanks between them, which sqlglot cannot tokenize."""


def _fill_hex_blanks(found: re.Match[str]) -> str:
    return re.sub(r"\s", "0", found[0])  # as long as before, so that all places stay


_DOLLAR_ARGUMENT = re.compile(r"(?<![\w$])\$(?=[\d{])")
"""`$1`, `${x}`: sqlglot reads `$1,$` as the start of a heredoc, so another mark replaces the `$` first."""


def _substitute_mark(tokenizer: Tokenizer) -> str:
    return ":" if ".:" not in tokenizer.KEYWORDS else "@"


def _restore_dollar(token: Token, text: str) -> Token:
    if token.token_type not in (TokenType.COLON, TokenType.PARAMETER) or text[token.start] != "$":
        return token
    return Token(TokenType.PARAMETER, "$", token.line, token.col, token.start, token.end, token.comments)


@cache
def _tokenizer_pool(dialect: Dialect, quotes: str, dollars: bool, hash_comments: bool) -> Pool[Tokenizer]:
    """Tokenizers with further quotes that do not treat GO, CALL or REPLACE as opaque commands."""
    base = dialect.tokenizer_class
    changes: dict[str, Any] = {"COMMANDS": set()}
    if dollars:
        changes["RAW_STRINGS"] = [*base.RAW_STRINGS, "$$"]
    if base.HEREDOC_STRINGS:  # `$tag$`: a tag is a name, in ClickHouse too
        changes |= {"HEREDOC_TAG_IS_IDENTIFIER": True, "HEREDOC_STRING_ALTERNATIVE": TokenType.PARAMETER}
    if hash_comments:
        changes["COMMENTS"] = [*base.COMMENTS, "#"]
    if quotes:
        changes["IDENTIFIERS"] = [*base.IDENTIFIERS, *quotes]
    if ("x'", "'") not in base.HEX_STRINGS:  # DuckDB, ClickHouse: `x'ff'` are bytes there too
        changes["HEX_STRINGS"] = [*base.HEX_STRINGS, ("x'", "'"), ("X'", "'")]
    if "MATCH_RECOGNIZE" not in base.KEYWORDS:
        changes["KEYWORDS"] = {**base.KEYWORDS, "MATCH_RECOGNIZE": TokenType.MATCH_RECOGNIZE}
    own = type("LineageTokenizer", (base,), changes)
    return Pool(lambda: own(dialect=dialect))


CanTokenize = Callable[[str], bool]
"""Says whether a text can be tokenized."""

_STATEMENT_END = re.compile(r";[ \t\r]*(?:--[^\n]*)?$|^[ \t]*(?:GO|/)[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
"""Where a statement ends, unless it is inside quotes."""

_UNCLOSED_START = re.compile(r"/\*|\$\w*\$|['\"`\[]")
"""What may lack its end: comments, dollar quotes, quotes and brackets."""

_LEADING_COMMENTS = re.compile(r"(?:\s|--[^\n]*\n|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)*")
"""Blanks and comments before a statement."""

MAX_QUOTED_STATEMENTS = 40
"""The maximum number of statement ends inside one quoted text (a routine body, dynamic SQL)."""

RECOVERY_BUDGET = 1_000_000
"""Characters that may be tokenized again to find the broken statements; six times the length of a long text."""


def tokenize_with_recovery(text: str, traits: DialectTraits) -> tuple[list[Token] | ParseFailure, list[RawStatement]]:
    """The tokens of a text, and its statements that cannot be tokenized."""
    tokens = tokenize(text, traits)
    if not isinstance(tokens, ParseFailure):
        return tokens, []
    lost = find_broken_statements(text, lambda part: not isinstance(tokenize(part, traits), ParseFailure))
    return tokenize(_blank_out(text, lost), traits), lost


def find_broken_statements(text: str, readable: CanTokenize) -> list[RawStatement]:
    """The statements that cannot be tokenized, each with a finding at the fault."""
    return [
        _build_broken_statement(text, start, end, readable)
        for start, end in _find_broken_ranges(text, readable)
        if text[start:end].strip()
    ]


def _blank_out(text: str, pieces: list[RawStatement]) -> str:
    """The text with blanks instead of its broken statements."""
    parts: list[str] = []
    last = 0
    for piece in pieces:
        parts.extend((text[last : piece.start], re.sub(r"[^\n]", " ", text[piece.start : piece.end])))
        last = piece.end
    return "".join((*parts, text[last:]))


def _find_broken_ranges(text: str, readable: CanTokenize) -> Iterator[tuple[int, int]]:
    cuts = sorted({0, *(match.end() for match in _STATEMENT_END.finditer(text)), len(text)})
    at, left = 0, max(RECOVERY_BUDGET, 6 * len(text))
    while at + 1 < len(cuts):
        width = 1
        while not readable(text[cuts[at] : cuts[at + width]]):
            left -= cuts[at + width] - cuts[at]
            if width == MAX_QUOTED_STATEMENTS or left < 0 or at + width + 1 == len(cuts):
                fault = _find_fault(text[cuts[at] : cuts[at + 1]], readable)
                width = len(cuts) - 1 - at if text.startswith("/*", cuts[at] + fault) else 1  # the rest is a comment
                yield cuts[at], cuts[at + width]
                break
            width += 1
        at += width


def _build_broken_statement(text: str, start: int, end: int, readable: CanTokenize) -> RawStatement:
    """A broken statement as a raw statement that needs no parser."""
    begin = _LEADING_COMMENTS.match(text, start, end).end()  # type: ignore[union-attr] # it may be empty
    if not text[begin:end].strip():  # a remark in a remark that does not end
        begin = end - len(text[start:end].lstrip())
    written = text[begin:end].rstrip().removesuffix(";").rstrip() or text[begin:end]
    token = Token(TokenType.VAR, written, 1, 1, begin, begin + len(written) - 1)
    at = _find_fault(written, readable)
    what = f"what begins with {written[at:].split()[0][:12]}" if at >= 0 else "something in it"
    finding = ir.Finding("PARSE_ERROR", (("reason", f"{what} does not end"),), max(at, 0), len(written))
    parts = (("status", "failed"), ("findings", (finding,)))
    return RawStatement([token], kind=written.split(maxsplit=1)[0].upper(), parts=parts, aside=True)


def _find_fault(written: str, readable: CanTokenize) -> int:
    """The offset of the last opening up to which a statement can be tokenized, or -1."""
    openings = [match.start() for match in _UNCLOSED_START.finditer(written)][-MAX_QUOTED_STATEMENTS:]
    return next((at for at in reversed(openings) if readable(written[:at])), -1)


class ClientScript(msgspec.Struct):
    """A script from which the lines for the client are removed; offsets stay as they are."""

    text: str
    pieces: list[RawStatement] = []
    covers: list[tuple[int, int, str]] = []
    delimiter: str = ";"
    after_blank: bool = False

    def cover(self, start: int, end: int, instead: str = "") -> None:
        """Replace some characters by blanks, or by something no longer than they are."""
        self.covers.append((start, end, instead))

    def masked_text(self) -> str:
        """The text for the tokenizer, without the lines for the client."""
        parts: list[str] = []
        last = 0
        for start, end, instead in sorted(self.covers):
            blank = "".join("\n" if char == "\n" else " " for char in self.text[start + len(instead) : end])
            parts.extend((self.text[last:start], instead, blank))
            last = end
        return "".join((*parts, self.text[last:]))

    def add_statement(self, start: int, end: int, kind: str, parts: tuple[tuple[str, object], ...] = ()) -> None:
        """Make a statement of some characters."""
        token = Token(TokenType.VAR, self.text[start:end], 1, 1, start, end - 1)
        self.pieces.append(RawStatement([token], kind=kind, parts=parts, aside=True))


def extract_client_lines(text: str, traits: DialectTraits) -> ClientScript:
    """Remove the lines meant for the client (psql, SQL*Plus, mysql, sqlite3), and keep them as statements."""
    client = ClientScript(text)
    rules = traits.client_commands
    if rules is None or not _may_have_client_lines(text):
        return client
    rows = list(_find_data_rows(rules, text))
    for start, end in rows:
        client.add_statement(start + len(text[start:end]) - len(text[start:end].lstrip()), end, "DATA")
        client.cover(start, end, instead=";")
    position, opened, ahead = 0, False, 0
    for line in text.splitlines(keepends=True):
        while ahead < len(rows) and rows[ahead][1] <= position:
            ahead += 1
        if ahead == len(rows) or position < rows[ahead][0]:
            opened = _read_client_line(client, rules, position, line.rstrip(), opened)
            client.after_blank = not line.strip()
        position += len(line)
    client.pieces.sort(key=lambda piece: piece.start)
    return client


def _find_data_rows(rules: ClientCommands, text: str) -> Iterator[tuple[int, int]]:
    """The ranges of rows between statements, each up to the mark that ends it."""
    head = rules.data.search(text) if rules.data is not None else None
    while head is not None and rules.data is not None and rules.data_end is not None:
        end = rules.data_end.search(text, head.end())
        if end is None:
            return
        yield head.end(), end.end(1)
        head = rules.data.search(text, end.end())


_CLIENT_WORDS = (
    "set prompt pro pause rem remark spool spo oradebug whenever define def column col connect conn delimiter source "
    "ttitle variable dfs var print accept acc host start sta clear break undefine undef quit show sho desc run tee "
    "notee pager nopager warnings nowarning rehash".split()
)
_CLIENT_LINE_START = re.compile(rf"[\\@!/.]|(?:{'|'.join(_CLIENT_WORDS)})\b")
"""The start of a line that may be meant for the client."""

_CLIENT_PREFIXES = frozenset(word[:3] for word in _CLIENT_WORDS)
_CLIENT_SIGNS = frozenset("\\@!/.")


def _may_have_client_lines(text: str) -> bool:
    """Whether a script may have lines for the client, judged cheaply by the first letters of its lines."""
    if "\\g" in text:
        return True
    lines = map(str.lstrip, text.lower().split("\n"))
    return any(
        map(
            _CLIENT_LINE_START.match,
            [line for line in lines if line[:3] in _CLIENT_PREFIXES or line[:1] in _CLIENT_SIGNS],
        )
    )


def _read_client_line(client: ClientScript, rules: ClientCommands, position: int, line: str, opened: bool) -> bool:
    """Process one line; returns whether a statement is open after it."""
    written = line.lstrip()
    start = position + len(line) - len(written)
    ending = rules.ends.search(line) if rules.ends is not None else None
    if ending is not None and not _is_in_comment(line[: ending.start()]):
        client.cover(position + ending.start(), position + ending.end(), instead=";")
        return False
    if opened and client.after_blank and rules.interrupts is not None and rules.interrupts.match(written):
        client.add_statement(start, position + len(line), "CLIENT COMMAND")
        client.cover(start, position + len(line), instead=";")
        return False
    match = rules.line.match(written)
    word = match["word"].lower() if match is not None else ""
    if match is not None and (not opened or word in rules.anywhere):
        _add_client_line(client, rules, (start, position + len(line)), word, written[match.end() :].strip())
        return False if word == "/" else opened
    if client.delimiter != ";" and line.endswith(client.delimiter):
        client.cover(position + len(line) - len(client.delimiter), position + len(line), instead=";")
        return False
    code = written.split("--", 1)[0].rstrip()
    if not code or code.startswith("/*"):
        return opened
    return not code.endswith((";", "*/"))


def _is_in_comment(before: str) -> bool:
    """Whether what follows these characters of a line is a comment."""
    return before.rfind("/*") > before.rfind("*/") or "--" in before


def _add_client_line(client: ClientScript, rules: ClientCommands, place: tuple[int, int], word: str, rest: str) -> None:
    start, end = place
    if word in rules.statement:  # the mark goes, the end of the line ends the statement
        client.cover(start, start + 1)
        if end < len(client.text):
            client.cover(end, end + 1, instead=";")
        return
    kind = rules.kinds.get(word, "CLIENT COMMAND")
    if kind == "DELIMITER" and rest:
        client.delimiter = rest.split()[0]
    named = rest.split()[0].strip("\"';") if rest else ""
    connects = kind == "CONNECT" and named and named != "-" and "/" not in named
    client.add_statement(start, end, kind, (("context", ("DATABASE", named)),) if connects else ())
    client.cover(start, end, instead=";" if word == "/" else "")  # the slash runs what stands before it


_QUOTE_OPTIONS = frozenset({"QUOTED_IDENTIFIER", "ANSI_DEFAULTS"})
_MODULE_KEYWORDS = frozenset({"PROC", "PROCEDURE", "FUNCTION", "TRIGGER"})


def read_double_quotes(tokens: Sequence[Token], text: str, off: bool = False) -> Sequence[Token]:
    """T-SQL: tokens with strings instead of names where SET QUOTED_IDENTIFIER OFF applies.
    `off` is the setting before the text. The option counts from where it is set; inside a module it has no effect.
    """
    if '"' not in text or not (off or any(option in text.upper() for option in _QUOTE_OPTIONS)):
        return tokens
    return [
        Token(TokenType.STRING, token.text, token.line, token.col, token.start, token.end, token.comments)
        if off and token.token_type is TokenType.IDENTIFIER and text[token.start] == '"'
        else token
        for token, off in zip(tokens, _quote_settings(tokens, off), strict=True)
    ]


def _quote_settings(tokens: Sequence[Token], off: bool) -> Iterator[bool]:
    """Whether QUOTED_IDENTIFIER is off, at each token."""
    words = keywords_of(tokens)
    module = False
    for index, word in enumerate(words):
        if word == "GO" and is_batch_separator(tokens, index):
            module = False
        elif word in ("CREATE", "ALTER"):
            what = index + (3 if words[index + 1 : index + 2] == ["OR"] else 1)
            module = module or not _MODULE_KEYWORDS.isdisjoint(words[what : what + 1])
        elif word == "SET" and not module:
            off = _read_quote_setting(words, index + 1, off)
        yield off


def _read_quote_setting(words: Sequence[str], index: int, off: bool) -> bool:
    """The setting after SET and a list of options."""
    named = False
    while index < len(words) and words[index] not in ("ON", "OFF"):
        named = named or words[index] in _QUOTE_OPTIONS
        if words[index + 1 : index + 2] not in ([","], ["ON"], ["OFF"]):
            return off
        index += 2 if words[index + 1] == "," else 1
    return index < len(words) and words[index] == "OFF" if named else off


_CONTINUED_BINARY = re.compile(r"\b0x[0-9a-f]*(?:\\\r?\n[0-9a-f]*)+", re.IGNORECASE)
"""Bytes that continue after a backslash at the end of a line."""


_FILE_TRANSFER = re.compile(r"^[ \t]*(?:put|get)\s[^;\n]*/\*[^;\n]*", re.IGNORECASE | re.MULTILINE)


def mask_file_patterns(text: str) -> str:
    """Snowflake, Databricks: `PUT file://data/* @stage`, whose pattern begins no comment, without its star."""
    if "/*" not in text or "file:" not in text.lower():
        return text
    return _FILE_TRANSFER.sub(lambda match: match[0].replace("/*", "/ "), text)


_EXECUTABLE_COMMENT_PARTS = re.compile(
    r"""'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.|"")*"?|`[^`]*`?|--[ \t][^\n]*|#[^\n]*|/\*M?!\d*+(?!\\-)|/\*|\*/""",
    re.DOTALL,
)
"""What may hold or hide the marks of a comment that is run: strings, names, other comments, and the marks.

`/*M!999999\\- … */` at the head of a dump is a command for the client (MariaDB docs: mariadb-dump, sandbox mode).
"""


def open_executable_comments(text: str) -> str:
    """MySQL: the text with the marks of `/*!50001 … */` blanked, so that what they enclose is read."""
    if "/*!" not in text and "/*M!" not in text:
        return text
    depth, parts, behind, position = 0, list[str](), 0, 0
    while (match := _EXECUTABLE_COMMENT_PARTS.search(text, position)) is not None:
        position = match.end()
        if match[0] == "/*":  # a comment that is none but a comment
            position = text.find("*/", position) + 2
            if position == 1:
                break
            continue
        opens = match[0].startswith(("/*!", "/*M!"))
        if opens or (match[0] == "*/" and depth):
            depth += 1 if opens else -1
            parts += [text[behind : match.start()], " " * len(match[0])]
            behind = match.end()
    return "".join([*parts, text[behind:]])


def join_binary_lines(text: str) -> str:
    """T-SQL: the text with binary constants on one line, at the same offsets."""
    if "\\" not in text or "0x" not in text:
        return text
    return _CONTINUED_BINARY.sub(lambda match: re.sub(r"[\\\r\n]", "0", match[0]), text)


def read_temporary_names(tokens: Sequence[Token], text: str) -> Sequence[Token]:
    """T-SQL: names instead of keywords in temporary tables such as `#values`."""
    if "#" not in text:
        return tokens
    marks = [index for index, token in enumerate(tokens[:-1]) if token.text in ("#", "##")]
    words = [index + 1 for index in marks if _is_keyword_at(tokens[index + 1], tokens[index].end + 1)]
    if not words:
        return tokens
    kept = list(tokens)
    for index in words:
        kept[index] = retype_token(kept[index], TokenType.VAR, kept[index].text)
    return kept


def _is_keyword_at(token: Token, start: int) -> bool:
    """Whether a keyword, not a name, begins at an offset."""
    named = token.token_type in (TokenType.VAR, TokenType.IDENTIFIER)
    return not named and token.start == start and token.text.isidentifier()


def split_dotted_tables(tokens: list[Token]) -> list[Token]:
    """Hive: a quoted table as its database and its name, where it was written as one: `db.t`."""
    if not any(token.token_type is TokenType.IDENTIFIER and "." in token.text for token in tokens):
        return tokens
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        named = token.token_type is TokenType.IDENTIFIER and token.text.count(".") == 1
        if not named or not index or keyword(tokens[index - 1]) not in _TABLE_INTRODUCERS:
            kept.append(token)
            continue
        above, own = token.text.split(".")
        dot = token.start + 1 + len(above)
        place = (token.line, token.col)
        kept.append(Token(TokenType.IDENTIFIER, above, *place, token.start, dot - 1))
        kept.append(Token(TokenType.DOT, ".", *place, dot, dot))
        kept.append(Token(TokenType.IDENTIFIER, own, *place, dot + 1, token.end, token.comments))
    return kept


_TABLE_INTRODUCERS = frozenset("FROM JOIN TABLE VIEW INTO EXISTS OVERWRITE".split())
"""Keywords in front of the name of a table."""
