"""Properties of the engine for any SQL; each function draws a case and fails where the property does not hold."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import cycle, zip_longest
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from lineage_pipeline.config.load import load_settings
from lineage_pipeline.discover.discovery import Discovery, DiscoveryReader, DiscoveryRules, RawFile, build_input_files
from lineage_pipeline.discover.schemas.normalize import normalize_tables, parse_schema_input
from lineage_pipeline.engine.graph.script_scopes import natural_path_key
from lineage_pipeline.engine.trace.column_graph import ColumnRef, build_column_graph, find_upstream
from lineage_pipeline.incremental.refresh import EMPTY_SHELF, refresh_lineage
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options, SchemaImports, TableSchema
from lineage_pipeline.model.enums import EdgeType, Subtype
from lineage_pipeline.model.tables import ColumnEdge, Snapshot
from lineage_pipeline.pipeline import AnalysisCache, analyze_files, build_lineage, compile_files
from lineage_pipeline.store.row_conversion import rows_to_plain_arrow
from lineage_pipeline_tests.support.cases import Case, analyze_case, load_cases
from lineage_pipeline_tests.support.dialect_syntax import DIALECT_SYNTAXES, SOURCE_TABLES, TARGET_COLUMNS
from lineage_pipeline_tests.support.generated_sql import (
    ALIAS_MARK,
    GeneratedProgram,
    ValueInputs,
    fill_aliases,
    list_aliases,
)
from lineage_pipeline_tests.support.procedure_wrapping import PROCEDURE_FAMILIES, WrappedScript, wrap_in_procedures
from lineage_pipeline_tests.support.query_writer import draw_programs
from lineage_pipeline_tests.support.random_repositories import (
    ANALYSIS_SETTINGS,
    as_input_files,
    draw_edit,
    draw_repository,
)
from lineage_pipeline_tests.support.soundness import assert_sound, assert_unique_keys
from lineage_pipeline_tests.support.token_layouts import draw_damage, draw_layout

Draw = Callable[[st.SearchStrategy[Any]], Any]
CLIENT_COMMAND = re.compile(r"^(?:\\|:|!|\.|delimiter |prompt |tee |put |/\*!)", re.IGNORECASE | re.MULTILINE)
LINE_BOUND_TITLES = ("of the client", "next line", "takes the text")
LAYOUT_FREE_CASES = [  # commands of a client end with their lines, and a column may be named after its text
    case
    for case in load_cases("link")
    if not CLIENT_COMMAND.search(case.sql) and not any(words in case.title for words in LINE_BOUND_TITLES)
]
WRAPPABLE_CASES = [
    case
    for case in LAYOUT_FREE_CASES
    if case.setting("dialect") in PROCEDURE_FAMILIES
    and not any(line.startswith("--! PARSE_ERROR") for line in case.expected)
]
CASELESS_DIALECTS = tuple(
    flavour.dialect for flavour in DIALECT_SYNTAXES if flavour.dialect not in ("mysql", "clickhouse")
)
"""The dialects in which alias names are compared without case, whatever they do with table names."""
SUBTYPE_RANKS = [Subtype.IDENTITY, Subtype.TRANSFORMATION, Subtype.AGGREGATION]


WRAPPER_PREFIX = re.compile(r"\Adbo\.wrapped_\d+\.")
TEMPORARY_TABLE = re.compile(r"#\w|@\w+ table")
RESULT_OBJECT = re.compile(r"\A(?:query(?:_\d+)?|dbo\.wrapped_\d+)\Z")


@cache
def generated_schemas(dialect: str) -> dict[str, TableSchema]:
    """The schemas of the tables that generated SQL reads and writes."""
    tables = {f"s.{name}": dict.fromkeys(columns, "int") for name, columns in SOURCE_TABLES.items()}
    targets = {
        f"s.target_{width}": dict.fromkeys(TARGET_COLUMNS[:width], "int") for width in range(1, len(TARGET_COLUMNS) + 1)
    }
    given = parse_schema_input({**tables, **targets, "s.target": dict.fromkeys(TARGET_COLUMNS, "int")})
    return dict(normalize_tables(given.tables, Options(dialect)).schemas)


def analyze_generated(program: GeneratedProgram, text: str, names: Mapping[str, str] | None = None) -> LineageTables:
    """The lineage of a generated text; the engine must report nothing but type mismatches.

    Types may mismatch because expressions are drawn at random.
    """
    written, dialect = fill_aliases(text, names), program.flavour.dialect
    lineage = build_lineage([InputFile("-", written, Options(dialect))], generated_schemas(dialect), reach=False)
    found = [row for row in lineage.diagnostics if row.code != "TYPE_MISMATCH"]
    assert not found, (written, found)
    assert_sound(lineage, {"-": written})
    return lineage


def layout_free_rows(lineage: LineageTables) -> dict[str, list[tuple[object, ...]]]:
    """The parts of rows that do not depend on layout, nor on aliases except where a finding names one."""
    return {
        "statements": [(row.kind, row.targets, row.reads, row.status, row.complexity) for row in lineage.statements],
        "objects": [(row.object, row.kind, row.origin, row.level, row.open) for row in lineage.objects],
        "columns": [(row.object, row.name, row.type, row.nullable, row.approximate) for row in lineage.columns],
        "edges": [(edge.statement, *edge_without_position(edge)) for edge in lineage.column_edges],
        # A plan has the names of inner columns; its normal form, which a comparison makes, has none.
        "facets": [(row.object, row.column, row.name, row.text) for row in lineage.facets if row.name != "query"],
        "object edges": [(row.from_object, row.to_object, row.kind) for row in lineage.object_edges],
        "findings": sorted((row.code, row.object) for row in lineage.diagnostics),
    }


def edge_without_position(edge: ColumnEdge) -> tuple[object, ...]:
    """An edge without its position."""
    ends = (edge.from_object, edge.from_column, edge.from_path, edge.to_object, edge.to_column)
    return (*ends, edge.type, edge.subtype, edge.masking, edge.approximate, edge.conditional)


def collect_value_inputs(lineage: LineageTables) -> dict[str, ValueInputs]:
    """The columns that give the values of each written column."""
    found: dict[str, ValueInputs] = {}
    for edge in lineage.column_edges:
        if edge.type is EdgeType.DIRECT:
            source = (edge.from_object.lower().removeprefix("s."), edge.from_column.lower())
            found[edge.to_column.lower()] = found.get(edge.to_column.lower(), frozenset()) | {source}
    return found


# ── the checks ───────────────────────────────────────────────────────────────────────────────────────────────────


def value_edges_match_the_generated_query(draw: Draw) -> None:
    program = draw(draw_programs())
    expected = {column.name: column.inputs for column in program.query.columns if column.inputs}
    assert collect_value_inputs(analyze_generated(program, program.text())) == expected, fill_aliases(program.text())


def statements_write_the_columns_of_their_query(draw: Draw) -> None:
    program = draw(draw_programs())
    kind, text = draw(st.sampled_from(sorted(program.statements().items())))
    named_anew = dict(zip(program.names(), TARGET_COLUMNS, strict=False)) if kind not in ("view", "table") else {}
    expected = {
        named_anew.get(column.name, column.name): column.inputs for column in program.query.columns if column.inputs
    }
    assert collect_value_inputs(analyze_generated(program, text)) == expected, fill_aliases(text)


def aliases_may_have_any_name(draw: Draw) -> None:
    program = draw(draw_programs())
    text = draw(st.sampled_from([program.text(), *program.statements().values()]))
    before = analyze_generated(program, text)
    opening, closing = program.flavour.quotes
    plain = [*"bcdefghklmnopqruvwx", "amount", "n1", "_x", "été", "price2", "longer_than_the_others"]
    quoted = [
        f"{opening}{name}{closing}"
        for name in ("My alias", "select", "1st", "a b.c" if opening != "`" else "a-b", "from", "Ünïcode", "x'y")
    ]
    every = [name for pair in zip_longest(plain, quoted) for name in pair if name]
    first = draw(st.integers(0, len(every) - 1))
    names = dict(zip(list_aliases(text), [*every[first:], *every[:first]], strict=False))
    assert layout_free_rows(analyze_generated(program, text, names)) == layout_free_rows(before), fill_aliases(
        text, names
    )


def letter_case_of_aliases_does_not_matter(draw: Draw) -> None:
    program = draw(draw_programs(CASELESS_DIALECTS))
    text = draw(st.sampled_from([program.text(), *program.statements().values()]))
    flips = draw(st.lists(st.booleans(), min_size=1, max_size=5))
    turns = cycle(flips)
    mixed = ALIAS_MARK.sub(lambda match: match[1].upper() if next(turns) else match[1], text)
    assert layout_free_rows(analyze_generated(program, mixed)) == layout_free_rows(analyze_generated(program, text)), (
        mixed
    )


def layout_does_not_matter(draw: Draw) -> None:
    program = draw(draw_programs())
    text = fill_aliases(draw(st.sampled_from([program.text(), *program.statements().values()])))
    spread = draw_layout(draw, text, program.flavour.dialect)
    assert layout_free_rows(analyze_generated(program, spread)) == layout_free_rows(analyze_generated(program, text)), (
        spread
    )


def layout_of_fixtures_does_not_matter(draw: Draw) -> None:
    case = draw(st.sampled_from(LAYOUT_FREE_CASES))
    spread = draw_layout(draw, case.sql, case.setting("dialect"))
    after = analyze_case(Case(case.file, case.title, case.settings, spread, ()))
    assert_sound(after, {"-": spread})
    before = analyze_case(case)
    assert layout_free_rows(after) == layout_free_rows(before), spread
    assert [row.fingerprint for row in after.statements] == [row.fingerprint for row in before.statements], spread


def wrapping_a_query_keeps_its_edges(draw: Draw) -> None:
    program = draw(draw_programs())
    before = analyze_generated(program, program.text())
    wrapped = draw(st.sampled_from(program.wrapped()))
    after = analyze_generated(program, wrapped)
    assert sorted(map(edge_without_position, after.column_edges)) == sorted(
        map(edge_without_position, before.column_edges)
    ), fill_aliases(wrapped)
    assert layout_free_rows(after)["columns"] == layout_free_rows(before)["columns"], fill_aliases(wrapped)


def common_table_expressions_may_be_views(draw: Draw) -> None:
    program = draw(draw_programs())
    whole, split = analyze_generated(program, program.text()), analyze_generated(program, program.views())
    assert compose_value_paths(split) == compose_value_paths(whole), fill_aliases(program.views())
    graph = build_column_graph(split)
    for column in program.query.columns:
        result = next(row for row in split.columns if row.object == "query" and row.name.lower() == column.name)
        reached = find_upstream(graph, [ColumnRef("query", result.name)], direct_only=True)
        tables = {(ref.object.lower()[2:], ref.column.lower()) for ref in reached if ref.object.lower()[:2] == "s."}
        assert tables == column.inputs, fill_aliases(program.views())


def compose_value_paths(lineage: LineageTables) -> set[tuple[str, str, str, int]]:
    """The value paths from tables into the result, through all views, with the strongest subtype on each path."""
    ways: dict[tuple[str, str], list[tuple[str, str, int]]] = {}
    for edge in lineage.column_edges:
        if edge.type is EdgeType.DIRECT:
            rank = SUBTYPE_RANKS.index(edge.subtype)
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
    case = draw(st.sampled_from(LAYOUT_FREE_CASES))
    text = draw_damage(draw, case.sql, case.setting("dialect"))
    assert_sound(analyze_case(Case(case.file, case.title, case.settings, text, ())), {"-": text}, whole=False)


def damaged_statements_end_with_findings(draw: Draw) -> None:
    program = draw(draw_programs())
    dialect = program.flavour.dialect
    whole = fill_aliases(draw(st.sampled_from([program.text(), *program.statements().values()])))
    text = draw_damage(draw, whole, dialect)
    assert_sound(
        build_lineage([InputFile("-", text, Options(dialect))], generated_schemas(dialect)), {"-": text}, whole=False
    )


def procedures_keep_the_edges_of_fixtures(draw: Draw) -> None:
    case = draw(st.sampled_from(WRAPPABLE_CASES))
    wrapping = wrap_in_procedures(draw, case.sql, PROCEDURE_FAMILIES[case.setting("dialect")])
    after = analyze_case(Case(case.file, case.title, case.settings, wrapping.text, ()))
    assert_sound(after, {"-": wrapping.text})
    assert_edges_kept(analyze_case(case), after, wrapping)


def procedures_keep_the_edges_of_statements(draw: Draw) -> None:
    program = draw(draw_programs(tuple(PROCEDURE_FAMILIES)))
    text = draw(st.sampled_from([program.text(), *program.statements().values()])) + ";"
    wrapping = wrap_in_procedures(draw, fill_aliases(text), PROCEDURE_FAMILIES[program.flavour.dialect])
    assert_edges_kept(analyze_generated(program, text), analyze_generated(program, wrapping.text), wrapping)


def assert_edges_kept(before: LineageTables, after: LineageTables, wrapping: WrappedScript) -> None:
    """The edges are the same, except that a procedure's results and temporary tables carry its name."""
    old, new = (procedure_edges(lineage, wrapping.guarded) for lineage in (before, after))
    assert old <= new, (wrapping.text, old - new)
    # What a branch creates again may hold what it held before; what a loop creates goes around.
    loose = wrapping.repeated or (wrapping.guarded and TEMPORARY_TABLE.search(wrapping.text))
    assert loose or old == new, (wrapping.text, new - old)


def procedure_edges(lineage: LineageTables, guarded: bool) -> set[tuple[object, ...]]:
    """Edges without the prefix of the procedure around them; a branch makes them conditional."""
    return {
        (
            *(
                RESULT_OBJECT.sub("result", WRAPPER_PREFIX.sub("", str(end)))
                for end in (edge.from_object, edge.to_object)
            ),
            *(edge.from_column, edge.from_path, edge.to_column, edge.type, edge.subtype, edge.masking),
            *(edge.approximate, guarded or edge.conditional),
        )
        for edge in lineage.column_edges
    }


def relinking_changed_files_gives_the_full_analysis(draw: Draw) -> None:
    memory, files = AnalysisCache(), draw_repository(draw)
    for _ in range(draw(st.integers(1, 4))):
        whole = build_lineage(as_input_files(files), reach=False)
        assert_sound(whole, files)
        given = draw(st.permutations(as_input_files(files)))
        assert analyze_files(given, memory=memory).lineage == whole, files
        work = memory.compiled, memory.linked, memory.links.count
        assert analyze_files(as_input_files(files), memory=memory).lineage == whole
        assert (memory.compiled, memory.linked, memory.links.count) == work
        files = draw_edit(draw, files)


def incremental_update_gives_the_full_analysis(draw: Draw) -> None:
    kept, files = EMPTY_SHELF, draw_repository(draw)
    rules = load_settings(Path("nowhere"), {"analysis": ANALYSIS_SETTINGS}, {})
    for _ in range(draw(st.integers(1, 4))):
        found = discover_texts(files, rules)
        whole = build_lineage(build_input_files(found, rules), reach=False)
        kept = refresh_lineage(found, rules, SchemaImports(), compile_files, kept)
        for name in whole.__struct_fields__:
            assert kept.tables[name].equals(rows_to_plain_arrow(name, getattr(whole, name))), (name, files)
        assert kept.tables["sources"].equals(rows_to_plain_arrow("sources", found.sources))
        files = draw_edit(draw, files)


def discover_texts(files: Mapping[str, str], rules: DiscoveryRules) -> Discovery:
    """The discovery of a repository of these files."""
    raws = [RawFile(path, files[path].encode()) for path in sorted(files, key=natural_path_key)]
    return DiscoveryReader(Snapshot("r", (), "", (), None, "none", None, None, 0, ""), raws, rules).whole()


TEMPORARY_NAMES = ("#a", "#b", "##c")
PROCEDURE_STEPS = (
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


def edge_keys_are_unique(draw: Draw) -> None:
    """Whatever procedures do with shared temporary tables, variables and calls, no two edges have one key."""
    sources = ("s", "t", *TEMPORARY_NAMES)

    def step(number: int) -> str:
        template: str = draw(st.sampled_from(PROCEDURE_STEPS))
        return template.format(
            temp=draw(st.sampled_from(TEMPORARY_NAMES)),
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
    assert_unique_keys(lineage)
