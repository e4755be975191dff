"""The signs of dialects: what is asked of a text before a pattern runs never hides a match."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lineage_pipeline.dialects.registry import DIALECTS
from lineage_pipeline.dialects.signs import DialectSign, build_sign
from lineage_pipeline.discover.dialect_detection import MAX_TEXT_LENGTH, SignSearch, find_signs

FIXTURES = Path(__file__).parents[1] / "fixtures"
SIGNS = {sign.name: sign for one in DIALECTS.values() for field in (one.signs, one.host_signs) for sign in field}
TEXT_SIGNS = [sign.name for sign in {sign.name: sign for one in DIALECTS.values() for sign in one.signs}.values()]

parser, constants = re._parser, re._constants  # type: ignore[attr-defined]  # there is no public parser of patterns
CHARACTERS = [chr(code) for code in (9, 10, 13, *range(32, 127))]


class TextWriter:
    """Writes texts that a pattern matches; the number of a text selects the alternatives that it takes."""

    def __init__(self, pattern: re.Pattern[str], number: int) -> None:
        self._random = random.Random(number)
        self._number = number
        self.text = self._write(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE), ignore_case=True)

    def _write(self, parts: Any, *, ignore_case: bool) -> str:
        return "".join(self._write_part(kind, value, ignore_case) for kind, value in parts)

    def _write_part(self, kind: Any, value: Any, ignore_case: bool) -> str:
        if kind is constants.LITERAL:
            character = chr(value)
            return self._random.choice((character.lower(), character.upper())) if ignore_case else character
        if kind is constants.BRANCH:
            # The outermost alternatives are taken in turn, those inside by chance.
            chosen = value[1][self._number % len(value[1])]
            self._number = self._random.randrange(1000)
            return self._write(chosen, ignore_case=ignore_case)
        if kind is constants.SUBPATTERN:
            _, _, removed, inner = value
            return self._write(inner, ignore_case=ignore_case and not removed & re.IGNORECASE)
        if kind in (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT):
            least, most, inner = value
            times = self._random.randint(least, min(most, least + 2))
            return "".join(self._write(inner, ignore_case=ignore_case) for _ in range(times))
        if kind in (constants.AT, constants.ASSERT, constants.ASSERT_NOT):
            return ""
        one = re.compile(self._print_set(kind, value))
        return self._random.choice([character for character in CHARACTERS if one.fullmatch(character)])

    @staticmethod
    def _print_set(kind: Any, value: Any) -> str:
        classes = {"WORD": r"\w", "NOT_WORD": r"\W", "SPACE": r"\s", "NOT_SPACE": r"\S", "DIGIT": r"\d"}
        members = value if kind is constants.IN else [(kind, value)]
        printed = ""
        for one, what in members:
            if one is constants.NEGATE or one is constants.NOT_LITERAL:
                printed += "^"
            if one is constants.RANGE:
                printed += f"{re.escape(chr(what[0]))}-{re.escape(chr(what[1]))}"
            elif one is constants.CATEGORY:
                printed += classes[str(what).removeprefix("CATEGORY_")]
            elif what is not None:
                printed += re.escape(chr(what))
        return f"[{printed}]"


def write_matches(sign: DialectSign) -> Iterator[str]:
    """Write texts that a sign matches, alone and between other characters."""
    for number in range(60):
        text = TextWriter(sign.pattern, number).text
        for around in ("{}", "a\n{}\nb", "({})", "“{}”", "\u0130 {} \u0130"):
            if sign.pattern.search(around.format(text)):
                yield around.format(text)


@pytest.mark.parametrize("name", SIGNS)
def test_a_text_that_a_sign_matches_is_searched_for_it(name: str) -> None:
    search = SignSearch({name: SIGNS[name]})
    texts = list(write_matches(SIGNS[name]))
    assert texts
    assert [text for text in texts if not search.find_candidates(text)] == []


def test_a_need_that_is_too_narrow_is_noticed() -> None:
    for words in ("abc", "abc~def", "abc&d*", "ABC"):
        sign = build_sign("x", r"\b(?:abc\s*def|abd)\b", words=words)
        assert not all(SignSearch({"x": sign}).find_candidates(text) for text in write_matches(sign))


def test_the_signs_of_all_fixtures_are_those_that_the_patterns_find() -> None:
    texts = {path: path.read_text(errors="replace") for path in sorted(FIXTURES.rglob("*.sql"))}
    assert len(texts) > 100
    found = set()
    for path, whole in texts.items():
        text = whole[:MAX_TEXT_LENGTH]
        expected = tuple(name for name in TEXT_SIGNS if SIGNS[name].pattern.search(text))
        assert find_signs(text) == expected, path
        found |= set(expected)
    assert len(found) > 100


def test_most_patterns_are_not_tried() -> None:
    search = SignSearch({name: SIGNS[name] for name in TEXT_SIGNS})
    text = "create or replace view a as select date(b.at), array_agg(b.c) from x.b join y.d on b.id = d.id where b.e"
    assert set(search.find_candidates(text)) <= {"REPLACE VIEW or MACRO"}
