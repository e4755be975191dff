"""How the functions of Oracle, MySQL, Redshift and Trino make types of the types of their arguments."""

from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.dialects.typing.arithmetic import Rule, Texts, Types, arithmetic
from lineage_pipeline.dialects.typing.decimals import mysql_digits, written_digits
from lineage_pipeline.dialects.typing.family import Family
from lineage_pipeline.dialects.typing.results import exactly
from lineage_pipeline.dialects.typing.shapes import shape_of
from lineage_pipeline.dialects.typing.snowflake import DATE_PARTS
from lineage_pipeline.dialects.typing.widening import digits_of, is_number


def name_of(types: Types, position: int = 0) -> str:
    """The name of the type of an argument, or nothing."""
    return shape_of(types[position] or "").name if len(types) > position else ""


def total(grow: int, whole: str, short: str = "") -> Rule:
    """SUM: of integers one type, of decimals some digits more, as many as fit; of floating numbers one of them."""

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        shape = shape_of(types[0] or "") if types else shape_of("")
        digits = digits_of(shape, family)
        if shape.name != family.decimal and digits is not None and whole:
            return whole
        if digits is not None:
            return family.numeric(min(digits[0] + grow, family.cap), digits[1])
        return (short if shape.name == family.real and short else family.double) if shape.name else None

    return rule


def oracle_operator(op: str) -> Rule:
    """An operator of Oracle: numbers have any number of digits, and a day is the unit of dates."""

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        left, right = name_of(types), name_of(types, 1)
        if not left or not right:
            return None
        for kind in (family.double, family.real):
            if kind in (left, right):
                return kind
        if left.startswith("INTERVAL") or right.startswith("INTERVAL"):
            moment = right if left.startswith("INTERVAL") else left
            return moment if moment == family.date or moment.startswith("TIMESTAMP") else left
        moments = [name for name in (left, right) if name == family.date or name.startswith("TIMESTAMP")]
        if len(moments) == 2:
            return family.decimal if left == right == family.date else "INTERVAL DAY TO SECOND"
        return family.date if moments else family.decimal

    return rule


def oracle_number(family: Family, types: Types, texts: Texts) -> str | None:
    """A number of Oracle: floating where its argument is, else with any number of digits."""
    name = name_of(types)
    return name if name in (family.real, family.double) else family.decimal if name else None


def oracle_truncated(family: Family, types: Types, texts: Texts) -> str | None:
    """TRUNC and ROUND: a date of dates and moments, a number of numbers."""
    name = name_of(types)
    return family.date if name == family.date or name.startswith("TIMESTAMP") else oracle_number(family, types, texts)


def oracle_text(family: Family, types: Types, texts: Texts) -> str | None:
    """A function of strings: a long one where an argument is."""
    names = {name_of(types, at) for at in range(len(types))}
    return next((name for name in ("NCLOB", "CLOB") if name in names), family.string)


def mysql_operator(op: str) -> Rule:
    """An operator of MySQL: integers become long ones, quotients are decimals."""
    plain = arithmetic(op)

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        names = [name_of(types), name_of(types, 1)]
        whole = [name in family.integers or name in family.unsigned for name in names]
        if family.date in names and not any(name.startswith("INTERVAL") for name in names):
            return family.bigint if all(names) else None  # a date is a number of eight digits there
        if all(whole) and op == "DIV":
            sides = [written_digits(text) for text in (*texts, "", "")[:2]]
            full = [digits_of(shape_of(kind or ""), family) or (0, 0) for kind in types]
            return family.numeric(*mysql_digits("DIV", sides[0] or full[0], sides[1] or full[1]))
        if all(whole):
            return "BIGINT UNSIGNED" if any(name in family.unsigned for name in names) else family.bigint
        if family.real in names and all(is_number(shape_of(kind or ""), family) for kind in types):
            return family.double
        return plain(family, types, texts)

    return rule


def mysql_average(family: Family, types: Types, texts: Texts) -> str | None:
    """AVG of MySQL: four digits more."""
    digits = digits_of(shape_of(types[0] or ""), family) if types else None
    if digits is None:
        return family.double if name_of(types) else None
    return family.numeric(digits[0] + 4, digits[1] + 4)


def dated(kind: str) -> Rule:
    """A function that moves dates and moments: a date becomes a moment where hours or less are added."""

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        name = name_of(types)
        if name == family.date:
            return name if texts and texts[-1].strip("'").upper() in DATE_PARTS else kind
        return types[0] if types and name not in family.strings else None

    return rule


def moment(family: Family, types: Types, texts: Texts) -> str | None:
    """DATEADD and DATE_TRUNC of Redshift: a date becomes a moment."""
    name = name_of(types)
    return family.timestamp if name == family.date or name in family.strings else types[0] if types else None


def whole_decimal(family: Family, types: Types, texts: Texts) -> str | None:
    """FLOOR and CEIL: the same number."""
    return types[0] if types and is_number(shape_of(types[0] or ""), family) else None


def trino_rounded(family: Family, types: Types, texts: Texts) -> str | None:
    """FLOOR and CEIL of Trino: a decimal without digits behind the point, which may carry one more before it."""
    digits = digits_of(shape_of(types[0] or ""), family) if types and name_of(types) == family.decimal else None
    if digits is None:
        return types[0] if types else None
    return family.numeric(min(digits[0] - digits[1] + min(digits[1], 1), 38), 0)


def trino_average(family: Family, types: Types, texts: Texts) -> str | None:
    """AVG of Trino: of decimals and short floating numbers the same type, else a floating number."""
    name = name_of(types)
    return types[0] if name in (family.decimal, family.real) or name.startswith("INTERVAL") else family.double


def redshift_average(family: Family, types: Types, texts: Texts) -> str | None:
    """AVG of Redshift: of integers a long one, of decimals as many digits as there can be."""
    return total(38, family.bigint)(family, types, texts)


def redshift_median(family: Family, types: Types, texts: Texts) -> str | None:
    """MEDIAN and PERCENTILE_CONT of Redshift: exact numbers are decimals, floating ones and moments stay."""
    shape = shape_of(types[0] or "") if types else shape_of("")
    if shape.name == family.decimal or shape.name in family.integers:
        return types[0] if shape.name == family.decimal else family.decimal
    return family.double if shape.name == family.real else shape.name or None


def mysql_whole(family: Family, types: Types, texts: Texts) -> str | None:
    """FLOOR and CEIL of MySQL: a long integer where the number is exact and no longer than one."""
    digits = digits_of(shape_of(types[0] or ""), family) if types else None
    if digits is None:
        return family.double if name_of(types) else None
    return family.bigint if digits[0] < 17 else family.numeric(digits[0] - digits[1], 0)


def mysql_rounded(family: Family, types: Types, texts: Texts) -> str | None:
    """ROUND of MySQL: integers are long ones, decimals keep as many digits behind the point as are asked for."""
    shape = shape_of(types[0] or "") if types else shape_of("")
    digits = digits_of(shape, family)
    if digits is None:
        return family.double if shape.name else None
    if shape.name != family.decimal:
        return family.bigint
    asked = texts[1] if len(texts) > 1 else "0"
    return family.numeric(digits[0], min(whole_number(asked), digits[1])) if asked.isdigit() else types[0]


def trino_bytes(family: Family, types: Types, texts: Texts) -> str | None:
    """A function of texts that takes bytes, too."""
    return family.binary if name_of(types) == family.binary else family.string


def trino_joined(family: Family, types: Types, texts: Texts) -> str | None:
    """CONCAT and `||` of Trino: of arrays an array, of anything else a string."""
    lists = (kind for kind in types if (kind or "").startswith("ARRAY"))
    return next(lists, trino_bytes(family, types, texts))


def listed(family: Family, types: Types, texts: Texts) -> str | None:
    """SPLIT: an array of strings."""
    return family.array(family.string)


def mapped(family: Family, types: Types, texts: Texts) -> str | None:
    """MAP_AGG: a map of what it is given."""
    known = len(types) > 1 and types[0] and types[1]
    return family.map(types[0] or "", types[1] or "") if known else None


def rows(always: dict[str, str]) -> dict[str, Rule]:
    """Rows of functions that always give one type."""
    return {op: exactly(kind) for kind, names in always.items() for op in names.split()}
