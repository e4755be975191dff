"""Common result types of operators and functions; each family adds rules of its own."""

from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule, arithmetic_rule
from lineage_pipeline.dialects.types.coercion import common_type, is_numeric_type, type_digits
from lineage_pipeline.dialects.types.families import TypeFamily
from lineage_pipeline.dialects.types.shapes import member_type, parse_type_shape


def split_names(text: str) -> frozenset[str]:
    """Return the names in a text."""
    return frozenset(text.split())


def role_rule(role: str) -> TypeRule:
    """Build the rule of a function that always returns the family's type for a role."""
    return lambda family, types, texts: getattr(family, role)


def fixed_rule(kind: str) -> TypeRule:
    """Build the rule of a function that always returns one type."""
    return lambda family, types, texts: kind


def argument_rule(position: int) -> TypeRule:
    """Build the rule of a function that returns the type of one of its arguments."""
    return lambda family, types, texts: types[position] if len(types) > position else None


def infer_common_type(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """Return the least type that holds all arguments."""
    return common_type(types, family)


def array_rule(position: int) -> TypeRule:
    """Build the rule of a function that returns an array of one of its arguments."""

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        kind = types[position] if len(types) > position else None
        return family.array(kind) if kind and family.notation[0] else None

    return rule


def infer_array(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """Return the type of an array literal."""
    kind = common_type(types, family) if types else family.null
    return family.array(kind) if kind and family.notation[0] else None


SLICE_TYPE = "SLICE"
"""The type of a slice in brackets."""


def infer_element(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """Return the element type of an array or map; a slice of an array is an array, of a string a string."""
    if len(types) > 1 and types[1] == SLICE_TYPE:
        return types[0]
    return member_type(types[0], texts[1].strip("'") if len(texts) > 1 else "") if types else None


def infer_map_keys(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """Return the keys of a map, as an array."""
    shape = parse_type_shape(types[0] or "") if types else None
    return family.array(shape.members[0][1]) if shape is not None and shape.name == "MAP" and shape.members else None


def infer_map_values(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """Return the values of a map, as an array."""
    kind = member_type(types[0], "") if types and (types[0] or "").startswith("MAP") else None
    return family.array(kind) if kind else None


def infer_map_from_arrays(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """Return a map of an array of keys and one of values."""
    kinds = [member_type(kind, "") for kind in types[:2]]
    known = len(kinds) == 2 and kinds[0] and kinds[1] and family.notation[1]
    return family.map(kinds[0] or "", kinds[1] or "") if known else None


def infer_negation(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """Return the type of a negated number; the least integer stays one although its absolute value is too large."""
    least = {"2147483648": family.integer, "9223372036854775808": family.bigint}
    return least.get(texts[0] if texts else "", types[0] if types else None)


BOOLEAN_FUNCTIONS = split_names(
    "EQ NEQ GT GTE LT LTE AND OR NOT IS IN LIKE ILIKE BETWEEN EXISTS NULLSAFEEQ NULLSAFENEQ REGEXPLIKE STARTSWITH XOR"
)
FIRST_ARGUMENT_FUNCTIONS = split_names(
    "MIN MAX ANYVALUE FIRSTVALUE LASTVALUE NTHVALUE FIRST LAST ABS NEG NULLIF DISTINCT IGNORENULLS RESPECTNULLS "
    "FILTER WITHINGROUP ORDER TRIM UPPER LOWER LEFT RIGHT ROUND PAREN MODE LIMIT LAG LEAD ARGMAX ARGMIN HAVINGMAX "
    "PRIOR CONNECTBYROOT OUTERJOIN NULLIFZERO ZEROIFNULL"
)
COMMON_TYPE_FUNCTIONS = split_names("COALESCE IFNULL GREATEST LEAST NVL ISNULL")
ARITHMETIC_OPERATORS = split_names("ADD SUB MUL DIV MOD INTDIV")

COMMON_RULES: dict[str, TypeRule] = {
    **dict.fromkeys(BOOLEAN_FUNCTIONS, role_rule("boolean")),
    **dict.fromkeys(FIRST_ARGUMENT_FUNCTIONS, argument_rule(0)),
    **dict.fromkeys(COMMON_TYPE_FUNCTIONS, infer_common_type),
    **{op: arithmetic_rule(op) for op in ARITHMETIC_OPERATORS},
    "LOWERHEX": role_rule("string"),
    "PROPERTYEQ": argument_rule(1),
    "KWARG": argument_rule(1),
    "ARRAY": infer_array,
    "ELEMENT": infer_element,
    "SLICE": fixed_rule(SLICE_TYPE),
    "ARRAYAGG": array_rule(0),
    "VARMAP": infer_map_from_arrays,
    "MAP": infer_map_from_arrays,
}
"""Rules of every family without one of its own."""

CONSTANT_DEPENDENT_OPERATORS = split_names(
    "ADD SUB MUL DIV MOD ROUND BROUND CEIL FLOOR EXTRACT DATE_PART INTERVAL INTERVALSPAN ELEMENT GET NEG DATEDIFF "
    "SAFEADD FROMJSON FROM_CSV VARIANT_GET SAFESUBTRACT SAFEMULTIPLY TRY_MOD SAFEDIVIDE PMOD TONUMBER TRY_TO_NUMBER "
    "TRY_VARIANT_GET FROM_XML DATEPART"
)
"""Operators whose type also depends on the values of constants."""

NAME_DEPENDENT_FUNCTIONS = split_names("ARRAYSZIP")
"""Functions whose type depends on the names of the given columns."""


def argument_type_name(types: ArgumentTypes, position: int = 0) -> str:
    """Return the name of an argument's type, or an empty text."""
    return parse_type_shape(types[position] or "").name if len(types) > position else ""


def sum_rule(grow: int, whole: str, short: str = "") -> TypeRule:
    """Build the rule of SUM: integers give one type, decimals more digits up to the limit, floats a float."""

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        shape = parse_type_shape(types[0] or "") if types else parse_type_shape("")
        digits = type_digits(shape, family)
        if shape.name != family.decimal and digits is not None and whole:
            return whole
        if digits is not None:
            return family.numeric(min(digits[0] + grow, family.cap), digits[1])
        return (short if shape.name == family.real and short else family.double) if shape.name else None

    return rule


def date_shift_rule(kind: str) -> TypeRule:
    """Build the rule of a function that moves moments: a date becomes a moment with hours or less."""

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        name = argument_type_name(types)
        if name == family.date:
            return name if texts and texts[-1].strip("'").upper() in DATE_UNITS else kind
        return types[0] if types and name not in family.strings else None

    return rule


def infer_same_decimal(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """FLOOR and CEIL: the same number."""
    return types[0] if types and is_numeric_type(parse_type_shape(types[0] or ""), family) else None


def infer_split(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """SPLIT: an array of strings."""
    return family.array(family.string)


def infer_map_agg(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """MAP_AGG: a map of its arguments."""
    known = len(types) > 1 and types[0] and types[1]
    return family.map(types[0] or "", types[1] or "") if known else None


def fixed_rules(always: dict[str, str]) -> dict[str, TypeRule]:
    """Build the rules of functions that always return one type."""
    return {op: fixed_rule(kind) for kind, names in always.items() for op in names.split()}


DATE_UNITS = frozenset(
    "DAY DAYS DD D WEEK WEEKS WK W MONTH MONTHS MON MM QUARTER QUARTERS QTR YEAR YEARS YY YYYY".split()
)
"""Units by which a date is moved without becoming a timestamp."""
