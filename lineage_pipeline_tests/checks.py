"""Checks: what must hold of the engine for any SQL. Each draws a case and fails where it does not hold."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import cycle, zip_longest
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from lineage_pipeline.config.load import load_settings
from lineage_pipeline.discover.discovery import Discovery, DiscoveryReader, DiscoveryRules, build_input_files
from lineage_pipeline.discover.raw_file import RawFile
from lineage_pipeline.discover.schemas.imported_tables import SchemaImports
from lineage_pipeline.discover.schemas.normalize import import_schema_input
from lineage_pipeline.engine.graph.script_scopes import natural_path_key
from lineage_pipeline.engine.trace.column_graph import ColumnRef, build_column_graph
from lineage_pipeline.engine.trace.walk import find_upstream
from lineage_pipeline.incremental.refresh import EMPTY_SHELF, refresh_lineage
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options, TableSchema
from lineage_pipeline.model.enums import EdgeType, Subtype
from lineage_pipeline.model.tables import ColumnEdge, Snapshot
from lineage_pipeline.pipeline import AnalysisCache, analyze_files, build_lineage, compile_files
from lineage_pipeline.store.row_conversion import rows_to_plain_arrow
from lineage_pipeline_tests.cases import Case, analysed, cases
from lineage_pipeline_tests.flavours import FLAVOURS, TABLES, TARGET
from lineage_pipeline_tests.generated import MARK, Inputs, Program, marks, named
from lineage_pipeline_tests.layouts import damaged, relaid
from lineage_pipeline_tests.procedures import FAMILIES, Wrapping, wrapped
from lineage_pipeline_tests.repositories import READING, edited, inputs, repository
from lineage_pipeline_tests.soundness import assert_keys, assert_sound
from lineage_pipeline_tests.writer import programs

Draw = Callable[[st.SearchStrategy[Any]], Any]
LINES = re.compile(r"^(?:\\|:|!|\.|delimiter |prompt )", re.IGNORECASE | re.MULTILINE)
BOUND = ("of the client", "next line")
FIXTURES = [  # a client's commands end with their lines, and what goes on in the next line does so there
    case for case in cases("link") if not LINES.search(case.sql) and not any(words in case.title for words in BOUND)
]
WRAPPABLE = [
    case
    for case in FIXTURES
    if case.setting("dialect") in FAMILIES and not any(line.startswith("--! PARSE_ERROR") for line in case.expected)
]
CASELESS = tuple(flavour.dialect for flavour in FLAVOURS if flavour.dialect not in ("mysql", "clickhouse"))
"""The dialects in which two spellings of an alias are one alias, whatever they make of tables."""
RANK = [Subtype.IDENTITY, Subtype.TRANSFORMATION, Subtype.AGGREGATION]


MODULE = re.compile(r"\Adbo\.wrapped_\d+\.")
SCRATCH = re.compile(r"#\w|@\w+ table")
RESULT = re.compile(r"\A(?:query(?:_\d+)?|dbo\.wrapped_\d+)\Z")


@cache
def known(dialect: str) -> dict[str, TableSchema]:
    """The schemas of the tables that generated SQL reads and writes."""
    tables = {f"s.{name}": dict.fromkeys(columns, "int") for name, columns in TABLES.items()}
    targets = {f"s.target_{width}": dict.fromkeys(TARGET[:width], "int") for width in range(1, len(TARGET) + 1)}
    return import_schema_input({**tables, **targets, "s.target": dict.fromkeys(TARGET, "int")}, Options(dialect))


def lineage_of(program: Program, text: str, names: Mapping[str, str] | None = None) -> LineageTables:
    """What the engine makes of a generated text; nothing in it is beyond the engine, so that it finds nothing.

    Whether types fit is not asked: expressions are drawn by lot.
    """
    written, dialect = named(text, names), program.flavour.dialect
    lineage = build_lineage([InputFile("-", written, Options(dialect))], known(dialect), reach=False)
    found = [row for row in lineage.diagnostics if row.code != "TYPE_MISMATCH"]
    assert not found, (written, found)
    assert_sound(lineage, {"-": written})
    return lineage


def essence(lineage: LineageTables) -> dict[str, list[tuple[object, ...]]]:
    """What does not depend on layout, and on aliases only where a finding names one."""
    return {
        "statements": [(row.kind, row.targets, row.reads, row.status, row.complexity) for row in lineage.statements],
        "objects": [(row.object, row.kind, row.origin, row.level, row.open) for row in lineage.objects],
        "columns": [(row.object, row.name, row.type, row.nullable, row.approximate) for row in lineage.columns],
        "edges": [(edge.statement, *edge_of(edge)) for edge in lineage.column_edges],
        "facets": [(row.object, row.column, row.name, row.text) for row in lineage.facets],
        "object edges": [(row.from_object, row.to_object, row.kind) for row in lineage.object_edges],
        "findings": sorted((row.code, row.object) for row in lineage.diagnostics),
    }


def edge_of(edge: ColumnEdge) -> tuple[object, ...]:
    """An edge without its places."""
    ends = (edge.from_object, edge.from_column, edge.from_path, edge.to_object, edge.to_column)
    return (*ends, edge.type, edge.subtype, edge.masking, edge.approximate, edge.conditional)


def value_inputs(lineage: LineageTables) -> dict[str, Inputs]:
    """The columns that give the values of each written column."""
    found: dict[str, Inputs] = {}
    for edge in lineage.column_edges:
        if edge.type is EdgeType.DIRECT:
            source = (edge.from_object.lower().removeprefix("s."), edge.from_column.lower())
            found[edge.to_column.lower()] = found.get(edge.to_column.lower(), frozenset()) | {source}
    return found


# ── the checks ───────────────────────────────────────────────────────────────────────────────────────────────────


def values_come_from_where_they_are_written_to_come_from(draw: Draw) -> None:
    program = draw(programs())
    expected = {column.name: column.inputs for column in program.query.columns if column.inputs}
    assert value_inputs(lineage_of(program, program.text())) == expected, named(program.text())


def statements_write_what_their_query_gives(draw: Draw) -> None:
    program = draw(programs())
    kind, text = draw(st.sampled_from(sorted(program.statements().items())))
    named_anew = dict(zip(program.names(), TARGET, strict=False)) if kind not in ("view", "table") else {}
    expected = {
        named_anew.get(column.name, column.name): column.inputs for column in program.query.columns if column.inputs
    }
    assert value_inputs(lineage_of(program, text)) == expected, named(text)


def aliases_may_have_any_name(draw: Draw) -> None:
    program = draw(programs())
    text = draw(st.sampled_from([program.text(), *program.statements().values()]))
    before = lineage_of(program, text)
    opening, closing = program.flavour.quotes
    plain = [*"bcdefghklmnopqruvwx", "amount", "n1", "_x", "été", "price2", "longer_than_the_others"]
    quoted = [
        f"{opening}{name}{closing}"
        for name in ("My alias", "select", "1st", "a b.c" if opening != "`" else "a-b", "from", "Ünïcode", "x'y")
    ]
    every = [name for pair in zip_longest(plain, quoted) for name in pair if name]
    first = draw(st.integers(0, len(every) - 1))
    names = dict(zip(marks(text), [*every[first:], *every[:first]], strict=False))
    assert essence(lineage_of(program, text, names)) == essence(before), named(text, names)


def letter_case_of_aliases_does_not_matter(draw: Draw) -> None:
    program = draw(programs(CASELESS))
    text = draw(st.sampled_from([program.text(), *program.statements().values()]))
    flips = draw(st.lists(st.booleans(), min_size=1, max_size=5))
    turns = cycle(flips)
    mixed = MARK.sub(lambda match: match[1].upper() if next(turns) else match[1], text)
    assert essence(lineage_of(program, mixed)) == essence(lineage_of(program, text)), mixed


def layout_does_not_matter(draw: Draw) -> None:
    program = draw(programs())
    text = named(draw(st.sampled_from([program.text(), *program.statements().values()])))
    spread = relaid(draw, text, program.flavour.dialect)
    assert essence(lineage_of(program, spread)) == essence(lineage_of(program, text)), spread


def layout_of_fixtures_does_not_matter(draw: Draw) -> None:
    case = draw(st.sampled_from(FIXTURES))
    spread = relaid(draw, case.sql, case.setting("dialect"))
    after = analysed(Case(case.file, case.title, case.settings, spread, ()))
    assert_sound(after, {"-": spread})
    before = analysed(case)
    assert essence(after) == essence(before), spread
    assert [row.fingerprint for row in after.statements] == [row.fingerprint for row in before.statements], spread


def wrapping_changes_nothing(draw: Draw) -> None:
    program = draw(programs())
    before = lineage_of(program, program.text())
    wrapped = draw(st.sampled_from(program.wrapped()))
    after = lineage_of(program, wrapped)
    assert sorted(map(edge_of, after.column_edges)) == sorted(map(edge_of, before.column_edges)), named(wrapped)
    assert essence(after)["columns"] == essence(before)["columns"], named(wrapped)


def common_table_expressions_may_be_views(draw: Draw) -> None:
    program = draw(programs())
    whole, split = lineage_of(program, program.text()), lineage_of(program, program.views())
    assert composed(split) == composed(whole), named(program.views())
    graph = build_column_graph(split)
    for column in program.query.columns:
        result = next(row for row in split.columns if row.object == "query" and row.name.lower() == column.name)
        reached = find_upstream(graph, [ColumnRef("query", result.name)], direct_only=True)
        tables = {(ref.object.lower()[2:], ref.column.lower()) for ref in reached if ref.object.lower()[:2] == "s."}
        assert tables == column.inputs, named(program.views())


def composed(lineage: LineageTables) -> set[tuple[str, str, str, int]]:
    """The ways of values from tables into the result, through all views, with the most that happens on each."""
    ways: dict[tuple[str, str], list[tuple[str, str, int]]] = {}
    for edge in lineage.column_edges:
        if edge.type is EdgeType.DIRECT:
            rank = RANK.index(edge.subtype)
            ways.setdefault((edge.to_object, edge.to_column), []).append((edge.from_object, edge.from_column, rank))
    found, pending = set(), [(end, end[1], 0) for end in ways if end[0] == "query"]
    seen = set(pending)
    while pending:
        end, column, rank = pending.pop()
        for source, name, more in ways.get(end, ()):
            step = ((source, name), column, max(rank, more))
            if source.lower().startswith("s."):
                found.add((source, name, column, step[2]))
            elif step not in seen:
                seen.add(step)
                pending.append(step)
    return found


def damaged_fixtures_end_with_findings(draw: Draw) -> None:
    case = draw(st.sampled_from(FIXTURES))
    text = damaged(draw, case.sql, case.setting("dialect"))
    assert_sound(analysed(Case(case.file, case.title, case.settings, text, ())), {"-": text}, whole=False)


def damaged_statements_end_with_findings(draw: Draw) -> None:
    program = draw(programs())
    dialect = program.flavour.dialect
    whole = named(draw(st.sampled_from([program.text(), *program.statements().values()])))
    text = damaged(draw, whole, dialect)
    assert_sound(build_lineage([InputFile("-", text, Options(dialect))], known(dialect)), {"-": text}, whole=False)


def procedures_keep_the_edges_of_fixtures(draw: Draw) -> None:
    case = draw(st.sampled_from(WRAPPABLE))
    wrapping = wrapped(draw, case.sql, FAMILIES[case.setting("dialect")])
    after = analysed(Case(case.file, case.title, case.settings, wrapping.text, ()))
    assert_sound(after, {"-": wrapping.text})
    assert_kept(analysed(case), after, wrapping)


def procedures_keep_the_edges_of_statements(draw: Draw) -> None:
    program = draw(programs(tuple(FAMILIES)))
    text = draw(st.sampled_from([program.text(), *program.statements().values()])) + ";"
    wrapping = wrapped(draw, named(text), FAMILIES[program.flavour.dialect])
    assert_kept(lineage_of(program, text), lineage_of(program, wrapping.text), wrapping)


def assert_kept(before: LineageTables, after: LineageTables, wrapping: Wrapping) -> None:
    """The edges are the same, but that a procedure's result and temporary tables are under its name."""
    old, new = (inside(lineage, wrapping.guarded) for lineage in (before, after))
    assert old <= new, (wrapping.text, old - new)
    # What a branch creates again may hold what it held before; what a loop creates goes around.
    loose = wrapping.repeated or (wrapping.guarded and SCRATCH.search(wrapping.text))
    assert loose or old == new, (wrapping.text, new - old)


def inside(lineage: LineageTables, guarded: bool) -> set[tuple[object, ...]]:
    """Edges as they are inside and outside of a procedure; a branch makes them conditional."""
    return {
        (
            *(RESULT.sub("result", MODULE.sub("", str(end))) for end in (edge.from_object, edge.to_object)),
            *(edge.from_column, edge.from_path, edge.to_column, edge.type, edge.subtype, edge.masking),
            *(edge.approximate, guarded or edge.conditional),
        )
        for edge in lineage.column_edges
    }


def relinking_what_changed_is_enough(draw: Draw) -> None:
    memory, files = AnalysisCache(), repository(draw)
    for _ in range(draw(st.integers(1, 4))):
        whole = build_lineage(inputs(files), reach=False)
        assert_sound(whole, files)
        given = draw(st.permutations(inputs(files)))
        assert analyze_files(given, memory=memory).lineage == whole, files
        work = memory.compiled, memory.linked, memory.links.count
        assert analyze_files(inputs(files), memory=memory).lineage == whole
        assert (memory.compiled, memory.linked, memory.links.count) == work
        files = edited(draw, files)


def going_on_from_what_is_kept_is_enough(draw: Draw) -> None:
    kept, files = EMPTY_SHELF, repository(draw)
    rules = load_settings(Path("nowhere"), {"analysis": READING}, {})
    for _ in range(draw(st.integers(1, 4))):
        found = discovered(files, rules)
        whole = build_lineage(build_input_files(found, rules), reach=False)
        kept = refresh_lineage(found, rules, SchemaImports(), compile_files, kept)
        for name in whole.__struct_fields__:
            assert kept.tables[name].equals(rows_to_plain_arrow(name, getattr(whole, name))), (name, files)
        assert kept.tables["sources"].equals(rows_to_plain_arrow("sources", found.sources))
        files = edited(draw, files)


def discovered(files: Mapping[str, str], rules: DiscoveryRules) -> Discovery:
    """What is found in a repository of these files."""
    raws = [RawFile(path, files[path].encode()) for path in sorted(files, key=natural_path_key)]
    return DiscoveryReader(Snapshot("r", (), "", (), None, "none", None, None, 0, ""), raws, rules).whole()


TEMPORARY = ("#a", "#b", "##c")
STEPS = (
    "select s.d, s.k into {temp} from {source} s where s.{column} > 1;",
    "insert into {temp} select t.d, t.k from {source} t where t.k in (select k from {other});",
    "insert into out_{number} select t.d, max(t.k) from {source} t group by t.d;",
    "select dbo.f(t.{column}) from {source} t order by t.k;",
    "set @m = (select max(t.{column}) from {source} t);",
    "declare @n{number} int = (select min(t.d) from {source} t where t.k = @m);",
    "exec p{callee} @m;",
    "exec log_it @m, @m;",
    "update t set d = u.{column} from {temp} t join {other} u on u.k = t.k;",
    "merge {temp} as t using {other} as u on t.k = u.k when matched then update set t.d = u.d "
    "when not matched then insert (d, k) values (u.d, u.k);",
)
"""Statements of T-SQL procedures that share temporary tables, call each other and pass values on in variables."""


def keys_of_edges_come_once(draw: Draw) -> None:
    """Whatever procedures do with shared temporary tables, variables and calls, no two edges have one key."""
    sources = ("s", "t", *TEMPORARY)

    def step(number: int) -> str:
        template: str = draw(st.sampled_from(STEPS))
        return template.format(
            temp=draw(st.sampled_from(TEMPORARY)),
            source=draw(st.sampled_from(sources)),
            other=draw(st.sampled_from(sources)),
            column=draw(st.sampled_from("dk")),
            callee=draw(st.integers(0, 3)),
            number=number,
        )

    texts = {"log.sql": "create proc log_it @w int, @v int as insert into lg (w, v) select @w, @v"}
    for number in range(draw(st.integers(2, 5))):
        body = "\n".join(step(number * 10 + at) for at in range(draw(st.integers(1, 6))))
        texts[f"{number}.sql"] = f"create or alter proc p{number % 4} @m int as begin\n{body}\nend"
    lineage = build_lineage([InputFile(path, text, Options("tsql")) for path, text in texts.items()])
    assert_keys(lineage)
