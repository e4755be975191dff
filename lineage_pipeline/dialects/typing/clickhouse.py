"""ClickHouse: what its operators and functions give, by the rules of its manual for the widths of numbers."""

from lineage_pipeline.dialects.typing.arithmetic import Rule, Texts, Types
from lineage_pipeline.dialects.typing.clickhouse_moments import apart, moved, precise, started
from lineage_pipeline.dialects.typing.clickhouse_rules import (
    Whole,
    bare,
    decimal,
    digits,
    kept,
    named,
    nullable,
    whole,
    wider,
)
from lineage_pipeline.dialects.typing.clickhouse_tables import AGGREGATES, ALWAYS, CERTAIN, ELEMENTS, SAME
from lineage_pipeline.dialects.typing.family import Family
from lineage_pipeline.dialects.typing.results import argument, exactly, key, mapping, values, words
from lineage_pipeline.dialects.typing.shapes import member_type, shape_of


def _sides(types: Types, texts: Texts) -> list[Whole | None]:
    return [whole(kind, text) for kind, text in zip(types, texts or [""] * len(types), strict=True)]


def always(kind: str) -> Rule:
    """A function that gives one type, which may be null where an argument may."""
    return lambda family, types, texts: kept(types, kind)


def operator(op: str) -> Rule:
    """A sum, difference or product: integers grow to the next width, up to that of a machine word."""

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        if len(types) != 2:
            return None
        first, second = _sides(types, texts)
        if first and second:
            bits = max(first[1], second[1])
            signed = first[0] or second[0] or op == "SUB"
            return kept(types, named((signed, bits * 2 if bits < 64 else bits)))
        return kept(types, _fractions(op, [bare(kind) for kind in types], [first, second]) or apart(op, types))

    return rule


def _fractions(op: str, names: list[str], sides: list[Whole | None]) -> str | None:
    """Floating numbers stay floating; decimals have the digits of the wider one."""
    exact = [digits(name) for name in names]
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
    return decimal(most, scale)


def quotient(family: Family, types: Types, texts: Texts) -> str | None:
    """A quotient: floating, but of decimals."""
    names = [bare(kind) for kind in types]
    if any(digits(name) for name in names):
        return kept(types, _fractions("DIV", names, _sides(types, texts)))
    return kept(types, "FLOAT64")


def remainder(family: Family, types: Types, texts: Texts) -> str | None:
    """MODULO: as wide as what is divided by, and wider where what is divided has a sign."""
    first, second = _sides(types, texts) if len(types) == 2 else (None, None)
    if first and second:
        bits = second[1] * 2 if first[0] and second[1] < 64 else second[1]
        return kept(types, named((first[0], bits)))
    return kept(types, "FLOAT64") if any(bare(kind).startswith("FLOAT") for kind in types) else None


def divided(family: Family, types: Types, texts: Texts) -> str | None:
    """INTDIV: as wide as what is divided."""
    first, second = _sides(types, texts) if len(types) == 2 else (None, None)
    return kept(types, named((first[0] or second[0], first[1]))) if first and second else None


def turned(family: Family, types: Types, texts: Texts) -> str | None:
    """A number with the other sign: one without a sign grows, one that is written out is as short as it can be."""
    if texts and texts[0].isdigit():
        return named(whole(None, f"neg({texts[0]})") or (True, 64))
    number = whole(types[0]) if types else None
    if number is None:
        return types[0] if types else None
    return kept(types, named((True, number[1] if number[0] or number[1] > 32 else number[1] * 2)))


def size(family: Family, types: Types, texts: Texts) -> str | None:
    """ABS: an integer without a sign."""
    number = whole(types[0]) if types else None
    return kept(types, named((False, number[1]))) if number else types[0] if types else None


def bits(family: Family, types: Types, texts: Texts) -> str | None:
    """An operator of bits: as wide as the wider number."""
    first, second = _sides(types, texts) if len(types) == 2 else (None, None)
    return kept(types, named((first[0] or second[0], max(first[1], second[1])))) if first and second else None


def condition(family: Family, types: Types, texts: Texts) -> str | None:
    """AND, OR and NOT: a truth where one is among the conditions, else a short integer."""
    return kept(types, "BOOL" if "BOOL" in {bare(kind) for kind in types} else "UINT8")


def common(family: Family, types: Types, texts: Texts) -> str | None:
    """The least type that holds several values."""
    found = types[0] if types else None
    for kind in types[1:]:
        found = found if found == kind else wider(found, kind) if found and kind else None
    return found


def chosen(family: Family, types: Types, texts: Texts) -> str | None:
    """COALESCE: it may be null where all values may."""
    known = tuple(kind for kind in types if kind != family.nothing)
    found = common(family, known, ())
    certain = any(kind and not kind.startswith("NULLABLE(") for kind in known)
    return bare(found) or None if certain and found and found.startswith("NULLABLE(") else found


def total(family: Family, types: Types, texts: Texts) -> str | None:
    """SUM: a machine word, a long floating number, or a decimal of many digits."""
    number, name = whole(types[0]) if types else None, bare(types[0]) if types else ""
    if number is not None:
        return kept(types[:1], named((number[0], max(number[1], 64))))
    exact = digits(name)
    if exact is not None:
        return kept(types[:1], f"DECIMAL({38 if exact[0] <= 38 else 76},{exact[1]})")
    if name.startswith("MAP("):
        inner = total(family, (member_type(name, ""),), ())
        return f"MAP({shape_of(name).members[0][1]},{inner})" if inner else None
    return kept(types[:1], "FLOAT64") if name.startswith("FLOAT") else None


def listed(rule: Rule) -> Rule:
    """A function of the elements of an array, which may stand behind one that is applied to them."""

    def found(family: Family, types: Types, texts: Texts) -> str | None:
        last = types[-1] if types else None
        return rule(family, (member_type(last, ""),), ()) if (last or "").startswith("ARRAY(") else None

    return found


def quantile(family: Family, types: Types, texts: Texts) -> str | None:
    """QUANTILE: floating, but of moments and decimals."""
    name = bare(types[0]) if types else ""
    return kept(types[:1], name if name.startswith(("DATE", "DECIMAL")) else "FLOAT64")


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


def grown(family: Family, types: Types, texts: Texts) -> str | None:
    """ARRAYPUSHBACK: the array that holds the element, too."""
    kind = member_type(types[0], "") if types else None
    inner = wider(kind, types[1]) if kind and len(types) > 1 and types[1] and kind != types[1] else kind
    return f"ARRAY({inner})" if inner else None


def row(family: Family, types: Types, texts: Texts) -> str | None:
    """A tuple of values."""
    return f"TUPLE({','.join(str(kind) for kind in types)})" if types and all(types) else None


def zipped(family: Family, types: Types, texts: Texts) -> str | None:
    """ARRAYZIP: an array of tuples of elements."""
    inner = row(family, tuple(member_type(kind, "") for kind in types), ())
    return f"ARRAY({inner})" if inner else None


def paired(family: Family, types: Types, texts: Texts) -> str | None:
    """MAP: keys and values in turn."""
    keys, held = common(family, types[::2], ()), common(family, types[1::2], ())
    return f"MAP({keys},{held})" if keys and held else None


def exact(most: int) -> Rule:
    """TODECIMAL…: a decimal with as many digits behind the point as are asked for."""
    return lambda family, types, texts: (
        kept(types[:1], f"DECIMAL({most},{texts[1]})") if len(texts) > 1 and texts[1].isdigit() else None
    )


def stated(family: Family, types: Types, texts: Texts) -> str | None:
    """CAST(x, 'type') and JSONExtract(…, 'type'): the type that is said as text."""
    text = texts[-1].strip("'").upper().replace(", ", ",") if texts else ""
    return text if texts and texts[-1].startswith("'") and len(texts) > 1 else None


_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")

ROWS: dict[str, Rule] = {
    **{op: always(kind) for kind, names in ALWAYS.items() for op in names.split()},
    **{op: exactly(kind) for kind, names in CERTAIN.items() for op in names.split()},
    **{op: always(kind) for kind, names in AGGREGATES.items() for op in names.split()},
    **{op: operator(op) for op in ("ADD", "SUB", "MUL")},
    **{name: operator(op) for name, op in (("PLUS", "ADD"), ("MINUS", "SUB"), ("MULTIPLY", "MUL"))},
    **{f"{way}{unit}S": moved(unit) for way in ("ADD", "SUBTRACT") for unit in _UNITS},
    **dict.fromkeys(words(SAME), argument(0)),
    **dict.fromkeys(words(ELEMENTS), listed(argument(0))),
    **dict.fromkeys(words("DIV DIVIDE SAFEDIVIDE"), quotient),
    **dict.fromkeys(words("MOD MODULO MODULOORZERO"), remainder),
    **dict.fromkeys(words("INTDIV INTDIVORZERO"), divided),
    **dict.fromkeys(words("NEG NEGATE"), turned),
    **dict.fromkeys(words("AND OR NOT XOR"), condition),
    **dict.fromkeys(words("BITWISEAND BITWISEOR BITWISEXOR BITAND BITOR BITXOR GCD"), bits),
    **dict.fromkeys(words("GREATEST LEAST"), common),
    **dict.fromkeys(words("COALESCE IFNULL"), chosen),
    **dict.fromkeys(words("GROUPARRAY GROUPUNIQARRAY GROUPARRAYIF GROUPARRAYDISTINCT ARRAYAGG TOPK"), gathered),
    **dict.fromkeys(words("EXPLODE ARRAYELEMENT ARRAYJOIN"), opened),
    **dict.fromkeys(words("SUM SUMIF SUMMAP SUMORDEFAULT SUMMERGE"), total),
    **dict.fromkeys(words("QUANTILE MEDIAN QUANTILEIF QUANTILETDIGEST"), quantile),
    **dict.fromkeys(words("ARRAYFILTER ARRAYSORT ARRAYREVERSESORT ARRAYDISTINCT ARRAYCOMPACT"), filtered),
    **dict.fromkeys(words("ARRAYCONCAT ARRAYINTERSECT"), common),
    **dict.fromkeys(words("ARRAYPUSHBACK ARRAYPUSHFRONT ARRAYAPPEND ARRAYPREPEND"), grown),
    **dict.fromkeys(words("TUPLE"), row),
    **dict.fromkeys(words("MAPKEYS MAP_KEYS"), key),
    **dict.fromkeys(words("MAPVALUES MAP_VALUES"), values),
    **dict.fromkeys(words("MAPFROMARRAYS"), mapping),
    **dict.fromkeys(words("TONULLABLE NULLIF"), lambda family, types, texts: nullable(types[0]) if types else None),
    **dict.fromkeys(words("CASTTOSTRTYPE JSONEXTRACT JSON_EXTRACT"), stated),
    **dict.fromkeys(words("NOW64 TODATETIME64"), precise),
    "ABS": size,
    "SUMORNULL": lambda family, types, texts: nullable(total(family, types, texts)),
    "AVGORNULL": exactly("NULLABLE(FLOAT64)"),
    "MULTIIF": lambda family, types, texts: common(family, (*types[1:-1:2], *types[-1:]), ()),
    "TOLOWCARDINALITY": lambda family, types, texts: f"LOWCARDINALITY({types[0]})" if types and types[0] else None,
    "TOFIXEDSTRING": lambda family, types, texts: f"FIXEDSTRING({texts[1]})" if len(texts) > 1 else None,
    "ARRAYZIP": zipped,
    "EXTRACT": lambda family, types, texts: "STRING" if types and bare(types[0]) == "STRING" else None,
    "DATEADD": lambda family, types, texts: types[0] if types and "DATETIME" in (types[0] or "") else None,
    "ARRAYSUM": listed(total),
    "TRANSFORM": mapped,
    "MAP": paired,
    "TIMESTAMPTRUNC": started,
    "DATETRUNC": started,
    "TODECIMAL32": exact(9),
    "TODECIMAL64": exact(18),
    "TODECIMAL128": exact(38),
    "ACCURATECASTORNULL": lambda family, types, texts: nullable(stated(family, types, texts)),
    "ASSUMENOTNULL": lambda family, types, texts: bare(types[0]) or None if types else None,
}
"""What ClickHouse's functions give; the common rows hold for the rest."""

CONSTANTS = words(
    "TIMESTAMPTRUNC DATETRUNC TODECIMAL32 TODECIMAL64 TODECIMAL128 CAST JSONEXTRACT ACCURATECASTORNULL NOW64 "
    "TODATETIME64 NEGATE TOFIXEDSTRING CASTTOSTRTYPE"
)
"""Operators whose type depends on the values of constants, too."""
