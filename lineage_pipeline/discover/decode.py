"""Bytes → text: by the byte-order mark, else by what the bytes can be; what can be nothing is no text."""

import codecs
import re
import unicodedata
from collections.abc import Iterator, Mapping

import msgspec

from lineage_pipeline.discover.eastern import eastern

MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

LETTERS: dict[str, str] = {
    "cp1252": "äöüßéèàçñøåæêâîôûëïœáíóúãõìòùÄÖÜÉÈÀÇÑØÅÆ°§€–—“”‘’„…«»",
    "cp1250": "ěščřžýáíéúůťďňąęłńśźżćőűŠČŘŽÝÁÍÉŮŤĎŇĄĘŁŃŚŹŻĆŐŰ„“”–",
    "cp1254": "ğışçöüİĞŞÇÖÜâî",
}
"""What texts of a code page for Latin letters are full of; the first of two that fit equally well counts."""

SCRIPTS: dict[str, str] = {"cp1251": "оеаинтсрвлкмдпуя", "cp1253": "αοιετσνηυρπκμλ", "cp1255": "יוהלאמרתבש"}
"""The commonest letters of scripts of their own, whose words have hardly a Latin letter."""

WORDS = re.compile(rb"[A-Za-z\x80-\xff]+")
COOKIE = re.compile(rb"^[ \t\f]*(?:#|--|//).*?coding[:=][ \t]*([-\w.]+)", re.MULTILINE)
ROWS = re.compile(rb"[\x80-\xff]{2,}")
BINARY = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")

NOTATIONS = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})
"""What Python calls encodings and no file is written in: they mean other characters than those that stand there."""

HALVES = re.compile("[\ud800-\udfff]")

SAMPLE = 65536
"""How many bytes are looked at to tell an encoding."""


class Decoded(msgspec.Struct, frozen=True):
    """A text and its encoding; where there is a `problem`, the text is empty."""

    text: str
    encoding: str
    problem: str = ""


def decode(content: bytes, encoding: str = "") -> Decoded:
    """Turn the bytes of a file into text without touching its line ends, or say why they are not text."""
    marked = [encoding for mark, encoding in MARKS if content.startswith(mark)]
    wide = wide_encoding(content) if not marked and b"\0" in content else ""
    if not marked and not encoding and not wide and b"\0" in content:
        return Decoded("", "binary", "it holds NUL bytes and no byte-order mark")
    problem = ""
    named = marked[:1] or [name for name in (encoding, wide) if name][:1]
    for candidate in named or _candidates(content):
        try:
            return Decoded(content.decode(candidate), candidate)
        except UnicodeDecodeError as error:
            problem = f"not {candidate}: {error.reason} at byte {error.start}"
        except (LookupError, UnicodeError):
            problem = f"{candidate} is no encoding"
    return Decoded("", "unknown", problem)


def characters(text: str) -> str:
    """Give a text of characters alone: half of one, which a program can write and no file can hold, becomes a mark."""
    return text if text.isascii() else HALVES.sub("\ufffd", text)


def _candidates(content: bytes) -> Iterator[str]:
    """Give UTF-8 first: guessing costs time, and nearly no text needs it."""
    yield "utf-8"
    yield from _guesses(content)


def wide_encoding(content: bytes) -> str:
    """Say whether bytes without a mark are UTF-16 or UTF-32: ASCII has its NUL bytes on one side alone."""
    sample = content[:SAMPLE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if len(content) % 2 or not sample:
        return ""
    if len(content) % 4 == 0 and (even + odd) * 2 > len(sample):  # most of UTF-32 is NUL
        return next((name for name in ("utf-32-le", "utf-32-be") if _is_text(sample, name)), "")
    name = "utf-16-le" if odd > even else "utf-16-be"
    return name if min(odd, even) * 50 <= len(sample) // 2 and _is_text(sample, name) else ""


def _is_text(sample: bytes, name: str) -> bool:
    """Say whether bytes are letters and signs that exist, and lines, in an encoding."""
    try:
        text = sample.decode(name)
    except UnicodeDecodeError:
        return False
    return all(sign in "\t\n\r\f\x1a" or unicodedata.category(sign) not in ("Cc", "Cn", "Co") for sign in set(text))


def _guesses(content: bytes) -> list[str]:
    """Give the code pages that bytes may be in, the likeliest first; a comment at the top beats all."""
    head = b"\n".join(content[:400].split(b"\n")[:2])
    said = COOKIE.search(head)
    named = [name for name in [said[1].decode("ascii", "replace")] if not _is_notation(name)] if said else []
    words = [word for word in WORDS.findall(content[:SAMPLE]) if not word.isascii()]
    if not words or BINARY.search(content[:SAMPLE]):
        return named
    high = sum(sum(byte >= 0x80 for byte in word) for word in words)
    sample = b" ".join(words)
    own = high * 10 >= 7 * sum(map(len, words)) and high > len(words)
    best, score = _best(sample, SCRIPTS)
    if own and score * 3 >= high:
        return [*named, best[0]]
    best, score = _best(sample, LETTERS)
    # Letters of a code page for Latin ones stand alone; where they come in rows, they are something else.
    if sum(len(row) for row in ROWS.findall(sample)) * 2 <= high:
        return [*named, *best]
    return [*named, *(eastern(content[:SAMPLE]) or (best if score * 5 >= high * 4 else []))]


def _is_notation(name: str) -> bool:
    try:
        return codecs.lookup(name).name in NOTATIONS
    except LookupError:
        return False


def _best(sample: bytes, pages: Mapping[str, str]) -> tuple[list[str], int]:
    """Give code pages, the one first whose letters are the most, and how many these are."""
    scores = {page: _score(sample, page, letters) for page, letters in pages.items()}
    ranked = sorted(pages, key=lambda page: -scores[page])
    return ranked, scores[ranked[0]]


def _score(sample: bytes, page: str, letters: str) -> int:
    try:
        text = sample.decode(page)
    except UnicodeDecodeError:
        return -1
    return sum(sign in letters for sign in text if sign >= "\x80")
