"""Oracle: result types of its operators and functions."""

from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule
from lineage_pipeline.dialects.types.common_rules import argument_rule, argument_type_name, fixed_rules, split_names
from lineage_pipeline.dialects.types.families import TypeFamily


def oracle_operator_rule(op: str) -> TypeRule:
    """An operator of Oracle: numbers have any number of digits, and a day is the unit of dates."""

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        left, right = argument_type_name(types), argument_type_name(types, 1)
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


def infer_oracle_number(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A number of Oracle: floating where its argument is, else with any number of digits."""
    name = argument_type_name(types)
    return name if name in (family.real, family.double) else family.decimal if name else None


def infer_oracle_trunc(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """TRUNC and ROUND: a date of dates and moments, a number of numbers."""
    name = argument_type_name(types)
    return (
        family.date
        if name == family.date or name.startswith("TIMESTAMP")
        else infer_oracle_number(family, types, texts)
    )


def infer_oracle_string(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A function of strings: a long one where an argument is."""
    names = {argument_type_name(types, at) for at in range(len(types))}
    return next((name for name in ("NCLOB", "CLOB") if name in names), family.string)


ORACLE_RULES: dict[str, TypeRule] = {
    **fixed_rules(
        {
            "NUMBER": (
                "AVG SUM COUNT EXTRACT TONUMBER TO_NUMBER LENGTH STRPOSITION INSTR ASCII BITAND MONTHSBETWEEN MEDIAN "
                "RATIO_TO_REPORT ROWNUMBER RANK DENSERANK NTILE CUMEDIST PERCENTRANK SIGN ORA_HASH ROWNUM LEVEL "
                "REGEXPCOUNT REGEXPINSTR WIDTHBUCKET UID SQLCODE STDDEV STDDEVPOP STDDEVSAMP VARIANCE VARIANCEPOP"
            ),
            "VARCHAR2": (
                "TOCHAR TO_CHAR TIMETOSTR TRANSLATE GROUPCONCAT LISTAGG CHR RAWTOHEX SYS_CONTEXT USERENV JSONVALUE "
                "JSON_VALUE SYS_CONNECT_BY_PATH CURRENTUSER SESSIONUSER USER DUMP SQLERRM"
            ),
            "NVARCHAR2": "UNISTR TO_NCHAR",
            "DATE": "STRTODATE LASTDAY NEXTDAY CURRENTDATE SYSDATE CURRENTTIMESTAMP:sysdate ADDMONTHS",
            "TIMESTAMP": "TO_TIMESTAMP STRTOTIME LOCALTIMESTAMP",
            "TIMESTAMP WITH TIME ZONE": "SYSTIMESTAMP CURRENTTIMESTAMP TO_TIMESTAMP_TZ FROM_TZ",
            "INTERVAL YEAR TO MONTH": "TO_YMINTERVAL NUMTOYMINTERVAL",
            "INTERVAL DAY TO SECOND": "TO_DSINTERVAL NUMTODSINTERVAL",
            "RAW(16)": "SYS_GUID",
            "RAW": "HEXTORAW STANDARDHASH STANDARD_HASH UTL_RAW.CAST_TO_RAW UTL_RAW.SUBSTR UTL_RAW.CONCAT",
            "CLOB": "TO_CLOB EMPTY_CLOB XMLSERIALIZE",
            "BLOB": "TO_BLOB EMPTY_BLOB",
        }
    ),
    **{op: oracle_operator_rule(op) for op in ("ADD", "SUB", "MUL", "DIV", "MOD")},
    **dict.fromkeys(split_names("FLOOR CEIL ABS POW SQRT EXP LN LOG NEG"), infer_oracle_number),
    **dict.fromkeys(split_names("TRUNC ROUND TIMESTAMPTRUNC"), infer_oracle_trunc),
    **dict.fromkeys(
        split_names(
            "CONCAT DPIPE REPLACE REGEXPREPLACE REGEXPSUBSTR REGEXPEXTRACT PAD INITCAP SUBSTRING LEFT RIGHT REVERSE"
        ),
        infer_oracle_string,
    ),
    "NVL": argument_rule(0),
}
