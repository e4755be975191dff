"""Texts under construction: parts copied from the file with their offset, and parts made of something else."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate

import msgspec

from lineage_pipeline.model.analysis import RUNTIME_PLACEHOLDER
from lineage_pipeline.model.source_map import NO_COPIES

MAX_TEXTS = 200
"""How many texts an expression may evaluate to; with more the rest is unknown."""

MAX_COMBINATIONS = 16
"""How many texts independent choices may combine to."""

HEAVIEST, BUDGET = 10_000_000, 400_000_000
"""How much the texts of one expression may weigh that are put together of others, and all that one file runs."""

NO_OFFSET = -1
"""Offset of a part that is not in the file."""


IMPORTED_OFFSET = -2
"""Offset of a part that is in another file."""


class TextPart(msgspec.Struct, frozen=True):
    """A part of a text, and its offset in the file.

    One without text may carry the `choice` under which the text holds: the number of a branch, loop or call, and
    which of its alternatives.
    """

    text: str
    at: int = NO_OFFSET
    choice: tuple[int, int] | None = None


TextValue = tuple[TextPart, ...]
"""One text, as its parts."""

PossibleTexts = tuple[TextValue, ...]
"""The texts that an expression may evaluate to."""

UNKNOWN_PART = TextPart(RUNTIME_PLACEHOLDER)

UNKNOWN: PossibleTexts = ((UNKNOWN_PART,),)


class ExtractProblem(msgspec.Struct, frozen=True):
    """A finding about an offset of the file."""

    code: str
    values: tuple[tuple[str, str], ...]
    at: int


class ExtractedSql(msgspec.Struct, frozen=True):
    """The SQL of a file in file order, and what could not be extracted."""

    texts: tuple[TextValue, ...] = ()
    problems: tuple[ExtractProblem, ...] = ()


def sql_limit_problem() -> ExtractProblem:
    """Build the problem that a file holds more SQL than the limit."""
    return ExtractProblem(
        "LIMIT_EXCEEDED", (("what", "the program"), ("limit", f"{BUDGET // 10} characters of SQL")), 0
    )


def join_parts(value: TextValue) -> str:
    """Return the text of a value."""
    return "".join([part.text for part in value])


def is_imported_text(value: TextValue) -> bool:
    """Return whether all of a text is in another file."""
    return all(part.at == IMPORTED_OFFSET for part in value if part.text)


def is_unknown_text(texts: PossibleTexts) -> bool:
    """Return whether nothing is known of a text under any choice."""
    return all(join_parts(value) == RUNTIME_PLACEHOLDER for value in texts)


def first_offset(value: TextValue) -> int:
    """Return the offset of the first part that is in the file."""
    return next((part.at for part in value if part.at >= 0), NO_OFFSET)


def concat_texts(texts: Iterable[PossibleTexts]) -> PossibleTexts:
    """Concatenate texts in all consistent combinations: no choice is made in two ways.

    A result that is too long is unknown: a program of sixty lines can double a text sixty times.
    """
    found: PossibleTexts = ((),)
    behind: list[TextPart] = []
    weight = 0
    for choices in texts:
        if len(choices) == 1:
            behind += choices[0]
            weight += weigh_text(choices[0])
            if weight > HEAVIEST:
                return UNKNOWN
            continue
        found = _combine_choices(_append_parts(found, behind), choices)
        behind, weight = [], 0
    return limit_texts(_append_parts(found, behind), max(MAX_TEXTS, len(found)))


def _append_parts(texts: PossibleTexts, behind: Sequence[TextPart]) -> PossibleTexts:
    return tuple((*value, *behind) for value in texts) if behind else texts


def _combine_choices(found: PossibleTexts, choices: PossibleTexts) -> PossibleTexts:
    if len(found) == 1:
        pairs = ((found[0], after) for after in choices)
    else:
        made = [(after, dict(iter_choices(after))) for after in choices]
        pairs = (
            (before, after)
            for before in found
            for known in (dict(iter_choices(before)),)
            for after, other in made
            if all(known.get(number, chosen) == chosen for number, chosen in other.items())
        )
    return limit_texts(((*before, *after) for before, after in pairs), max(MAX_COMBINATIONS, len(found), len(choices)))


def iter_choices(value: TextValue) -> Iterator[tuple[int, int]]:
    """Return the choices under which a text holds."""
    return (part.choice for part in value if part.choice is not None)


def limit_texts(values: Iterable[TextValue], most: int = MAX_TEXTS) -> PossibleTexts:
    """Return each text once; with too many, or too long ones, the last text is unknown.

    With many, those that differ only in their choices are one: a program with a hundred branches has thousands of ways
    to the same text.
    """
    found: dict[TextValue, TextValue] = {}
    weight, merging = 0, False
    for value in values:
        key = drop_choices(value) if merging else value
        if key in found:
            found[key] = _keep_common_choices(found[key], value) if merging else value
            continue
        weight += weigh_text(value)
        if weight > HEAVIEST:
            return (*found.values(), *UNKNOWN) if found else UNKNOWN
        if len(found) == most:
            return (*found.values(), *UNKNOWN)
        found[key] = value
        if len(found) > MAX_COMBINATIONS and not merging:
            found, merging = _merge_equal_texts(found), True
    return tuple(found.values())


def _merge_equal_texts(values: Iterable[TextValue]) -> dict[TextValue, TextValue]:
    """Return the texts by their parts without choices, each with the choices that all ways to it have made."""
    found: dict[TextValue, TextValue] = {}
    for value in values:
        key = drop_choices(value)
        found[key] = _keep_common_choices(found[key], value) if key in found else value
    return found


def _keep_common_choices(value: TextValue, other: TextValue) -> TextValue:
    made = set(iter_choices(other))
    return tuple([part for part in value if part.choice is None or part.choice in made])


def weigh_text(value: TextValue) -> int:
    """Return the cost of a text: ten per character, and a hundred per part, which is examined repeatedly."""
    return 100 * len(value) + 10 * sum([len(part.text) for part in value])


def union_texts(*texts: PossibleTexts) -> PossibleTexts:
    """Return the texts of all alternatives."""
    return limit_texts(value for choices in texts for value in choices)


def mark_choice(texts: PossibleTexts, choice: tuple[int, int]) -> PossibleTexts:
    """Return texts marked with the choice under which they hold."""
    mark = TextPart("", NO_OFFSET, choice)
    return tuple((mark, *value) for value in texts)


def drop_choices(value: TextValue) -> TextValue:
    """Return a text without its choice marks."""
    return tuple([part for part in value if part.choice is None])


PlaceholderFiller = Callable[[re.Match[str]], PossibleTexts | None]


def fill_placeholders(value: TextValue, pattern: re.Pattern[str], filler: PlaceholderFiller) -> PossibleTexts:
    """Return the texts in which matches of a pattern are replaced by each alternative; unknown matches stay."""
    return concat_texts(piece for part in value for piece in _split_at_placeholders(part, pattern, filler))


def substitute_placeholders(
    value: TextValue, pattern: re.Pattern[str], filler: Callable[[re.Match[str]], TextValue | None]
) -> TextValue:
    """Return a text in which matches of a pattern are replaced; unknown matches stay."""

    def one(match: re.Match[str]) -> PossibleTexts | None:
        made = filler(match)
        return None if made is None else (made,)

    return tuple(
        piece for part in value for (pieces,) in _split_at_placeholders(part, pattern, one) for piece in pieces
    )


def _split_at_placeholders(
    part: TextPart, pattern: re.Pattern[str], filler: PlaceholderFiller
) -> Iterator[PossibleTexts]:
    if part.choice is not None:
        yield ((part,),)
        return
    done = 0
    for match in pattern.finditer(part.text):
        made = filler(match)
        if made is None:
            continue
        yield ((slice_part(part, done, match.start()),),)
        yield made
        done = match.end()
    yield ((slice_part(part, done, len(part.text)),),)  # without text where a filling ends: its place is where it ended


def slice_part(part: TextPart, start: int, end: int) -> TextPart:
    """Return a slice of a part."""
    return TextPart(part.text[start:end], part.at + start if part.at >= 0 else NO_OFFSET)


class TextRuns(msgspec.Struct):
    """The parts that a text was joined from, and the offset of each in it."""

    parts: list[TextPart] = []
    starts: list[int] = msgspec.field(default_factory=lambda: [0])

    def add(self, parts: Iterable[TextPart]) -> "TextRuns":
        """Append parts."""
        for part in parts:
            self.parts.append(part)
            self.starts.append(self.starts[-1] + len(part.text))
        return self


def map_offsets(value: TextValue, runs: TextRuns) -> TextValue:
    """Return a text taken from a joined text, with offsets mapped back to the file."""
    return tuple(piece for part in value for piece in _map_part_offsets(part, runs.parts, runs.starts))


def _map_part_offsets(part: TextPart, runs: Sequence[TextPart], starts: Sequence[int]) -> Iterator[TextPart]:
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
            yield slice_part(run, first - start, last - start)


def drop_overlapping(spare: Iterable[TextValue], found: Iterable[TextValue]) -> Iterator[TextValue]:
    """Yield the texts of which no part overlaps a text already found."""
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


def assemble_script(values: Sequence[TextValue], separator: Callable[[str], str]) -> tuple[str, tuple[int, ...]]:
    """Join the texts into one script with its source map; a separator follows each text but the last."""
    texts: list[str] = []
    copies: list[int] = []
    size = 0
    for number, value in enumerate(values):
        ended = () if number == len(values) - 1 else (TextPart(separator(join_parts(value))),)
        for part in (*value, *ended):
            if part.at >= 0:
                copies += [size, part.at, len(part.text)]
            texts.append(part.text)
            size += len(part.text)
    return "".join(texts), tuple(copies) or NO_COPIES
