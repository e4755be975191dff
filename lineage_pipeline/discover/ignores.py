"""What `.gitignore` and `.lineageignore` say, as git reads them: the last line that fits wins, deeper files last."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

import msgspec

from lineage_pipeline.discover.wildcards import ACROSS, ALL, STAR, joined

GIT_FILES = (".gitignore", ".lineageignore")
"""The files that are read in each folder of a tree on the disk; the later one has the last word."""

OWN_FILES = (".lineageignore",)
"""The file that is read in each folder of a revision: what git ignores is not in it anyway."""

CLASSES = {
    "alnum": r"A-Za-z0-9",
    "alpha": r"A-Za-z",
    "blank": r" \t",
    "digit": r"0-9",
    "lower": r"a-z",
    "upper": r"A-Z",
    "space": r"\s",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": r"0-9A-Fa-f",
}
CLASS = re.compile(r"\[:(\w*):\]")


class Line(msgspec.Struct, frozen=True):
    """One line of such a file."""

    pattern: re.Pattern[str]
    negated: bool
    folders_only: bool
    anchored: bool


def parse_lines(text: str) -> tuple[Line, ...]:
    """Read the lines; comments, blank ones and those that can fit nothing are passed over."""
    return tuple(line for line in map(_line, _as_bytes(text.lstrip("\ufeff")).split("\n")) if line is not None)


def _as_bytes(text: str) -> str:
    """Give a text with a character for each byte: to git, a letter that is two bytes long is two letters."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def _line(written: str) -> Line | None:
    text = written.removesuffix("\r")
    if text.startswith("#"):
        return None
    while text.endswith(" ") and not text.endswith("\\ "):
        text = text[:-1]
    negated = text.startswith("!")
    text = text[1:] if negated else text
    folders_only = text.endswith("/")
    text = text.removesuffix("/")
    if not text:
        return None
    anchored = "/" in text
    pattern = translate(text.removeprefix("/"))
    return Line(pattern, negated, folders_only, anchored) if pattern is not None else None


@lru_cache(maxsize=4096)
def translate(text: str) -> re.Pattern[str] | None:
    """Give the expression of a pattern, or None where it can fit nothing."""
    pieces: list[str] = []
    position = 0
    while position < len(text):
        step = _starred if text[position] == "*" else _bracketed if text[position] == "[" else _plain
        found = step(text, position)
        if found is None:
            return None
        piece, position = found
        pieces.append(piece)
    return re.compile(joined(pieces), re.DOTALL)


def _plain(text: str, position: int) -> tuple[str, int] | None:
    if text[position] == "?":
        return "[^/]", position + 1
    if text[position] != "\\":
        return re.escape(text[position]), position + 1
    return (re.escape(text[position + 1]), position + 2) if position + 1 < len(text) else None


def _starred(text: str, position: int) -> tuple[str, int]:
    """Two stars alone between slashes cross folders; any others stay in one."""
    end = position
    while end < len(text) and text[end] == "*":
        end += 1
    before, behind = text[position - 1 : position] in ("", "/") if position else True, text[end : end + 1]
    if end - position < 2 or not before or behind not in ("", "/"):
        return STAR, end
    return (ACROSS, end + 1) if behind else (ALL, end)


def _bracketed(text: str, position: int) -> tuple[str, int] | None:
    """A set of characters; one that is not closed fits nothing."""
    at = position + 1
    negated = text[at : at + 1] in ("!", "^")
    at += negated
    members: list[str] = []
    last = ""
    while not members or text[at : at + 1] != "]":
        found = _member(text, at, last)
        if found is None:
            return None
        piece, last, at = found
        members.append(piece)
    body = "".join(members)
    return (f"[^/{body}]" if negated else f"(?!/)[{body}]"), at + 1


def _member(text: str, at: int, last: str) -> tuple[str, str, int] | None:
    """One member of a set, the character that a range may begin with, and where the next one stands."""
    named = CLASS.match(text, at)
    if named is not None:
        return (CLASSES[named[1]], "", named.end()) if named[1] in CLASSES else None
    ranged = text[at : at + 1] == "-" and last and text[at + 1 : at + 2] not in ("]", "")
    at += bool(ranged)
    at += text[at : at + 1] == "\\"
    if at >= len(text):
        return None
    sign = text[at]
    if ranged:  # one that goes backwards has nothing in it
        return (f"{re.escape(last)}-{re.escape(sign)}" if last <= sign else re.escape(last)), "", at + 1
    return re.escape(sign), sign, at + 1


class Ignores:
    """The lines of all folders above a path; `read` gives the text of a file of a folder, or None."""

    def __init__(
        self, read: Callable[[str], str | None], names: Iterable[str] = GIT_FILES, *, inside: str = ""
    ) -> None:
        """Start with a tree, by the paths of its files; a folder that somebody names to be read is not ignored."""
        self._read = read
        self._names = tuple(names)
        self._lines: dict[str, tuple[Line, ...]] = {}
        self._folders = dict.fromkeys(("", inside, *_above(inside)), False)

    def ignores(self, path: str) -> bool:
        """Say whether a file is ignored, itself or with a folder that it lies in."""
        return self.ignores_folder(path.rpartition("/")[0]) or self._fits(path, is_folder=False)

    def ignores_folder(self, folder: str) -> bool:
        """Say whether a folder is ignored; what lies in it cannot be taken back then."""
        known = self._folders.get(folder)
        if known is None:
            known = self.ignores_folder(folder.rpartition("/")[0]) or self._fits(folder, is_folder=True)
            self._folders[folder] = known
        return known

    def _fits(self, path: str, *, is_folder: bool) -> bool:
        path = _as_bytes(path)
        for folder in _above(path):
            inner = path[len(folder) + 1 :] if folder else path
            for line in reversed(self._of(folder.encode("latin-1").decode("utf-8", "surrogateescape"))):
                if line.folders_only and not is_folder:
                    continue
                if line.pattern.fullmatch(inner if line.anchored else inner.rpartition("/")[2]):
                    return not line.negated
        return False

    def _of(self, folder: str) -> tuple[Line, ...]:
        known = self._lines.get(folder)
        if known is None:
            texts = [self._read(f"{folder}/{name}" if folder else name) for name in self._names]
            known = tuple(line for text in texts if text is not None for line in parse_lines(text))
            self._lines[folder] = known
        return known


def _above(path: str) -> Iterator[str]:
    """Give the folders that a path lies in, the nearest first; the top is nothing."""
    while path:
        path = path.rpartition("/")[0]
        yield path
