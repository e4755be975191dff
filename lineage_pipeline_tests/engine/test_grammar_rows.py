"""No dead grammar: without any one rule or row of a grammar table, its example and some fixture case change.

A row without effect is either superseded, then delete it, or lacks a case, then add one under `fixtures/link`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import msgspec
import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token

from lineage_pipeline.dialects import registry
from lineage_pipeline.engine.compile.compiler import compile_source
from lineage_pipeline.engine.compile.grammar import ddl, functions, parser, pipe_syntax, rules
from lineage_pipeline.engine.compile.grammar.rules import RULES, GrammarRule, Phrase, Sqlglot, When
from lineage_pipeline.engine.compile.statements import alter
from lineage_pipeline.engine.compile.tokens import skip_brackets
from lineage_pipeline.model.analysis import InputFile, Options
from lineage_pipeline_tests.support.cases import case_inputs, load_cases

TABLES: tuple[tuple[ModuleType, str], ...] = (
    (pipe_syntax, "PIPE_STEPS"),
    (parser, "RECORDERS"),
    (registry, "plain_functions"),
    (registry, "callable_keywords"),
    (functions, "JSON_CLAUSES"),
    (ddl, "BEFORE_QUERY"),
    (ddl, "BEHIND_QUERY"),
    (ddl, "CREATE_MODIFIERS"),
    (ddl, "KEPT_CLAUSES"),
    (ddl, "KEPT_COLUMN_WORDS"),
    (ddl, "TABLE_CONSTRAINT_WORDS"),
    (ddl, "TABLE_HINTS"),
    (ddl, "TYPE_ENDS"),
    (alter, "IGNORED_ALTER_ACTIONS"),
    (alter, "NON_COLUMN_WORDS"),
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


def _clear_rules() -> None:
    rules._rules_for.cache_clear()
    _clear_parsers()


class RuleVariant(NamedTuple):
    """A rule without one of its parts, or the whole rule taken out."""

    position: int
    part: str
    rest: GrammarRule | None

    def __str__(self) -> str:
        rule = RULES[self.position]
        name = getattr(rule.rewrite, "__name__", "") or " ".join((*rule.overrides, *rule.tables)) or "phrases"
        return f"{rule.dialect or 'any'} {name} {' '.join(rule.needs)}: {self.part}"

    def table(self) -> tuple[GrammarRule, ...]:
        """All rules with this variant in place of its rule."""
        rest = () if self.rest is None else (self.rest,)
        return (*RULES[: self.position], *rest, *RULES[self.position + 1 :])


def _list_variants(position: int, rule: GrammarRule) -> Iterator[RuleVariant]:
    replace = msgspec.structs.replace
    yield RuleVariant(position, "all of it", None)
    if len(rule.phrases) > 1:
        for one in rule.phrases:
            rest = tuple(other for other in rule.phrases if other is not one)
            yield RuleVariant(position, " ".join(one.words), replace(rule, phrases=rest))
    if len(rule.first) > 1 and rule.when is When.BEFORE:
        for word in sorted(rule.first):
            yield RuleVariant(position, f"in {word}", replace(rule, first=rule.first - {word}))
    if len(rule.overrides) > 1:
        for method in rule.overrides:
            methods = {name: override for name, override in rule.overrides.items() if name != method}
            yield RuleVariant(position, method, replace(rule, overrides=methods))
    for table, entries in rule.tables.items():
        for key in entries if len(entries) > 1 else ():
            others = {name: override for name, override in entries.items() if name != key}
            yield RuleVariant(position, f"{table} {key}", replace(rule, tables={**rule.tables, table: others}))


VARIANTS = [variant for position, rule in enumerate(RULES) for variant in _list_variants(position, rule)]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_fixture_case_needs_every_part_of_a_rule(variant: RuleVariant, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = _compile_fixtures()
    rule = RULES[variant.position]
    cases = range(len(compiled.files)) if rule.when is When.PARSER else compiled.sort(compiled.firing[variant.position])
    with monkeypatch.context() as patch:
        patch.setattr(rules, "RULES", variant.table())
        _clear_rules()
        changed = any(_compile(compiled.files[case]) != compiled.scripts[case] for case in cases)
    _clear_rules()
    assert changed, "this part of the rule changes nothing" if cases else "the rule does not fire on any case"


@pytest.mark.parametrize("position", range(len(RULES)), ids=lambda at: str(RuleVariant(at, "example", None)))
def test_the_example_of_a_rule_needs_it(position: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = RULES[position]
    example = InputFile("example.sql", rule.example, Options(rule.dialect))
    codes = [
        finding.code
        for placed in compile_source(rule.example, example.options).statements
        for finding in placed.statement.findings
    ]
    assert not {"PARSE_ERROR", "UNSUPPORTED_SYNTAX"} & set(codes)
    whole = _compile(example)
    with monkeypatch.context() as patch:
        patch.setattr(rules, "RULES", RuleVariant(position, "", None).table())
        _clear_rules()
        less = _compile(example)
    _clear_rules()
    assert less != whole, "the example is read in the same way without the rule"


@pytest.mark.parametrize("position", range(len(RULES)), ids=lambda at: str(RuleVariant(at, "sqlglot", None)))
def test_sqlglot_alone_does_with_the_example_what_the_rule_says(position: int) -> None:
    """A rule whose construct sqlglot has learned to read may go."""
    rule = RULES[position]
    try:
        trees = sqlglot.parse(rule.example, dialect=registry.DIALECTS[rule.dialect].grammar or rule.dialect)
    except SqlglotError:
        assert rule.sqlglot is Sqlglot.FAILS
    else:
        kept = any(isinstance(tree, exp.Command) for tree in trees)
        assert rule.sqlglot is (Sqlglot.KEEPS if kept else Sqlglot.MISREADS)


@pytest.mark.internal_error
@pytest.mark.parametrize(
    "rule",
    [rule for rule in RULES if rule.tables or any(name.startswith("_parse") for name in rule.overrides)],
    ids=lambda rule: rule.example,
)
def test_a_bug_of_an_override_is_an_internal_error(rule: GrammarRule, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = msgspec.structs.replace(
        rule,
        overrides=dict.fromkeys(rule.overrides, _break_override),
        tables={table: dict.fromkeys(entries, _break_override) for table, entries in rule.tables.items()},
    )
    with monkeypatch.context() as patch:
        patch.setattr(rules, "RULES", tuple(broken if one is rule else one for one in RULES))
        _clear_rules()
        script = compile_source(rule.example, Options(rule.dialect))
    _clear_rules()
    assert [finding.code for placed in script.statements for finding in placed.statement.findings] == ["INTERNAL_ERROR"]


def _break_override(_: object) -> Callable[..., Any]:
    """An override whose bug is met in a function that it calls."""
    return lambda *_: skip_brackets(None, 0)  # type: ignore[arg-type]


class CompiledFixtures(NamedTuple):
    """All fixture cases with their IR, and the numbers of the cases on which each rule fires."""

    files: list[InputFile]
    scripts: list[bytes]
    firing: dict[int, set[int]]

    def sort(self, cases: Iterable[int]) -> list[int]:
        """Cases with short ones first."""
        return sorted(cases, key=lambda case: len(self.files[case].text))

    def list_cases(self, row: GrammarRow) -> list[int]:
        """The cases that contain all words of a row, or all cases for a row of a parser class."""
        named = row.content if isinstance(row.content, tuple) else (row.content,)
        words = [] if row.table in TABLES_WITHOUT_WORDS else " ".join(named).lower().split()
        texts = enumerate(file.text.lower() for file in self.files)
        return self.sort(case for case, text in texts if all(word in text for word in words))


TABLES_WITHOUT_WORDS = frozenset({"RECORDERS", "PIPE_STEPS"})
"""Tables whose rows name methods, functions or grammars, and no words of SQL."""


@cache
def _compile_fixtures() -> CompiledFixtures:
    """Compile all fixture cases once, and record where rules fire."""
    files = [case_inputs(case)[0][0] for case in load_cases("link")]
    firing: dict[int, set[int]] = defaultdict(set)
    scripts: list[bytes] = []

    replace_phrase = rules._replace_phrase
    positions = {id(one): position for position, rule in enumerate(RULES) for one in rule.phrases}

    def replace_watched(tokens: list[Token], replaced: Phrase) -> list[Token]:
        found = replace_phrase(tokens, replaced)
        if found is not tokens:
            firing[positions[id(replaced)]].add(len(scripts))
        return found

    def watch(position: int, rule: GrammarRule) -> GrammarRule:
        """The rule with a rewrite that records where it returns other tokens."""
        if rule.rewrite is None:
            return rule

        def rewrite(tokens: list[Token]) -> Sequence[Token]:
            assert rule.rewrite is not None
            found = rule.rewrite(list(tokens))
            if not _are_same(tokens, found):
                firing[position].add(len(scripts))
            return found

        return msgspec.structs.replace(rule, rewrite=rewrite)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "RULES", tuple(watch(position, rule) for position, rule in enumerate(RULES)))
        patch.setattr(rules, "_replace_phrase", replace_watched)
        _clear_rules()
        for file in files:
            scripts.append(_compile(file))
    _clear_rules()
    return CompiledFixtures(files, scripts, firing)


def _are_same(before: Sequence[Token], found: Sequence[Token]) -> bool:
    return len(before) == len(found) and all(one is other for one, other in zip(before, found, strict=True))
