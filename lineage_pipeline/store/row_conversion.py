"""Converts row structs to Arrow columns and back, without `pyarrow.array`, which imports pandas (0.3 s)."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from operator import attrgetter
from typing import Any, TypeVar

import msgspec
import pyarrow as pa
from msgspec import inspect

from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.store.table_schemas import (
    address_columns,
    arrow_schema,
    arrow_type,
    row_fields,
    row_type,
    strip_optional,
)

RowT = TypeVar("RowT", bound=msgspec.Struct)


def rows_to_arrow(table: str, key: Sequence[str], rows: Sequence[msgspec.Struct]) -> pa.Table:
    """Convert rows of one snapshot or diff to an Arrow table, the parts of its key as the first columns."""
    columns = [*(repeat_text(part, len(rows)) for part in key), *_iter_columns(table, rows)]
    return check_nulls(table, pa.Table.from_arrays(columns, schema=arrow_schema(table)))


def rows_to_plain_arrow(table: str, rows: Sequence[msgspec.Struct]) -> pa.Table:
    """Convert rows to an Arrow table of their own fields alone, without a key."""
    schema = pa.schema(list(arrow_schema(table))[len(address_columns(table)) :])
    return check_nulls(table, pa.Table.from_arrays(list(_iter_columns(table, rows)), schema=schema))


def _iter_columns(table: str, rows: Sequence[msgspec.Struct]) -> Iterator[pa.Array]:
    for field in row_fields(row_type(table)):
        yield _build_typed_array(list(map(attrgetter(field.name), rows)), strip_optional(field.type))


def check_nulls(table: str, content: pa.Table) -> pa.Table:
    """Return the table if no required column holds null, else fail."""
    for field, column in zip(content.schema, content.columns, strict=True):
        if not field.nullable and column.null_count:
            raise LineageError(f"{table}.{field.name} holds null in {column.null_count} of {len(column)} rows")
    return content


def conform_table(table: str, key: Sequence[str], content: pa.Table) -> pa.Table:
    """Bring an Arrow table into the schema of `table`: order, types, and the key where it is missing."""
    own = dict(zip(address_columns(table), key, strict=True))
    columns = []
    for field in arrow_schema(table):
        if field.name in own:
            columns.append(repeat_text(own[field.name], content.num_rows))
        else:
            columns.append(_conform_column(table, content, field))
    return check_nulls(table, pa.Table.from_arrays(columns, schema=arrow_schema(table)))


def arrow_to_rows(table: str, content: pa.Table, row: type[RowT]) -> tuple[RowT, ...]:
    """Convert an Arrow table back into rows."""
    columns = []
    for field in row_fields(row):
        column = _conform_column(table, content, arrow_schema(table).field(field.name))
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        columns.append(list(chain.from_iterable(_array_values(chunk, strip_optional(field.type)) for chunk in chunks)))
    return tuple(map(row, *columns))


def _conform_column(table: str, content: pa.Table, field: pa.Field) -> pa.ChunkedArray | pa.Array:
    if field.name not in content.column_names:
        if field.nullable:
            return pa.nulls(content.num_rows, field.type)
        raise LineageError(f"{table} has no column {field.name}: it was written by another version, analyze it again")
    column = content.column(field.name)
    if column.type == field.type:
        return column
    try:
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise LineageError(f"{table}.{field.name} is {column.type}, not {field.type}") from error


def _build_typed_array(values: Sequence[Any], kind: inspect.Type) -> pa.Array:
    match kind:
        case inspect.StructType():
            return _build_struct_array(values, kind)
        case inspect.VarTupleType() | inspect.ListType():
            lengths = [0 if value is None else len(value) for value in values]
            offsets: list[int | None] = list(accumulate(lengths, initial=0))
            for index, value in enumerate(values):
                if value is None:
                    offsets[index] = None
            flat = list(chain.from_iterable(value for value in values if value is not None))
            items = _build_typed_array(flat, strip_optional(kind.item_type))
            return pa.ListArray.from_arrays(build_array(offsets, pa.int32()), items).cast(arrow_type(kind))
        case _:
            return build_array(values, arrow_type(kind))


def _build_struct_array(values: Sequence[Any], kind: inspect.StructType) -> pa.Array:
    missing = build_array([value is None for value in values], pa.bool_())
    children = []
    for field in kind.fields:
        read = attrgetter(field.name)
        inner = [None if value is None else read(value) for value in values]
        children.append(_build_typed_array(inner, strip_optional(field.type)))
    return pa.StructArray.from_arrays(children, fields=list(arrow_type(kind)), mask=missing)


def _array_values(array: pa.Array, kind: inspect.Type) -> Iterable[Any]:
    match kind:
        case inspect.StructType():
            children = zip(array.flatten(), kind.fields, strict=True)
            made: list[Any] = list(
                map(kind.cls, *(_array_values(child, strip_optional(field.type)) for child, field in children))
            )
            return made if not array.null_count else _mask_nulls(made, array)
        case inspect.VarTupleType() | inspect.ListType():
            items = list(_array_values(array.flatten(), strip_optional(kind.item_type)))
            ends = list(accumulate((length or 0 for length in array.value_lengths().to_pylist()), initial=0))
            made = [tuple(items[start:end]) for start, end in zip(ends, ends[1:], strict=False)]
            return made if not array.null_count else _mask_nulls(made, array)
        case inspect.EnumType():
            return map(_enum_members(array, kind).get, array.to_pylist())
        case _:
            values: list[Any] = array.to_pylist()
            return values


def _enum_members(array: pa.Array, kind: inspect.EnumType) -> dict[str, Any]:
    try:
        return {word: kind.cls(word) for word in array.unique().to_pylist() if word is not None}
    except ValueError as error:
        raise LineageError(f"{error}: it was written by another version, analyze it again") from error


def _mask_nulls(values: Sequence[Any], array: pa.Array) -> list[Any]:
    return [value if valid else None for value, valid in zip(values, array.is_valid().to_pylist(), strict=True)]


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
