"""SQL in languages of braces: texts of several literals that are SQL by their looks, and the constants in them."""

import re
from collections.abc import Iterator, Mapping

import msgspec

from lineage_pipeline.discover.hosts.literals import unescaped
from lineage_pipeline.discover.hosts.sinks import BEGINS, NUMBERED, is_sql, is_statement
from lineage_pipeline.discover.hosts.values import (
    MADE,
    UNKNOWN_PART,
    Extract,
    Part,
    Value,
    place_of,
    substituted,
    text_of,
    unused,
)

COMMENT = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
ESCAPES = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u\{?[0-9a-fA-F]{1,6}\}?|x[0-9a-fA-F]{2}|\r?\n|.)",
    re.DOTALL,
)
SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "\n": "", "\r": ""}
DOUBLED = re.compile(r'""')
MARGIN = re.compile(r"(?m)^[ \t]*\|")
VERBS = re.compile(r"%(?:\d+\$)?[-+#0]*\d*(?:\.\d+)?[sdvqfnxt]\b")
"""What functions that format texts fill in; no driver of these languages has such parameters."""

BINDS = re.compile(r"#\{[^{}]*\}")
"""Parameters as MyBatis writes them."""

WORDS = re.compile(r"\b(?:select|insert|update|delete|merge|create|alter|drop|truncate|copy|with)\s", re.IGNORECASE)
"""A program without any of these words runs no SQL that is known by its looks."""

GAP = re.compile(rf"(?:\s|{COMMENT})*", re.DOTALL)
NAME = re.compile(r"[A-Za-z_$][\w$.]*")
BEFORE = re.compile(
    r"(?:([\w$.]+)\s*(?::\s*[\w<>.?\[\]]+\s*)?(:?=|\+=)|([@\w$.]+)\s*(?:<[^<>()]*>\s*)?\([^()\"'`]*)\s*\Z"
)
"""What stands in front of a text: whose value it is, or what is called with it."""

SURE = re.compile(r"(?i)(?:^|\.)(?:sql|exec|(?:execute|prepare)\w*|addBatch|batchUpdate)$")
"""What functions are called that run what they are given."""

LIKELY = re.compile(r"(?i)(?:^|[.@])(?:query\w*|run|\w*(?:sql|query|statement)|select|insert|update|delete)$")
"""What functions are called that run what they are given, if it looks like SQL."""

OTHER = re.compile(
    r"(?i)@(?:Named)?Query$|(?:^|[.@])(?:createQuery|gql|graphql|print\w*|log\w*|debug|info|warn\w*|error\w*|fatal\w*|trace"
    r"|it|test|describe|assert\w*|expect\w*|equals?|\w*exception|\w*error|fail|regexp?|compile|match\w*|replace\w*)$"
)
"""What is called with texts that are no SQL, or that are of a language that only looks like it."""


class Quote(msgspec.Struct, frozen=True):
    """A kind of literal: how it opens and closes, what it means by escapes, and what it fills in."""

    opens: str
    inside: str
    closes: str
    escapes: re.Pattern[str] | None = None
    fields: re.Pattern[str] | None = None

    def pattern(self, number: int) -> str:
        """Give what finds it, its inside as a group."""
        return rf"{self.opens}(?P<q{number}>{self.inside}){self.closes}"


def _field(depth: int) -> str:
    """Give what finds a field of JavaScript: braces and templates in it may be nested so deep."""
    inner = rf"|`{_template(depth - 1)}`" if depth else ""
    code = rf"(?>[^{{}}`'\"]|'(?>[^'\\\n]|\\.)*+'|\"(?>[^\"\\\n]|\\.)*+\"{inner}|['\"])"
    nested = rf"(?>{code}|\{{{code}*+\}})"
    return rf"\$\{{(?>{code}|\{{{nested}*+\}})*+\}}"


def _template(depth: int) -> str:
    return rf"(?>[^`\\$]|\\.|\$(?!\{{)|{_field(depth)})*+"


DOLLAR = re.compile(r"\$\{(?:[^{}`]|\{[^{}]*\})*\}|\$[A-Za-z_]\w*")
BRACED = re.compile(_field(2), re.DOTALL)
CURLY = re.compile(r"(?<!\{)\{[^{}]*\}")
ONE_LINE, MANY_LINES = r'(?:[^"\\\n]|\\.)*', r'(?:(?!""").)*'

PLAIN = Quote('"', ONE_LINE, '"', ESCAPES)
SINGLE = Quote("'", r"(?:[^'\\\n]|\\.)*", "'", ESCAPES)
LETTER = Quote("'", r"(?:[^'\\\n]|\\.[^'\n]{0,8})", "'", ESCAPES)
BLOCK = Quote('"""', r'(?:(?!""")(?:[^\\]|\\.))*', '"""', ESCAPES)

LANGUAGES: Mapping[str, tuple[Quote, ...]] = {
    "java": (BLOCK, PLAIN, LETTER),
    "kotlin": (
        Quote('"""', MANY_LINES, '"""', None, DOLLAR),
        Quote('"', ONE_LINE, '"', ESCAPES, DOLLAR),
        LETTER,
    ),
    "scala": (
        Quote('[sf]"""', MANY_LINES, '"""', None, DOLLAR),
        Quote('[sf]"', ONE_LINE, '"', ESCAPES, DOLLAR),
        Quote('"""', MANY_LINES, '"""'),
        PLAIN,
        LETTER,
    ),
    "csharp": (
        Quote(r'\$"""', MANY_LINES, '"""', None, CURLY),
        Quote('"""', MANY_LINES, '"""'),
        Quote(r'(?:\$@|@\$)"', r'(?:[^"]|"")*', '"', DOUBLED, CURLY),
        Quote('@"', r'(?:[^"]|"")*', '"', DOUBLED),
        Quote(r'\$"', ONE_LINE, '"', ESCAPES, CURLY),
        PLAIN,
        LETTER,
    ),
    "go": (Quote("`", "[^`]*", "`"), PLAIN, LETTER),
    "javascript": (
        Quote("`", _template(3), "`", ESCAPES, BRACED),
        PLAIN,
        SINGLE,
    ),
}
"""The literals of each language, the longest openings first."""

TOKENS = {
    name: re.compile("|".join((COMMENT, *(quote.pattern(number) for number, quote in enumerate(quotes)))), re.DOTALL)
    for name, quotes in LANGUAGES.items()
}


class Chain(msgspec.Struct, frozen=True):
    """A text of literals and others that are added up: what it comes to, where it begins, and where it ends."""

    value: Value
    start: int
    end: int


def read_braces(text: str, language: str) -> Extract:
    """Give the SQL of a program."""
    reader = Reader(text, language)
    if not WORDS.search(text):
        return Extract()
    return Extract(tuple(sorted(reader.texts(), key=place_of)))


class Reader:
    """One program; what its names stand for is known where they are given one text."""

    def __init__(self, text: str, language: str) -> None:
        """Take the program."""
        self.text, self.quotes, self.tokens = text, LANGUAGES[language], TOKENS[language]
        self.names: dict[str, Value] = {}

    def texts(self) -> Iterator[Value]:
        """Give the texts that are run, and those that nothing else can be."""
        taken: dict[Value, None] = {}
        spare: dict[Value, None] = {}
        for chain in self.chains():
            said = text_of(chain.value)
            given = self.text[max(chain.start - 80, 0) : chain.start].rstrip().endswith("=")
            if not given and not BEGINS.match(said):
                continue
            before = BEFORE.search(self.text, max(chain.start - 200, 0), chain.start)
            name, sign, called = (before[1], before[2], before[3]) if before else ("", "", "")
            if name:
                spare[self.named(name.rpartition(".")[2], sign, chain.value, spare)] = None
            elif called and (SURE.search(called) or (LIKELY.search(called) and is_sql(said, sure=False))):
                if not OTHER.search(called) or self.is_native(chain.end):
                    taken[chain.value] = None
            elif not called or not OTHER.search(called):
                spare[chain.value] = None
        looks = [value for value in spare if is_statement(text_of(value))]
        yield from (finished(value) for value in (*taken, *unused(looks, taken)))

    def named(self, name: str, sign: str, value: Value, spare: dict[Value, None]) -> Value:
        """Remember what a name stands for; what is added to a text is one with it."""
        former = self.names.get(name, ()) if sign == "+=" else ()
        spare.pop(former, None)
        self.names[name] = (*former, *value)
        return self.names[name]

    def is_native(self, at: int) -> bool:
        """Say whether a query of objects says that it is one of the database."""
        return re.compile(r"[^();]*\bnativeQuery\s*=\s*true").match(self.text, at) is not None

    def chains(self) -> Iterator[Chain]:
        """Give the texts that begin with a literal, in order."""
        at = 0
        while (token := self.tokens.search(self.text, at)) is not None:
            if token.lastgroup is None:  # a comment
                at = token.end()
                continue
            chain = self.chain(token)
            yield chain
            at = chain.end

    def chain(self, token: re.Match[str]) -> Chain:
        """Follow a text over what is added to it."""
        parts = list(self.literal(token))
        end = token.end()
        while True:
            gap = GAP.match(self.text, end)
            at = gap.end() if gap else end
            if self.text[at : at + 1] != "+" or self.text[at : at + 2] in ("++", "+="):
                return Chain(tuple(parts), token.start(), end)
            gap = GAP.match(self.text, at + 1)
            at = gap.end() if gap else at + 1
            following = self.tokens.match(self.text, at)
            if following is not None and following.lastgroup is not None:
                parts += self.literal(following)
                end = following.end()
            else:
                name = NAME.match(self.text, at)
                end = operand_end(self.text, at)
                known = self.names.get(name[0].rpartition(".")[2]) if name and name.end() == end else None
                parts += known if known is not None else (UNKNOWN_PART,)

    def literal(self, token: re.Match[str]) -> Value:
        """Give what a literal comes to; what it fills in is a hole, unless it is a name of one text."""
        group = token.lastgroup or "q0"
        quote, body, at = self.quotes[int(group[1:])], token[group], token.start(group)
        if quote.fields is None:
            value = _plain(body, at, quote)
        else:
            value = ()
            done = 0
            for field in quote.fields.finditer(body):
                value += (*_plain(body[done : field.start()], at + done, quote), *self.field(field[0]))
                done = field.end()
            value += (*_plain(body[done:], at + done, quote), Part("", at + len(body)))
        if self.text.startswith(".stripMargin", token.end()):
            return substituted(value, MARGIN, lambda found: (Part(" " * len(found[0])),))
        return value

    def field(self, written: str) -> Value:
        """Give what a name in a literal stands for."""
        name = written.strip("${} \t").rpartition(".")[2]
        return self.names.get(name, (UNKNOWN_PART,))


def _plain(body: str, at: int, quote: Quote) -> Value:
    if quote.escapes is None:
        return (Part(body, at),)
    return tuple(unescaped(body, at, quote.escapes, _meaning))


def _meaning(escape: str) -> str:
    """Give what an escape stands for."""
    if escape[0] != "\\":
        return escape[0]
    if escape.count("\\u") == 2:  # two halves of one character
        return bytes.fromhex(escape.replace("\\u", "")).decode("utf-16-be")
    sign, digits = escape[1], escape[2:].strip("{}")
    if sign in "ux" and digits:
        return chr(int(digits, 16)) if int(digits, 16) < 0x110000 else "?"
    return SIMPLE.get(sign, sign)


def operand_end(text: str, at: int) -> int:
    """Give where something that is added to a text ends: brackets are gone through, quotes in them too."""
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


def finished(value: Value) -> Value:
    """Give a text as the database sees it: parameters are values, and what is formatted is a hole."""
    value = substituted(value, VERBS, lambda match: (UNKNOWN_PART,))
    value = substituted(value, BINDS, lambda match: (Part("?"),))
    if "$" in (said := text_of(value)) and "$$" not in said:
        value = substituted(value, NUMBERED, lambda match: (Part("?"),))
    return value if place_of(value) != MADE else (Part("", 0), *value)
