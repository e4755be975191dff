"""SQL in curly-brace languages (Java, Kotlin, C#, Go, JavaScript, Scala): concatenated literals that look like SQL."""

import re
from collections.abc import Iterator, Mapping

import msgspec

from lineage_pipeline.discover.embedded_sql.sql_sinks import (
    NUMBERED_PARAMETERS,
    SQL_START,
    is_sql_statement,
    is_sql_text,
)
from lineage_pipeline.discover.embedded_sql.string_literals import unescape_parts
from lineage_pipeline.discover.embedded_sql.text_parts import (
    NO_OFFSET,
    UNKNOWN_PART,
    ExtractedSql,
    TextPart,
    TextValue,
    drop_overlapping,
    first_offset,
    join_parts,
    substitute_placeholders,
)

CURLY_COMMENT = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
CURLY_ESCAPES = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u\{?[0-9a-fA-F]{1,6}\}?|x[0-9a-fA-F]{2}|\r?\n|.)",
    re.DOTALL,
)
CURLY_SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "\n": "", "\r": ""}
DOUBLED_QUOTE = re.compile(r'""')
STRIP_MARGIN = re.compile(r"(?m)^[ \t]*\|")
FORMAT_VERBS = re.compile(r"%(?:\d+\$)?[-+#0]*\d*(?:\.\d+)?[sdvqfnxt]\b")
"""Verbs of format functions; no driver of these languages has such parameters."""

MYBATIS_PARAMETERS = re.compile(r"#\{[^{}]*\}")
"""Bind parameters of MyBatis."""

SQL_WORDS = re.compile(r"\b(?:select|insert|update|delete|merge|create|alter|drop|truncate|copy|with)\s", re.IGNORECASE)
"""A program without any of these words runs no SQL that we detect."""

CURLY_GAP = re.compile(rf"(?:\s|{CURLY_COMMENT})*", re.DOTALL)
CURLY_NAME = re.compile(r"[A-Za-z_$][\w$.]*")
LITERAL_CONTEXT = re.compile(
    r"(?:([\w$.]+)\s*(?::\s*[\w<>.?\[\]]+\s*)?(:?=|\+=)|([@\w$.]+)\s*(?:<[^<>()]*>\s*)?\([^()\"'`]*)\s*\Z"
)
"""What precedes a literal: the variable it is assigned to, or the function it is passed to."""

RUNNING_FUNCTION = re.compile(r"(?i)(?:^|\.)(?:sql|exec|(?:execute|prepare)\w*|addBatch|batchUpdate)$")
"""Names of functions that run their argument as SQL."""

LIKELY_RUNNING_FUNCTION = re.compile(
    r"(?i)(?:^|[.@])(?:query\w*|run|\w*(?:sql|query|statement)|select|insert|update|delete)$"
)
"""Names of functions that run their argument, if it looks like SQL."""

OTHER_LANGUAGE_FUNCTION = re.compile(
    r"(?i)@(?:Named)?Query$|(?:^|[.@])(?:createQuery|gql|graphql|print\w*|log\w*|debug|info|warn\w*|error\w*|fatal\w*|trace"
    r"|it|test|describe|assert\w*|expect\w*|equals?|\w*exception|\w*error|fail|regexp?|compile|match\w*|replace\w*)$"
)
"""Functions whose texts are no SQL, or of a query language that resembles it."""


class QuoteStyle(msgspec.Struct, frozen=True):
    """A kind of literal: how it opens and closes, its escapes, and its interpolated fields."""

    opens: str
    inside: str
    closes: str
    escapes: re.Pattern[str] | None = None
    fields: re.Pattern[str] | None = None

    def pattern(self, number: int) -> str:
        """Return the regular expression of the literal, with its body as a group."""
        return rf"{self.opens}(?P<q{number}>{self.inside}){self.closes}"


def _template_field_pattern(depth: int) -> str:
    """Return the pattern of a `${…}` field of JavaScript with braces and templates nested to a depth."""
    inner = rf"|`{_template_pattern(depth - 1)}`" if depth else ""
    code = rf"(?>[^{{}}`'\"]|'(?>[^'\\\n]|\\.)*+'|\"(?>[^\"\\\n]|\\.)*+\"{inner}|['\"])"
    nested = rf"(?>{code}|\{{{code}*+\}})"
    return rf"\$\{{(?>{code}|\{{{nested}*+\}})*+\}}"


def _template_pattern(depth: int) -> str:
    return rf"(?>[^`\\$]|\\.|\$(?!\{{)|{_template_field_pattern(depth)})*+"


DOLLAR_FIELD_PATTERN = re.compile(r"\$\{(?:[^{}`]|\{[^{}]*\})*\}|\$[A-Za-z_]\w*")
BRACED_FIELD = re.compile(_template_field_pattern(2), re.DOTALL)
CURLY_FIELD = re.compile(r"(?<!\{)\{[^{}]*\}")
ONE_LINE, MANY_LINES = r'(?:[^"\\\n]|\\.)*', r'(?:(?!""").)*'

DOUBLE_QUOTED = QuoteStyle('"', ONE_LINE, '"', CURLY_ESCAPES)
SINGLE_QUOTED = QuoteStyle("'", r"(?:[^'\\\n]|\\.)*", "'", CURLY_ESCAPES)
CHARACTER_LITERAL = QuoteStyle("'", r"(?:[^'\\\n]|\\.[^'\n]{0,8})", "'", CURLY_ESCAPES)
TEXT_BLOCK = QuoteStyle('"""', r'(?:(?!""")(?:[^\\]|\\.))*', '"""', CURLY_ESCAPES)

QUOTE_STYLES: Mapping[str, tuple[QuoteStyle, ...]] = {
    "java": (TEXT_BLOCK, DOUBLE_QUOTED, CHARACTER_LITERAL),
    "kotlin": (
        QuoteStyle(opens='"""', inside=MANY_LINES, closes='"""', escapes=None, fields=DOLLAR_FIELD_PATTERN),
        QuoteStyle(opens='"', inside=ONE_LINE, closes='"', escapes=CURLY_ESCAPES, fields=DOLLAR_FIELD_PATTERN),
        CHARACTER_LITERAL,
    ),
    "scala": (
        QuoteStyle(opens='[sf]"""', inside=MANY_LINES, closes='"""', escapes=None, fields=DOLLAR_FIELD_PATTERN),
        QuoteStyle(opens='[sf]"', inside=ONE_LINE, closes='"', escapes=CURLY_ESCAPES, fields=DOLLAR_FIELD_PATTERN),
        QuoteStyle('"""', MANY_LINES, '"""'),
        DOUBLE_QUOTED,
        CHARACTER_LITERAL,
    ),
    "csharp": (
        QuoteStyle(opens=r'\$"""', inside=MANY_LINES, closes='"""', escapes=None, fields=CURLY_FIELD),
        QuoteStyle('"""', MANY_LINES, '"""'),
        QuoteStyle(
            opens=r'(?:\$@|@\$)"', inside=r'(?:[^"]|"")*', closes='"', escapes=DOUBLED_QUOTE, fields=CURLY_FIELD
        ),
        QuoteStyle('@"', r'(?:[^"]|"")*', '"', DOUBLED_QUOTE),
        QuoteStyle(opens=r'\$"', inside=ONE_LINE, closes='"', escapes=CURLY_ESCAPES, fields=CURLY_FIELD),
        DOUBLE_QUOTED,
        CHARACTER_LITERAL,
    ),
    "go": (QuoteStyle("`", "[^`]*", "`"), DOUBLE_QUOTED, CHARACTER_LITERAL),
    "javascript": (
        QuoteStyle(opens="`", inside=_template_pattern(3), closes="`", escapes=CURLY_ESCAPES, fields=BRACED_FIELD),
        DOUBLE_QUOTED,
        SINGLE_QUOTED,
    ),
}
"""The literals of each language, longest openings first."""

LITERAL_TOKENS = {
    name: re.compile(
        "|".join((CURLY_COMMENT, *(quote.pattern(number) for number, quote in enumerate(quotes)))), re.DOTALL
    )
    for name, quotes in QUOTE_STYLES.items()
}


class LiteralChain(msgspec.Struct, frozen=True):
    """Concatenated literals and names: the resulting text, and its start and end."""

    value: TextValue
    start: int
    end: int


def extract_curly(text: str, language: str) -> ExtractedSql:
    """Extract the SQL of a program in a curly-brace language."""
    reader = CurlyReader(text, language)
    if not SQL_WORDS.search(text):
        return ExtractedSql()
    return ExtractedSql(tuple(sorted(reader.texts(), key=first_offset)))


class CurlyReader:
    """Reads one program; a name is known where it is assigned one text."""

    def __init__(self, text: str, language: str) -> None:
        """Store the program."""
        self.text, self.quotes, self.tokens = text, QUOTE_STYLES[language], LITERAL_TOKENS[language]
        self.names: dict[str, TextValue] = {}

    def texts(self) -> Iterator[TextValue]:
        """Yield the texts that are run, and those that can only be SQL."""
        taken: dict[TextValue, None] = {}
        spare: dict[TextValue, None] = {}
        for chain in self.chains():
            said = join_parts(chain.value)
            given = self.text[max(chain.start - 80, 0) : chain.start].rstrip().endswith("=")
            if not given and not SQL_START.match(said):
                continue
            before = LITERAL_CONTEXT.search(self.text, max(chain.start - 200, 0), chain.start)
            name, sign, called = (before[1], before[2], before[3]) if before else ("", "", "")
            if name:
                spare[self.bind_name(name.rpartition(".")[2], sign, chain.value, spare)] = None
            elif called and (
                RUNNING_FUNCTION.search(called)
                or (LIKELY_RUNNING_FUNCTION.search(called) and is_sql_text(said, sure=False))
            ):
                if not OTHER_LANGUAGE_FUNCTION.search(called) or self.is_native_query(chain.end):
                    taken[chain.value] = None
            elif not called or not OTHER_LANGUAGE_FUNCTION.search(called):
                spare[chain.value] = None
        looks = [value for value in spare if is_sql_statement(join_parts(value))]
        yield from (finish_curly_sql(value) for value in (*taken, *drop_overlapping(looks, taken)))

    def bind_name(self, name: str, sign: str, value: TextValue, spare: dict[TextValue, None]) -> TextValue:
        """Bind a name to a text; `+=` appends to it."""
        former = self.names.get(name, ()) if sign == "+=" else ()
        spare.pop(former, None)
        self.names[name] = (*former, *value)
        return self.names[name]

    def is_native_query(self, at: int) -> bool:
        """Return whether an object query is marked as native SQL: `nativeQuery = true`."""
        return re.compile(r"[^();]*\bnativeQuery\s*=\s*true").match(self.text, at) is not None

    def chains(self) -> Iterator[LiteralChain]:
        """Yield the texts that begin with a literal, in order."""
        at = 0
        while (token := self.tokens.search(self.text, at)) is not None:
            if token.lastgroup is None:  # a comment
                at = token.end()
                continue
            chain = self.chain(token)
            yield chain
            at = chain.end

    def chain(self, token: re.Match[str]) -> LiteralChain:
        """Read a literal and what is concatenated to it."""
        parts = list(self.literal(token))
        end = token.end()
        while True:
            gap = CURLY_GAP.match(self.text, end)
            at = gap.end() if gap else end
            if self.text[at : at + 1] != "+" or self.text[at : at + 2] in ("++", "+="):
                return LiteralChain(tuple(parts), token.start(), end)
            gap = CURLY_GAP.match(self.text, at + 1)
            at = gap.end() if gap else at + 1
            following = self.tokens.match(self.text, at)
            if following is not None and following.lastgroup is not None:
                parts += self.literal(following)
                end = following.end()
            else:
                name = CURLY_NAME.match(self.text, at)
                end = find_operand_end(self.text, at)
                known = self.names.get(name[0].rpartition(".")[2]) if name and name.end() == end else None
                parts += known if known is not None else (UNKNOWN_PART,)

    def literal(self, token: re.Match[str]) -> TextValue:
        """Evaluate a literal; fields are placeholders, unless they name a known text."""
        group = token.lastgroup or "q0"
        quote, body, at = self.quotes[int(group[1:])], token[group], token.start(group)
        if quote.fields is None:
            value = _unescape_body(body, at, quote)
        else:
            value = ()
            done = 0
            for field in quote.fields.finditer(body):
                value += (*_unescape_body(body[done : field.start()], at + done, quote), *self.field(field[0]))
                done = field.end()
            value += (*_unescape_body(body[done:], at + done, quote), TextPart("", at + len(body)))
        if self.text.startswith(".stripMargin", token.end()):
            return substitute_placeholders(value, STRIP_MARGIN, lambda found: (TextPart(" " * len(found[0])),))
        return value

    def field(self, written: str) -> TextValue:
        """Evaluate a name in a literal."""
        name = written.strip("${} \t").rpartition(".")[2]
        return self.names.get(name, (UNKNOWN_PART,))


def _unescape_body(body: str, at: int, quote: QuoteStyle) -> TextValue:
    if quote.escapes is None:
        return (TextPart(body, at),)
    return tuple(unescape_parts(body, at, quote.escapes, _curly_escape_value))


def _curly_escape_value(escape: str) -> str:
    """Return the text of an escape."""
    if escape[0] != "\\":
        return escape[0]
    if escape.count("\\u") == 2:  # two halves of one character
        return bytes.fromhex(escape.replace("\\u", "")).decode("utf-16-be")
    sign, digits = escape[1], escape[2:].strip("{}")
    if sign in "ux" and digits:
        return chr(int(digits, 16)) if int(digits, 16) < 0x110000 else "?"
    return CURLY_SIMPLE_ESCAPES.get(sign, sign)


def find_operand_end(text: str, at: int) -> int:
    """Return the end of a concatenated operand; brackets and quotes inside are skipped."""
    depth = 0
    while at < len(text):
        sign = text[at]
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif depth <= 0 and sign in "+;,\n":
            break
        if depth < 0:
            break
        at += 1
    return at


def finish_curly_sql(value: TextValue) -> TextValue:
    """Return a text as the database sees it: parameters become values, format verbs placeholders."""
    value = substitute_placeholders(value, FORMAT_VERBS, lambda match: (UNKNOWN_PART,))
    value = substitute_placeholders(value, MYBATIS_PARAMETERS, lambda match: (TextPart("?"),))
    if "$" in (said := join_parts(value)) and "$$" not in said:
        value = substitute_placeholders(value, NUMBERED_PARAMETERS, lambda match: (TextPart("?"),))
    return value if first_offset(value) != NO_OFFSET else (TextPart("", 0), *value)


def extract_scala(text: str) -> ExtractedSql:
    """Extract the SQL of a Scala program."""
    return extract_curly(text, "scala")
