"""MySQL: result types of its operators and functions."""

from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule, arithmetic_rule
from lineage_pipeline.dialects.types.coercion import is_numeric_type, type_digits
from lineage_pipeline.dialects.types.common_rules import (
    argument_rule,
    argument_type_name,
    date_shift_rule,
    fixed_rules,
    split_names,
    sum_rule,
)
from lineage_pipeline.dialects.types.decimals import integer_literal_digits, mysql_digits
from lineage_pipeline.dialects.types.families import TypeFamily
from lineage_pipeline.dialects.types.shapes import parse_type_shape


def mysql_operator_rule(op: str) -> TypeRule:
    """An operator of MySQL: integers become long ones, quotients are decimals."""
    plain = arithmetic_rule(op)

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        names = [argument_type_name(types), argument_type_name(types, 1)]
        whole = [name in family.integers or name in family.unsigned for name in names]
        if family.date in names and not any(name.startswith("INTERVAL") for name in names):
            return family.bigint if all(names) else None  # a date is a number of eight digits there
        if all(whole) and op == "DIV":
            sides = [integer_literal_digits(text) for text in (*texts, "", "")[:2]]
            full = [type_digits(parse_type_shape(kind or ""), family) or (0, 0) for kind in types]
            return family.numeric(*mysql_digits("DIV", sides[0] or full[0], sides[1] or full[1]))
        if all(whole):
            return "BIGINT UNSIGNED" if any(name in family.unsigned for name in names) else family.bigint
        if family.real in names and all(is_numeric_type(parse_type_shape(kind or ""), family) for kind in types):
            return family.double
        return plain(family, types, texts)

    return rule


def infer_mysql_avg(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """AVG of MySQL: four digits more."""
    digits = type_digits(parse_type_shape(types[0] or ""), family) if types else None
    if digits is None:
        return family.double if argument_type_name(types) else None
    return family.numeric(digits[0] + 4, digits[1] + 4)


def infer_mysql_floor(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """FLOOR and CEIL of MySQL: a long integer where the number is exact and no longer than one."""
    digits = type_digits(parse_type_shape(types[0] or ""), family) if types else None
    if digits is None:
        return family.double if argument_type_name(types) else None
    return family.bigint if digits[0] < 17 else family.numeric(digits[0] - digits[1], 0)


def infer_mysql_round(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """ROUND of MySQL: integers are long ones, decimals keep as many digits behind the point as are asked for."""
    shape = parse_type_shape(types[0] or "") if types else parse_type_shape("")
    digits = type_digits(shape, family)
    if digits is None:
        return family.double if shape.name else None
    if shape.name != family.decimal:
        return family.bigint
    asked = texts[1] if len(texts) > 1 else "0"
    return family.numeric(digits[0], min(parse_whole_number(asked), digits[1])) if asked.isdigit() else types[0]


MYSQL_RULES: dict[str, TypeRule] = {
    **fixed_rules(
        {
            "INT": "DATEDIFF LENGTH STRPOSITION FIND_IN_SET YEAR MONTH DAY DAYOFMONTH ROW_COUNT ASCII SIGN FIELD",
            "BIGINT": "EXTRACT INTDIV TIMESTAMPDIFF UNIX_TIMESTAMP CRC32 ROW_COUNT TOUNIX COUNT STRTOUNIX INET_ATON",
            "BIGINT UNSIGNED": (
                "CONNECTION_ID LAST_INSERT_ID FOUND_ROWS BITWISEAND BITWISEOR BITWISEXOR BITWISENOT BITWISEANDAGG "
                "BITWISEORAGG BITWISEXORAGG BITWISELEFTSHIFT BITWISERIGHTSHIFT ROWNUMBER RANK DENSERANK NTILE"
            ),
            "DATETIME": "NOW SYSDATE TSORDSTOTIMESTAMP CURRENTTIMESTAMP LOCALTIMESTAMP LOCALTIME UNIXTOTIME TIMESTAMP",
            "VARCHAR": "QUOTE JSON_UNQUOTE PAD REGEXPREPLACE REGEXPSUBSTR USER DATABASE CURRENTUSER TIMETOSTR",
            "TEXT": "GROUPCONCAT",
            "LONGTEXT": "JSONEXTRACTSCALAR",
            "DOUBLE": "STDDEV STDDEVPOP STDDEVSAMP VARIANCE VARIANCEPOP RAND SQRT POW EXP LN LOG",
        }
    ),
    **{op: mysql_operator_rule(op) for op in ("ADD", "SUB", "MUL", "DIV", "MOD")},
    **dict.fromkeys(split_names("DATEADD DATESUB TIMESTAMPADD TSORDSADD"), date_shift_rule("DATETIME")),
    **dict.fromkeys(split_names("ADDDATE SUBDATE"), argument_rule(0)),
    **dict.fromkeys(split_names("FLOOR CEIL"), infer_mysql_floor),
    **dict.fromkeys(split_names("ROUND TRUNC"), infer_mysql_round),
    "SUM": sum_rule(22, ""),
    "AVG": infer_mysql_avg,
}
