"""Widening: the least type that holds several, as CASE, COALESCE, set operations and lists ask for it."""

from collections.abc import Callable, Sequence

from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.dialects.typing import clickhouse_rules, decimals
from lineage_pipeline.dialects.typing.families import UNKNOWN, Family
from lineage_pipeline.dialects.typing.fitting import misfits
from lineage_pipeline.dialects.typing.shapes import Shape, shape_of
from lineage_pipeline.dialects.typing.strings import MONEYS, PRECEDENCE, string_of

Wider = Callable[[Family, Shape, Shape], str | None]


def common_type(types: Sequence[str | None], family: Family) -> str | None:
    """The least type that holds all of them, or None where that is not known; NULL fits everywhere."""
    known = [item for item in types if item != UNKNOWN and (item != family.null or item is None)]
    if not known:
        return UNKNOWN if UNKNOWN in types else family.null if types else None
    result = known[0]
    for item in known[1:]:
        if result is None or item is None:
            return None
        if item != result:
            result = wider(result, item, family)
    return result if family.sized or len(known) == len(types) or result is None else unsized(result)


def unsized(kind: str) -> str:
    """A type without lengths and digits, as PostgreSQL has it where it is computed."""
    shape = shape_of(kind)
    if shape.name == "ARRAY" and shape.members:
        return f"{unsized(shape.members[0][1])}[]"
    if shape.name.startswith("INTERVAL"):
        return "INTERVAL"
    return "BPCHAR" if shape.name == "CHAR" else shape.name


def adapted(types: Sequence[str | None], texts: Sequence[str], family: Family) -> list[str | None]:
    """The types of two operands, that of a whole number that is written out being the one of the integer beside it."""
    if len(types) != 2 or is_whole(texts[0]) == is_whole(texts[1]):
        return list(types)
    written = 0 if is_whole(texts[0]) else 1
    beside = types[1 - written]
    if types[written] not in family.integers or not (beside in family.integers or beside in family.unsigned):
        return list(types)
    return [beside, beside] if fits(texts[written], beside or "", family) else list(types)


def folded(types: Sequence[str | None], texts: Sequence[str], family: Family) -> str | None:
    """The least type that holds values one after the other; a whole number that is written out takes the type of the
    one value beside it, unless NULL or another one stood there before.
    """
    found, constant, nothing = family.null, "", False
    for kind, text in zip(types, texts, strict=True):
        if kind == family.null:
            nothing, constant = True, ""
            continue
        written = text if is_whole(text) else ""
        if found == family.null:
            found, constant = kind, "" if nothing else written
            continue
        sides = adapted([found, kind], [constant, written], family)
        found, constant = common_type(sides, family), ""
    return found


def is_whole(text: str) -> bool:
    """Whether a text is a whole number that is written out."""
    return text.removeprefix("neg(").removesuffix(")").isdigit()


def fits(text: str, target: str, family: Family) -> bool:
    """Whether a whole number is one of those that an integer type holds."""
    number = whole_number(text.removeprefix("neg(").removesuffix(")")) * (-1 if text.startswith("neg(") else 1)
    if target in family.unsigned:
        return 0 <= number < 1 << (8 << list(family.unsigned).index(target))
    half = 1 << ((8 << family.integers.index(target)) - 1)
    return -half <= number < half


def wider(left: str, right: str, family: Family) -> str | None:
    """The least type that holds two, or None where there is none or it is not known."""
    if left == right:
        return left
    if family.nothing:
        return clickhouse_rules.wider(left, right)
    first, second = plain_shape(left, family), plain_shape(right, family)
    if first == second:
        return left
    if not family.sized:
        return _first_or_wider(family, first, second)
    for rule in (_numbers, _strings, _moments, _nested, *_MORE.get(family.name, ())):
        found = rule(family, first, second) or rule(family, second, first)
        if found is not None:
            return found
    return None


def plain_shape(text: str, family: Family) -> Shape:
    """The shape of a type under the name that a family has for it."""
    shape = shape_of(text)
    name = family.aliases.get(shape.name)
    return shape if name is None else Shape(name, shape.parameters, shape.members)


def digits_of(shape: Shape, family: Family) -> decimals.Digits | None:
    """The digits of a decimal, or of an integer as one."""
    if shape.name in family.integers:
        return family.digits[family.integers.index(shape.name)], 0
    if shape.name in family.unsigned:
        return family.unsigned[shape.name], 0
    if shape.name != family.decimal:
        return None
    numbers = shape.numbers
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    return (numbers[0], 0) if numbers else None


def is_number(shape: Shape, family: Family) -> bool:
    """Whether a type is one of numbers."""
    name = shape.name
    return name in family.integers or name in (family.decimal, family.real, family.double) or name in family.unsigned


def holding(family: Family, left: str, right: str) -> str | None:
    """The least of the integers, with a sign or without, that holds two others; None where one is no integer."""
    signed, unsigned = family.integers, list(family.unsigned)
    if left in signed and right in signed:
        return signed[max(signed.index(left), signed.index(right))]
    if left in unsigned and right in unsigned:
        return unsigned[max(unsigned.index(left), unsigned.index(right))]
    if right in unsigned and left in signed:
        left, right = right, left
    if left not in unsigned or right not in signed:
        return None
    above = unsigned.index(left) + 1
    return signed[max(above, signed.index(right))] if above < len(signed) else family.double


def _numbers(family: Family, left: Shape, right: Shape) -> str | None:
    if not is_number(left, family) or not is_number(right, family):
        return None
    if (whole := holding(family, left.name, right.name)) is not None:
        return whole
    if family.double in (left.name, right.name):
        return family.double
    if family.real in (left.name, right.name):
        return _with_real(family, left, right)
    first, second = digits_of(left, family), digits_of(right, family)
    if not family.cap or first is None or second is None:
        return family.decimal
    gives_way = family.name == "spark" or (family.name == "duckdb" and left.name == right.name)
    merge = decimals.spark_common if gives_way else decimals.common
    return family.numeric(*merge(first, second))


def _with_real(family: Family, left: Shape, right: Shape) -> str:
    """A short floating point number and another number."""
    if left.name == right.name:
        return family.real
    return family.real if family.name in ("duckdb", "tsql") else family.double


def _strings(family: Family, left: Shape, right: Shape) -> str | None:
    """Two strings: the longer, or the one without a limit."""
    if left.name not in family.strings or right.name not in family.strings:
        return None
    if family.bare_strings:
        return family.string
    sizes = [_size(left), _size(right)]
    best = left if sizes[0] >= sizes[1] else right
    name = string_of([left.name, right.name]) if family.name == "tsql" else best.name
    return f"{name}({','.join(best.parameters)})" if best.parameters else name


def _size(shape: Shape) -> float:
    text = shape.parameters[0] if shape.parameters else "MAX"
    return float("inf") if text == "MAX" else float(text) if text.isdigit() else 0


def _moments(family: Family, left: Shape, right: Shape) -> str | None:
    """A date and a moment are moments."""
    ranks = {family.date: 0, "DATETIME": 0.9, family.timestamp: 1, "TIMESTAMP_NTZ": 1, family.zoned: 2}
    if left.name not in ranks or right.name not in ranks:
        return None
    best = left if ranks[left.name] >= ranks[right.name] else right
    return f"{best.name}({','.join(best.parameters)})" if best.parameters else best.name


def _nested(family: Family, left: Shape, right: Shape) -> str | None:
    """Arrays, maps and structs: of the least types that hold their members."""
    if left.name != right.name or not left.members or len(left.members) != len(right.members):
        return None
    members = []
    for (name, kind), (_, other) in zip(left.members, right.members, strict=True):
        merged = common_type([kind, other], family)
        if merged is None:
            return None
        members.append((name, merged))
    if left.name == "MAP":
        return family.map(members[0][1], members[1][1])
    return family.array(members[0][1]) if left.name in ("ARRAY", "LIST") else family.struct(members)


def _spark_string(family: Family, left: Shape, right: Shape) -> str | None:
    """Spark reads a string as what stands beside it."""
    if left.name != family.string or right.members:
        return None
    if right.name in family.integers:
        return family.bigint
    if is_number(right, family):
        return family.double
    return None if right.name.startswith("INTERVAL") else right.name


def _spark_interval(family: Family, left: Shape, right: Shape) -> str | None:
    """Two intervals of one kind: from the first unit of either to the last one."""
    for units in (("YEAR", "MONTH"), ("DAY", "HOUR", "MINUTE", "SECOND")):
        spans = [[unit for unit in shape.name.split()[1:] if unit != "TO"] for shape in (left, right)]
        if all(span and set(span) <= set(units) for span in spans):
            found = sorted((unit for span in spans for unit in span), key=units.index)
            return interval(found[0], found[-1])
    return None


def interval(first: str, last: str) -> str:
    """An interval from one unit to another."""
    return f"INTERVAL {first}" if first == last else f"INTERVAL {first} TO {last}"


def _duckdb_string(family: Family, left: Shape, right: Shape) -> str | None:
    """DuckDB writes everything beside a string as a string, but for identifiers."""
    if right.name == "UUID":
        return right.name
    return family.string if left.name == family.string and not right.members else None


def _duckdb_boolean(family: Family, left: Shape, right: Shape) -> str | None:
    return right.name if left.name == family.boolean and is_number(right, family) else None


def _tsql_precedence(family: Family, left: Shape, right: Shape) -> str | None:
    """SQL Server converts to the type of higher precedence, whatever the other is."""
    known = left.name in PRECEDENCE and right.name in PRECEDENCE
    if not known or misfits(left.name, right.name, family.name, "unites"):
        return None
    if family.decimal in (left.name, right.name) and (left.name in MONEYS or right.name in MONEYS):
        sides = [shape_of(MONEYS[side.name]) if side.name in MONEYS else side for side in (left, right)]
        return _numbers(family, *sides)
    best = min(left, right, key=lambda shape: PRECEDENCE.index(shape.name))
    return f"{best.name}({','.join(best.parameters)})" if best.parameters else best.name


def _first_or_wider(family: Family, left: Shape, right: Shape) -> str | None:
    """PostgreSQL keeps the first type unless the other one holds it, and not the other way round."""
    for chain in (
        (*family.integers, family.decimal, family.real, family.double),
        (family.date, family.timestamp, family.zoned),
        (family.time, "TIMETZ"),
    ):
        if left.name in chain and right.name in chain:
            return max(left.name, right.name, key=chain.index)
    if left.name == right.name == "ARRAY":
        inner = common_type([left.members[0][1], right.members[0][1]], family)
        return family.array(inner) if inner is not None else None
    if left.name.startswith(family.interval) and right.name.startswith(family.interval):
        return family.interval
    if left.name == right.name or (left.name in family.strings and right.name in family.strings):
        return "BPCHAR" if left.name == "CHAR" else left.name
    return None


_MORE: dict[str, tuple[Wider, ...]] = {
    "spark": (_spark_string, _spark_interval),
    "hive": (_duckdb_string,),
    "duckdb": (_duckdb_string, _duckdb_boolean),
    "tsql": (_tsql_precedence,),
}
