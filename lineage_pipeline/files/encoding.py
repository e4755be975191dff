"""Bytes → text: by the byte-order mark, else by detecting the encoding; bytes that fit no encoding are not text."""

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping

import msgspec

BYTE_ORDER_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

CODE_PAGE_LETTERS: dict[str, str] = {
    "cp1252": "äöüßéèàçñøåæêâîôûëïœáíóúãõìòùÄÖÜÉÈÀÇÑØÅÆ°§€–—“”‘’„…«»",
    "cp1250": "ěščřžýáíéúůťďňąęłńśźżćőűŠČŘŽÝÁÍÉŮŤĎŇĄĘŁŃŚŹŻĆŐŰ„“”–",
    "cp1254": "ğışçöüİĞŞÇÖÜâî",
}
"""Frequent letters of code pages for Latin scripts; of two equal scores the first counts."""

SCRIPT_LETTERS: dict[str, str] = {"cp1251": "оеаинтсрвлкмдпуя", "cp1253": "αοιετσνηυρπκμλ", "cp1255": "יוהלאמרתבש"}
"""Most frequent letters of non-Latin code pages, whose words have hardly a Latin letter."""

WORD_BYTES = re.compile(rb"[A-Za-z\x80-\xff]+")
CODING_COOKIE = re.compile(rb"^[ \t\f]*(?:#|--|//).*?coding[:=][ \t]*([-\w.]+)", re.MULTILINE)
NON_ASCII_RUNS = re.compile(rb"[\x80-\xff]{2,}")
CONTROL_BYTES = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")

ESCAPE_CODECS = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})
"""Python codecs that no file is written in: they decode escapes into other characters."""

SURROGATES = re.compile("[\ud800-\udfff]")

SAMPLE_BYTES = 65536
"""Number of bytes from which an encoding is detected."""


class DecodedText(msgspec.Struct, frozen=True):
    """A text and its encoding; where there is a `problem`, the text is empty."""

    text: str
    encoding: str
    problem: str = ""


def decode_content(content: bytes, encoding: str = "") -> DecodedText:
    """Decode the bytes of a file without changing its line ends, or say why they are not text."""
    marked = [encoding for mark, encoding in BYTE_ORDER_MARKS if content.startswith(mark)]
    wide = detect_wide_encoding(content) if not marked and b"\0" in content else ""
    if not marked and not encoding and not wide and b"\0" in content:
        return DecodedText("", "binary", "it holds NUL bytes and no byte-order mark")
    problem = ""
    named = marked[:1] or [name for name in (encoding, wide) if name][:1]
    for candidate in named or _candidate_encodings(content):
        try:
            return DecodedText(content.decode(candidate), candidate)
        except UnicodeDecodeError as error:
            problem = f"not {candidate}: {error.reason} at byte {error.start}"
        except (LookupError, UnicodeError):
            problem = f"{candidate} is no encoding"
    return DecodedText("", "unknown", problem)


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which no file can hold, by a replacement character."""
    return text if text.isascii() else SURROGATES.sub("\ufffd", text)


def _candidate_encodings(content: bytes) -> Iterator[str]:
    """Yield encodings to try, UTF-8 first: detection costs time and few files need it."""
    yield "utf-8"
    yield from _guess_code_pages(content)


def detect_wide_encoding(content: bytes) -> str:
    """Detect UTF-16 or UTF-32 without a byte-order mark by the position of NUL bytes."""
    sample = content[:SAMPLE_BYTES]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if len(content) % 2 or not sample:
        return ""
    if len(content) % 4 == 0 and (even + odd) * 2 > len(sample):  # most of UTF-32 is NUL
        return next((name for name in ("utf-32-le", "utf-32-be") if _is_text(sample, name)), "")
    name = "utf-16-le" if odd > even else "utf-16-be"
    return name if min(odd, even) * 50 <= len(sample) // 2 and _is_text(sample, name) else ""


def _is_text(sample: bytes, name: str) -> bool:
    """Return whether bytes decode to printable characters and lines in an encoding."""
    try:
        text = sample.decode(name)
    except UnicodeDecodeError:
        return False
    return all(sign in "\t\n\r\f\x1a" or unicodedata.category(sign) not in ("Cc", "Cn", "Co") for sign in set(text))


def _guess_code_pages(content: bytes) -> list[str]:
    """Yield the code pages that bytes may be in, likeliest first; a coding comment at the top wins."""
    head = b"\n".join(content[:400].split(b"\n")[:2])
    said = CODING_COOKIE.search(head)
    named = [name for name in [said[1].decode("ascii", "replace")] if not _is_escape_codec(name)] if said else []
    words = [word for word in WORD_BYTES.findall(content[:SAMPLE_BYTES]) if not word.isascii()]
    if not words or CONTROL_BYTES.search(content[:SAMPLE_BYTES]):
        return named
    high = sum(sum(byte >= 0x80 for byte in word) for word in words)
    sample = b" ".join(words)
    own = high * 10 >= 7 * sum(map(len, words)) and high > len(words)
    best, score = _rank_code_pages(sample, SCRIPT_LETTERS)
    if own and score * 3 >= high:
        return [*named, best[0]]
    best, score = _rank_code_pages(sample, CODE_PAGE_LETTERS)
    # Letters of a code page for Latin ones stand alone; where they come in rows, they are something else.
    if sum(len(row) for row in NON_ASCII_RUNS.findall(sample)) * 2 <= high:
        return [*named, *best]
    return [*named, *(detect_cjk_encoding(content[:SAMPLE_BYTES]) or (best if score * 5 >= high * 4 else []))]


def _is_escape_codec(name: str) -> bool:
    try:
        return codecs.lookup(name).name in ESCAPE_CODECS
    except LookupError:
        return False


def _rank_code_pages(sample: bytes, pages: Mapping[str, str]) -> tuple[list[str], int]:
    """Return the code pages ordered by how many frequent letters they give, and the best score."""
    scores = {page: _score_code_page(sample, page, letters) for page, letters in pages.items()}
    ranked = sorted(pages, key=lambda page: -scores[page])
    return ranked, scores[ranked[0]]


def _score_code_page(sample: bytes, page: str, letters: str) -> int:
    try:
        text = sample.decode(page)
    except UnicodeDecodeError:
        return -1
    return sum(sign in letters for sign in text if sign >= "\x80")


def _is_kana(sign: str) -> bool:
    return "\u3040" <= sign <= "\u30ff"


def _is_hangul(sign: str) -> bool:
    return "\uac00" <= sign <= "\ud7a3"


def _is_common_character(codec: str, first: int, last: int) -> Callable[[str], bool]:
    """Return a test for characters in the range that a standard lists first, the most common ones."""

    def among(sign: str) -> bool:
        try:
            return first <= sign.encode(codec)[0] <= last
        except UnicodeEncodeError:
            return False

    return among


CJK_ENCODINGS: tuple[tuple[str, Callable[[str], bool], int], ...] = (
    ("cp932", _is_kana, 20),
    ("euc_jp", _is_kana, 20),
    ("cp949", _is_hangul, 90),
    ("gb18030", _is_common_character("gb2312", 0xB0, 0xD7), 70),
    ("big5", _is_common_character("big5", 0xA4, 0xC6), 70),
)
"""Encodings, the test for their characters, and the percentage that must pass; the surest first."""

MIN_CJK_CHARACTERS = 4
"""Fewest characters from which an encoding is detected."""

MAX_CJK_CHARACTER_BYTES = 4
"""Most bytes of one character: a sample may end within one."""


def detect_cjk_encoding(sample: bytes) -> list[str]:
    """Return the CJK encoding of some bytes, or none."""
    for name, telling, share in CJK_ENCODINGS:
        for end in (len(sample), *range(len(sample) - 1, max(len(sample) - MAX_CJK_CHARACTER_BYTES, 0), -1)):
            try:
                signs = [sign for sign in sample[:end].decode(name) if sign >= "\x80"]
            except UnicodeDecodeError:
                continue
            if len(signs) >= MIN_CJK_CHARACTERS and sum(map(telling, signs)) * 100 >= share * len(signs):
                return [name]
            break
    return []
