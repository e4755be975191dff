"""Redshift: result types of its functions."""

from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule
from lineage_pipeline.dialects.types.common_rules import (
    argument_rule,
    argument_type_name,
    fixed_rule,
    fixed_rules,
    infer_same_decimal,
    split_names,
    sum_rule,
)
from lineage_pipeline.dialects.types.families import TypeFamily
from lineage_pipeline.dialects.types.shapes import parse_type_shape


def infer_redshift_moment(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """DATEADD and DATE_TRUNC of Redshift: a date becomes a moment."""
    name = argument_type_name(types)
    return family.timestamp if name == family.date or name in family.strings else types[0] if types else None


def infer_redshift_avg(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """AVG of Redshift: of integers a long one, of decimals as many digits as there can be."""
    return sum_rule(38, family.bigint)(family, types, texts)


def infer_redshift_median(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """MEDIAN and PERCENTILE_CONT of Redshift: exact numbers are decimals, floating ones and moments stay."""
    shape = parse_type_shape(types[0] or "") if types else parse_type_shape("")
    if shape.name == family.decimal or shape.name in family.integers:
        return types[0] if shape.name == family.decimal else family.decimal
    return family.double if shape.name == family.real else shape.name or None


REDSHIFT_RULES: dict[str, TypeRule] = {
    **fixed_rules(
        {
            "INTEGER": "EXTRACT GROUPING STRPOSITION LENGTH ASCII REGEXPCOUNT REGEXPINSTR DATE_CMP JSON_ARRAY_LENGTH",
            "BIGINT": "DATEDIFF TSORDSDIFF TIMESTAMPDIFF COUNT FNV_HASH STRTOL FARMFINGERPRINT",
            "VARCHAR": (
                "JSONEXTRACTSCALAR JSON_EXTRACT_PATH_TEXT JSON_EXTRACT_ARRAY_ELEMENT_TEXT QUOTE_IDENT QUOTE_LITERAL "
                "REGEXPEXTRACT REGEXPREPLACE REPLACE PAD TOCHAR TIMETOSTR CURRENTDATABASE INITCAP REVERSE SPLITPART "
                "REGEXP_SUBSTR FUNC_SHA1 TRANSLATE"
            ),
            "BOOLEAN": "IS_VALID_JSON IS_VALID_JSON_ARRAY PG_TABLE_IS_VISIBLE HAS_TABLE_PRIVILEGE",
            "DATE": "LASTDAY TO_DATE CURRENTDATE STRTODATE",
            "TIMESTAMP": "CURRENTTIMESTAMP SYSDATE GETDATE TO_TIMESTAMP CONVERTTIMEZONE",
            "DOUBLE PRECISION": "STDDEV STDDEVPOP STDDEVSAMP VARIANCE VARIANCEPOP SQRT POW EXP LN LOG MONTHSBETWEEN",
        }
    ),
    **dict.fromkeys(split_names("TSORDSADD DATEADD TIMESTAMPTRUNC DATETRUNC ADDMONTHS"), infer_redshift_moment),
    **dict.fromkeys(split_names("FLOOR CEIL ROUND"), infer_same_decimal),
    "TRUNC": lambda family, types, texts: (
        family.date if argument_type_name(types).startswith("TIMESTAMP") else infer_same_decimal(family, types, texts)
    ),
    "SUM": sum_rule(38, "BIGINT"),
    "AVG": infer_redshift_avg,
    "MEDIAN": infer_redshift_median,
    "PERCENTILECONT": lambda family, types, texts: None,
    "WITHINGROUP": lambda family, types, texts: types[0] or infer_redshift_median(family, types[1:], texts),
    "SIGN": lambda family, types, texts: (
        family.numeric(1, 0) if argument_type_name(types) == family.decimal else argument_rule(0)(family, types, texts)
    ),
    "TIMEZONE": lambda family, types, texts: (
        family.timestamp if argument_type_name(types, 1) == family.zoned else family.zoned
    ),
    "PARSEJSON": fixed_rule("SUPER"),
}
