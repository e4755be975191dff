"""ClickHouse: exact names, aliases before columns, dictionaries, virtual columns, types and signs."""

import re
from collections.abc import Sequence
from string import ascii_uppercase

from lineage_pipeline.dialects.dialect import TWO_PARTS, DialectTraits
from lineage_pipeline.dialects.identifier_folding import IdentifierFolding
from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.signs import (
    BACKTICKS,
    LIMIT_PAIR,
    build_driver_sign,
    build_sign,
)
from lineage_pipeline.dialects.system_catalogs import STANDARD_SCHEMAS, SystemCatalog
from lineage_pipeline.dialects.table_functions import TableArgument, TableEngine, name_scheme_functions
from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule
from lineage_pipeline.dialects.types.common_rules import (
    argument_rule,
    fixed_rule,
    fixed_rules,
    infer_map_from_arrays,
    infer_map_keys,
    infer_map_values,
    split_names,
)
from lineage_pipeline.dialects.types.families import TypeFamily
from lineage_pipeline.dialects.types.nullability import NULL_SKIPPING_RULES
from lineage_pipeline.dialects.types.shapes import member_type, parse_type_shape
from lineage_pipeline.dialects.types.type_rules import TypeRules

# ── result types of operators and functions ───────────────────────────────────────────────────────────────────────────

_WRAPPER = re.compile(r"(?:NULLABLE|LOWCARDINALITY)\((.*)\)")
_INTEGER_TYPE = re.compile(r"(U?)INT(8|16|32|64|128|256)")
_DECIMAL_TYPE = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_INTEGER_LITERAL = re.compile(r"(neg\()?(\d+)\)?")
_DECIMAL_PRECISIONS = (9, 18, 38, 76)
"""Maximum precision of the decimal widths."""

_INTEGER_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19}
"""Digits of integers by their bits."""

_NON_NULLABLE_TYPES = ("ARRAY(", "MAP(", "TUPLE(")
"""Types that cannot be nullable."""

IntegerWidth = tuple[bool, int]
"""Whether an integer is signed, and its bits."""


def unwrap_type(kind: str | None) -> str:
    """Return a type without Nullable and LowCardinality."""
    text = kind or ""
    while found := _WRAPPER.fullmatch(text):
        text = found[1]
    return text


def wrap_nullable(kind: str | None) -> str | None:
    """Return the nullable type; None where there is none."""
    if not kind or kind.startswith("NULLABLE("):
        return kind
    return None if kind.startswith(_NON_NULLABLE_TYPES) else f"NULLABLE({unwrap_type(kind)})"


def propagate_nullability(types: Sequence[str | None], found: str | None) -> str | None:
    """Return the type, nullable where an argument is; LowCardinality stays only with a single argument."""
    wrapped = [kind for kind in types if (kind or "").startswith("LOWCARDINALITY(")]
    if found and wrapped:
        return f"LOWCARDINALITY({found})" if len(types) == 1 else None
    return wrap_nullable(found) if any((kind or "").startswith("NULLABLE(") for kind in types) else found


def integer_width(kind: str | None, text: str = "") -> IntegerWidth | None:
    """Return the width of an integer type; a literal has the shortest that holds it."""
    written = _INTEGER_LITERAL.fullmatch(text)
    if written is not None:
        number, signed = parse_whole_number(written[2]), bool(written[1])
        return signed, next((bits for bits in (8, 16, 32, 64) if number <= 2 ** (bits - signed) - (not signed)), 128)
    found = _INTEGER_TYPE.fullmatch(unwrap_type(kind).replace("BOOL", "UINT8"))
    return (not found[1], int(found[2])) if found is not None else None


def integer_type(number: IntegerWidth) -> str:
    """Return the type of an integer width."""
    return f"{'' if number[0] else 'U'}INT{number[1]}"


def decimal_digits(kind: str) -> tuple[int, int] | None:
    """Return precision and scale of a decimal."""
    found = _DECIMAL_TYPE.fullmatch(kind)
    return (parse_whole_number(found[1]), parse_whole_number(found[2])) if found is not None else None


def decimal_type(most: int, scale: int) -> str:
    """Return the narrowest decimal type for a precision."""
    return f"DECIMAL({next((size for size in _DECIMAL_PRECISIONS if most <= size), _DECIMAL_PRECISIONS[-1])},{scale})"


def widen_clickhouse(left: str, right: str) -> str | None:
    """Return the least type that holds two, or None where ClickHouse makes a Variant, or fails."""
    first, second = unwrap_type(left), unwrap_type(right)
    found = first if first == second or second == "NOTHING" else second if first == "NOTHING" else None
    found = found or _widen_plain(first, second) or _widen_plain(second, first)
    return wrap_nullable(found) if "NULLABLE(" in left[:30] + right[:30] else found


def _widen_types(family: TypeFamily, left: str, right: str) -> str | None:
    """Return the least type that holds two."""
    return widen_clickhouse(left, right)


def _widen_plain(left: str, right: str) -> str | None:
    if "BOOL" in (left, right) and {left, right} <= {"BOOL", "UINT8"}:
        return "BOOL"
    numbers = integer_width(left), integer_width(right)
    if numbers[0] and numbers[1]:
        return _widen_integers(numbers[0], numbers[1])
    if right.startswith("FLOAT"):
        return _widen_floats(left, right, numbers[0])
    exact = decimal_digits(right)
    if exact is not None:
        return _widen_decimals(left, exact, numbers[0])
    if right.startswith("ARRAY(") and left.startswith("ARRAY("):
        inner = widen_clickhouse(parse_type_shape(left).members[0][1], parse_type_shape(right).members[0][1])
        return f"ARRAY({inner})" if inner else None
    if (left.startswith("FIXEDSTRING") or left == "STRING") and right == "STRING":
        return right
    return right if (left, right[:10]) in _MOMENT_TYPES else None


_MOMENT_TYPES = {("DATE", "DATETIME"), ("DATE", "DATETIME64"), ("DATETIME", "DATETIME64"), ("DATE", "DATE32")}


def _widen_integers(left: IntegerWidth, right: IntegerWidth) -> str | None:
    """Return an integer that holds two: wider where only one is signed."""
    if left[0] == right[0]:
        return integer_type((left[0], max(left[1], right[1])))
    signed, plain = (left[1], right[1]) if left[0] else (right[1], left[1])
    bits = max(signed, plain * 2)
    return integer_type((True, bits)) if bits <= 64 else None


def _widen_floats(left: str, right: str, number: IntegerWidth | None) -> str | None:
    """Return a float that holds another number exactly."""
    if left.startswith("FLOAT"):
        return "FLOAT64"
    if number is None or number[1] > 32:
        return None
    return right if right == "FLOAT64" or number[1] <= 16 else "FLOAT64"


def _widen_decimals(left: str, right: tuple[int, int], number: IntegerWidth | None) -> str | None:
    """Return a decimal that holds another one, or an integer."""
    other = decimal_digits(left)
    if other is not None:
        return decimal_type(max(other[0], right[0]), max(other[1], right[1]))
    return (
        decimal_type(max(right[0], _INTEGER_DIGITS.get(number[1], 39) + right[1]), right[1])
        if number is not None
        else None
    )


_CONVERSION_FUNCTIONS = {
    **{f"{sign}INT{bits}": f"TO{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64, 128, 256)},
    **{f"FLOAT{bits}": f"TOFLOAT{bits}" for bits in (32, 64)},
    **{kind: f"TO{kind}" for kind in ("BOOL", "UUID", "IPV4", "IPV6", "DATE32")},
}
_PARSING_FUNCTIONS = {
    **{kind: name for kind, name in _CONVERSION_FUNCTIONS.items() if kind != "BOOL"},
    **{"DATE": "TODATE", "DATETIME": "TODATETIME PARSEDATETIMEBESTEFFORT"},
}


def _with_suffix(suffix: str) -> dict[str, str]:
    return {kind: " ".join(f"{name}{suffix}" for name in names.split()) for kind, names in _PARSING_FUNCTIONS.items()}


def _merge_tables(*tables: dict[str, str]) -> dict[str, str]:
    kinds = {kind: None for table in tables for kind in table}
    return {kind: " ".join(table[kind] for table in tables if kind in table) for kind in kinds}


FIXED_TYPES: dict[str, str] = _merge_tables(
    _CONVERSION_FUNCTIONS,
    _with_suffix("ORZERO"),
    {
        "FLOAT64": (
            "SQRT CBRT POW POWER EXP LN LOG LOG2 LOG10 SIN COS TAN ASIN ACOS ATAN RANDCANONICAL PI E JSONEXTRACTFLOAT "
            "MAX2 MIN2 VISITPARAMEXTRACTFLOAT"
        ),
        "UINT64": (
            "LENGTH STRPOSITION POSITIONCASEINSENSITIVE LOCATE LENGTHUTF8 ARRAYPOSITION INDEXOF COUNTEQUAL CITYHASH64 "
            "SIPHASH64 FARMHASH64 FARMFINGERPRINT XXHASH64 MURMURHASH3_64 HALFMD5 RAND64 JSONEXTRACTUINT JSONLENGTH "
            "VISITPARAMEXTRACTUINT TOYYYYMMDDHHMMSS ARRAYSIZE"
        ),
        "STRING": (
            "TOSTRING CONCAT UPPER LOWER SUBSTRING LEFT RIGHT REPLACE REPLACEALL REPLACEONE REGEXPREPLACE "
            "REPLACEREGEXPONE REPLACEREGEXPALL TOCHAR TIMETOSTR FORMATDATETIME HEX HEXSTRING LOWERHEX DPIPE REVERSE "
            "TRIM JSONEXTRACTSCALAR JSONEXTRACTSTRING JSONEXTRACTRAW JSON_VALUE JSON_QUERY SIMPLEJSONEXTRACTSTRING "
            "VISITPARAMEXTRACTSTRING VISITPARAMEXTRACTRAW DOMAIN DOMAINWITHOUTWWW PATH PROTOCOL CUTQUERYSTRING "
            "EXTRACTURLPARAMETER ARRAYSTRINGCONCAT ARRAYTOSTRING BASE64ENCODE TOBASE64 BASE64DECODE FROMBASE64 "
            "LEFTPAD RIGHTPAD PAD LOWERUTF8 UPPERUTF8 TOJSONSTRING FORMAT FORMATREADABLESIZE FORMATREADABLEQUANTITY "
            "CONCATWITHSEPARATOR CONCATWS MONTHNAME DATENAME IPV4NUMTOSTRING EXTRACT() REGEXPEXTRACT SUBSTRINGUTF8 "
            "REVERSEUTF8 INITCAP REPEAT CHAR"
        ),
        "DATE": (
            "TODATE TOSTARTOFMONTH TOSTARTOFYEAR TOSTARTOFQUARTER TOSTARTOFWEEK TOMONDAY TODAY YESTERDAY MAKEDATE "
            "LASTDAY TOLASTDAYOFMONTH CURRENTDATE"
        ),
        "DATETIME": (
            "NOW TODATETIME TOSTARTOFHOUR TOSTARTOFDAY TOSTARTOFMINUTE TOSTARTOFFIVEMINUTES TOSTARTOFTENMINUTES "
            "TOSTARTOFFIFTEENMINUTES PARSEDATETIMEBESTEFFORT FROMUNIXTIMESTAMP TIMESLOT MAKEDATETIME CURRENTTIMESTAMP"
        ),
        "UINT16": "TOYEAR YEAR TODAYOFYEAR DAYOFYEAR TOISOYEAR TOMILLISECOND",
        "UINT8": (
            "TOMONTH MONTH TODAYOFMONTH DAYOFMONTH DAY TODAYOFWEEK DAYOFWEEK TOHOUR HOUR TOMINUTE MINUTE TOSECOND "
            "SECOND TOWEEK TOISOWEEK WEEKOFYEAR TOQUARTER QUARTER DAYOFWEEKISO ARRAYCONTAINS HAS HASANY HASALL EMPTY "
            "NOTEMPTY ARRAYCONTAINSALL ARRAYOVERLAPS EQ NEQ GT GTE LT LTE IN LIKE ILIKE BETWEEN REGEXPLIKE MATCH "
            "STARTSWITH ENDSWITH ISNAN ISFINITE ISINFINITE BITCOUNT BITWISECOUNT BITTEST GETBIT JSONHAS ISVALIDJSON "
            "JSONEXTRACTBOOL MULTISEARCHANY ARRAYEXISTS ARRAYALL ARRAYANY MAPCONTAINS MAPCONTAINSKEY MAP_CONTAINS_KEY "
            "EXISTS"
        ),
        "INT8": "SIGN",
        "UINT32": (
            "TOYYYYMM TOYYYYMMDD TOUNIXTIMESTAMP TIMETOUNIX RAND TOYEARWEEK XXHASH32 ARRAYCOUNT ARRAYUNIQ "
            "ARRAYFIRSTINDEX TORELATIVEDAYNUM REINTERPRETASUINT32"
        ),
        "INT64": "DATEDIFF AGE TIMESTAMPDIFF JSONEXTRACTINT VISITPARAMEXTRACTINT TOUNIXTIMESTAMP64MILLI",
        "DATETIME64(3)": "FROMUNIXTIMESTAMP64MILLI",
        "FIXEDSTRING(16)": "MD5 MD5DIGEST",
        "FIXEDSTRING(32)": "SHA256 SHA2DIGEST",
        "ARRAY(STRING)": (
            "SPLIT SPLITBYCHAR SPLITBYSTRING SPLITBYREGEXP EXTRACTALL REGEXPEXTRACTALL EXTRACTGROUPS JSONEXTRACTKEYS "
            "JSONEXTRACTARRAYRAW STRINGTOARRAY"
        ),
        "ARRAY(UINT32)": "ARRAYENUMERATE",
        "UUID": "GENERATEUUIDV4 UUID",
    },
)
"""Types, and the functions that always return them; nullable where an argument is."""

UNCONDITIONAL_TYPES: dict[str, str] = _merge_tables(
    {kind.join(("NULLABLE(", ")")): names for kind, names in _with_suffix("ORNULL").items()},
    {
        "UINT64": (
            "COUNT COUNTIF COUNTDISTINCT APPROXDISTINCT UNIQ UNIQIF UNIQEXACT UNIQEXACTIF UNIQCOMBINED UNIQCOMBINED64 "
            "UNIQHLL12 UNIQTHETA ROWNUMBER RANK DENSERANK NTILE"
        ),
        "UINT8": "IS ISNULL ISNOTNULL NULLSAFEEQ NULLSAFENEQ GROUPING",
        "STRING": "TYPEOF TOTYPENAME VERSION CURRENTVERSION HOSTNAME CURRENTDATABASE CURRENTUSER USER",
        "FLOAT64": "PERCENTRANK CUMEDIST ARRAYAVG ARRAYPRODUCT",
    },
)
"""Types, and the functions that always return them, whatever argument is nullable."""

AGGREGATE_TYPES: dict[str, str] = {
    "FLOAT64": (
        "AVG AVGIF AVGORDEFAULT STDDEV STDDEVPOP STDDEVSAMP VARIANCE VARIANCEPOP VARPOP VARSAMP CORR COVARPOP "
        "COVARSAMP ENTROPY SKEWPOP SKEWSAMP KURTPOP KURTSAMP EXPONENTIALMOVINGAVERAGE"
    ),
    "FLOAT32": "QUANTILETIMING",
    "ARRAY(FLOAT64)": "QUANTILES",
}
"""Types, and the aggregates that return them; nullable where the values are."""

SAME_TYPE_FUNCTIONS = (
    "FLOOR CEIL ROUND ROUNDBANKERS TRUNC TRUNCATE ANYVALUE ANY ANYLAST ANYHEAVY MIN MAX MINIF MAXIF ANYIF ANYLASTIF "
    "ARGMAX ARGMIN ARGMAXIF ARGMINIF LAGINFRAME LEADINFRAME LAG LEAD BITWISENOT BITWISEANDAGG BITWISEORAGG "
    "BITWISEXORAGG BITNOT BITSHIFTLEFT BITSHIFTRIGHT BITWISELEFTSHIFT BITWISERIGHTSHIFT GROUPBITAND GROUPBITOR "
    "GROUPBITXOR QUANTILEEXACT ARRAYREVERSE ARRAYSLICE ARRAYPOPBACK ARRAYPOPFRONT ARRAYRESIZE MINMAP MAXMAP "
    "MATERIALIZE IDENTITY DELTASUM"
)
"""Functions that return the type of their first argument."""

ELEMENT_FUNCTIONS = "ARRAYMAX ARRAYMIN ARRAYFIRST ARRAYLAST ARRAYFLATTEN FLATTEN"
"""Functions that return an element of their last argument."""


_SUBDAY_UNITS = split_names("HOUR MINUTE SECOND MILLISECOND MICROSECOND")
"""Units that turn a date into a moment."""


def moment_operator_type(op: str, types: ArgumentTypes) -> str | None:
    """A moved moment stays one; two of a kind differ by a number of days or seconds."""
    names = [unwrap_type(kind) for kind in types]
    moments = [name for name in names if name.startswith("DATE")]
    if len(moments) == 2:
        return "INT32" if op == "SUB" and names[0] == names[1] and names[0] in ("DATE", "DATETIME") else None
    other = next((name for name in names if not name.startswith("DATE")), "")
    if len(moments) != 1 or not (integer_width(other) or other.startswith("INTERVAL")):
        return None
    return "DATETIME" if moments[0] == "DATE" and other.removeprefix("INTERVAL") in _SUBDAY_UNITS else moments[0]


def infer_to_start_of(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """toStartOf…: a date for days and longer, else a moment."""
    unit = next((text.strip("'").lower() for text in texts if text), "")
    long = any(unwrap_type(kind).startswith("DATETIME64") for kind in types)
    return None if long or not unit else "DATE" if unit in ("week", "month", "quarter", "year") else "DATETIME"


def moment_shift_rule(unit: str) -> TypeRule:
    """add… and subtract…: a moment stays one, and a date becomes one where hours or less are added."""

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        name = unwrap_type(types[0]) if types else ""
        return (
            propagate_nullability(types[:1], "DATETIME" if name == "DATE" and unit in _SUBDAY_UNITS else name)
            if name
            else None
        )

    return rule


def infer_datetime64(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """now64 and toDateTime64: the requested digits of a second."""
    said = next((text for text in texts if text.isdigit()), "3")
    return f"DATETIME64({said})" if len(texts) < 3 else None


def _operand_integers(types: ArgumentTypes, texts: ConstantTexts) -> list[IntegerWidth | None]:
    return [integer_width(kind, text) for kind, text in zip(types, texts or [""] * len(types), strict=True)]


def nullable_rule(kind: str) -> TypeRule:
    """Build the rule of a function that returns one type, nullable where an argument is."""
    return lambda family, types, texts: propagate_nullability(types, kind)


def clickhouse_operator_rule(op: str) -> TypeRule:
    """A sum, difference or product: integers grow to the next width, up to 64 bits."""

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        if len(types) != 2:
            return None
        first, second = _operand_integers(types, texts)
        if first and second:
            bits = max(first[1], second[1])
            signed = first[0] or second[0] or op == "SUB"
            return propagate_nullability(types, integer_type((signed, bits * 2 if bits < 64 else bits)))
        return propagate_nullability(
            types,
            _fraction_result(op, [unwrap_type(kind) for kind in types], [first, second])
            or moment_operator_type(op, types),
        )

    return rule


def _fraction_result(op: str, names: list[str], sides: list[IntegerWidth | None]) -> str | None:
    """Floating numbers stay floating; decimals have the digits of the wider one."""
    exact = [decimal_digits(name) for name in names]
    floating = [name.startswith("FLOAT") for name in names]
    known = zip(floating, exact, sides, strict=True)
    if not all(is_float or one or side for is_float, one, side in known) or not (any(floating) or any(exact)):
        return None
    if any(floating):
        return "FLOAT64"
    scales = [one[1] if one else 0 for one in exact]
    most = max(one[0] for one in exact if one)
    if any(sides):  # beside an integer, a decimal stays as it is
        return next(name for name, one in zip(names, exact, strict=True) if one)
    scale = {"MUL": sum(scales), "DIV": scales[0]}.get(op, max(scales))
    return decimal_type(most, scale)


def infer_quotient(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A quotient: floating, but of decimals."""
    names = [unwrap_type(kind) for kind in types]
    if any(decimal_digits(name) for name in names):
        return propagate_nullability(types, _fraction_result("DIV", names, _operand_integers(types, texts)))
    return propagate_nullability(types, "FLOAT64")


def infer_modulo(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """MODULO: as wide as what is divided by, and wider where what is divided has a sign."""
    first, second = _operand_integers(types, texts) if len(types) == 2 else (None, None)
    if first and second:
        bits = second[1] * 2 if first[0] and second[1] < 64 else second[1]
        return propagate_nullability(types, integer_type((first[0], bits)))
    return (
        propagate_nullability(types, "FLOAT64")
        if any(unwrap_type(kind).startswith("FLOAT") for kind in types)
        else None
    )


def infer_int_div(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """INTDIV: as wide as what is divided."""
    first, second = _operand_integers(types, texts) if len(types) == 2 else (None, None)
    return propagate_nullability(types, integer_type((first[0] or second[0], first[1]))) if first and second else None


def infer_negate(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A negated number: an unsigned one grows, a literal is as short as possible."""
    if texts and texts[0].isdigit():
        return integer_type(integer_width(None, f"neg({texts[0]})") or (True, 64))
    number = integer_width(types[0]) if types else None
    if number is None:
        return types[0] if types else None
    return propagate_nullability(
        types, integer_type((True, number[1] if number[0] or number[1] > 32 else number[1] * 2))
    )


def infer_abs(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """ABS: an integer without a sign."""
    number = integer_width(types[0]) if types else None
    return propagate_nullability(types, integer_type((False, number[1]))) if number else types[0] if types else None


def infer_bit_operation(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """An operator of bits: as wide as the wider number."""
    first, second = _operand_integers(types, texts) if len(types) == 2 else (None, None)
    return (
        propagate_nullability(types, integer_type((first[0] or second[0], max(first[1], second[1]))))
        if first and second
        else None
    )


def infer_condition(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """AND, OR and NOT: Bool where one of the conditions is, else UInt8."""
    return propagate_nullability(types, "BOOL" if "BOOL" in {unwrap_type(kind) for kind in types} else "UINT8")


def infer_least_common(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """The least type that holds several values."""
    found = types[0] if types else None
    for kind in types[1:]:
        found = found if found == kind else widen_clickhouse(found, kind) if found and kind else None
    return found


def infer_coalesce(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """COALESCE: nullable where all values are."""
    known = tuple(kind for kind in types if kind != family.nothing)
    found = infer_least_common(family, known, ())
    certain = any(kind and not kind.startswith("NULLABLE(") for kind in known)
    return unwrap_type(found) or None if certain and found and found.startswith("NULLABLE(") else found


def infer_sum(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """SUM: a machine word, a long floating number, or a decimal of many digits."""
    number, name = integer_width(types[0]) if types else None, unwrap_type(types[0]) if types else ""
    if number is not None:
        return propagate_nullability(types[:1], integer_type((number[0], max(number[1], 64))))
    exact = decimal_digits(name)
    if exact is not None:
        return propagate_nullability(types[:1], f"DECIMAL({38 if exact[0] <= 38 else 76},{exact[1]})")
    if name.startswith("MAP("):
        inner = infer_sum(family, (member_type(name, ""),), ())
        return f"MAP({parse_type_shape(name).members[0][1]},{inner})" if inner else None
    return propagate_nullability(types[:1], "FLOAT64") if name.startswith("FLOAT") else None


def array_aggregate_rule(rule: TypeRule) -> TypeRule:
    """A function of the elements of an array, which may follow a lambda."""

    def found(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        last = types[-1] if types else None
        return rule(family, (member_type(last, ""),), ()) if (last or "").startswith("ARRAY(") else None

    return found


def infer_quantile(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """QUANTILE: floating, but of moments and decimals."""
    name = unwrap_type(types[0]) if types else ""
    return propagate_nullability(types[:1], name if name.startswith(("DATE", "DECIMAL")) else "FLOAT64")


def infer_group_array(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """GROUPARRAY: the values as an array, without nulls."""
    return f"ARRAY({unwrap_type(types[0])})" if types and types[0] else None


def infer_array_map(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """ARRAYMAP: an array of what the function gives."""
    return f"ARRAY({types[-1]})" if types and types[-1] else None


def infer_array_filter(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """ARRAYFILTER: the first of the arrays, which may stand behind the function."""
    return next((kind for kind in types if (kind or "").startswith("ARRAY")), None)


def infer_array_element(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """An element of an array."""
    return member_type(types[0], "") if types else None


def infer_array_push_back(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """ARRAYPUSHBACK: the array that holds the element, too."""
    kind = member_type(types[0], "") if types else None
    inner = widen_clickhouse(kind, types[1]) if kind and len(types) > 1 and types[1] and kind != types[1] else kind
    return f"ARRAY({inner})" if inner else None


def infer_tuple(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A tuple of values."""
    return f"TUPLE({','.join(str(kind) for kind in types)})" if types and all(types) else None


def infer_array_zip(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """ARRAYZIP: an array of tuples of elements."""
    inner = infer_tuple(family, tuple(member_type(kind, "") for kind in types), ())
    return f"ARRAY({inner})" if inner else None


def infer_map(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """MAP: keys and values in turn."""
    keys, held = infer_least_common(family, types[::2], ()), infer_least_common(family, types[1::2], ())
    return f"MAP({keys},{held})" if keys and held else None


def to_decimal_rule(most: int) -> TypeRule:
    """TODECIMAL…: a decimal with as many digits behind the point as are asked for."""
    return lambda family, types, texts: (
        propagate_nullability(types[:1], f"DECIMAL({most},{texts[1]})")
        if len(texts) > 1 and texts[1].isdigit()
        else None
    )


def infer_named_type(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """CAST(x, 'type') and JSONExtract(…, 'type'): the type given as text."""
    text = texts[-1].strip("'").upper().replace(", ", ",") if texts else ""
    return text if texts and texts[-1].startswith("'") and len(texts) > 1 else None


_TIME_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")

CLICKHOUSE_RULES: dict[str, TypeRule] = {
    **{op: nullable_rule(kind) for kind, names in FIXED_TYPES.items() for op in names.split()},
    **fixed_rules(UNCONDITIONAL_TYPES),
    **{op: nullable_rule(kind) for kind, names in AGGREGATE_TYPES.items() for op in names.split()},
    **{op: clickhouse_operator_rule(op) for op in ("ADD", "SUB", "MUL")},
    **{name: clickhouse_operator_rule(op) for name, op in (("PLUS", "ADD"), ("MINUS", "SUB"), ("MULTIPLY", "MUL"))},
    **{f"{way}{unit}S": moment_shift_rule(unit) for way in ("ADD", "SUBTRACT") for unit in _TIME_UNITS},
    **dict.fromkeys(split_names(SAME_TYPE_FUNCTIONS), argument_rule(0)),
    **dict.fromkeys(split_names(ELEMENT_FUNCTIONS), array_aggregate_rule(argument_rule(0))),
    **dict.fromkeys(split_names("DIV DIVIDE SAFEDIVIDE"), infer_quotient),
    **dict.fromkeys(split_names("MOD MODULO MODULOORZERO"), infer_modulo),
    **dict.fromkeys(split_names("INTDIV INTDIVORZERO"), infer_int_div),
    **dict.fromkeys(split_names("NEG NEGATE"), infer_negate),
    **dict.fromkeys(split_names("AND OR NOT XOR"), infer_condition),
    **dict.fromkeys(split_names("BITWISEAND BITWISEOR BITWISEXOR BITAND BITOR BITXOR GCD"), infer_bit_operation),
    **dict.fromkeys(split_names("GREATEST LEAST"), infer_least_common),
    **dict.fromkeys(split_names("COALESCE IFNULL"), infer_coalesce),
    **dict.fromkeys(
        split_names("GROUPARRAY GROUPUNIQARRAY GROUPARRAYIF GROUPARRAYDISTINCT ARRAYAGG TOPK"), infer_group_array
    ),
    **dict.fromkeys(split_names("EXPLODE ARRAYELEMENT ARRAYJOIN"), infer_array_element),
    **dict.fromkeys(split_names("SUM SUMIF SUMMAP SUMORDEFAULT SUMMERGE"), infer_sum),
    **dict.fromkeys(split_names("QUANTILE MEDIAN QUANTILEIF QUANTILETDIGEST"), infer_quantile),
    **dict.fromkeys(
        split_names("ARRAYFILTER ARRAYSORT ARRAYREVERSESORT ARRAYDISTINCT ARRAYCOMPACT"), infer_array_filter
    ),
    **dict.fromkeys(split_names("ARRAYCONCAT ARRAYINTERSECT"), infer_least_common),
    **dict.fromkeys(split_names("ARRAYPUSHBACK ARRAYPUSHFRONT ARRAYAPPEND ARRAYPREPEND"), infer_array_push_back),
    **dict.fromkeys(split_names("TUPLE"), infer_tuple),
    **dict.fromkeys(split_names("MAPKEYS MAP_KEYS"), infer_map_keys),
    **dict.fromkeys(split_names("MAPVALUES MAP_VALUES"), infer_map_values),
    **dict.fromkeys(split_names("MAPFROMARRAYS"), infer_map_from_arrays),
    **dict.fromkeys(
        split_names("TONULLABLE NULLIF"), lambda family, types, texts: wrap_nullable(types[0]) if types else None
    ),
    **dict.fromkeys(split_names("CASTTOSTRTYPE JSONEXTRACT JSON_EXTRACT"), infer_named_type),
    **dict.fromkeys(split_names("NOW64 TODATETIME64"), infer_datetime64),
    "ABS": infer_abs,
    "SUMORNULL": lambda family, types, texts: wrap_nullable(infer_sum(family, types, texts)),
    "AVGORNULL": fixed_rule("NULLABLE(FLOAT64)"),
    "MULTIIF": lambda family, types, texts: infer_least_common(family, (*types[1:-1:2], *types[-1:]), ()),
    "TOLOWCARDINALITY": lambda family, types, texts: f"LOWCARDINALITY({types[0]})" if types and types[0] else None,
    "TOFIXEDSTRING": lambda family, types, texts: f"FIXEDSTRING({texts[1]})" if len(texts) > 1 else None,
    "ARRAYZIP": infer_array_zip,
    "EXTRACT": lambda family, types, texts: "STRING" if types and unwrap_type(types[0]) == "STRING" else None,
    "DATEADD": lambda family, types, texts: types[0] if types and "DATETIME" in (types[0] or "") else None,
    "ARRAYSUM": array_aggregate_rule(infer_sum),
    "TRANSFORM": infer_array_map,
    "MAP": infer_map,
    "TIMESTAMPTRUNC": infer_to_start_of,
    "DATETRUNC": infer_to_start_of,
    "TODECIMAL32": to_decimal_rule(9),
    "TODECIMAL64": to_decimal_rule(18),
    "TODECIMAL128": to_decimal_rule(38),
    "ACCURATECASTORNULL": lambda family, types, texts: wrap_nullable(infer_named_type(family, types, texts)),
    "ASSUMENOTNULL": lambda family, types, texts: unwrap_type(types[0]) or None if types else None,
}
"""Rules of ClickHouse's functions; the common rules hold for the rest."""

CLICKHOUSE_CONSTANT_OPERATORS = split_names(
    "TIMESTAMPTRUNC DATETRUNC TODECIMAL32 TODECIMAL64 TODECIMAL128 CAST JSONEXTRACT ACCURATECASTORNULL NOW64 "
    "TODATETIME64 NEGATE TOFIXEDSTRING CASTTOSTRTYPE"
)
"""Operators whose type also depends on the values of constants."""


# ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _propagate_parser_type(types: ArgumentTypes, kind: str) -> str | None:
    """The parser's type of a function, nullable where an argument is."""
    return propagate_nullability(types, unwrap_type(kind) or None)


CLICKHOUSE_TYPES = TypeFamily(
    name="clickhouse",
    integers=("INT8", "INT16", "INT32", "INT64", "INT128", "INT256"),
    digits=(3, 5, 10, 19, 39, 77),
    integer="INT32",
    bigint="INT64",
    decimal="DECIMAL",
    real="FLOAT32",
    double="FLOAT64",
    string="STRING",
    boolean="UINT8",
    binary="STRING",
    timestamp="DATETIME",
    zoned="DATETIME",
    aliases={
        **{"TINYINT": "INT8", "SMALLINT": "INT16", "INT": "INT32", "INTEGER": "INT32", "BIGINT": "INT64"},
        **{"FLOAT": "FLOAT32", "DOUBLE": "FLOAT64", "BOOLEAN": "BOOL", "TIMESTAMP": "DATETIME"},
        **dict.fromkeys(("VARCHAR", "TEXT", "CHAR"), "STRING"),
    },
    cap=76,
    notation=("ARRAY({})", "MAP({},{})", "TUPLE({})", "{} {}"),
    strings=("STRING", "FIXEDSTRING"),
    unsigned={"UINT8": 3, "UINT16": 5, "UINT32": 10, "UINT64": 20, "UINT128": 39, "UINT256": 78},
    fraction="FLOAT64",
    numbered=False,
    nothing="NULLABLE(NOTHING)",
    shortest=True,
    truth="BOOL",
    widen=_widen_types,
)


# ── the dialect ───────────────────────────────────────────────────────────────────────────────────────────────────────

_ARRAY_FUNCTIONS = " ".join(f"array{letter}*" for letter in ascii_uppercase)

CLICKHOUSE = DialectTraits(
    name="clickhouse",
    family="clickhouse",
    tables=IdentifierFolding.EXACT,
    columns=IdentifierFolding.EXACT,
    parts=TWO_PARTS,
    lateral_alias=True,
    alias_in_where=True,
    alias_in_having=True,
    keeps_not_null=True,
    nested_columns=True,
    as_table_is_like=True,
    alias_first=True,
    alias_first_in_group=True,
    row_names="c{1}",
    column_sets=True,
    merges_in_place=True,
    lenient_stars=True,
    in_reads_table=True,
    table_engines={
        "DISTRIBUTED": TableEngine(TableArgument((1, 2))),
        "BUFFER": TableEngine(TableArgument((0, 1)), passes_on=True),
    },
    table_arguments={
        **dict.fromkeys(("REMOTE", "REMOTESECURE", "CLUSTER", "CLUSTERALLREPLICAS"), TableArgument((1, 2))),
        "MERGE": TableArgument((0, 1)),
        "DICTIONARY": TableArgument((0,)),
        **name_scheme_functions(1, 2, server=0, schemes="mysql postgresql mongodb jdbc odbc"),
        **name_scheme_functions(1, server=0, schemes="sqlite"),
    },
    lookup_functions=frozenset(
        "DICTGET DICTGETORDEFAULT DICTGETORNULL DICTGETHIERARCHY JOINGET JOINGETORNULL DICTGETSTRING DICTGETUINT8 "
        "DICTGETUINT16 DICTGETUINT32 DICTGETUINT64 DICTGETINT8 DICTGETINT16 DICTGETINT32 DICTGETINT64 DICTGETFLOAT32 "
        "DICTGETFLOAT64 DICTGETDATE DICTGETDATETIME DICTGETUUID".split()
    ),
    table_pseudo_columns=frozenset(
        "_PART _PART_INDEX _PARTITION_ID _PARTITION_VALUE _TABLE _DATABASE _FILE _PATH _SIZE _SAMPLE_FACTOR "
        "_ROW_EXISTS _PART_OFFSET".split()
    ),
    system_catalog=SystemCatalog(schemas=STANDARD_SCHEMAS | {"system"}),
    types=CLICKHOUSE_TYPES,
    type_rules=TypeRules(
        nulls=NULL_SKIPPING_RULES,
        functions=CLICKHOUSE_RULES,
        constants=CLICKHOUSE_CONSTANT_OPERATORS,
        unknown=_propagate_parser_type,
        table_functions=dict.fromkeys(("NUMBERS", "NUMBERS_MT"), ("UINT64",)),
    ),
    signs=(
        build_sign("MergeTree", r"\bENGINE\s*=?\s*\w*MergeTree\b", 4, "engine*"),
        build_sign(
            "engines of ClickHouse",
            r"\bENGINE\s*=\s*(?-i:Memory|Log|TinyLog|StripeLog|Distributed|Kafka|Null|Buffer|Dictionary|S3|File|URL|Join|Set)\b",
            3,
            "engine&=",
        ),
        build_sign(
            "Nullable(…), UInt64 or DateTime64",
            r"(?-i:\b(?:Nullable|LowCardinality|FixedString|DateTime64|AggregateFunction)\s*\(|\bU?Int(?:8|16|32|64|128|256)\b)",
            3,
            "Nullable LowCardinality FixedString DateTime64 AggregateFunction Int8 Int16 Int32 Int64 Int128 "
            "Int256 UInt8 UInt16 UInt32 UInt64 UInt128 UInt256",
        ),
        build_sign(
            "functions such as toDate and arrayJoin",
            r"(?-i:\b(?:to(?:Date|DateTime|String|U?Int\d+|Float\d+|YYYYMM\w*|StartOf\w+|TypeName|Decimal\d+)|array[A-Z]\w+"
            r"|group(?:Array|Uniq|Bit)\w*|uniq(?:Exact|Combined|HLL12)?|arg(?:Max|Min)|(?:count|sum|avg)If|dictGet\w*|splitBy\w+"
            r"|formatReadable\w+|any(?:Last|Heavy)|quantiles?\w*|multiIf|JSONExtract\w+|visitParam\w+)\s*\()",
            3,
            "toDate toDateTime toString toint* touint* tofloat* toyyyymm* tostartof* toTypeName todecimal* "
            f"{_ARRAY_FUNCTIONS} grouparray* groupuniq* groupbit* uniq uniqExact uniqCombined uniqHLL12 argMax "
            "argMin countIf sumIf avgIf dictget* splitby* formatreadable* anyLast anyHeavy quantile* multiIf "
            "jsonextract* visitparam*",
        ),
        build_sign(
            "PREWHERE, ARRAY JOIN or LIMIT BY",
            r"\bPREWHERE\b|\bARRAY\s+JOIN\b|\bLIMIT\s+\d+\s+BY\b",
            3,
            "prewhere array~join limit&by",
        ),
        build_sign("ON CLUSTER", r"\bON\s+CLUSTER\b", 2, "cluster"),
        build_sign(
            "FORMAT and SETTINGS of a query",
            r"(?-i:\bFORMAT\s+(?:JSON\w*|TabSeparated\w*|TSV\w*|CSV\w+|Vertical|Pretty\w*|Null|Values)\b)|\bSETTINGS\s+\w+\s*=",
            2,
            "format~json* format~tabseparated* format~tsv* format~csv* format~vertical* format~pretty* "
            "format~null* format~values* settings&=",
        ),
        BACKTICKS,
        LIMIT_PAIR,
        build_sign("dbt settings of ClickHouse", r"\bengine\s*=\s*['\"]\w*MergeTree", 4, "engine"),
    ),
    path_words=frozenset({"clickhouse"}),
    host_signs=(
        build_driver_sign(
            "ClickHouse", modules="clickhouse_connect|clickhouse_driver", operators="ClickHouse", scheme="clickhouse"
        ),
    ),
    alter_changes_rows=True,
)
