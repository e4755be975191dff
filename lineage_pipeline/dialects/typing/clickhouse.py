"""ClickHouse: what its operators and functions give, by the rules of its manual for the widths of numbers."""

import re

from lineage_pipeline.dialects.typing.arithmetic import Rule, Texts, Types
from lineage_pipeline.dialects.typing.family import Family
from lineage_pipeline.dialects.typing.results import argument, exactly, words
from lineage_pipeline.dialects.typing.shapes import member_type

_WRAPPED = re.compile(r"(?:NULLABLE|LOWCARDINALITY)\((.*)\)")
_WHOLE = re.compile(r"(U?)INT(8|16|32|64|128|256)")
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_WRITTEN = re.compile(r"(neg\()?(\d+)\)?")
_ALIASES = {"TINYINT": "INT8", "SMALLINT": "INT16", "INT": "INT32", "INTEGER": "INT32", "BIGINT": "INT64"}
_CLASSES = (9, 18, 38, 76)
"""The digits of the decimals that a machine keeps."""

Whole = tuple[bool, int]
"""Whether an integer has a sign, and its bits."""


def bare(kind: str | None) -> str:
    """A type without what says that it may be null or is kept as numbers of a list."""
    text = kind or ""
    while found := _WRAPPED.fullmatch(text):
        text = found[1]
    return text


def kept(types: Types, found: str | None) -> str | None:
    """The type, which may be null where one of those that it comes from may."""
    wrapped = found and any("NULLABLE(" in (kind or "") for kind in types)
    return f"NULLABLE({found})" if wrapped else found


def whole(kind: str | None, text: str = "") -> Whole | None:
    """An integer by its type; one that is written out is as short as it can be."""
    written = _WRITTEN.fullmatch(text)
    if written is not None:
        number, signed = int(written[2]), bool(written[1])
        return signed, next((bits for bits in (8, 16, 32, 64) if number < 2 ** (bits - signed)), 128)
    name = bare(kind)
    found = _WHOLE.fullmatch(_ALIASES.get(name, name))
    return (not found[1], int(found[2])) if found is not None else None


def _named(number: Whole) -> str:
    return f"{'' if number[0] else 'U'}INT{number[1]}"


def operator(op: str) -> Rule:
    """A sum, difference or product: integers grow to the next width, up to that of a machine word."""

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        if len(types) != 2:
            return None
        sides = [whole(kind, text) for kind, text in zip(types, texts or ("", ""), strict=True)]
        if sides[0] and sides[1]:
            bits = max(sides[0][1], sides[1][1])
            signed = sides[0][0] or sides[1][0] or op == "SUB"
            return kept(types, _named((signed, bits * 2 if bits < 64 else bits)))
        return kept(types, _fractions(op, [bare(kind) for kind in types], sides) or _moved(op, types, sides))

    return rule


def _fractions(op: str, names: list[str], sides: list[Whole | None]) -> str | None:
    """Floating numbers stay floating; decimals have the digits of the wider one."""
    floating = [name.startswith("FLOAT") for name in names]
    if all(is_float or side for is_float, side in zip(floating, sides, strict=True)):
        return "FLOAT64"
    digits = [_DECIMAL.fullmatch(name) for name in names]
    if not any(digits) or not all(one or side for one, side in zip(digits, sides, strict=True)):
        return None
    scales = [int(found[2]) if found else 0 for found in digits]
    most = max(int(found[1]) for found in digits if found)
    width = next(size for size in _CLASSES if most <= size)
    return f"DECIMAL({width},{sum(scales) if op == 'MUL' else max(scales)})"


def _moved(op: str, types: Types, sides: list[Whole | None]) -> str | None:
    """A moment that is moved by a number stays one; two of a kind lie a number of days or seconds apart."""
    names = [bare(kind) for kind in types]
    moments = [name for name in names if name.startswith("DATE")]
    if len(moments) == 2:
        return "INT32" if op == "SUB" and names[0] == names[1] and names[0] in ("DATE", "DATETIME") else None
    return moments[0] if len(moments) == 1 and any(sides) else None


def divided(family: Family, types: Types, texts: Texts) -> str | None:
    """INTDIV: as wide as what is divided."""
    sides = [whole(kind, text) for kind, text in zip(types, texts or ("", ""), strict=True)]
    return kept(types, _named((sides[0][0] or sides[1][0], sides[0][1]))) if sides[0] and sides[1] else None


def common(family: Family, types: Types, texts: Texts) -> str | None:
    """The least type that holds several values."""
    names = {bare(kind) for kind in types}
    if len(names) == 1 and "" not in names:
        return types[-1]
    sides = [whole(kind, text) for kind, text in zip(types, texts or [""] * len(types), strict=True)]
    known = [side for side in sides if side is not None]
    if len(known) < len(sides):
        return None
    signed = [bits for sign, bits in known if sign]
    plain = [bits for sign, bits in known if not sign]
    if not signed or not plain:
        return _named((bool(signed), max(signed or plain)))
    bits = max(*signed, max(plain) * 2)
    return _named((True, bits)) if bits <= 64 else None


def total(family: Family, types: Types, texts: Texts) -> str | None:
    """SUM: a machine word, a long floating number, or a decimal of many digits."""
    number, name = whole(types[0]) if types else None, bare(types[0]) if types else ""
    if number is not None:
        return kept(types, _named((number[0], max(number[1], 64))))
    digits = _DECIMAL.fullmatch(name)
    if digits is not None:
        return kept(types, f"DECIMAL({38 if int(digits[1]) <= 38 else 76},{digits[2]})")
    return kept(types, "FLOAT64") if name.startswith("FLOAT") else None


def gathered(family: Family, types: Types, texts: Texts) -> str | None:
    """GROUPARRAY: the values as an array, without nulls."""
    return f"ARRAY({bare(types[0])})" if types and types[0] else None


def mapped(family: Family, types: Types, texts: Texts) -> str | None:
    """ARRAYMAP: an array of what the function gives."""
    return f"ARRAY({types[-1]})" if types and types[-1] else None


def filtered(family: Family, types: Types, texts: Texts) -> str | None:
    """ARRAYFILTER: the first of the arrays, which may stand behind the function."""
    return next((kind for kind in types if (kind or "").startswith("ARRAY")), None)


def opened(family: Family, types: Types, texts: Texts) -> str | None:
    """An element of an array."""
    return member_type(types[0], "") if types else None


def started(family: Family, types: Types, texts: Texts) -> str | None:
    """TOSTARTOF…: a date for days that begin something, else a moment."""
    unit = texts[1].strip("'").lower() if len(texts) > 1 else ""
    return "DATE" if unit in ("week", "month", "quarter", "year") else "DATETIME" if unit else None


def decimal(digits: int) -> Rule:
    """TODECIMAL…: a decimal with as many digits behind the point as are asked for."""
    return lambda family, types, texts: (
        f"DECIMAL({digits},{texts[1]})" if len(texts) > 1 and texts[1].isdigit() else None
    )


def nullable(family: Family, types: Types, texts: Texts) -> str | None:
    """TONULLABLE: the same, and it may be null."""
    return f"NULLABLE({bare(types[0])})" if types and types[0] else None


def certain(family: Family, types: Types, texts: Texts) -> str | None:
    """ASSUMENOTNULL: the same, and it is never null."""
    return bare(types[0]) or None if types else None


ALWAYS: dict[str, str] = {
    "FLOAT64": "AVG DIV QUANTILE MEDIAN SQRT POW EXP LN LOG RANDCANONICAL",
    "UINT64": "COUNT COUNTIF APPROXDISTINCT UNIQ LENGTH STRPOSITION ROWNUMBER RANK DENSERANK CITYHASH64 SIPHASH64",
    "STRING": (
        "TOSTRING CONCAT UPPER LOWER SUBSTRING REPLACE TOCHAR TIMETOSTR FORMATDATETIME HEX DPIPE TYPEOF REVERSE "
        "JSONEXTRACTSCALAR TRIM"
    ),
    "DATE": "TODATE TOSTARTOFMONTH TOSTARTOFYEAR TOSTARTOFQUARTER TOSTARTOFWEEK TOMONDAY TODAY YESTERDAY",
    "DATETIME": "NOW TODATETIME TOSTARTOFHOUR TOSTARTOFDAY TOSTARTOFMINUTE PARSEDATETIMEBESTEFFORT FROMUNIXTIMESTAMP",
    "UINT16": "TOYEAR TODAYOFYEAR",
    "UINT8": (
        "TOMONTH TODAYOFMONTH TODAYOFWEEK TOHOUR TOMINUTE TOSECOND TOUINT8 TOWEEK DAYOFWEEKISO ARRAYCONTAINS "
        "EQ NEQ GT GTE LT LTE AND OR NOT XOR IN LIKE ILIKE BETWEEN IS REGEXPLIKE STARTSWITH ENDSWITH"
    ),
    "UINT32": "TOYYYYMM TOUINT32 TOUNIXTIMESTAMP RAND",
    "INT64": "DATEDIFF TOINT64 TIMESTAMPDIFF",
    "INT32": "TOINT32",
    "FLOAT32": "TOFLOAT32",
    "FIXEDSTRING(16)": "MD5DIGEST",
    "ARRAY(STRING)": "SPLIT",
}
"""Types, and the functions that always give them; a condition is a short integer."""

ROWS: dict[str, Rule] = {
    **{op: exactly(kind) for kind, names in ALWAYS.items() for op in names.split()},
    **{op: operator(op) for op in ("ADD", "SUB", "MUL")},
    **dict.fromkeys(words("COALESCE GREATEST LEAST"), common),
    **dict.fromkeys(words("GROUPARRAY GROUPUNIQARRAY"), gathered),
    **dict.fromkeys(words("EXPLODE ARRAYELEMENT"), opened),
    **dict.fromkeys(words("FLOOR CEIL ANYVALUE"), argument(0)),
    "ARRAYFILTER": filtered,
    "INTDIV": divided,
    "SUM": total,
    "TRANSFORM": mapped,
    "TIMESTAMPTRUNC": started,
    "TODECIMAL32": decimal(9),
    "TODECIMAL64": decimal(18),
    "TODECIMAL128": decimal(38),
    "TONULLABLE": nullable,
    "ASSUMENOTNULL": certain,
}
"""What ClickHouse's functions give; the common rows hold for the rest."""

CONSTANTS = words("INTDIV COALESCE GREATEST LEAST TIMESTAMPTRUNC TODECIMAL32 TODECIMAL64 TODECIMAL128")
"""Operators whose type depends on the values of constants, too."""
