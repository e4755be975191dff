"""BigQuery: what its functions give, as rows and the few functions behind them."""

from lineage_pipeline.dialects.typing.arithmetic import Rule, Texts, Types, arithmetic
from lineage_pipeline.dialects.typing.family import Family
from lineage_pipeline.dialects.typing.results import argument, array, array_of, exactly, words
from lineage_pipeline.dialects.typing.shapes import shape_of

WIDE = "BIGNUMERIC"
"""A decimal of more digits than the family's own."""


def name_of(types: Types, position: int = 0) -> str:
    """The name of the type of an argument, or nothing: a result has no lengths and digits."""
    return shape_of(types[position] or "").name if len(types) > position else ""


def operator(op: str) -> Rule:
    """An operator: where a decimal of more digits takes part and nothing is floating, it decides."""
    plain = arithmetic(op)

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        names = {name_of(types), name_of(types, 1)}
        if WIDE in names:
            return family.double if family.double in names else WIDE if names <= _NUMBERS else None
        return plain(family, types, texts)

    return rule


_NUMBERS = frozenset({"INT64", "NUMERIC", WIDE})


def average(family: Family, types: Types, texts: Texts) -> str | None:
    """AVG: of integers a floating number, else of the same type."""
    name = name_of(types)
    return family.double if name in family.integers else name or None


def same(family: Family, types: Types, texts: Texts) -> str | None:
    """The type of the argument, without its digits."""
    return name_of(types) or None


def rounded(family: Family, types: Types, texts: Texts) -> str | None:
    """FLOOR, CEIL, ROUND, TRUNC: of integers a floating number, else of the same type."""
    return average(family, types, texts)


def moved(kind: str) -> Rule:
    """A function of moments that gives what it is given; a string that is written out is of its own kind."""

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        name = name_of(types)
        return kind if name == family.string else name or None

    return rule


def truncated(family: Family, types: Types, texts: Texts) -> str | None:
    """DATE_TRUNC, whose unit comes first."""
    return moved("DATE")(family, types[1:], texts)


def extracted(family: Family, types: Types, texts: Texts) -> str | None:
    """EXTRACT: a number, but for the date and the time of a moment."""
    unit = texts[0].upper() if texts else ""
    return unit if unit in ("DATE", "TIME", "DATETIME") else family.integer


def strings(family: Family, types: Types, texts: Texts) -> str:
    """A function that takes strings and bytes, and gives which it takes."""
    return family.binary if name_of(types) == family.binary else family.string


def many_strings(family: Family, types: Types, texts: Texts) -> str | None:
    """A function that gives an array of the strings or bytes that it takes."""
    return family.array(strings(family, types, texts))


def document(family: Family, types: Types, texts: Texts) -> str:
    """A part of a document: a document of one, a string of a string."""
    name = name_of(types)
    return "JSON" if name == "JSON" else family.string


def documents(family: Family, types: Types, texts: Texts) -> str | None:
    """An array of parts of a document."""
    return family.array(document(family, types, texts))


def ranked(family: Family, types: Types, texts: Texts) -> str | None:
    """APPROX_TOP_COUNT: values, each with a number."""
    kind = name_of(types)
    return family.array(family.struct([("value", kind), ("count", family.integer)])) if kind else None


def summed(family: Family, types: Types, texts: Texts) -> str | None:
    """APPROX_TOP_SUM: values, each with a total."""
    kind, weight = name_of(types), name_of(types, 1)
    return family.array(family.struct([("value", kind), ("sum", weight)])) if kind and weight else None


def quantiles(family: Family, types: Types, texts: Texts) -> str | None:
    """APPROX_QUANTILES: an array of what it is given."""
    return array_of(0)(family, (name_of(types) or None,), texts)


def divided(family: Family, types: Types, texts: Texts) -> str | None:
    """SAFE_DIVIDE: what a quotient is."""
    return operator("DIV")(family, types, texts)


def unnested(family: Family, types: Types, texts: Texts) -> str | None:
    """UNNEST: an element of an array."""
    shape = shape_of(types[0] or "") if types else shape_of("")
    return shape.members[0][1] if shape.name == "ARRAY" and shape.members else None


ALWAYS: dict[str, str] = {
    "INT64": "DATEDIFF TIMEDIFF JUSTIFY HLL_COUNT.MERGE HLL_COUNT.EXTRACT GROUPING UNIXSECONDS",
    "FLOAT64": "IEEE_DIVIDE STDISTANCE ST_DISTANCE ST_AREA ST_LENGTH ST_X ST_Y COSINEDISTANCE",
    "STRING": "REGEXP_SUBSTR JSONFORMAT SESSIONUSER",
    "BYTES": "HLL_COUNT.INIT HLL_COUNT.MERGE_PARTIAL",
    "JSON": "JSONFORMAT:to_json JSON_SET JSON_REMOVE JSONSTRIPNULLS JSON_STRIP_NULLS JSON_ARRAY_APPEND",
    "DATETIME": "TSORDSTODATETIME PARSEDATETIME",
    "TIMESTAMP": "TSORDSTOTIMESTAMP TIMESTAMP",
    "GEOGRAPHY": "ST_GEOGPOINT ST_GEOGFROMTEXT ST_CENTROID ST_UNION ST_BUFFER ST_INTERSECTION",
    "ARRAY<INT64>": "TOCODEPOINTS",
    "ARRAY<STRING>": "JSONVALUEARRAY JSON_VALUE_ARRAY",
    "ARRAY<DATE>": "GENERATEDATEARRAY",
    "ARRAY<TIMESTAMP>": "GENERATETIMESTAMPARRAY",
}
"""Types, and the functions that always give them."""

ROWS: dict[str, Rule] = {
    **{op: exactly(kind) for kind, names in ALWAYS.items() for op in names.split()},
    **{op: operator(op) for op in ("ADD", "SUB", "MUL", "DIV", "MOD")},
    **{f"SAFE{name}": operator(op) for name, op in (("ADD", "ADD"), ("SUBTRACT", "SUB"), ("MULTIPLY", "MUL"))},
    **dict.fromkeys(words("SUM SAFENEGATE ABS SIGN"), same),
    **dict.fromkeys(words("FLOOR CEIL ROUND TRUNC"), rounded),
    **dict.fromkeys(words("DATEADD DATESUB TSORDSADD"), moved("DATE")),
    **dict.fromkeys(words("TIMESTAMPTRUNC TIMESTAMPADD TIMESTAMPSUB"), moved("TIMESTAMP")),
    **dict.fromkeys(words("DATETIMETRUNC DATETIMEADD DATETIMESUB"), moved("DATETIME")),
    **dict.fromkeys(words("UPPER LOWER TRIM LEFT RIGHT SUBSTRING REVERSE REPLACE REPEAT PAD REGEXPEXTRACT"), strings),
    **dict.fromkeys(words("REGEXPREPLACE"), strings),
    **dict.fromkeys(words("SPLIT REGEXPEXTRACTALL"), many_strings),
    **dict.fromkeys(words("JSONEXTRACT JSON_QUERY"), document),
    **dict.fromkeys(words("JSONEXTRACTARRAY JSON_QUERY_ARRAY"), documents),
    **dict.fromkeys(words("ARRAYCONCAT ARRAYCONCATAGG ARRAYREVERSE ARRAYSLICE SAFEFUNC NETFUNC COLLATE"), argument(0)),
    **dict.fromkeys(words("GENERATESERIES"), lambda family, types, texts: array(family, types[:2], ())),
    "APPROXQUANTILES": quantiles,
    "APPROXTOPK": ranked,
    "APPROXTOPSUM": summed,
    "AVG": average,
    "DATETRUNC": truncated,
    "EXTRACT": extracted,
    "SAFEDIVIDE": divided,
    "UNNEST": unnested,
    "EXPLODE": unnested,
}
"""What BigQuery's functions give; the common rows hold for the rest."""
