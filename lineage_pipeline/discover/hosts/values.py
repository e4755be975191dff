"""Texts in the making: parts that stand in the file as they are, and parts that were made of something else."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate

import msgspec

from lineage_pipeline.vocabulary.analysis import HOLE
from lineage_pipeline.vocabulary.places import NOTHING_COPIED

MOST = 200
"""How many texts an expression may come to; what is beyond them is not known."""

COMBINED = 16
"""How many texts choices that have nothing to do with each other may come to together."""

HEAVIEST, BUDGET = 10_000_000, 400_000_000
"""How much the texts of one expression may weigh that are put together of others, and all that one file runs."""

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


def too_much() -> Problem:
    """Say that a file comes to more SQL than is looked at."""
    return Problem("LIMIT_EXCEEDED", (("what", "the program"), ("limit", f"{BUDGET // 10} characters of SQL")), 0)


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
    """Put texts one behind the other, in all combinations that can be: no choice is made in two ways.

    What would be too long is not known: a program of sixty lines can double a text sixty times.
    """
    found: Texts = ((),)
    behind: list[Part] = []
    weight = 0
    for choices in texts:
        if len(choices) == 1:
            behind += choices[0]
            weight += weigh(choices[0])
            if weight > HEAVIEST:
                return UNKNOWN
            continue
        found = _combined(_followed(found, behind), choices)
        behind, weight = [], 0
    return limited(_followed(found, behind), max(MOST, len(found)))


def _followed(texts: Texts, behind: Sequence[Part]) -> Texts:
    return tuple((*value, *behind) for value in texts) if behind else texts


def _combined(found: Texts, choices: Texts) -> Texts:
    if len(found) == 1:
        pairs = ((found[0], after) for after in choices)
    else:
        made = [(after, dict(choices_of(after))) for after in choices]
        pairs = (
            (before, after)
            for before in found
            for known in (dict(choices_of(before)),)
            for after, other in made
            if all(known.get(number, chosen) == chosen for number, chosen in other.items())
        )
    return limited(((*before, *after) for before, after in pairs), max(COMBINED, len(found), len(choices)))


def choices_of(value: Value) -> Iterator[tuple[int, int]]:
    """Give the choices under which a text is what it is."""
    return (part.choice for part in value if part.choice is not None)


def limited(values: Iterable[Value], most: int = MOST) -> Texts:
    """Give each text once; where there are too many, the last one is that nobody knows, and none is too long."""
    found: dict[Value, None] = {}
    weight = 0
    for value in values:
        if value in found:
            continue
        weight += weigh(value)
        if weight > HEAVIEST:
            return (*found, *UNKNOWN) if found else UNKNOWN
        if len(found) == most:
            return (*found, *UNKNOWN)
        found[value] = None
    return tuple(found)


def weigh(value: Value) -> int:
    """Say what a text costs: ten for a character, and a hundred for a part, which is looked at again and again."""
    return 100 * len(value) + 10 * sum([len(part.text) for part in value])


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


class Runs(msgspec.Struct):
    """The parts that a text was made of, one behind the other, and where each of them begins in it."""

    parts: list[Part] = []
    starts: list[int] = msgspec.field(default_factory=lambda: [0])

    def add(self, parts: Iterable[Part]) -> "Runs":
        """Put parts behind those that are there."""
        for part in parts:
            self.parts.append(part)
            self.starts.append(self.starts[-1] + len(part.text))
        return self


def carried(value: Value, runs: Runs) -> Value:
    """Give a text taken from another text, with the places that this one has in the file."""
    return tuple(piece for part in value for piece in _carried(part, runs.parts, runs.starts))


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
