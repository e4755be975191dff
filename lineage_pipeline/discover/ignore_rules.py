"""`.gitignore` and `.lineageignore` as git reads them: the last matching line wins, deeper files last."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

import msgspec

from lineage_pipeline.files.path_patterns import ACROSS, ALL, STAR, join_wildcards

FOLDER_IGNORE_FILES = (".gitignore", ".lineageignore")
"""The ignore files of each folder on disk; the later one has the last word."""

REVISION_IGNORE_FILES = (".lineageignore",)
"""The ignore file of each folder of a revision, which holds nothing that git ignores."""

CHARACTER_CLASSES = {
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
CHARACTER_CLASS = re.compile(r"\[:(\w*):\]")


class IgnoreLine(msgspec.Struct, frozen=True):
    """One line of an ignore file."""

    pattern: re.Pattern[str]
    negated: bool
    folders_only: bool
    anchored: bool


def parse_ignore_lines(text: str) -> tuple[IgnoreLine, ...]:
    """Parse the lines of an ignore file; comments, blank lines and patterns that match nothing are skipped."""
    return tuple(
        line
        for line in map(_parse_ignore_line, _to_byte_characters(text.lstrip("\ufeff")).split("\n"))
        if line is not None
    )


def _to_byte_characters(text: str) -> str:
    """Return a text with one character per byte, as git matches bytes and not letters."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def _parse_ignore_line(written: str) -> IgnoreLine | None:
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
    pattern = translate_ignore_pattern(text.removeprefix("/"))
    return IgnoreLine(pattern, negated, folders_only, anchored) if pattern is not None else None


@lru_cache(maxsize=4096)
def translate_ignore_pattern(text: str) -> re.Pattern[str] | None:
    """Return the regular expression of a pattern, or None where it can match nothing."""
    pieces: list[str] = []
    position = 0
    while position < len(text):
        step = (
            _translate_stars
            if text[position] == "*"
            else _translate_character_set
            if text[position] == "["
            else _translate_character
        )
        found = step(text, position)
        if found is None:
            return None
        piece, position = found
        pieces.append(piece)
    return re.compile(join_wildcards(pieces), re.DOTALL)


def _translate_character(text: str, position: int) -> tuple[str, int] | None:
    if text[position] == "?":
        return "[^/]", position + 1
    if text[position] != "\\":
        return re.escape(text[position]), position + 1
    return (re.escape(text[position + 1]), position + 2) if position + 1 < len(text) else None


def _translate_stars(text: str, position: int) -> tuple[str, int]:
    """Translate stars: `**` alone between slashes crosses folders; any others stay in one."""
    end = position
    while end < len(text) and text[end] == "*":
        end += 1
    before, behind = text[position - 1 : position] in ("", "/") if position else True, text[end : end + 1]
    if end - position < 2 or not before or behind not in ("", "/"):
        return STAR, end
    return (ACROSS, end + 1) if behind else (ALL, end)


def _translate_character_set(text: str, position: int) -> tuple[str, int] | None:
    """Translate a set of characters; one that is not closed matches nothing."""
    at = position + 1
    negated = text[at : at + 1] in ("!", "^")
    at += negated
    members: list[str] = []
    last = ""
    while not members or text[at : at + 1] != "]":
        found = _translate_set_member(text, at, last)
        if found is None:
            return None
        piece, last, at = found
        members.append(piece)
    body = "".join(members)
    return (f"[^/{body}]" if negated else f"(?!/)[{body}]"), at + 1


def _translate_set_member(text: str, at: int, last: str) -> tuple[str, str, int] | None:
    """Translate one member of a set; also return the character a range may start with, and the next position."""
    named = CHARACTER_CLASS.match(text, at)
    if named is not None:
        return (CHARACTER_CLASSES[named[1]], "", named.end()) if named[1] in CHARACTER_CLASSES else None
    ranged = text[at : at + 1] == "-" and last and text[at + 1 : at + 2] not in ("]", "")
    at += bool(ranged)
    at += text[at : at + 1] == "\\"
    if at >= len(text):
        return None
    sign = text[at]
    if ranged:  # one that goes backwards has nothing in it
        return (f"{re.escape(last)}-{re.escape(sign)}" if last <= sign else re.escape(last)), "", at + 1
    return re.escape(sign), sign, at + 1


class IgnoreRules:
    """The ignore lines of all folders above a path; `read` returns the text of a file in a folder, or None."""

    def __init__(
        self, read: Callable[[str], str | None], names: Iterable[str] = FOLDER_IGNORE_FILES, *, inside: str = ""
    ) -> None:
        """Start with a tree; `inside` is a folder named by the user, which is never ignored."""
        self._read = read
        self._names = tuple(names)
        self._lines: dict[str, tuple[IgnoreLine, ...]] = {}
        self._folders = dict.fromkeys(("", inside, *_folders_above(inside)), False)

    def ignores(self, path: str) -> bool:
        """Return whether a file is ignored, itself or through a folder above it."""
        return self.ignores_folder(path.rpartition("/")[0]) or self._matches_any_line(path, is_folder=False)

    def ignores_folder(self, folder: str) -> bool:
        """Return whether a folder is ignored; no line below can include its files again."""
        known = self._folders.get(folder)
        if known is None:
            known = self.ignores_folder(folder.rpartition("/")[0]) or self._matches_any_line(folder, is_folder=True)
            self._folders[folder] = known
        return known

    def _matches_any_line(self, path: str, *, is_folder: bool) -> bool:
        path = _to_byte_characters(path)
        for folder in _folders_above(path):
            inner = path[len(folder) + 1 :] if folder else path
            for line in reversed(self._lines_of_folder(folder.encode("latin-1").decode("utf-8", "surrogateescape"))):
                if line.folders_only and not is_folder:
                    continue
                if line.pattern.fullmatch(inner if line.anchored else inner.rpartition("/")[2]):
                    return not line.negated
        return False

    def _lines_of_folder(self, folder: str) -> tuple[IgnoreLine, ...]:
        known = self._lines.get(folder)
        if known is None:
            texts = [self._read(f"{folder}/{name}" if folder else name) for name in self._names]
            known = tuple(line for text in texts if text is not None for line in parse_ignore_lines(text))
            self._lines[folder] = known
        return known


def _folders_above(path: str) -> Iterator[str]:
    """Return the folders above a path, nearest first; the top is an empty text."""
    while path:
        path = path.rpartition("/")[0]
        yield path
