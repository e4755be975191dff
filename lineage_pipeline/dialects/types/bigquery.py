"""BigQuery: result types of its operators and functions."""

from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule, arithmetic_rule
from lineage_pipeline.dialects.types.common_rules import argument_rule, array_rule, fixed_rule, infer_array, split_names
from lineage_pipeline.dialects.types.families import TypeFamily
from lineage_pipeline.dialects.types.shapes import parse_type_shape

WIDE_DECIMAL = "BIGNUMERIC"
"""The decimal type with more digits."""


def bigquery_argument_name(types: ArgumentTypes, position: int = 0) -> str:
    """Return the name of an argument's type, or an empty text: results have no length and digits."""
    return parse_type_shape(types[position] or "").name if len(types) > position else ""


def bigquery_operator_rule(op: str) -> TypeRule:
    """Build the rule of an operator: BIGNUMERIC wins where nothing is floating."""
    plain = arithmetic_rule(op)

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        names = {bigquery_argument_name(types), bigquery_argument_name(types, 1)}
        if WIDE_DECIMAL in names:
            return family.double if family.double in names else WIDE_DECIMAL if names <= _NUMERIC_TYPES else None
        return plain(family, types, texts)

    return rule


_NUMERIC_TYPES = frozenset({"INT64", "NUMERIC", WIDE_DECIMAL})


def infer_avg(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """AVG: of integers a floating number, else of the same type."""
    name = bigquery_argument_name(types)
    return family.double if name in family.integers else name or None


def infer_same(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """The type of the argument, without its digits."""
    return bigquery_argument_name(types) or None


def infer_round(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """FLOOR, CEIL, ROUND, TRUNC: of integers a floating number, else of the same type."""
    return infer_avg(family, types, texts)


def moment_rule(kind: str) -> TypeRule:
    """Build the rule of a function that returns the moment it is given; a string literal has its own kind."""

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        name = bigquery_argument_name(types)
        return kind if name == family.string else name or None

    return rule


def infer_date_trunc(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """DATE_TRUNC, whose unit comes first."""
    return moment_rule("DATE")(family, types[1:], texts)


def infer_extract(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """EXTRACT: an integer, but for the date and the time of a moment."""
    unit = texts[0].upper() if texts else ""
    return unit if unit in ("DATE", "TIME", "DATETIME") else family.integer


def infer_string_or_bytes(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str:
    """A function that takes strings or bytes, and returns the same."""
    return family.binary if bigquery_argument_name(types) == family.binary else family.string


def infer_array_of_strings(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A function that returns an array of the strings or bytes it takes."""
    return family.array(infer_string_or_bytes(family, types, texts))


def infer_json_part(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str:
    """A part of a document: a document of one, a string of a string."""
    name = bigquery_argument_name(types)
    return "JSON" if name == "JSON" else family.string


def infer_json_parts(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """An array of parts of a document."""
    return family.array(infer_json_part(family, types, texts))


def infer_approx_top_count(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """APPROX_TOP_COUNT: values, each with a number."""
    kind = bigquery_argument_name(types)
    return family.array(family.struct([("value", kind), ("count", family.integer)])) if kind else None


def infer_approx_top_sum(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """APPROX_TOP_SUM: values, each with a total."""
    kind, weight = bigquery_argument_name(types), bigquery_argument_name(types, 1)
    return family.array(family.struct([("value", kind), ("sum", weight)])) if kind and weight else None


def infer_approx_quantiles(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """APPROX_QUANTILES: an array of its argument."""
    return array_rule(0)(family, (bigquery_argument_name(types) or None,), texts)


def infer_safe_divide(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """SAFE_DIVIDE: the type of a quotient."""
    return bigquery_operator_rule("DIV")(family, types, texts)


def infer_unnest(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """UNNEST: an element of an array."""
    shape = parse_type_shape(types[0] or "") if types else parse_type_shape("")
    return shape.members[0][1] if shape.name == "ARRAY" and shape.members else None


FIXED_TYPES: dict[str, str] = {
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
"""Types, and the functions that always return them."""

BIGQUERY_RULES: dict[str, TypeRule] = {
    **{op: fixed_rule(kind) for kind, names in FIXED_TYPES.items() for op in names.split()},
    **{op: bigquery_operator_rule(op) for op in ("ADD", "SUB", "MUL", "DIV", "MOD")},
    **{
        f"SAFE{name}": bigquery_operator_rule(op)
        for name, op in (("ADD", "ADD"), ("SUBTRACT", "SUB"), ("MULTIPLY", "MUL"))
    },
    **dict.fromkeys(split_names("SUM SAFENEGATE ABS SIGN"), infer_same),
    **dict.fromkeys(split_names("FLOOR CEIL ROUND TRUNC"), infer_round),
    **dict.fromkeys(split_names("DATEADD DATESUB TSORDSADD"), moment_rule("DATE")),
    **dict.fromkeys(split_names("TIMESTAMPTRUNC TIMESTAMPADD TIMESTAMPSUB"), moment_rule("TIMESTAMP")),
    **dict.fromkeys(split_names("DATETIMETRUNC DATETIMEADD DATETIMESUB"), moment_rule("DATETIME")),
    **dict.fromkeys(
        split_names("UPPER LOWER TRIM LEFT RIGHT SUBSTRING REVERSE REPLACE REPEAT PAD REGEXPEXTRACT"),
        infer_string_or_bytes,
    ),
    **dict.fromkeys(split_names("REGEXPREPLACE"), infer_string_or_bytes),
    **dict.fromkeys(split_names("SPLIT REGEXPEXTRACTALL"), infer_array_of_strings),
    **dict.fromkeys(split_names("JSONEXTRACT JSON_QUERY"), infer_json_part),
    **dict.fromkeys(split_names("JSONEXTRACTARRAY JSON_QUERY_ARRAY"), infer_json_parts),
    **dict.fromkeys(
        split_names("ARRAYCONCAT ARRAYCONCATAGG ARRAYREVERSE ARRAYSLICE SAFEFUNC NETFUNC COLLATE"), argument_rule(0)
    ),
    **dict.fromkeys(split_names("GENERATESERIES"), lambda family, types, texts: infer_array(family, types[:2], ())),
    "APPROXQUANTILES": infer_approx_quantiles,
    "APPROXTOPK": infer_approx_top_count,
    "APPROXTOPSUM": infer_approx_top_sum,
    "AVG": infer_avg,
    "DATETRUNC": infer_date_trunc,
    "EXTRACT": infer_extract,
    "SAFEDIVIDE": infer_safe_divide,
    "UNNEST": infer_unnest,
    "EXPLODE": infer_unnest,
}
"""Rules of BigQuery's functions; the common rules hold for the rest."""
