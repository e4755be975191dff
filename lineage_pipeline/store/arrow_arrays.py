"""Builds Arrow arrays from Python values without `pyarrow.array`, which imports pandas where installed (0.3 s)."""

from array import array
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa

ArrayMaker = Callable[[Sequence[Any]], pa.Array]


def build_array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return an array of values of one type; None is null."""
    return ARRAY_MAKERS[kind](values)


def build_scalar(value: str | int) -> pa.Scalar:
    """Return a text or a number as an Arrow scalar."""
    return build_array([value], pa.string() if isinstance(value, str) else pa.int64())[0]


def repeat_text(text: str, count: int) -> pa.Array:
    """Return an array with the same text many times."""
    content = text.encode("utf-8")
    offsets = array("i", range(0, len(content) * (count + 1), len(content)) if content else [0] * (count + 1))
    return pa.Array.from_buffers(pa.string(), count, [None, pa.py_buffer(offsets), pa.py_buffer(content * count)])


def empty_table(schema: pa.Schema) -> pa.Table:
    """Return a table without rows."""
    return pa.Table.from_batches([], schema)


def _string_array(values: Sequence[str | None]) -> pa.Array:
    present = [value or "" for value in values]
    joined = "".join(present)
    content = joined.encode("utf-8")
    plain = len(content) == len(joined)
    lengths = list(map(len, present)) if plain else [len(one.encode("utf-8")) for one in present]
    return _variable_length_array(pa.string(), values, lengths, content)


def _binary_array(values: Sequence[bytes | None]) -> pa.Array:
    present = [value or b"" for value in values]
    return _variable_length_array(pa.binary(), values, list(map(len, present)), b"".join(present))


def _variable_length_array(
    kind: pa.DataType, values: Sequence[Any], lengths: Sequence[int], content: bytes
) -> pa.Array:
    offsets = array("i", accumulate(lengths, initial=0))
    return pa.Array.from_buffers(
        kind, len(values), [_validity_bitmap(values), pa.py_buffer(offsets), pa.py_buffer(content)]
    )


def _number_array(kind: pa.DataType, code: str) -> ArrayMaker:
    def make(values: Sequence[float | None]) -> pa.Array:
        content = pa.py_buffer(array(code, [value or 0 for value in values]))
        return pa.Array.from_buffers(kind, len(values), [_validity_bitmap(values), content])

    return make


def _boolean_array(values: Sequence[bool | None]) -> pa.Array:
    return pa.Array.from_buffers(
        pa.bool_(), len(values), [_validity_bitmap(values), _pack_bits(list(map(bool, values)))]
    )


def _validity_bitmap(values: Sequence[Any]) -> pa.Buffer | None:
    """Return the validity bitmap of values; None where all are valid."""
    return _pack_bits([value is not None for value in values]) if None in values else None


def _pack_bits(answers: Sequence[bool]) -> pa.Buffer:
    spread = pa.Array.from_buffers(pa.int8(), len(answers), [None, pa.py_buffer(bytes(answers))])
    return spread.cast(pa.bool_()).buffers()[1]


ARRAY_MAKERS: dict[pa.DataType, ArrayMaker] = {
    pa.string(): _string_array,
    pa.binary(): _binary_array,
    pa.bool_(): _boolean_array,
    pa.int32(): _number_array(pa.int32(), "i"),
    pa.int64(): _number_array(pa.int64(), "q"),
    pa.float64(): _number_array(pa.float64(), "d"),
}
