"""The statement registry: every row is used, no word has two meanings, and what is ignored is no accident."""

from collections import Counter
from typing import NamedTuple

import msgspec
import pytest

from lineage_pipeline.dialects.tsql import STATEMENT_STARTS
from lineage_pipeline.engine.compile.compiler import compile_source
from lineage_pipeline.engine.compile.split.blocks import _BLOCK_STATEMENTS
from lineage_pipeline.engine.compile.split.simple_statements import _SIMPLE_STATEMENTS
from lineage_pipeline.engine.compile.split.tsql import _STATEMENT_SPLITTERS
from lineage_pipeline.engine.compile.statements import registry
from lineage_pipeline.engine.compile.statements.registry import STATEMENT_KINDS, ReadAs, StatementKind
from lineage_pipeline.model.analysis import InputFile, Options
from lineage_pipeline_tests.support.cases import case_inputs, load_cases

IGNORED = (ReadAs.IGNORED, ReadAs.IGNORED_UNPARSED)
COMPILED = [kind for kind in STATEMENT_KINDS if kind.compiler is not None]


@pytest.fixture(scope="module")
def used() -> set[int]:
    """The rows that compile some statement of the fixtures, by their position among `COMPILED`."""
    found: set[int] = set()

    def watch(position: int, kind: StatementKind) -> StatementKind:
        def compile_watched(*given: object) -> object:
            assert kind.compiler is not None
            fields = kind.compiler(*given)
            if fields is not None:
                found.add(position)
            return fields

        return msgspec.structs.replace(kind, compiler=compile_watched)

    watched = tuple(watch(position, kind) for position, kind in enumerate(COMPILED))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "STATEMENT_KINDS", watched + tuple(k for k in STATEMENT_KINDS if k.compiler is None))
        clear_lookups()
        for case in load_cases("link"):
            file = case_inputs(case)[0][0]
            compile_source(file.text, file.options)
    clear_lookups()
    return found


def clear_lookups() -> None:
    for lookup in (
        registry._kinds_by_word,
        registry._ignored_words,
        registry._compilers_by_tree,
        registry._first_words,
    ):
        lookup.cache_clear()


@pytest.mark.parametrize(
    "position", range(len(COMPILED)), ids=lambda at: f"{COMPILED[at].words[0]} {COMPILED[at].read_as}"
)
def test_a_fixture_needs_every_row_that_compiles(position: int, used: set[int]) -> None:
    assert position in used


class IgnoredWord(NamedTuple):
    """A first word, or a kind of object, that a row ignores."""

    position: int
    word: str

    def __str__(self) -> str:
        return f"{STATEMENT_KINDS[self.position].meaning}: {self.word}"

    def rest(self) -> tuple[StatementKind, ...]:
        """All rows without this word."""
        kind = STATEMENT_KINDS[self.position]
        words = tuple(words for words in kind.words if words.split()[-1] != self.word)
        others = STATEMENT_KINDS[: self.position], STATEMENT_KINDS[self.position + 1 :]
        return (*others[0], msgspec.structs.replace(kind, words=words), *others[1])


IGNORED_WORDS = [
    IgnoredWord(position, word)
    for position, kind in enumerate(STATEMENT_KINDS)
    if kind.read_as in IGNORED
    for word in sorted({words.split()[-1] for words in kind.words})
]


@pytest.fixture(scope="module")
def compiled() -> list[tuple[InputFile, bytes]]:
    """The files of all fixture cases, short ones first, and what they are compiled to."""
    files = [case_inputs(case)[0][0] for case in load_cases("link")]
    return [(file, encode_script(file)) for file in sorted(files, key=lambda file: len(file.text))]


def encode_script(file: InputFile) -> bytes:
    return msgspec.msgpack.encode(compile_source(file.text, file.options))


@pytest.mark.parametrize("ignored", IGNORED_WORDS, ids=str)
def test_a_fixture_needs_every_word_that_is_ignored(
    ignored: IgnoredWord, compiled: list[tuple[InputFile, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [(file, script) for file, script in compiled if ignored.word.lower() in file.text.lower()]
    with monkeypatch.context() as patch:
        patch.setattr(registry, "STATEMENT_KINDS", ignored.rest())
        clear_lookups()
        changed = any(encode_script(file) != script for file, script in cases)
    clear_lookups()
    assert changed, "the word changes nothing" if cases else "the word occurs in no case"


def test_no_word_is_ignored_twice() -> None:
    words = Counter(words for kind in STATEMENT_KINDS if kind.read_as in IGNORED for words in kind.words)
    assert [word for word, count in words.items() if count > 1] == []


def test_the_registry_knows_what_the_splitter_takes_apart() -> None:
    taken = {*_SIMPLE_STATEMENTS, *_BLOCK_STATEMENTS, *_STATEMENT_SPLITTERS, "DO"}
    rows = {word for kind in STATEMENT_KINDS if kind.read_as is ReadAs.SPLIT for word in kind.words if " " not in word}
    assert taken == rows


def test_the_registry_knows_every_word_that_begins_a_statement_of_a_batch() -> None:
    known = {words.split(" ")[0] for kind in STATEMENT_KINDS for words in kind.words}
    assert {word.split(" ")[0] for word in STATEMENT_STARTS} - known == {"ELSE"}  # a part of IF


def test_what_is_ignored_at_once_is_never_read_from_tokens() -> None:
    ignored = {words for kind in STATEMENT_KINDS if kind.read_as is ReadAs.IGNORED for words in kind.words}
    read = {words for kind in STATEMENT_KINDS if kind.read_as is ReadAs.TOKENS for words in kind.words}
    assert not ignored & read


@pytest.mark.parametrize(
    ("text", "kind"),
    [("create warehouse w", "CREATE"), ("alter role r rename to s", "ALTER ROLE"), ("msck repair table t", "MSCK")],
)
def test_an_object_without_lineage_is_ignored_without_a_finding(text: str, kind: str) -> None:
    (placed,) = compile_source(text, Options("snowflake")).statements
    assert placed.statement.kind.startswith(kind)
    assert (placed.statement.status, placed.statement.findings) == ("analysed", ())
