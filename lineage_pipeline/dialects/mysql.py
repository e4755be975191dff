"""MySQL: two-part names, updates of joined tables, stored programs, the mysql client, types and signs."""

import re

from lineage_pipeline.dialects.client_commands import COMMAND_KINDS, ClientCommands
from lineage_pipeline.dialects.dialect import TWO_PARTS, DialectTraits, UnaliasedNaming
from lineage_pipeline.dialects.identifier_folding import IdentifierFolding
from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.procedural_languages import ProceduralLanguage
from lineage_pipeline.dialects.signs import (
    BACKTICKS,
    GROUP_CONCAT,
    IFNULL,
    LIMIT_PAIR,
    build_driver_sign,
    build_sign,
)
from lineage_pipeline.dialects.system_catalogs import STANDARD_SCHEMAS, SystemCatalog
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
from lineage_pipeline.dialects.types.decimals import Digits, integer_literal_digits
from lineage_pipeline.dialects.types.families import UNPARAMETERIZED_TYPES, TypeFamily
from lineage_pipeline.dialects.types.shapes import parse_type_shape
from lineage_pipeline.dialects.types.type_rules import TypeRules

# ── result types of operators and functions ───────────────────────────────────────────────────────────────────────────


def mysql_digits(op: str, left: Digits, right: Digits) -> Digits:
    """The digits of an operation in MySQL: a quotient has four more behind the point than what is divided."""
    scale, whole = max(left[1], right[1]), max(left[0] - left[1], right[0] - right[1])
    if op in ("ADD", "SUB"):
        return min(whole + scale + 1, 65), scale
    if op == "MUL":
        return min(left[0] + right[0], 65), min(left[1] + right[1], 30)
    if op == "DIV":
        scale = min(left[1] + 4, 30)
        return min(left[0] + right[1] + 4, 65), scale
    return min(whole + scale, 65), scale


def mysql_operator_rule(op: str) -> TypeRule:
    """An operator of MySQL: integers become long ones, quotients are decimals."""
    plain = arithmetic_rule(op)

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        names = [argument_type_name(types), argument_type_name(types, 1)]
        whole = [name in family.integers or name in family.unsigned for name in names]
        spans = [name.startswith("INTERVAL") for name in names]
        moved = types[spans.index(False)] if any(spans) and not all(spans) else None
        if moved is not None and moved.endswith(")") and op in ("ADD", "SUB"):  # as in DATE_ADD
            return moved
        if family.date in names and not any(spans):
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


def infer_mysql_time(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """TIME of MySQL: the part of a moment keeps its digits."""
    _, bracket, digits = (types[0] or "").partition("(") if types else ("", "", "")
    return f"TIME{bracket}{digits}" if argument_type_name(types) in (family.timestamp, family.zoned) else "TIME"


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


DOCUMENTED_TYPES: dict[str, str] = {
    "VARCHAR": "REVERSE CONV BIN OCT SOUNDEX EXPORT_SET",
    "TIME": "TIMEDIFF SEC_TO_TIME",
    "DATE": "MAKEDATE",
    "JSON": "JSON_ARRAY JSON_ARRAYAGG JSON_OBJECTAGG JSON_MERGE_PATCH JSON_MERGE_PRESERVE JSON_SEARCH",
    "INT": "JSON_LENGTH JSON_DEPTH JSON_CONTAINS JSON_VALID WEEKDAY YEARWEEK STRCMP MICROSECOND",
    "BIGINT": "TIME_TO_SEC PERIOD_DIFF",
}
"""Types, and the functions whose manual says that they always return them; the rules below come first."""

MYSQL_RULES: dict[str, TypeRule] = {
    **fixed_rules(DOCUMENTED_TYPES),
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
            "DOUBLE": "STDDEV STDDEVPOP STDDEVSAMP VARIANCE VARIANCEPOP RAND SQRT POW EXP LN LOG MEDIAN",
        }
    ),
    **{op: mysql_operator_rule(op) for op in ("ADD", "SUB", "MUL", "DIV", "MOD")},
    **dict.fromkeys(split_names("DATEADD DATESUB TIMESTAMPADD TSORDSADD"), date_shift_rule("DATETIME")),
    **dict.fromkeys(split_names("ADDDATE SUBDATE"), argument_rule(0)),
    **dict.fromkeys(split_names("FLOOR CEIL"), infer_mysql_floor),
    **dict.fromkeys(split_names("ROUND TRUNC"), infer_mysql_round),
    "SUM": sum_rule(22, ""),
    "AVG": infer_mysql_avg,
    "TIME": infer_mysql_time,
}


# ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

MYSQL_TYPES = TypeFamily(
    name="mysql",
    integers=("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT"),
    digits=(3, 5, 7, 10, 19),
    integer="INT",
    bigint="BIGINT",
    decimal="DECIMAL",
    real="FLOAT",
    double="DOUBLE",
    string="VARCHAR",
    boolean="BOOLEAN",
    binary="VARBINARY",
    timestamp="DATETIME",
    zoned="TIMESTAMP",
    aliases={"INTEGER": "INT", "NUMERIC": "DECIMAL", "DOUBLE PRECISION": "DOUBLE"},
    cap=65,
    strings=("CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT"),
    literal="VARCHAR({})",
    unsigned={
        **{"TINYINT UNSIGNED": 3, "SMALLINT UNSIGNED": 5, "MEDIUMINT UNSIGNED": 7, "INT UNSIGNED": 10},
        "BIGINT UNSIGNED": 20,
    },
    whole_days=True,
    results=UNPARAMETERIZED_TYPES,
    compute_digits=mysql_digits,
    decimal_quotients=True,
    literal_digits=True,
)


# ── the dialect ───────────────────────────────────────────────────────────────────────────────────────────────────────

MYSQL_PROGRAMS = ProceduralLanguage(
    "MySQL",
    marks=frozenset({"DO"}),
    opens=frozenset(
        "BEGIN SELECT INSERT UPDATE DELETE REPLACE SET CALL IF CASE LOOP WHILE REPEAT FOR RETURN WITH EXECUTE SIGNAL "
        "TRUNCATE".split()
    ),
    variable_first=True,
)


MYSQL = DialectTraits(
    name="mysql",
    family="mysql",
    tables=IdentifierFolding.EXACT,
    naming=UnaliasedNaming.VALUE,
    dotted_members=False,
    parts=TWO_PARTS,
    alias_in_having=True,
    row_names="column_{0}",
    dual=True,
    query_adds_columns=True,
    merges_by_table=True,
    executable_comments=True,
    keeps_not_null=True,
    fixes_views=True,
    updates_joined=True,
    json_documents=True,
    ordinality_type="INT UNSIGNED",
    system_catalog=SystemCatalog(schemas=STANDARD_SCHEMAS | {"performance_schema", "mysql", "sys"}),
    client_commands=ClientCommands(
        re.compile(
            r"(?P<word>(?:delimiter|source|tee|pager|\\[.!a-zA-Z])(?=\s|$)"
            r"|(?:warnings|nowarning|notee|nopager|rehash)(?=\s*;?$))",
            re.IGNORECASE,
        ),
        COMMAND_KINDS,
        anywhere=frozenset({"delimiter"}),
    ),
    procedural=MYSQL_PROGRAMS,
    types=MYSQL_TYPES,
    type_rules=TypeRules(functions=MYSQL_RULES, constants=split_names("DATEADD DATESUB TIMESTAMPADD TSORDSADD TRUNC")),
    signs=(
        build_sign("ENGINE=InnoDB", r"\bENGINE\s*=\s*(?:InnoDB|MyISAM|MEMORY|ARCHIVE|CSV|NDB\w*)\b", 3, "engine&="),
        build_sign("AUTO_INCREMENT", r"\bAUTO_INCREMENT\b", 3, "auto_increment"),
        build_sign("DELIMITER", r"^DELIMITER\s+\S+", 3, "delimiter"),
        build_sign(
            "UNSIGNED or CHARSET",
            r"\bUNSIGNED\b|\bCHARSET\s*=|\bCHARACTER\s+SET\s+utf8|\bSET\s+NAMES\b",
            2,
            "unsigned charset character&set set&names",
        ),
        build_sign("/*! … */ comments", r"/\*!\d{5}", 4, "/*!"),
        build_sign(
            "ON DUPLICATE KEY or INSERT IGNORE",
            r"\bON\s+DUPLICATE\s+KEY\b|\bINSERT\s+IGNORE\b|\bREPLACE\s+INTO\b",
            3,
            "on~duplicate~key insert~ignore replace~into",
        ),
        build_sign(
            "DEFINER or SQL SECURITY",
            r"\bDEFINER\s*=|\bSQL\s+SECURITY\s+(?:DEFINER|INVOKER)\b",
            3,
            "definer&= sql&security",
        ),
        build_sign(
            "SET of server variables",
            r"\bSET\s+(?:FOREIGN_KEY_CHECKS|UNIQUE_CHECKS|SQL_MODE|@OLD_\w+)\s*=",
            3,
            "set&foreign_key_checks set&unique_checks set&sql_mode set&@old_",
        ),
        build_sign(
            "STR_TO_DATE or CURDATE",
            r"\b(?:STR_TO_DATE|CURDATE|UNIX_TIMESTAMP|DATE_FORMAT\s*\([^;]{1,80}?'%)\s*\(?",
            2,
            "str_to_date curdate unix_timestamp date_format&'%",
        ),
        build_sign("source of the mysql client", r"^\s*source\s+\S+\.(?:sql|dump)\b", 3, "source&.sql source&.dump"),
        BACKTICKS,
        IFNULL,
        GROUP_CONCAT,
        LIMIT_PAIR,
    ),
    path_words=frozenset({"mysql", "mariadb"}),
    host_signs=(
        build_driver_sign(
            "MySQL", modules=r"pymysql|MySQLdb|aiomysql|mysql\.connector", operators="MySql", scheme="mysql|mariadb"
        ),
    ),
)
