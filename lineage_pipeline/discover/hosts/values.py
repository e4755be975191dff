"""Texts in the making: parts that stand in the file as they are, and parts that were made of something else."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, islice

import msgspec

from lineage_pipeline.vocabulary.analysis import HOLE
from lineage_pipeline.vocabulary.places import NOTHING_COPIED

MOST = 200
"""How many texts an expression may come to; what is beyond them is not known."""

COMBINED = 16
"""How many texts choices that have nothing to do with each other may come to together."""

MADE = -1
"""The offset of a part that stands nowhere in the file."""


IMPORTED = -2
"""The offset of a part that stands in another file."""


class Part(msgspec.Struct, frozen=True):
    """A part of a text, and where it stands in the file.

    One without text may say under which `choice` the text is what it is: which branch, loop or call, and which of them.
    """

    text: str
    at: int = MADE
    choice: tuple[int, int] | None = None


Value = tuple[Part, ...]
"""One text."""

Texts = tuple[Value, ...]
"""The texts that an expression may come to."""

UNKNOWN_PART = Part(HOLE)

UNKNOWN: Texts = ((UNKNOWN_PART,),)


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


def is_elsewhere(value: Value) -> bool:
    """Say whether all of a text stands in another file."""
    return all(part.at == IMPORTED for part in value if part.text)


def is_unknown(texts: Texts) -> bool:
    """Say whether nothing is known of a text, whatever was chosen."""
    return all(text_of(value) == HOLE for value in texts)


def place_of(value: Value) -> int:
    """Say where the first of its parts stands that stands anywhere."""
    return next((part.at for part in value if part.at >= 0), MADE)


def joined(texts: Iterable[Texts]) -> Texts:
    """Put texts one behind the other, in all combinations that can be: no choice is made in two ways."""
    found: Texts = ((),)
    for choices in texts:
        most = max(COMBINED, len(found), len(choices))
        if len(choices) == 1 or len(found) == 1:
            pairs = ((before, after) for before in found for after in choices)
        else:
            made = [(after, dict(choices_of(after))) for after in choices]
            pairs = (
                (before, after)
                for before in found
                for known in (dict(choices_of(before)),)
                for after, other in made
                if all(known.get(number, chosen) == chosen for number, chosen in other.items())
            )
        found = limited(((*before, *after) for before, after in pairs), most)
    return found


def choices_of(value: Value) -> Iterator[tuple[int, int]]:
    """Give the choices under which a text is what it is."""
    return (part.choice for part in value if part.choice is not None)


def limited(values: Iterable[Value], most: int = MOST) -> Texts:
    """Give each text once; where there are too many, the last one is that nobody knows."""
    found = tuple(islice(dict.fromkeys(values), most + 1))
    return (*found[:most], *UNKNOWN) if len(found) > most else found


def either(*texts: Texts) -> Texts:
    """Give what is one or the other."""
    return limited(value for choices in texts for value in choices)


def chosen(texts: Texts, choice: tuple[int, int]) -> Texts:
    """Give texts that are so under a choice."""
    mark = Part("", MADE, choice)
    return tuple((mark, *value) for value in texts)


def plain(value: Value) -> Value:
    """Give a text without the choices that led to it."""
    return tuple(part for part in value if part.choice is None)


Filler = Callable[[re.Match[str]], Texts | None]


def filled(value: Value, pattern: re.Pattern[str], filler: Filler) -> Texts:
    """Give the texts in which what fits a pattern is one of several; what the filler does not know stays."""
    return joined(piece for part in value for piece in _pieces(part, pattern, filler))


def substituted(value: Value, pattern: re.Pattern[str], filler: Callable[[re.Match[str]], Value | None]) -> Value:
    """Give a text in which what fits a pattern is replaced; what the filler does not know stays."""

    def one(match: re.Match[str]) -> Texts | None:
        made = filler(match)
        return None if made is None else (made,)

    return tuple(piece for part in value for (pieces,) in _pieces(part, pattern, one) for piece in pieces)


def _pieces(part: Part, pattern: re.Pattern[str], filler: Filler) -> Iterator[Texts]:
    if part.choice is not None:
        yield ((part,),)
        return
    done = 0
    for match in pattern.finditer(part.text):
        made = filler(match)
        if made is None:
            continue
        yield ((cut(part, done, match.start()),),)
        yield made
        done = match.end()
    yield ((cut(part, done, len(part.text)),),)  # without text where a filling ends: its place is where it ended


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
    for place in range(max(bisect_left(starts, part.at) - 1, 0), len(runs)):
        run, start = runs[place], starts[place]
        if start > end:
            return
        first, last = max(part.at, start), min(end, start + len(run.text))
        if first < last or (first == last and not part.text):
            yield cut(run, first - start, last - start)


def unused(spare: Iterable[Value], found: Iterable[Value]) -> Iterator[Value]:
    """Give the texts of which no part is in another that was found."""
    places = sorted(
        (part.at, part.at + len(part.text)) for value in found for part in value if part.text and part.at >= 0
    )
    ends = list(accumulate((end for _, end in places), max))
    for value in spare:
        taken = False
        for part in value:
            before = bisect_left(places, (part.at + len(part.text), 0)) if part.text and part.at >= 0 else 0
            taken = taken or bool(before and ends[before - 1] > part.at)
        if not taken:
            yield value


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
