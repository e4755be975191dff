"""Detects East Asian encodings by the characters that are frequent in texts of each."""

from collections.abc import Callable


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

MIN_CHARACTERS = 4
"""Fewest characters from which an encoding is detected."""

MAX_CHARACTER_BYTES = 4
"""Most bytes of one character: a sample may end within one."""


def detect_cjk_encoding(sample: bytes) -> list[str]:
    """Return the CJK encoding of some bytes, or none."""
    for name, telling, share in CJK_ENCODINGS:
        for end in (len(sample), *range(len(sample) - 1, max(len(sample) - MAX_CHARACTER_BYTES, 0), -1)):
            try:
                signs = [sign for sign in sample[:end].decode(name) if sign >= "\x80"]
            except UnicodeDecodeError:
                continue
            if len(signs) >= MIN_CHARACTERS and sum(map(telling, signs)) * 100 >= share * len(signs):
                return [name]
            break
    return []
