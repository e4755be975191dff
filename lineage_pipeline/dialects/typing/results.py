"""Results: the type that an operator or function gives for arguments of types. Each family adds to the common rows."""

from lineage_pipeline.dialects.typing.arithmetic import Rule, Texts, Types, arithmetic
from lineage_pipeline.dialects.typing.families import Family
from lineage_pipeline.dialects.typing.shapes import member_type, shape_of
from lineage_pipeline.dialects.typing.widening import common_type


def words(text: str) -> frozenset[str]:
    """The names in a text."""
    return frozenset(text.split())


def always(role: str) -> Rule:
    """A function that always gives the type that a family has for one purpose."""
    return lambda family, types, texts: getattr(family, role)


def exactly(kind: str) -> Rule:
    """A function that always gives one type."""
    return lambda family, types, texts: kind


def argument(position: int) -> Rule:
    """A function that gives the type of one of its arguments."""
    return lambda family, types, texts: types[position] if len(types) > position else None


def widest(family: Family, types: Types, texts: Texts) -> str | None:
    """The least type that holds all arguments."""
    return common_type(types, family)


def array_of(position: int) -> Rule:
    """A function that gives an array of one of its arguments."""

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        kind = types[position] if len(types) > position else None
        return family.array(kind) if kind and family.notation[0] else None

    return rule


def array(family: Family, types: Types, texts: Texts) -> str | None:
    """An array that is written out."""
    kind = common_type(types, family) if types else family.null
    return family.array(kind) if kind and family.notation[0] else None


SLICE = "SLICE"
"""The type of a stretch of positions in brackets."""


def element(family: Family, types: Types, texts: Texts) -> str | None:
    """What an array or a map holds; a stretch of an array is one, and a part of a string in brackets is a string."""
    if len(types) > 1 and types[1] == SLICE:
        return types[0]
    return member_type(types[0], texts[1].strip("'") if len(texts) > 1 else "") if types else None


def key(family: Family, types: Types, texts: Texts) -> str | None:
    """The keys of a map, as an array."""
    shape = shape_of(types[0] or "") if types else None
    return family.array(shape.members[0][1]) if shape is not None and shape.name == "MAP" and shape.members else None


def values(family: Family, types: Types, texts: Texts) -> str | None:
    """The values of a map, as an array."""
    kind = member_type(types[0], "") if types and (types[0] or "").startswith("MAP") else None
    return family.array(kind) if kind else None


def mapping(family: Family, types: Types, texts: Texts) -> str | None:
    """A map made of an array of keys and one of values."""
    kinds = [member_type(kind, "") for kind in types[:2]]
    known = len(kinds) == 2 and kinds[0] and kinds[1] and family.notation[1]
    return family.map(kinds[0] or "", kinds[1] or "") if known else None


def negated(family: Family, types: Types, texts: Texts) -> str | None:
    """A number with the other sign; the least integer is one although it is too long without its sign."""
    least = {"2147483648": family.integer, "9223372036854775808": family.bigint}
    return least.get(texts[0] if texts else "", types[0] if types else None)


BOOLEANS = words(
    "EQ NEQ GT GTE LT LTE AND OR NOT IS IN LIKE ILIKE BETWEEN EXISTS NULLSAFEEQ NULLSAFENEQ REGEXPLIKE STARTSWITH XOR"
)
FIRST = words(
    "MIN MAX ANYVALUE FIRSTVALUE LASTVALUE NTHVALUE FIRST LAST ABS NEG NULLIF DISTINCT IGNORENULLS RESPECTNULLS "
    "FILTER WITHINGROUP ORDER TRIM UPPER LOWER LEFT RIGHT ROUND PAREN MODE LIMIT LAG LEAD ARGMAX ARGMIN HAVINGMAX "
    "PRIOR CONNECTBYROOT OUTERJOIN NULLIFZERO ZEROIFNULL"
)
COMMON_TYPE = words("COALESCE IFNULL GREATEST LEAST NVL ISNULL")
ARITHMETIC = words("ADD SUB MUL DIV MOD INTDIV")

COMMON: dict[str, Rule] = {
    **dict.fromkeys(BOOLEANS, always("boolean")),
    **dict.fromkeys(FIRST, argument(0)),
    **dict.fromkeys(COMMON_TYPE, widest),
    **{op: arithmetic(op) for op in ARITHMETIC},
    "LOWERHEX": always("string"),
    "PROPERTYEQ": argument(1),
    "KWARG": argument(1),
    "ARRAY": array,
    "ELEMENT": element,
    "SLICE": exactly(SLICE),
    "ARRAYAGG": array_of(0),
    "VARMAP": mapping,
    "MAP": mapping,
}
"""What holds in every family unless it has a row of its own."""

CONSTANTS = words(
    "ADD SUB MUL DIV MOD ROUND BROUND CEIL FLOOR EXTRACT DATE_PART INTERVAL INTERVALSPAN ELEMENT GET NEG DATEDIFF "
    "SAFEADD FROMJSON FROM_CSV VARIANT_GET SAFESUBTRACT SAFEMULTIPLY TRY_MOD SAFEDIVIDE PMOD TONUMBER TRY_TO_NUMBER "
    "TRY_VARIANT_GET FROM_XML DATEPART"
)
"""Operators whose type depends on the values of constants, too."""

LABELLED = words("ARRAYSZIP")
"""Functions whose type depends on what the columns are called that they are given."""
