"""Trino: result types of its functions."""

from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule
from lineage_pipeline.dialects.types.coercion import type_digits
from lineage_pipeline.dialects.types.common_rules import (
    argument_rule,
    argument_type_name,
    array_rule,
    fixed_rules,
    infer_map_agg,
    infer_map_from_arrays,
    infer_split,
    split_names,
    sum_rule,
)
from lineage_pipeline.dialects.types.families import TypeFamily
from lineage_pipeline.dialects.types.shapes import parse_type_shape


def infer_trino_round(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """FLOOR and CEIL of Trino: a decimal without digits behind the point, which may carry one more before it."""
    digits = (
        type_digits(parse_type_shape(types[0] or ""), family)
        if types and argument_type_name(types) == family.decimal
        else None
    )
    if digits is None:
        return types[0] if types else None
    return family.numeric(min(digits[0] - digits[1] + min(digits[1], 1), 38), 0)


def infer_trino_avg(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """AVG of Trino: of decimals and short floating numbers the same type, else a floating number."""
    name = argument_type_name(types)
    return types[0] if name in (family.decimal, family.real) or name.startswith("INTERVAL") else family.double


def infer_trino_string(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A function of texts that takes bytes, too."""
    return family.binary if argument_type_name(types) == family.binary else family.string


def infer_trino_concat(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """CONCAT and `||` of Trino: of arrays an array, of anything else a string."""
    lists = (kind for kind in types if (kind or "").startswith("ARRAY"))
    return next(lists, infer_trino_string(family, types, texts))


TRINO_RULES: dict[str, TypeRule] = {
    **fixed_rules(
        {
            "BIGINT": (
                "EXTRACT DATEDIFF YEAR MONTH DAY WEEK QUARTER HOUR MINUTE SECOND DAYOFWEEK DAYOFWEEKISO DAY_OF_WEEK "
                "DAYOFYEAR DAYOFMONTH COUNT COUNTIF APPROXDISTINCT LENGTH STRPOSITION ARRAYSIZE CARDINALITY ROWNUMBER "
                "RANK DENSERANK NTILE GROUPING"
            ),
            "DOUBLE": "TIMETOUNIX TO_UNIXTIME STDDEV VARIANCE SQRT POW EXP LN LOG RAND GEOMETRIC_MEAN",
            "VARCHAR": (
                "JSONEXTRACTSCALAR JSON_EXTRACT_SCALAR JSON_FORMAT JSONFORMAT SPLITPART REGEXPEXTRACT REGEXPREPLACE "
                "REPLACE FORMAT HEX URL_EXTRACT_HOST URL_EXTRACT_PATH URL_EXTRACT_PARAMETER TIMETOSTR "
                "ARRAYTOSTRING GROUPCONCAT FORMAT_DATETIME"
            ),
            "JSON": "JSONEXTRACT JSON_EXTRACT JSON_PARSE PARSEJSON",
            "VARBINARY": "MD5DIGEST SHA1DIGEST SHA2DIGEST SHA256 SHA512 UNHEX TO_UTF8 FROMBASE64",
            "TIMESTAMP(3)": "DATE_PARSE STRTOTIME LOCALTIMESTAMP",
            "TIMESTAMP(3) WITH TIME ZONE": "NOW CURRENTTIMESTAMP UNIXTOTIME AT_TIMEZONE",
        }
    ),
    **dict.fromkeys(split_names("CONCAT DPIPE"), infer_trino_concat),
    **dict.fromkeys(split_names("PAD SUBSTRING REVERSE TRIM"), infer_trino_string),
    "TRANSFORM": lambda family, types, texts: family.array(types[-1]) if types and types[-1] else None,
    "REDUCE": lambda family, types, texts: types[-1] if types else None,
    "HISTOGRAM": lambda family, types, texts: family.map(types[0], family.bigint) if types and types[0] else None,
    **dict.fromkeys(
        split_names("DATEADD DATESUB TIMESTAMPTRUNC DATETRUNC TIMESTAMPADD ARRAYDISTINCT"), argument_rule(0)
    ),
    **dict.fromkeys(split_names("FLOOR CEIL"), infer_trino_round),
    **dict.fromkeys(split_names("SPLIT REGEXPEXTRACTALL"), infer_split),
    **dict.fromkeys(split_names("MAP_AGG MAPAGG"), infer_map_agg),
    "GENERATESERIES": array_rule(0),
    "MAP": infer_map_from_arrays,
    "SUM": sum_rule(38, "BIGINT", "REAL"),
    "AVG": infer_trino_avg,
}
