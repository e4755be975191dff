"""No large performance regression, by counted work: times depend on what else runs, and are in `benchmarks`."""

from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest

from benchmarks.apart import apart
from benchmarks.generate import generate
from benchmarks.inputs import DIALECTS
from benchmarks.regressions import GROSS, calls, parses, recorded

Figure = Callable[[str, object], None]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_calls_for_a_statement_have_not_grown(dialect: str, record_property: Figure) -> None:
    known, now = recorded().calls[dialect], calls(dialect)
    record_property("figure", f"{dialect}: {now} calls of Python a statement (recorded {known})")
    assert now <= GROSS * known


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_statement_is_not_parsed_more_often(dialect: str, record_property: Figure) -> None:
    known, now = recorded().parses[dialect], parses(dialect)
    record_property("figure", f"{dialect}: {now:.3f} parses a statement (recorded {known})")
    assert now <= known + 0.01


@pytest.mark.slow
def test_the_memory_of_a_worker_does_not_grow_with_the_number_of_statements(record_property: Figure) -> None:
    few, many = apart(_compile_repeatedly, 3000, "spawn")
    record_property(
        "figure", f"a worker that compiles: {few:.0f} MB after 20 % of the statements, {many:.0f} MB at the end"
    )
    assert many < few * 1.2 + 10


def _compile_repeatedly(statements: int) -> tuple[float, float]:
    """Compile as a task does, batch by batch, and give the memory in MB at a fifth of the way and at the end."""
    from benchmarks.growth import resident
    from lineage_pipeline.spark import compilation as compiling

    texts = list(generate(statements, dialect="snowflake").values())
    sizes = []
    for number, _ in enumerate(compiling._compile_batches(_batches(texts))):
        sizes.append(resident())
        assert number < len(texts)
    return sizes[len(sizes) // 5], sizes[-1]


def _batches(texts: list[str], size: int = 128) -> Iterator[pa.RecordBatch]:
    import msgspec

    from lineage_pipeline.model.analysis import Options

    options = msgspec.msgpack.encode(Options("snowflake"))
    for first in range(0, len(texts), size):
        rows = [
            {"key": "k", "batch": "b", "options": options, "rendered": text, "text": text, "source_map": None}
            for text in texts[first : first + size]
        ]
        yield pa.RecordBatch.from_pylist(rows)
