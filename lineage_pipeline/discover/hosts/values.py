"""Texts in the making: parts that stand in the file as they are, and parts that were made of something else."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from lineage_pipeline.vocabulary.analysis import HOLE
from lineage_pipeline.vocabulary.places import NOTHING_COPIED

MOST = 8
"""How many texts an expression may come to before only the first ones count."""

MADE = -1
"""The offset of a part that stands nowhere in the file."""


class Part(msgspec.Struct, frozen=True):
    """A part of a text, and where it stands in the file."""

    text: str
    at: int = MADE


Value = tuple[Part, ...]
"""One text."""

Texts = tuple[Value, ...]
"""The texts that an expression may come to."""

UNKNOWN: Texts = ((Part(HOLE),),)


class Problem(msgspec.Struct, frozen=True):
    """Something to be told about a place of the file."""

    code: str
    values: tuple[tuple[str, str], ...]
    at: int


class Extract(msgspec.Struct, frozen=True):
    """The SQL of a file in the order of the file, and what could not be had."""

    texts: tuple[Value, ...] = ()
    problems: tuple[Problem, ...] = ()


def text_of(value: Value) -> str:
    """Give a text as it is."""
    return "".join(part.text for part in value)


def place_of(value: Value) -> int:
    """Say where the first of its parts stands that stands anywhere."""
    return next((part.at for part in value if part.at >= 0), MADE)


def joined(texts: Iterable[Texts]) -> Texts:
    """Put texts one behind the other, in all combinations."""
    found: Texts = ((),)
    for choices in texts:
        found = tuple((*before, *after) for before in found for after in choices)[:MOST]
    return found


def either(*texts: Texts) -> Texts:
    """Give what is one or the other."""
    return tuple(dict.fromkeys(value for choices in texts for value in choices))[:MOST]


Filler = Callable[[re.Match[str]], Value | None]


def substituted(value: Value, pattern: re.Pattern[str], filler: Filler) -> Value:
    """Give a text in which what fits a pattern is replaced; what the filler does not know stays."""
    return tuple(piece for part in value for piece in _pieces(part, pattern, filler))


def _pieces(part: Part, pattern: re.Pattern[str], filler: Filler) -> Iterator[Part]:
    done = 0
    for match in pattern.finditer(part.text):
        filled = filler(match)
        if filled is None:
            continue
        yield cut(part, done, match.start())
        yield from filled
        done = match.end()
    yield cut(part, done, len(part.text))  # without text where a filling ends: its place is where it ended


def cut(part: Part, start: int, end: int) -> Part:
    """Give a slice of a part."""
    return Part(part.text[start:end], part.at + start if part.at >= 0 else MADE)


def carried(value: Value, runs: Sequence[Part]) -> Value:
    """Give a text taken from another text, with the places that this one has in the file; `runs` are its parts."""
    starts = [0]
    for run in runs:
        starts.append(starts[-1] + len(run.text))
    return tuple(piece for part in value for piece in _carried(part, runs, starts))


def _carried(part: Part, runs: Sequence[Part], starts: Sequence[int]) -> Iterator[Part]:
    if part.at < 0:
        yield part
        return
    end = part.at + len(part.text)
    for run, start in zip(runs, starts, strict=False):
        first, last = max(part.at, start), min(end, start + len(run.text))
        if first < last or (first == last and not part.text):
            yield cut(run, first - start, last - start)


def assembled(values: Sequence[Value], separator: Callable[[str], str]) -> tuple[str, tuple[int, ...]]:
    """Give the texts as one, and what of it is copied from where; a separator follows each text but the last."""
    texts: list[str] = []
    copies: list[int] = []
    size = 0
    for number, value in enumerate(values):
        ended = () if number == len(values) - 1 else (Part(separator(text_of(value))),)
        for part in (*value, *ended):
            if part.at >= 0:
                copies += [size, part.at, len(part.text)]
            texts.append(part.text)
            size += len(part.text)
    return "".join(texts), tuple(copies) or NOTHING_COPIED
