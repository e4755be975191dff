"""The names of the base in the words of the head: what was renamed, put into canonical text."""

import re
from collections.abc import Mapping

import msgspec

# A quoted string stays as it is; a dotted name is looked up as a whole, then without its last parts.
_WORD = re.compile(r"""'(?:[^']|'')*'|(?:"[^"]*"|[\w$#@]+)(?:\.(?:"[^"]*"|[\w$#@]+))*""")


class Names(msgspec.Struct, frozen=True):
    """Renamed objects, and renamed columns by the object's name at base."""

    objects: dict[str, str] = {}
    columns: dict[tuple[str, str], str] = {}

    def object(self, name: str) -> str:
        """Give an object's name at head."""
        return self.objects.get(name, name)

    def column(self, name: str, column: str) -> tuple[str, str]:
        """Give a column's object and name at head."""
        return self.object(name), self.columns.get((name, column), column)


def translate(names: Names, text: str) -> str:
    """Put canonical text of the base into the names of the head."""
    if not (names.objects or names.columns):
        return text
    words = dict(names.objects)
    for (name, column), new in names.columns.items():
        words[f"{name}.{column}"] = f"{names.object(name)}.{new}"
    return replace_words(text, words)


def same_words(one: str, other: str) -> bool:
    """Say whether two texts hold the same words: a rename may change the order of terms that are sorted by name."""
    return sorted_words(one) == sorted_words(other)


def sorted_words(text: str) -> list[str]:
    """Give the names, numbers and strings of a text, in order."""
    return sorted(_WORD.findall(text))


def replace_words(text: str, words: Mapping[str, str]) -> str:
    """Replace dotted names, the longest part of each that is known."""
    return _WORD.sub(lambda match: _replace_word(match.group(), words), text)


def _replace_word(word: str, words: Mapping[str, str]) -> str:
    head, tail = word, ""
    while head and not word.startswith("'"):
        if head in words:
            return words[head] + tail
        head, dot, last = head.rpartition(".")
        tail = dot + last + tail
    return word
