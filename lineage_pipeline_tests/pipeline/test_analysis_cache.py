"""The analysis cache: only changes are computed again, counted and not timed."""

import pytest

from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.model.analysis import InputFile, Options
from lineage_pipeline.pipeline import AnalysisCache, analyze_files, build_lineage, reconcile_imports

OPTIONS = Options("postgres")
CHAIN = 5
"""How many objects stand in a row: a table, and views of views."""


def make_view_chains(objects: int) -> dict[str, str]:
    """Short chains of views over tables, a file each."""
    files = {}
    for number in range(objects):
        chain, step = divmod(number, CHAIN)
        source = f"s{chain}.o{step - 1}"
        files[f"s{chain}/o{step}.sql"] = (
            f"create view s{chain}.o{step} as select id, amount, note from {source} where amount > {step};"
            if step
            else f"create table s{chain}.o0 (id int not null, amount int, note text);"
        )
    return files


def as_inputs(files: dict[str, str]) -> list[InputFile]:
    return [InputFile(path, text, OPTIONS) for path, text in files.items()]


@pytest.mark.parametrize("objects", [500, pytest.param(5_000, marks=pytest.mark.slow)])
def test_one_percent_of_changes_costs_one_percent(objects: int) -> None:
    before = make_view_chains(objects)
    edited = [path for path in before if path.endswith("o2.sql")][: objects // 100 - 1]
    after = {
        path: text.replace("amount > 2", "amount > 20") if path in edited else text for path, text in before.items()
    }
    after["s0/o0.sql"] = after["s0/o0.sql"].replace("amount int", "amount bigint")
    memory = AnalysisCache()
    base = analyze_files(as_inputs(before), memory=memory)
    assert (memory.compiled, memory.linked) == (objects, objects)
    start = memory.compiled, memory.linked, memory.links.count
    head = analyze_files(as_inputs(after), memory=memory)
    done = tuple(
        now - then for now, then in zip((memory.compiled, memory.linked, memory.links.count), start, strict=True)
    )
    # The retyped table takes its four readers along; a filter bears on no schema, so that its readers stay as they are.
    assert done == (len(edited) + 1, len(edited) + CHAIN - 1, len(edited) + CHAIN - 2)
    assert head.lineage == build_lineage(as_inputs(after), reach=False)
    assert len([one for one in diff(base.lineage, head.lineage) if one.root]) == len(edited) + 1


def test_a_file_that_moved_is_not_compiled_again() -> None:
    files = make_view_chains(10)
    memory = AnalysisCache()
    analyze_files(as_inputs(files), memory=memory)
    moved = analyze_files(as_inputs({f"new/{path}": text for path, text in files.items()}), memory=memory)
    assert memory.compiled == 10
    assert moved.lineage == build_lineage(as_inputs({f"new/{path}": text for path, text in files.items()}), reach=False)


def test_reconciling_equal_sides_computes_nothing() -> None:
    memory = AnalysisCache()
    files = make_view_chains(10)
    base, head = (analyze_files(as_inputs(files), memory=memory) for _ in range(2))
    assert reconcile_imports(base, head, memory) == (base, head)
    assert (memory.compiled, memory.linked) == (10, 10)
