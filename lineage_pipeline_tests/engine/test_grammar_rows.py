"""No dead grammar: without any one row of a grammar table, the IR of some fixture case changes.

A row without effect is either superseded, then delete it, or lacks a case, then add one under `fixtures/link`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from types import ModuleType
from typing import Any, NamedTuple

import msgspec
import pytest
from sqlglot.tokens import Token

from lineage_pipeline.dialects import registry
from lineage_pipeline.dialects.spellings import DroppedClause, Spelling
from lineage_pipeline.engine.compile.compiler import compile_source
from lineage_pipeline.engine.compile.grammar import ddl, functions, overrides, parser, pipe_syntax, rewrites, terms
from lineage_pipeline.engine.compile.grammar.rewrites import Repair
from lineage_pipeline.model.analysis import InputFile
from lineage_pipeline_tests.support.cases import case_inputs, load_cases

TABLES: tuple[tuple[ModuleType, str], ...] = (
    (rewrites, "REWRITES"),
    (rewrites, "REPAIRS"),
    (rewrites, "SPELLINGS"),
    (rewrites, "DROPPED_CLAUSES"),
    (pipe_syntax, "PIPE_STEPS"),
    (overrides, "OVERRIDES"),
    (parser, "RECORDERS"),
    (parser, "TABLE_QUERIES"),
    (registry, "plain_functions"),
    (registry, "callable_keywords"),
    (registry, "json_texts"),
    (functions, "JSON_CLAUSES"),
    (terms, "PREFIX_OPERATOR_GRAMMARS"),
    (ddl, "BEHIND_QUERY"),
    (ddl, "KEPT_CLAUSES"),
    (ddl, "KEPT_COLUMN_WORDS"),
)
"""The tables of the grammar: the module that reads each of them, and its name there; of dialects, the field."""

RowPath = tuple[Any, ...]
"""The keys and indexes that lead to a row of a nested table."""


class GrammarRow(NamedTuple):
    """One row of a grammar table."""

    module: ModuleType
    table: str
    path: RowPath
    content: Any

    def __str__(self) -> str:
        return f"{self.table} {' '.join(map(str, self.path))}: {_describe_row(self.content)}"


def _describe_row(content: Any) -> str:
    match content:
        case Repair():
            return f"{content.rewrite.__name__} for {' '.join(sorted(content.words))}"
        case Spelling() | DroppedClause():
            return " ".join(content.words)
        case tuple():
            return " ".join(content)
    return str(getattr(content, "__name__", content))


def _list_items(table: Any) -> list[tuple[Any, Any]]:
    """The rows of a table, or its parts, with their keys; none where a value is a row itself."""
    match table:
        case dict():
            return list(table.items())
        case frozenset():
            return [(word, word) for word in sorted(table)]
        case tuple() if table and not isinstance(table[0], str):  # a tuple of words is one row
            return list(enumerate(table))
    return []


def _list_rows(table: Any, path: RowPath = ()) -> Iterator[tuple[RowPath, Any]]:
    for key, value in _list_items(table):
        if _list_items(value):
            yield from _list_rows(value, (*path, key))
        else:
            yield (*path, key), value


def _replace_rows(table: Any, replace: Callable[[RowPath, Any], Any], path: RowPath = ()) -> Any:
    """A table with every row replaced by what a function makes of it, and without those that become None."""
    made = {}
    for key, value in _list_items(table):
        at = (*path, key)
        made[key] = _replace_rows(value, replace, at) if _list_items(value) else replace(at, value)
    kept = {key: value for key, value in made.items() if value is not None}
    return kept if isinstance(table, dict) else type(table)(kept.values())


def _read_table(module: ModuleType, name: str) -> Any:
    """A table of a module, or what the dialects have in a field."""
    if module is not registry:
        return getattr(module, name)
    return {dialect: value for dialect, traits in registry.DIALECTS.items() if (value := getattr(traits, name))}


def _patch_table(patch: pytest.MonkeyPatch, row: GrammarRow, table: Any) -> None:
    if row.module is not registry:
        patch.setattr(row.module, row.table, table)
        return
    dialect = row.path[0]
    traits = msgspec.structs.replace(registry.DIALECTS[dialect], **{row.table: table.get(dialect, False)})
    patch.setitem(registry.DIALECTS, dialect, traits)


ROWS = [
    GrammarRow(module, name, path, content)
    for module, name in TABLES
    for path, content in _list_rows(_read_table(module, name))
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_fixture_case_needs_the_row(row: GrammarRow, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = _compile_fixtures()
    cases = compiled.list_cases(row)
    known = _read_table(row.module, row.table)
    table = _replace_rows(known, lambda path, content: None if path == row.path else content)
    with monkeypatch.context() as patch:
        _patch_table(patch, row, table)
        _clear_parsers()
        changed = any(_compile(compiled.files[case]) != compiled.scripts[case] for case in cases)
    _clear_parsers()
    assert changed, "the row changes nothing" if cases else "the row does not fire on any case"


def _compile(file: InputFile) -> bytes:
    """The IR of a file without the counts of dropped characters: a row that changes only those is superseded."""
    script = compile_source(file.text, file.options)
    return msgspec.msgpack.encode(
        [
            msgspec.structs.replace(placed, statement=msgspec.structs.replace(placed.statement, dropped=0))
            for placed in script.statements
        ]
    )


def _clear_parsers() -> None:
    """Forget the parser classes: they are built from the tables once."""
    parser._parser_pool.cache_clear()
    parser._parser_class.cache_clear()


class CompiledFixtures(NamedTuple):
    """All fixture cases with their IR, and the numbers of the cases on which each watched row fires."""

    files: list[InputFile]
    scripts: list[bytes]
    firing: dict[tuple[str, RowPath], set[int]]

    def list_cases(self, row: GrammarRow) -> list[int]:
        """The cases on which a row may have an effect, short ones first."""
        found = self.firing[row.table, row.path] if row.table in WATCHED else self._find_words(row)
        return sorted(found, key=lambda case: len(self.files[case].text))

    def _find_words(self, row: GrammarRow) -> set[int]:
        """The cases that contain all words of a row, or all cases for a row of a parser class."""
        named = row.content if isinstance(row.content, tuple) else (row.content,)
        words = [] if row.table in PARSER_TABLES else " ".join(named).lower().split()
        texts = enumerate(file.text.lower() for file in self.files)
        return {case for case, text in texts if all(word in text for word in words)}


WATCHED = frozenset({"REWRITES", "REPAIRS", "SPELLINGS", "DROPPED_CLAUSES", "PIPE_STEPS"})
"""Tables whose rows are watched while the fixtures are compiled."""

PARSER_TABLES = frozenset({"OVERRIDES", "RECORDERS", "TABLE_QUERIES", "json_texts", "PREFIX_OPERATOR_GRAMMARS"})
"""Tables whose rows name methods or grammars of sqlglot, and no words of SQL."""


@cache
def _compile_fixtures() -> CompiledFixtures:
    """Compile all fixture cases once, and record where rows fire."""
    files = [case_inputs(case)[0][0] for case in load_cases("link")]
    firing: dict[tuple[str, RowPath], set[int]] = defaultdict(set)
    scripts: list[bytes] = []
    with pytest.MonkeyPatch.context() as patch:

        def record(table: str, path: RowPath) -> None:
            firing[table, path].add(len(scripts))

        _watch_functions(patch, record)
        _watch_words(patch, record)
        for file in files:
            scripts.append(_compile(file))
    return CompiledFixtures(files, scripts, firing)


Record = Callable[[str, RowPath], None]
"""Notes that a row of a table fires on the case that is being compiled."""


def _watch_functions(patch: pytest.MonkeyPatch, record: Record) -> None:
    """Record the rewrites that return other tokens, and the pipe steps that are taken."""

    def watch(table: str, path: RowPath, apply: Callable[..., Any]) -> Callable[..., Any]:
        def watched(given: Any, *others: Any) -> Any:
            before = list(given) if isinstance(given, list) else None
            found = apply(given, *others)
            if before is None or not _are_same(before, found):
                record(table, path)
            return found

        return watched

    def watch_repair(path: RowPath, repair: Repair) -> Repair:
        return msgspec.structs.replace(repair, rewrite=watch("REPAIRS", path, repair.rewrite))

    patch.setattr(rewrites, "REWRITES", _replace_rows(rewrites.REWRITES, partial(watch, "REWRITES")))
    patch.setattr(rewrites, "REPAIRS", _replace_rows(rewrites.REPAIRS, watch_repair))
    patch.setattr(pipe_syntax, "PIPE_STEPS", _replace_rows(pipe_syntax.PIPE_STEPS, partial(watch, "PIPE_STEPS")))


def _are_same(before: Sequence[Token], found: Sequence[Token]) -> bool:
    return len(before) == len(found) and all(one is other for one, other in zip(before, found, strict=True))


def _watch_words(patch: pytest.MonkeyPatch, record: Record) -> None:
    """Record the spellings that are replaced, and the clauses that are dropped."""
    worded = [row for row in ROWS if isinstance(row.content, Spelling | DroppedClause)]
    paths = {id(row.content): (row.table, row.path) for row in worded}
    apply_spelling, skip_clause = rewrites._apply_spelling, rewrites._skip_clause

    def apply_watched(tokens: list[Token], spelling: Spelling) -> list[Token]:
        found = apply_spelling(tokens, spelling)
        if found is not tokens:
            record(*paths[id(spelling)])
        return found

    def skip_watched(clause: DroppedClause, tokens: Sequence[Token], index: int) -> int:
        found = skip_clause(clause, tokens, index)
        if found > index:
            record(*paths[id(clause)])
        return found

    patch.setattr(rewrites, "_apply_spelling", apply_watched)
    patch.setattr(rewrites, "_skip_clause", skip_watched)
