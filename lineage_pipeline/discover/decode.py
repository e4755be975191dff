"""Bytes → text: by the byte-order mark, else UTF-8, else cp1252; what holds NUL bytes is no text."""

import codecs

import msgspec

MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

FALLBACKS = ("utf-8", "cp1252")


class Decoded(msgspec.Struct, frozen=True):
    """A text and its encoding; where there is a `problem`, the text is empty."""

    text: str
    encoding: str
    problem: str = ""


def decode(content: bytes) -> Decoded:
    """Turn the bytes of a file into text without touching its line ends, or say why they are not text."""
    marked = [encoding for mark, encoding in MARKS if content.startswith(mark)]
    if not marked and b"\0" in content:
        return Decoded("", "binary", "it holds NUL bytes and no byte-order mark")
    for encoding in marked[:1] or FALLBACKS:
        try:
            return Decoded(content.decode(encoding), encoding)
        except UnicodeDecodeError as error:
            problem = f"not {encoding}: {error.reason} at byte {error.start}"
    return Decoded("", "unknown", problem)
