"""Work grows with the text and not with its square: calls are counted, so that every machine says the same."""

import time
from collections.abc import Callable, Iterable
from cProfile import Profile

import pytest

from lineage_pipeline import analyze, diff
from lineage_pipeline.engine.compile.interface import face_of
from lineage_pipeline.engine.compile.source import compile_source
from lineage_pipeline.pipeline import Compiled, analyse, as_compiled
from lineage_pipeline.vocabulary.analysis import InputFile, Options

MOST = 2.35
"""How many times as many calls twice the text may take: twice, and what is looked up in what has grown."""


def _each(text: str) -> Callable[[int], str]:
    """A text that repeats a line, with the number of the line, and of the one before it, in it."""
    return lambda count: "".join(text.format(number, number - 1) for number in range(1, count + 1))


def _joins(count: int) -> str:
    return "create view v as select t0.a from t0 " + _each("join t{0} on t{0}.a = t{1}.a ")(count)


SHAPES: dict[str, tuple[str, int, Callable[[int], str]]] = {
    "joins": ("postgres", 700, _joins),
    "a temporary table that is made and dropped": (
        "postgres",
        300,
        _each("create temporary table x as select a from t{0}; insert into z select a from x; drop table x; "),
    ),
    "temporary tables, each of the one before": (
        "postgres",
        300,
        lambda count: (
            _each("create temporary table x{0} as select a from x{1}; ")(count)
            + f"insert into z select a from x{count}"
        ),
    ),
    "sets of keys that rows are grouped by": (
        "postgres",
        100,
        lambda count: f"create view v as select a from t group by grouping sets ({_each('(a, b{0}), ')(count)}(a))",
    ),
}
"""What is repeated: its dialect, how often, and how it is written."""


@pytest.mark.parametrize("name", SHAPES)
def test_twice_the_text_is_twice_the_work(name: str) -> None:
    dialect, count, written = SHAPES[name]
    once, twice = (_calls(dialect, written(times)) for times in (count, 2 * count))
    assert twice < MOST * once, f"{once:,} calls become {twice:,}"


def test_a_long_chain_of_consequences_has_one_root_in_no_time() -> None:
    count = 1_500
    views = _each("create view v{0} as select id, a from v{1} where a > 0; ")(count)
    base, head = (
        analyze(f"create table v0 (id int, a {kind}); {views}", dialect="postgres") for kind in ("int", "text")
    )
    started = time.process_time()
    changes = diff(base, head)
    assert time.process_time() - started < 15  # twice that, where each looks through all that are before it
    assert len(changes) > count
    assert {change.root_id for change in changes} == {change.id for change in changes if change.root}
    assert sum(change.root for change in changes) == 1


def _calls(dialect: str, text: str) -> int:
    """How many functions are called to analyse a text, without the child process in which a large one is compiled."""
    profile = Profile()
    profile.enable()
    analyse([InputFile("-", text, Options(dialect))], compile_all=_compiled_here)
    profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


def _compiled_here(files: Iterable[InputFile]) -> list[Compiled]:
    made = [(file, compile_source(file.text, file.options)) for file in files]
    return [as_compiled(file, script, face_of(script, file.text, file.written)) for file, script in made]
