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
from lineage_pipeline.model.analysis import InputFile, Options
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
