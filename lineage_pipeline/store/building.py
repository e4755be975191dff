"""Arrow arrays of Python values; `pyarrow.array` imports pandas wherever that is installed, a third of a second."""

from array import array
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa

Make = Callable[[Sequence[Any]], pa.Array]


def array_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Give values of one type, some of them perhaps None."""
    return MAKERS[kind](values)


def scalar_of(value: str | int) -> pa.Scalar:
    """Give a text or a number as functions of Arrow take it."""
    return array_of([value], pa.string() if isinstance(value, str) else pa.int64())[0]


def repeated(text: str, count: int) -> pa.Array:
    """Give the same text many times."""
    content = text.encode("utf-8")
    offsets = array("i", range(0, len(content) * (count + 1), len(content)) if content else [0] * (count + 1))
    return pa.Array.from_buffers(pa.string(), count, [None, pa.py_buffer(offsets), pa.py_buffer(content * count)])


def empty_table(schema: pa.Schema) -> pa.Table:
    """Give a table without rows."""
    return pa.Table.from_batches([], schema)


def _texts(values: Sequence[str | None]) -> pa.Array:
    present = [value or "" for value in values]
    joined = "".join(present)
    content = joined.encode("utf-8")
    plain = len(content) == len(joined)
    lengths = list(map(len, present)) if plain else [len(one.encode("utf-8")) for one in present]
    return _spans(pa.string(), values, lengths, content)


def _contents(values: Sequence[bytes | None]) -> pa.Array:
    present = [value or b"" for value in values]
    return _spans(pa.binary(), values, list(map(len, present)), b"".join(present))


def _spans(kind: pa.DataType, values: Sequence[Any], lengths: Sequence[int], content: bytes) -> pa.Array:
    offsets = array("i", accumulate(lengths, initial=0))
    return pa.Array.from_buffers(kind, len(values), [_valid(values), pa.py_buffer(offsets), pa.py_buffer(content)])


def _numbers(kind: pa.DataType, code: str) -> Make:
    def make(values: Sequence[float | None]) -> pa.Array:
        content = pa.py_buffer(array(code, [value or 0 for value in values]))
        return pa.Array.from_buffers(kind, len(values), [_valid(values), content])

    return make


def _answers(values: Sequence[bool | None]) -> pa.Array:
    return pa.Array.from_buffers(pa.bool_(), len(values), [_valid(values), _bits(list(map(bool, values)))])


def _valid(values: Sequence[Any]) -> pa.Buffer | None:
    """Say by bits which values there are; None where there are all."""
    return _bits([value is not None for value in values]) if None in values else None


def _bits(answers: Sequence[bool]) -> pa.Buffer:
    spread = pa.Array.from_buffers(pa.int8(), len(answers), [None, pa.py_buffer(bytes(answers))])
    return spread.cast(pa.bool_()).buffers()[1]


MAKERS: dict[pa.DataType, Make] = {
    pa.string(): _texts,
    pa.binary(): _contents,
    pa.bool_(): _answers,
    pa.int32(): _numbers(pa.int32(), "i"),
    pa.int64(): _numbers(pa.int64(), "q"),
    pa.float64(): _numbers(pa.float64(), "d"),
}
