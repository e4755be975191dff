"""Work grows linearly with the text: calls are counted, so that every machine gives the same result."""

import time
from collections.abc import Callable, Iterable
from cProfile import Profile

import pytest

from lineage_pipeline.api import analyze, diff
from lineage_pipeline.engine.compile.compiler import compile_source
from lineage_pipeline.engine.compile.script_interface import interface_of
from lineage_pipeline.export import REPORTERS
from lineage_pipeline.export.formats.lineage_formats import FORMATS
from lineage_pipeline.export.subject import Comparison, Subject
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options
from lineage_pipeline.pipeline import CompiledFile, build_compiled_file, build_lineage
from lineage_pipeline_tests.export.test_formats import export_text
from lineage_pipeline_tests.support.lineage_rows import SHOP_NAMING, SHOP_SNAPSHOT

MOST = 2.35
"""How many times as many calls twice the text may take: twice, and what is looked up in what has grown."""


def _repeat(text: str) -> Callable[[int], str]:
    """A text that repeats a line, with the numbers of the line and of the one before it."""
    return lambda count: "".join(text.format(number, number - 1) for number in range(1, count + 1))


def _joins(count: int) -> str:
    return "create view v as select t0.a from t0 " + _repeat("join t{0} on t{0}.a = t{1}.a ")(count)


SHAPES: dict[str, tuple[str, int, Callable[[int], str]]] = {
    "joins": ("postgres", 700, _joins),
    "a temporary table that is made and dropped": (
        "postgres",
        300,
        _repeat("create temporary table x as select a from t{0}; insert into z select a from x; drop table x; "),
    ),
    "temporary tables, each of the one before": (
        "postgres",
        300,
        lambda count: (
            _repeat("create temporary table x{0} as select a from x{1}; ")(count)
            + f"insert into z select a from x{count}"
        ),
    ),
    "sets of keys that rows are grouped by": (
        "postgres",
        100,
        lambda count: f"create view v as select a from t group by grouping sets ({_repeat('(a, b{0}), ')(count)}(a))",
    ),
}
"""What is repeated: its dialect, how often, and how it is written."""


@pytest.mark.parametrize("name", SHAPES)
def test_twice_the_text_is_twice_the_work(name: str) -> None:
    dialect, count, written = SHAPES[name]
    once, twice = (_count_calls(dialect, written(times)) for times in (count, 2 * count))
    assert twice < MOST * once, f"{once:,} calls become {twice:,}"


def test_a_long_chain_of_derived_changes_has_one_root_in_linear_time() -> None:
    count = 1_500
    views = _repeat("create view v{0} as select id, a from v{1} where a > 0; ")(count)
    base, head = (
        analyze(f"create table v0 (id int, a {kind}); {views}", dialect="postgres") for kind in ("int", "text")
    )
    started = time.process_time()
    changes = diff(base, head)
    assert time.process_time() - started < 15  # twice that, where each looks through all that are before it
    assert len(changes) > count
    assert {change.root_id for change in changes} == {change.id for change in changes if change.root}
    assert sum(change.root for change in changes) == 1


CHANGING: dict[str, Callable[[int], str]] = {
    "one object that all read": lambda count: (
        "create table h (a int, b {kind}, c int); "
        + _repeat("create view v{0} as select a, b, c as d from h where c > {0}; ")(count)
    ),
    "views, each of the one before": lambda count: (
        "create table v0 (a int, b {kind}); "
        + _repeat("create view v{0} as select a, b from v{1} where a > 0; ")(count)
    ),
    "one view with many columns": lambda count: (
        f"create table t ({_repeat('c{0} {{kind}}, ')(count)}a int); create view v as select * from t where a > 0; "
    ),
    "a union of many branches": lambda count: (
        _repeat("create table t{0} (a int, b {{kind}}); ")(count)
        + f"create view v as {_repeat('select a, b from t{0} union all ')(count)}select 1, null; "
    ),
}
"""Texts in which a type is one or another."""


@pytest.mark.parametrize("name", CHANGING)
def test_twice_the_text_is_twice_the_work_to_compare_and_to_write(name: str) -> None:
    once, twice = (_count_comparison_calls(CHANGING[name](times)) for times in (60, 120))
    assert twice < MOST * once, f"{once:,} calls become {twice:,}"


def _load_procedures(writers: int) -> str:
    """A procedure that has others fill a temporary table, step by step, and stores what is in it."""
    columns = ", ".join(f"c{number} int" for number in range(8))
    listed = ", ".join(f"c{number}" for number in range(8))
    fillers = "".join(
        f"create procedure dbo.fill{number} as begin "
        f"insert into #w ({listed}) select {listed} from dbo.s{number} where c0 > {number}; "
        f"update #w set c{number % 8} = w.c{(number + 1) % 8} + 1 from #w w where w.c2 = {number} end\ngo\n"
        for number in range(writers)
    )
    calls = "".join(f"exec dbo.fill{number}; " for number in range(writers))
    return (
        f"{fillers}create procedure dbo.main as begin create table #w ({columns}); create table ##g ({columns}); "
        f"{calls}insert into ##g ({listed}) select {listed} from #w; "
        f"insert into dbo.r ({listed}) select {listed} from #w end\ngo\n"
        f"create procedure dbo.reader as insert into dbo.r ({listed}) select {listed} from ##g\ngo\n"
    )


REPEATED: dict[str, Callable[[int], list[tuple[str, str]]]] = {
    "in other folders": lambda copies: [(f"copy{number}/all.sql", _load_procedures(6)) for number in range(copies)],
    "in one file": lambda copies: [("all.sql", _load_procedures(6) * copies)],
    "in files of their own": lambda copies: [
        (f"copy{number}/{place}.sql", text)
        for number in range(copies)
        for place, text in enumerate(_load_procedures(6).split("go\n"))
        if text
    ],
    "all but the caller": lambda copies: [
        ("main.sql", _load_procedures(6)),
        *((f"copy{number}/fill.sql", _load_procedures(5)) for number in range(copies)),
    ],
}
"""The same procedures, defined as many times as asked."""


@pytest.mark.parametrize("name", REPEATED)
def test_definitions_that_are_repeated_add_up_and_do_not_multiply(name: str) -> None:
    counts = {copies: _count_repeated(REPEATED[name](copies)) for copies in (2, 4, 8)}
    for copies in (2, 4):
        (rows, calls), (more_rows, more_calls) = counts[copies], counts[2 * copies]
        assert more_rows <= 2 * rows, f"{rows:,} edges become {more_rows:,}"
        assert more_calls < MOST * calls, f"{calls:,} calls become {more_calls:,}"


def _count_repeated(texts: Iterable[tuple[str, str]]) -> tuple[int, int]:
    """How many edges the files have, and how many functions are called to find them."""
    files = [InputFile(path, text, Options("tsql")) for path, text in texts]
    found: list[LineageTables] = []
    calls = _count_python_calls(
        lambda: found.append(build_lineage(files, reach=False, compile_all=_compile_in_process))
    )
    return len(found[0].column_edges), calls


def _count_comparison_calls(text: str) -> int:
    """How many functions are called to compare two states of a text, to report that, and to export one."""
    base, head = (analyze(text.format(kind=kind), dialect="postgres") for kind in ("int", "text"))
    subject = Subject(base.lineage, SHOP_SNAPSHOT, naming=SHOP_NAMING)

    def tell() -> None:
        comparison = Comparison("a", "b", diff(base, head))
        for reporter in REPORTERS.values():
            reporter.write(comparison)
        for name, format in FORMATS.items():
            if format.save is None:
                export_text(name, subject)

    return _count_python_calls(tell)


def _count_calls(dialect: str, text: str) -> int:
    """How many functions are called to analyse a text, without the child process in which a large one is compiled."""
    return _count_python_calls(
        lambda: build_lineage([InputFile("-", text, Options(dialect))], compile_all=_compile_in_process)
    )


def _count_python_calls(work: Callable[[], object]) -> int:
    profile = Profile()
    profile.enable()
    work()
    profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


def _compile_in_process(files: Iterable[InputFile]) -> list[CompiledFile]:
    made = [(file, compile_source(file.text, file.options)) for file in files]
    return [build_compiled_file(file, script, interface_of(script, file.text, file.written)) for file, script in made]
