"""Dialect detection: the signs of dialects in a text, and the dialect for which they weigh most."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cache

import msgspec

from lineage_pipeline.dialects.registry import DIALECTS
from lineage_pipeline.dialects.signs import DialectSign, SignNeed
from lineage_pipeline.files.sql_endings import CERTAIN, GZIP_ENDING, SQL_FILE_KINDS, name_ending

PROJECT_DIALECTS = {suffix: traits.name for traits in DIALECTS.values() for suffix in traits.project_suffixes}
"""Project files whose SQL is all of one dialect, by file suffix."""

MIN_WEIGHT = 3
"""Total weight from which a dialect is detected."""

MIN_LEAD = 2
"""How much more than for any other dialect the signs of one text have to weigh: signs that it shares tell nothing."""

MIN_REFINEMENT_SHARE = 5
"""That one file in so many with signs of a family has own signs of a dialect which refines it."""

MAX_TEXT_LENGTH = 60_000
"""How many characters of a text are searched."""

PATH_SIGN = "the name {}"
PATH_WEIGHT = 3
"""The sign of a folder or file that is named after a dialect, and its weight."""


class DialectGuess(msgspec.Struct, frozen=True):
    """A detected dialect and the signs found."""

    dialect: str
    signs: tuple[str, ...]


def _collect_signs(field: str) -> dict[str, DialectSign]:
    """Return the signs of all dialects by name; a shared one once."""
    return {sign.name: sign for traits in DIALECTS.values() for sign in getattr(traits, field)}


_TEXT_SIGNS, _HOST_SIGNS = _collect_signs("signs"), _collect_signs("host_signs")

_WORD = re.compile(r"\w+")

BEGINNING = 3
"""How many characters of a word select the signs that need a word with a certain beginning."""

_BLANKS = {code: " " for code in range(128) if not _WORD.match(chr(code))}


def _split_words(text: str) -> set[str]:
    if text.isascii():  # five times as quick as the expression
        return set(text.translate(_BLANKS).split())
    return set(_WORD.findall(text))


class SignSearch:
    """Finds some signs in a text; a pattern runs only where the words of the text allow it to match.

    Words are found once for all signs and select the needs to look at: most patterns are never tried.
    """

    def __init__(self, signs: Mapping[str, DialectSign]) -> None:
        self._signs = tuple(signs.items())
        self._needs: dict[str, list[tuple[int, SignNeed]]] = {}
        for index, (_, sign) in enumerate(self._signs):
            for need in sign.needs or (SignNeed(frozenset()),):
                # The longest word of a need is taken for the rarest.
                key = max(sorted(need.words), key=len) if need.words else "".join(need.beginnings[:1])[:BEGINNING]
                self._needs.setdefault(key, []).append((index, need))
        self._keys = set(self._needs)

    def find_candidates(self, text: str) -> tuple[str, ...]:
        """Return the names of the signs that a text may have."""
        return tuple(self._signs[index][0] for index in self._select(text))

    def find(self, text: str) -> tuple[str, ...]:
        """Return the names of the signs that a text has."""
        if not text:
            return ()
        candidates = (self._signs[index] for index in self._select(text))
        return tuple(name for name, sign in candidates if sign.pattern.search(text))

    def _select(self, text: str) -> list[int]:
        words = _split_words(text)
        words.update([word.lower() for word in words])
        keys = {"", *(word[:BEGINNING] for word in words), *words} & self._keys
        vocabulary, line = f" {' '.join(words)}", f" {' '.join(text.lower().split())} "
        selected = set()
        for key in keys:
            for index, need in self._needs[key]:
                if index in selected or not need.words <= words:
                    continue
                if need.parts and not all(part in line for part in need.parts):
                    continue
                if not need.beginnings or all(f" {start}" in vocabulary for start in need.beginnings):
                    selected.add(index)
        return sorted(selected)


_TEXT_SEARCH, _HOST_SEARCH = SignSearch(_TEXT_SIGNS), SignSearch(_HOST_SIGNS)


def _collect_parents() -> dict[str, str]:
    """Return the dialects that add signs to those of their family, such as Materialize to PostgreSQL, with the family.

    A dialect that lists the signs of its family itself, each with a weight of its own, is none of them.
    """
    names = {traits.name: {sign.name for sign in (*traits.signs, *traits.host_signs)} for traits in DIALECTS.values()}
    return {
        traits.name: traits.family
        for traits in DIALECTS.values()
        if traits.family not in ("", traits.name)
        and (names[traits.name] or traits.path_words)
        and not names[traits.name] & names[traits.family]
    }


PARENTS: Mapping[str, str] = _collect_parents()
"""The family of each dialect whose signs speak for the family as well."""

CLIENT_SIGN = "a client of {} in its first line"
ENDING_SIGN = "the ending {}"


def _collect_weights() -> dict[str, dict[str, int]]:
    weights: dict[str, dict[str, int]] = {}
    for traits in DIALECTS.values():
        for sign in (*traits.signs, *traits.host_signs):
            weights.setdefault(sign.name, {})[traits.name] = sign.worth
        if traits.path_words:
            weights[PATH_SIGN.format(traits.name)] = {traits.name: PATH_WEIGHT}
        weights[CLIENT_SIGN.format(traits.name)] = {traits.name: CERTAIN}
    for kind in SQL_FILE_KINDS:
        for ending in kind.endings if kind.dialect else ():
            weights[ENDING_SIGN.format(ending)] = {kind.dialect: kind.worth}
    for spoken in weights.values():
        spoken.update({PARENTS[name]: worth for name, worth in spoken.items() if name in PARENTS})
    return weights


SIGN_WEIGHTS: Mapping[str, Mapping[str, int]] = _collect_weights()
"""What each sign weighs, by its name and by the dialects that it speaks for."""

CONNECTORS = frozenset(_HOST_SIGNS)
"""The signs of programs: the drivers that they pass their SQL to."""

_PATH_WORDS = {word: traits.name for traits in DIALECTS.values() for word in traits.path_words}
_PATH_WORD = re.compile(r"[a-z]+\d?")


def find_signs(text: str, host: str = "") -> tuple[str, ...]:
    """Return the names of the signs in a text, and in the program or notebook that it was extracted from."""
    return (*_TEXT_SEARCH.find(text[:MAX_TEXT_LENGTH]), *_HOST_SEARCH.find(host[:MAX_TEXT_LENGTH]))


def find_name_signs(path: str, client: str = "") -> tuple[str, ...]:
    """Return what the ending of a file, or the dialect of the client in its first line, says about its dialect."""
    if client:
        return (CLIENT_SIGN.format(client),)
    sign = ENDING_SIGN.format(name_ending(path).removesuffix(GZIP_ENDING))
    return (sign,) if sign in SIGN_WEIGHTS else ()


@cache
def find_path_dialect(part: str) -> str:
    """Return the dialect that the name of a folder or file names, or nothing where it is none or several."""
    words = _PATH_WORD.findall(part.lower())
    pairs = (first + second for first, second in zip(words, words[1:], strict=False))  # sql-server
    named = {_PATH_WORDS[word] for word in (*words, *pairs) if word in _PATH_WORDS}
    return named.pop() if len(named) == 1 else ""


def remove_path_dialect(part: str) -> str:
    """Return the name of a folder or file without the words for dialects: `ddl-mysql.sql` is `ddl-.sql`."""
    return _PATH_WORD.sub(lambda word: "" if word[0] in _PATH_WORDS else word[0], part.lower())


def find_path_sign(path: str) -> str:
    """Return the sign of the innermost part of a path that names a dialect, or nothing."""
    found = next(filter(None, map(find_path_dialect, reversed(path.split("/")))), "")
    return PATH_SIGN.format(found) if found else ""


def weigh_signs(signs: Iterable[str]) -> dict[str, int]:
    """Return the total weight of some signs for each dialect; a sign of an older version is ignored."""
    totals: dict[str, int] = {}
    for sign in signs:
        for dialect, weight in SIGN_WEIGHTS.get(sign, {}).items():
            totals[dialect] = totals.get(dialect, 0) + weight
    return totals


def find_refinement(family: str, signs: Iterable[Collection[str]]) -> str:
    """Return the dialect of a family of whose own signs enough files have some, or else the family itself."""
    voters, speaking = Counter[str](), 0
    for found in signs:
        weights = weigh_signs(found)
        speaking += family in weights
        voters.update(name for name, weight in weights.items() if PARENTS.get(name) == family and weight >= MIN_WEIGHT)
    best = min(voters, key=lambda name: (-voters[name], name), default="")
    return best if best and voters[best] * MIN_REFINEMENT_SHARE >= speaking else family


def choose_dialect(signs: Collection[str]) -> DialectGuess | None:
    """Return the dialect with the highest total weight, or None where it is low or another one is close."""
    weights = weigh_signs(signs)
    ranked = sorted(((weight, dialect) for dialect, weight in weights.items() if dialect not in PARENTS), reverse=True)
    if not ranked or ranked[0][0] < MIN_WEIGHT or (len(ranked) > 1 and ranked[0][0] - ranked[1][0] < MIN_LEAD):
        return None
    dialect = find_refinement(ranked[0][1], [signs])
    spoken = {dialect, PARENTS.get(dialect, dialect)}
    return DialectGuess(dialect, tuple(sign for sign in signs if spoken & SIGN_WEIGHTS.get(sign, {}).keys()))


def guess_dialect(text: str, host: str = "") -> DialectGuess | None:
    """Guess the dialect of one text; `host` is the program or notebook that it was extracted from."""
    return choose_dialect(find_signs(text, host))
