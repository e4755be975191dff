"""Which encoding of East Asia bytes are in, by the signs that texts of each are full of."""

from collections.abc import Callable


def _kana(sign: str) -> bool:
    return "\u3040" <= sign <= "\u30ff"


def _hangul(sign: str) -> bool:
    return "\uac00" <= sign <= "\ud7a3"


def _common(codec: str, first: int, last: int) -> Callable[[str], bool]:
    """Say whether a sign is among those that a standard lists first, by how common they are."""

    def among(sign: str) -> bool:
        try:
            return first <= sign.encode(codec)[0] <= last
        except UnicodeEncodeError:
            return False

    return among


ENCODINGS: tuple[tuple[str, Callable[[str], bool], int], ...] = (
    ("cp932", _kana, 20),
    ("euc_jp", _kana, 20),
    ("cp949", _hangul, 90),
    ("gb18030", _common("gb2312", 0xB0, 0xD7), 70),
    ("big5", _common("big5", 0xA4, 0xC6), 70),
)
"""Encodings, the signs that tell them, and how many of a hundred these have to be; those that are surer come first."""

FEWEST = 4
"""How many signs tell an encoding."""

TAIL = 4
"""The most bytes that a sign takes: a sample may end within one."""


def eastern(sample: bytes) -> list[str]:
    """Give the encoding that bytes are in, or none."""
    for name, telling, share in ENCODINGS:
        for end in (len(sample), *range(len(sample) - 1, max(len(sample) - TAIL, 0), -1)):
            try:
                signs = [sign for sign in sample[:end].decode(name) if sign >= "\x80"]
            except UnicodeDecodeError:
                continue
            if len(signs) >= FEWEST and sum(map(telling, signs)) * 100 >= share * len(signs):
                return [name]
            break
    return []
