"""Coercion: common types of CASE, COALESCE and set operations, and casts that may fail."""

from collections.abc import Sequence
from functools import lru_cache

from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.types import decimals
from lineage_pipeline.dialects.types.conversions import TYPE_KINDS
from lineage_pipeline.dialects.types.decimals import Digits, integer_literal_digits
from lineage_pipeline.dialects.types.families import (
    UNTYPED_CONSTANT,
    TypeFamily,
    column_value_type,
    normalize_type,
)
from lineage_pipeline.dialects.types.shapes import TypeShape, parse_type_shape


def common_type(types: Sequence[str | None], family: TypeFamily) -> str | None:
    """Return the least type that holds all of them, or None where it is unknown; NULL fits everywhere."""
    known = [item for item in types if item != UNTYPED_CONSTANT and (item != family.null or item is None)]
    if not known:
        return UNTYPED_CONSTANT if UNTYPED_CONSTANT in types else family.null if types else None
    result = known[0]
    for item in known[1:]:
        if result is None or item is None:
            return None
        if item != result:
            result = widen_types(result, item, family)
    return result if family.sized or len(known) == len(types) or result is None else strip_size(result)


def strip_size(kind: str) -> str:
    """Return a type without length and digits, as PostgreSQL computes it."""
    shape = parse_type_shape(kind)
    if shape.name == "ARRAY" and shape.members:
        return f"{strip_size(shape.members[0][1])}[]"
    if shape.name.startswith("INTERVAL"):
        return "INTERVAL"
    return "BPCHAR" if shape.name == "CHAR" else shape.name


def adapt_literals(types: Sequence[str | None], texts: Sequence[str], family: TypeFamily) -> list[str | None]:
    """Return the types of two operands; an integer literal takes the type of the integer beside it."""
    if len(types) != 2 or is_integer_literal(texts[0]) == is_integer_literal(texts[1]):
        return list(types)
    written = 0 if is_integer_literal(texts[0]) else 1
    beside = types[1 - written]
    if types[written] not in family.integers or not (beside in family.integers or beside in family.unsigned):
        return list(types)
    return [beside, beside] if literal_fits(texts[written], beside or "", family) else list(types)


def common_type_in_order(types: Sequence[str | None], texts: Sequence[str], family: TypeFamily) -> str | None:
    """Return the least type that holds values one after the other.

    An integer literal takes the type of the one value beside it, unless NULL or another one came before.
    """
    found, constant, nothing = family.null, "", False
    for kind, text in zip(types, texts, strict=True):
        if kind == family.null:
            nothing, constant = True, ""
            continue
        written = text if is_integer_literal(text) else ""
        if found == family.null:
            found, constant = kind, "" if nothing else written
            continue
        sides = adapt_literals([found, kind], [constant, written], family)
        found, constant = common_type(sides, family), ""
    return found


def is_integer_literal(text: str) -> bool:
    """Return whether a text is an integer literal."""
    return text.removeprefix("neg(").removesuffix(")").isdigit()


def literal_fits(text: str, target: str, family: TypeFamily) -> bool:
    """Return whether an integer type holds a number."""
    number = parse_whole_number(text.removeprefix("neg(").removesuffix(")")) * (-1 if text.startswith("neg(") else 1)
    if target in family.unsigned:
        return 0 <= number < 1 << (8 << list(family.unsigned).index(target))
    half = 1 << ((8 << family.integers.index(target)) - 1)
    return -half <= number < half


def widen_types(left: str, right: str, family: TypeFamily) -> str | None:
    """Return the least type that holds two, or None where there is none or it is unknown."""
    if left == right:
        return left
    if family.widen is not None:
        return family.widen(family, left, right)
    first, second = normalized_shape(left, family), normalized_shape(right, family)
    if first == second:
        return left
    for rule in (widen_numbers, _widen_strings, _widen_moments, _widen_nested, *family.widening):
        found = rule(family, first, second) or rule(family, second, first)
        if found is not None:
            return found
    return None


def normalized_shape(text: str, family: TypeFamily) -> TypeShape:
    """Return the shape of a type under the name that a family has for it."""
    shape = parse_type_shape(text)
    name = family.aliases.get(shape.name)
    return shape if name is None else TypeShape(name, shape.parameters, shape.members)


def type_digits(shape: TypeShape, family: TypeFamily) -> decimals.Digits | None:
    """Return the digits of a decimal, or of an integer as a decimal."""
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


def is_numeric_type(shape: TypeShape, family: TypeFamily) -> bool:
    """Return whether a type is numeric."""
    name = shape.name
    return name in family.integers or name in (family.decimal, family.real, family.double) or name in family.unsigned


def widen_integers(family: TypeFamily, left: str, right: str) -> str | None:
    """Return the least integer type, signed or not, that holds two others; None where one is no integer."""
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


def widen_numbers(family: TypeFamily, left: TypeShape, right: TypeShape) -> str | None:
    """Return the least number type that holds two others; None where one is no number."""
    if not is_numeric_type(left, family) or not is_numeric_type(right, family):
        return None
    if (whole := widen_integers(family, left.name, right.name)) is not None:
        return whole
    if family.double in (left.name, right.name):
        return family.double
    if family.real in (left.name, right.name):
        return _widen_with_real(family, left, right)
    first, second = type_digits(left, family), type_digits(right, family)
    if not family.cap or first is None or second is None:
        return family.decimal
    yields = family.scale_yields and (left.name == right.name or family.scale_yields_to_integers)
    merge = decimals.common_digits_with_whole if yields else decimals.common_digits
    return family.numeric(*merge(first, second))


def _widen_with_real(family: TypeFamily, left: TypeShape, right: TypeShape) -> str:
    """Widen a REAL and another number."""
    if left.name == right.name:
        return family.real
    return family.real if family.keeps_real else family.double


def _widen_strings(family: TypeFamily, left: TypeShape, right: TypeShape) -> str | None:
    """Two strings: the longer, or the one without a limit."""
    if left.name not in family.strings or right.name not in family.strings:
        return None
    if family.bare_strings:
        return family.string
    sizes = [_length_parameter(left), _length_parameter(right)]
    best = left if sizes[0] >= sizes[1] else right
    name = best.name if family.combine_strings is None else family.combine_strings([left.name, right.name])
    return f"{name}({','.join(best.parameters)})" if best.parameters else name


def _length_parameter(shape: TypeShape) -> float:
    text = shape.parameters[0] if shape.parameters else "MAX"
    return float("inf") if text == "MAX" else float(text) if text.isdigit() else 0


def _widen_moments(family: TypeFamily, left: TypeShape, right: TypeShape) -> str | None:
    """A date and a timestamp are a timestamp."""
    ranks = {family.date: 0, "DATETIME": 0.9, family.timestamp: 1, "TIMESTAMP_NTZ": 1, family.zoned: 2}
    if left.name not in ranks or right.name not in ranks:
        return None
    best = left if ranks[left.name] >= ranks[right.name] else right
    return f"{best.name}({','.join(best.parameters)})" if best.parameters else best.name


def _widen_nested(family: TypeFamily, left: TypeShape, right: TypeShape) -> str | None:
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


def interval_type(first: str, last: str) -> str:
    """Return an interval from one unit to another."""
    return f"INTERVAL {first}" if first == last else f"INTERVAL {first} TO {last}"


def widen_to_string(family: TypeFamily, left: TypeShape, right: TypeShape) -> str | None:
    """DuckDB, Hive: everything beside a string becomes a string, except a UUID."""
    if right.name == "UUID":
        return right.name
    return family.string if left.name == family.string and not right.members else None


@lru_cache(maxsize=4096)
def cast_may_fail(source: str | None, target: str | None, family: TypeFamily) -> bool:
    """Return whether a conversion may give null; one from or to an unknown type may."""
    if not family.null_on_failure or source == target:
        return False
    if source is None or target is None:
        return True
    before, after = parse_type_shape(source), parse_type_shape(target)
    if before.members or after.members:
        return False
    if after.name in (family.string, "VARCHAR", "CHAR") or before.name == family.null:
        return False
    if before.name in (family.string, "VARCHAR", "CHAR"):
        return after.name != family.binary
    return _number_cast_may_fail(before, after, family) or _moment_cast_may_fail(before, after, family)


def _moment_cast_may_fail(before: TypeShape, after: TypeShape, family: TypeFamily) -> bool:
    if after.name == family.date:
        return before.name not in (family.date, family.timestamp)
    if before.name == family.date:
        return after.name == "TIMESTAMP_NTZ"
    floating = before.name in (family.real, family.double)
    if before.name == family.timestamp:
        return after.name in family.integers and after.name != family.bigint
    return floating and after.name == family.timestamp


def _number_cast_may_fail(before: TypeShape, after: TypeShape, family: TypeFamily) -> bool:
    if after.name == family.decimal:
        have, get = type_digits(before, family), type_digits(after, family)
        if before.name == family.boolean:
            return False
        return have is None or get is None or not _decimal_holds(have, get)
    fractional = before.name in (family.decimal, family.real, family.double)
    return fractional and after.name in family.integers


def _decimal_holds(have: Digits, get: Digits) -> bool:
    """Return whether a decimal fits into another one; rounding may need one digit more before the point."""
    before, after = have[0] - have[1], get[0] - get[1]
    return before <= after if have[1] <= get[1] else before < after


@lru_cache(maxsize=4096)
def operand_casts_may_fail(op: str, types: Sequence[str | None], texts: Sequence[str], family: TypeFamily) -> bool:
    """Return whether operands have to be converted in a way that may give null."""
    if not family.null_on_failure:
        return False
    known = [kind for kind in types if kind is not None and kind != family.null]
    if op in NUMERIC_OPERATORS and any(parse_type_shape(kind).name in family.strings for kind in known):
        return True
    if op not in NUMERIC_OPERATORS or not any(is_numeric_type(parse_type_shape(kind), family) for kind in known):
        common = common_type(known, family)
        if common is not None and any(cast_may_fail(kind, common, family) for kind in known):
            return True
    return op not in FULL_WIDTH_OPERATORS and _literal_cast_may_fail(op, types, texts, family)


NUMERIC_OPERATORS = frozenset({"ADD", "SUB", "MUL", "DIV"})
"""Operators that read strings as numbers."""

FULL_WIDTH_OPERATORS = frozenset({"IN", "AND", "OR"})
"""Operators that give an integer beside a decimal all its possible digits."""


ORDER_OPERATORS = frozenset({"LT", "LTE", "GT", "GTE"})


def _is_decimal_literal(text: str) -> bool:
    """Return whether a text is a decimal literal."""
    text = text.removeprefix("neg(").removeprefix("cast('").partition("'")[0]
    return text.removesuffix(")").replace(".", "", 1).isdigit()


def _literal_cast_may_fail(op: str, types: Sequence[str | None], texts: Sequence[str], family: TypeFamily) -> bool:
    """Return whether an integer literal meets a decimal: it has only its own digits, which may be too few."""
    shapes = [parse_type_shape(kind or "") for kind in types]
    if any(shape.name in (family.real, family.double) for shape in shapes):
        return False
    written = [
        shape.name in family.integers and integer_literal_digits(text) is not None
        for shape, text in zip(shapes, texts, strict=False)
    ]
    decimal = [shape.name == family.decimal for shape in shapes]
    if op in ORDER_OPERATORS and any(
        has and _is_decimal_literal(text) for has, text in zip(decimal, texts, strict=False)
    ):
        return False  # the fraction is rounded to a whole number instead
    if op == "BETWEEN":  # two comparisons; what is compared stands for itself and is no constant there
        return any(decimal[:1]) and any(written[1:])
    return any(decimal) and any(written)


@lru_cache(maxsize=4096)
def is_safe_cast(source: str | None, target: str, family: TypeFamily) -> bool:
    """Return whether a conversion always succeeds and loses nothing."""
    if source is None:
        return False
    before, after = parse_type_shape(source), parse_type_shape(target)
    if source == target or before.name == after.name == family.binary:
        return True
    if before.members or after.members:
        same = before.name == after.name and len(before.members) == len(after.members)
        pairs = zip(before.members, after.members, strict=False)
        return same and all(is_safe_cast(inner, outer, family) for (_, inner), (_, outer) in pairs)
    if after.name == family.string or (before.name == family.string and after.name == family.binary):
        return True
    return _is_safe_number_cast(before, after, family) or _is_safe_moment_cast(before, after, family)


def _is_safe_number_cast(before: TypeShape, after: TypeShape, family: TypeFamily) -> bool:
    if after.name == family.decimal:
        have, get = type_digits(before, family), type_digits(after, family)
        return have is not None and get is not None and have[1] <= get[1] and _decimal_holds(have, get)
    ranks = (*family.integers, family.real, family.double)
    return before.name in ranks and after.name in ranks and ranks.index(before.name) <= ranks.index(after.name)


def _is_safe_moment_cast(before: TypeShape, after: TypeShape, family: TypeFamily) -> bool:
    moments = (family.timestamp, "TIMESTAMP_NTZ")
    if before.name.startswith("INTERVAL") and after.name.startswith("INTERVAL"):
        return True
    if after.name in moments and before.name in (family.date, *moments):
        return True
    return {before.name, after.name} == {family.timestamp, family.bigint}


def same_type(one: str, two: str, family: TypeFamily) -> bool:
    """Return whether two types are the same in a family."""
    if one.startswith("ENUM(") or two.startswith("ENUM("):
        return _same_enum(one, two)
    return one == two or _comparable_type(one, family) == _comparable_type(two, family)


def _comparable_type(kind: str, family: TypeFamily) -> str:
    """Return a type in comparable form; struct members are compared without case."""
    return column_value_type(normalize_type(kind, family), family).upper()


def _same_enum(one: str, two: str) -> bool:
    """Return whether two types are the same enumeration; a user-defined type may be any."""
    named = next((kind for kind in (one, two) if not kind.startswith("ENUM(")), None)
    if named is not None:
        return parse_type_shape(named).name == named and named not in TYPE_KINDS
    return one.replace(" ", "").upper() == two.replace(" ", "").upper()


def compatible_type(one: str, two: str, family: TypeFamily) -> bool:
    """Return whether two types may be the same: a dump often omits length, precision and scale."""
    if same_type(one, two, family):
        return True
    first, second = parse_type_shape(normalize_type(one, family)), parse_type_shape(normalize_type(two, family))
    named = first.name == second.name or {first.name, second.name} <= set(family.strings)
    return named and not first.members and not second.members and not (first.parameters and second.parameters)
