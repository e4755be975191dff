"""How the operators and functions of DuckDB make types of the types of their arguments."""

from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.dialects.typing import decimals
from lineage_pipeline.dialects.typing.arithmetic import Rule, Texts, Types, arithmetic, moved
from lineage_pipeline.dialects.typing.family import UNKNOWN, Family
from lineage_pipeline.dialects.typing.shapes import Shape, shape_of
from lineage_pipeline.dialects.typing.widening import (
    adapted,
    common_type,
    digits_of,
    folded,
    holding,
    is_number,
    is_whole,
)

ROUNDED = 18
"""The most digits of a decimal that fits into a machine word."""


EXACT = frozenset({"TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"})
"""Moments that are plain ones once they are moved or cut."""


def shape_at(types: Types, position: int = 0) -> Shape:
    """The shape of the type of an argument; nothing where there is none."""
    return shape_of(types[position] or "") if len(types) > position else Shape("")


def operator(op: str) -> Rule:
    """An operator between numbers, moments or lists."""
    plain = arithmetic("ADD")

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        if len(types) != 2 or None in types:
            return None
        spelt = tuple(adapted(types, texts or ("", ""), family))
        shapes = shape_at(spelt), shape_at(spelt, 1)
        if all(is_number(shape, family) for shape in shapes):
            return numbers(op, family, shapes)
        names = {shape.name for shape in shapes}
        if names == {"BIT"} or (family.interval in names and names & EXACT):
            return "BIT" if names == {"BIT"} else family.timestamp
        if "ARRAY" in names:
            return common_type([kind for kind in types if shape_of(kind or "").name == "ARRAY"], family)
        if names == {family.date, family.time} and op == "ADD":
            return family.timestamp
        if family.null in names or UNKNOWN in names:
            return beside_nothing(op, family, spelt)
        return moved(op, family, *shapes) if op in ("ADD", "SUB", "MUL", "DIV") else plain(family, spelt, texts)

    return rule


def beside_nothing(op: str, family: Family, types: Types) -> str | None:
    """An operator beside NULL or a string that is written out: of the type of the other side, but for decimals."""
    known = [kind for kind in types if kind not in (family.null, UNKNOWN)]
    if not known:
        return family.double if op == "DIV" else family.bigint if UNKNOWN not in types else None
    shape = shape_of(known[0] or "")
    if shape.name == family.decimal and op != "DIV":
        return family.null if family.null in types else family.double
    if op == "SUB" and types[0] == family.null and shape.name in (family.date, family.timestamp, family.zoned):
        return family.bigint if shape.name == family.date else family.interval
    return numbers(op, family, (shape, shape)) if is_number(shape, family) else known[0]


def numbers(op: str, family: Family, shapes: tuple[Shape, Shape]) -> str | None:
    """An operator between two numbers."""
    names = {shapes[0].name, shapes[1].name}
    if family.double in names:
        return family.double
    if family.real in names:
        return family.real
    if op == "DIV" or (op == "INTDIV" and family.decimal in names):
        return family.double
    if family.decimal not in names:
        return integers(family, shapes[0].name, shapes[1].name)
    left, right = digits_of(shapes[0], family), digits_of(shapes[1], family)
    return decimal(op, family, left, right) if left is not None and right is not None else None


def integers(family: Family, left: str, right: str) -> str | None:
    """Two integers: where the one with a sign does not hold the one without, a much longer one is taken."""
    found = holding(family, left, right)
    if found is None or found in (left, right):
        return found
    if "UHUGEINT" in (left, right):
        return family.double
    return "HUGEINT" if "UBIGINT" in (left, right) else family.bigint


def decimal(op: str, family: Family, left: decimals.Digits, right: decimals.Digits) -> str | None:
    """An operator between two decimals."""
    digits = decimals.duckdb_digits(op, left, right)
    if digits is None:
        return None
    if op == "MUL" and digits[0] > ROUNDED >= max(left[0], right[0]) and digits[1] < ROUNDED:
        digits = ROUNDED, digits[1]
    whole = max(left[0] - left[1], right[0] - right[1])
    if op == "MOD" and whole + max(left[1], right[1]) > decimals.CAP:
        return family.double
    return family.numeric(*digits)


def widest(family: Family, types: Types, texts: Texts) -> str | None:
    """The least type that holds all arguments; constants take that of the others."""
    return folded(types, texts or [""] * len(types), family)


def array(family: Family, types: Types, texts: Texts) -> str | None:
    """A list that is written out."""
    kind = widest(family, types, texts) if types else family.null
    return family.array(kind) if kind else None


def divisor(family: Family, types: Types, texts: Texts) -> str | None:
    """GCD and LCM: long integers, or huge ones."""
    return "HUGEINT" if "HUGEINT" in types else family.bigint


def total(family: Family, types: Types, texts: Texts) -> str | None:
    """SUM: integers become huge, decimals as long as they can be."""
    shape = shape_at(types)
    if shape.name in (*family.integers, *family.unsigned, family.boolean, family.null):
        return "HUGEINT"
    digits = digits_of(shape, family)
    if digits is not None:
        return family.numeric(38, digits[1])
    return shape.name if shape.name == family.interval else family.double if shape.name else None


def bits_set(family: Family, types: Types, texts: Texts) -> str | None:
    """BIT_COUNT: how many bits of a number, or of a row of bits, are set."""
    return family.bigint if shape_at(types).name == "BIT" else "TINYINT"


def average(family: Family, types: Types, texts: Texts) -> str | None:
    """AVG: floating, but for moments."""
    name = shape_at(types).name
    moments = (family.timestamp, family.zoned, family.time, family.interval)
    if name == family.date:
        return family.timestamp
    return name if name in moments else family.double if name else None


def extreme(family: Family, types: Types, texts: Texts) -> str | None:
    """MIN and MAX: of a number of values, a list."""
    return family.array(types[0] or "") if len(types) > 1 and types[0] else types[0] if types else None


def extreme_by(family: Family, types: Types, texts: Texts) -> str | None:
    """ARG_MIN and ARG_MAX: of a number of rows, a list."""
    return family.array(types[0] or "") if len(types) > 2 and types[0] else types[0] if types else None


SHARE, SHARE_BETWEEN = "SHARE", "SHARE BETWEEN"
"""The types of quantiles that are told a share, and their values by an order."""


def quantile(family: Family, types: Types, texts: Texts) -> str | None:
    """A quantile between values: integers become floating; several shares give a list."""
    if len(types) == 1 and is_share(texts):
        return SHARE_BETWEEN
    shape = shape_at(types)
    whole = shape.name in family.integers or shape.name in family.unsigned
    kind = family.timestamp if shape.name == family.date else family.double if whole else types[0] if types else None
    several = shape_at(types, 1).name == "ARRAY"
    return family.array(kind) if several and kind else kind


def is_share(texts: Texts) -> bool:
    """Whether the only argument is a number that is written out."""
    return bool(texts) and texts[0].replace(".", "", 1).isdigit()


def discrete(family: Family, types: Types, texts: Texts) -> str | None:
    """A quantile that is one of the values; several shares give a list."""
    if len(types) == 1 and is_share(texts):
        return SHARE
    kind = types[0] if types else None
    return family.array(kind) if kind and shape_at(types, 1).name == "ARRAY" else kind


def approximate(family: Family, types: Types, texts: Texts) -> str | None:
    """APPROX_QUANTILE, which has no form for the shortest integers nor for those without a sign."""
    name = shape_at(types).name
    if name == family.real:
        return family.double
    short = name == "TINYINT" or name in family.unsigned
    return ("HUGEINT" if name in ("UBIGINT", "UHUGEINT") else family.bigint) if short else types[0] if types else None


def within(family: Family, types: Types, texts: Texts) -> str | None:
    """An aggregate over an order; those that have a share alone give what is ordered, or lies between."""
    kind, ordered = types[0], types[1] if len(types) > 1 else None
    if kind == SHARE_BETWEEN:
        return quantile(family, (ordered, None), ())
    return ordered if kind in (None, SHARE) else kind


def whole(family: Family, types: Types, texts: Texts) -> str | None:
    """CEIL and FLOOR: decimals lose what is behind the point, integers become floating."""
    shape = shape_at(types)
    digits = digits_of(shape, family)
    if shape.name == family.decimal and digits is not None:
        return family.numeric(digits[0], 0)
    return family.real if shape.name == family.real else family.double if shape.name else None


def truncated(family: Family, types: Types, texts: Texts) -> str | None:
    """TRUNC: decimals lose what is behind the point."""
    shape = shape_at(types)
    digits = digits_of(shape, family)
    return family.numeric(digits[0], 0) if shape.name == family.decimal and digits is not None else shape.name or None


def rounded(family: Family, types: Types, texts: Texts) -> str | None:
    """ROUND: a decimal keeps as many digits behind the point as are asked for."""
    shape = shape_at(types)
    digits = digits_of(shape, family)
    if shape.name in family.unsigned:
        return family.bigint if digits is not None and digits[0] < 20 else "HUGEINT"
    if shape.name != family.decimal or digits is None:
        return types[0] if types else None
    text = texts[1] if len(texts) > 1 else "0"
    if not is_whole(text):
        return types[0]
    if text.startswith("neg("):
        return family.numeric(digits[0] + (digits[1] == 0), 0)
    return family.numeric(digits[0], min(whole_number(text), digits[1]))


def date_truncated(family: Family, types: Types, texts: Texts) -> str | None:
    """DATE_TRUNC: a date becomes a moment."""
    moments = (family.date, family.timestamp, family.zoned, family.interval, *EXACT)
    name = next((shape_of(kind or "").name for kind in types if shape_of(kind or "").name in moments), None)
    return family.timestamp if name == family.date or name in EXACT else name


def bucketed(family: Family, types: Types, texts: Texts) -> str | None:
    """TIME_BUCKET: the kind of moment that it is asked of."""
    return next((kind for kind in types if kind and kind != family.interval), None)


def zoned(position: int) -> Rule:
    """A moment seen in a zone gains one or loses it."""

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        name = shape_at(types, position).name
        swapped = {family.timestamp: family.zoned, family.date: family.zoned, family.zoned: family.timestamp}
        return swapped.get(name, name or None)

    return rule


def part(family: Family, types: Types, texts: Texts) -> str | None:
    """A part of a moment: long integers, but for seconds since the beginning, and where a column names the part."""
    unit = texts[0].strip("'").lower() if texts else ""
    return family.double if unit in ("epoch", "julian", "") else family.bigint


def deviation(family: Family, types: Types, texts: Texts) -> str | None:
    """MAD: how far values lie apart: as numbers they are, as moments an interval."""
    return types[0] if types and is_number(shape_at(types), family) else family.interval


def repeated(family: Family, types: Types, texts: Texts) -> str | None:
    """REPEAT: a list, bytes or a string several times."""
    kind = types[0] if types else None
    return kind if kind and (kind.endswith("]") or kind == family.binary) else family.string


def shifted(family: Family, types: Types, texts: Texts) -> str | None:
    """DATE_ADD: a date and an interval make a moment."""
    name = shape_at(types).name
    return family.timestamp if name == family.date else name or None


def from_epoch(family: Family, types: Types, texts: Texts) -> str | None:
    """TO_TIMESTAMP gives a moment with a zone; EPOCH_MS a moment of a number, and a number of a moment."""
    if len(types) < 2:
        return family.zoned
    return family.timestamp if is_number(shape_at(types), family) else family.bigint


def joined(family: Family, types: Types, texts: Texts) -> str | None:
    """`||`: of lists a list, of bytes bytes, of anything else a string; NULL swallows all."""
    names = [shape_of(kind or "").name for kind in types]
    if family.null in types:
        return family.null
    if "ARRAY" in names:
        return common_type([kind for kind in types if shape_of(kind or "").name == "ARRAY"], family)
    return family.binary if names and set(names) == {family.binary} else family.string


def concatenated(family: Family, types: Types, texts: Texts) -> str | None:
    """CONCAT: of lists a list, of anything else a string."""
    return joined(family, types, texts) if any((kind or "").endswith("]") for kind in types) else family.string
