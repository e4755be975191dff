"""Lines for the client: they become statements of a named kind, and the tokenizer does not get to see them."""

import re
from collections.abc import Iterator

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.directives import DIRECTIVES, Directives
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.pieces import Piece


class Client(msgspec.Struct):
    """A script while its lines for the client are taken out; offsets stay as they are."""

    text: str
    pieces: list[Piece] = []
    covers: list[tuple[int, int, str]] = []
    delimiter: str = ";"

    def cover(self, start: int, end: int, instead: str = "") -> None:
        """Put blanks in the place of some characters, or something no longer than they are."""
        self.covers.append((start, end, instead))

    def covered(self) -> str:
        """The text as the tokenizer is to see it."""
        parts: list[str] = []
        last = 0
        for start, end, instead in sorted(self.covers):
            blank = "".join("\n" if char == "\n" else " " for char in self.text[start + len(instead) : end])
            parts.extend((self.text[last:start], instead, blank))
            last = end
        return "".join((*parts, self.text[last:]))

    def keep(self, start: int, end: int, kind: str, parts: tuple[tuple[str, object], ...] = ()) -> None:
        """Make a statement of some characters."""
        token = Token(TokenType.VAR, self.text[start:end], 1, 1, start, end - 1)
        self.pieces.append(Piece([token], kind=kind, parts=parts, aside=True))


def client_lines(text: str, traits: Traits) -> Client:
    """A text without the lines that are meant for the client, and these as statements."""
    client = Client(text)
    rules = DIRECTIVES.get(traits.family)
    if rules is None or not _may_speak(text):
        return client
    rows = list(_rows(rules, text))
    for start, end in rows:
        client.keep(start + len(text[start:end]) - len(text[start:end].lstrip()), end, "DATA")
        client.cover(start, end)
    position, opened, ahead = 0, False, 0
    for line in text.splitlines(keepends=True):
        while ahead < len(rows) and rows[ahead][1] <= position:
            ahead += 1
        if ahead == len(rows) or position < rows[ahead][0]:
            opened = _line(client, rules, position, line.rstrip(), opened)
        position += len(line)
    client.pieces.sort(key=lambda piece: piece.start)
    return client


def _rows(rules: Directives, text: str) -> Iterator[tuple[int, int]]:
    """Where rows stand between the statements, each time up to the mark that ends them."""
    head = rules.data.search(text) if rules.data is not None else None
    while head is not None and rules.data is not None and rules.data_end is not None:
        end = rules.data_end.search(text, head.end())
        if end is None:
            return
        yield head.end(), end.end(1)
        head = rules.data.search(text, end.end())


_WORDS = (
    "set prompt pro rem remark spool spo whenever define def column col connect conn delimiter source ttitle variable "
    "dfs var print accept acc host start sta clear break undefine undef quit show sho desc run".split()
)
_MAYBE = re.compile(rf"[\\@!/.]|(?:{'|'.join(_WORDS)})\b")
"""What a script with such lines has at the beginning of one of them, at least."""

_STARTS = frozenset(word[:3] for word in _WORDS)
_SIGNS = frozenset("\\@!/.")


def _may_speak(text: str) -> bool:
    """Whether a script may have lines for the client: few have, and their first letters tell at little cost."""
    if "\\g" in text:
        return True
    lines = map(str.lstrip, text.lower().split("\n"))
    return any(map(_MAYBE.match, [line for line in lines if line[:3] in _STARTS or line[:1] in _SIGNS]))


def _line(client: Client, rules: Directives, position: int, line: str, opened: bool) -> bool:
    """Take one line; whether a statement is open behind it."""
    written = line.lstrip()
    start = position + len(line) - len(written)
    ending = rules.ends.search(line) if rules.ends is not None else None
    if ending is not None and not _is_remark(line[: ending.start()]):
        client.cover(position + ending.start(), position + ending.end(), instead=";")
        return False
    match = rules.line.match(written)
    word = match["word"].lower() if match is not None else ""
    if match is not None and (not opened or word in rules.anywhere):
        _take(client, rules, (start, position + len(line)), word, written[match.end() :].strip())
        return False if word == "/" else opened
    if client.delimiter != ";" and line.endswith(client.delimiter):
        client.cover(position + len(line) - len(client.delimiter), position + len(line), instead=";")
        return False
    code = written.split("--", 1)[0].rstrip()
    if not code or code.startswith("/*"):
        return opened
    return not code.endswith((";", "*/"))


def _is_remark(before: str) -> bool:
    """Whether what stands behind these characters of a line is a remark."""
    return before.rfind("/*") > before.rfind("*/") or "--" in before


def _take(client: Client, rules: Directives, place: tuple[int, int], word: str, rest: str) -> None:
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
    client.keep(start, end, kind, (("context", ("DATABASE", named)),) if connects else ())
    client.cover(start, end, instead=";" if word == "/" else "")  # the slash runs what stands before it
