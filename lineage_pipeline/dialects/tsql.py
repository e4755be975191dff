"""T-SQL: batches, unnamed columns, dbo, server variables, the system catalog, types and signs."""

from collections.abc import Sequence

import msgspec

from lineage_pipeline.dialects.dialect import DialectTraits, UnaliasedNaming
from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.signs import (
    DATE_PARTS_FIRST,
    IDENTITY_COLUMNS,
    SYSTEM_DATE,
    build_driver_sign,
    build_sign,
)
from lineage_pipeline.dialects.system_catalogs import STANDARD_SCHEMAS, SystemCatalog
from lineage_pipeline.dialects.table_functions import TableArgument
from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule, arithmetic_rule
from lineage_pipeline.dialects.types.coercion import common_type, is_numeric_type, type_digits, widen_numbers
from lineage_pipeline.dialects.types.common_rules import (
    argument_rule,
    argument_type_name,
    fixed_rule,
    fixed_rules,
    split_names,
)
from lineage_pipeline.dialects.types.conversions import build_uniform_conversions, is_refused
from lineage_pipeline.dialects.types.decimals import DEFAULT_PRECISION_LIMIT, EXACT_DIGIT_RULES, Digits
from lineage_pipeline.dialects.types.families import TypeFamily, normalize_type
from lineage_pipeline.dialects.types.nullability import NULL_SKIPPING_RULES
from lineage_pipeline.dialects.types.shapes import TypeShape, parse_type_shape
from lineage_pipeline.dialects.types.type_rules import SAME_AS_EXPRESSION, TypeRules

# ── result types of operators and functions ───────────────────────────────────────────────────────────────────────────

MONEY_TYPES = {"MONEY": "DECIMAL(19,4)", "SMALLMONEY": "DECIMAL(10,4)"}
"""Money types, and the decimals they equal."""

TYPE_PRECEDENCE = (
    "SQL_VARIANT XML DATETIMEOFFSET DATETIME2 DATETIME SMALLDATETIME DATE TIME FLOAT REAL DECIMAL MONEY SMALLMONEY "
    "BIGINT INT SMALLINT TINYINT BIT UNIQUEIDENTIFIER NVARCHAR NCHAR VARCHAR CHAR VARBINARY BINARY"
).split()
"""Data type precedence, highest first."""


def combine_tsql_strings(names: Sequence[str]) -> str:
    """The type of combined strings: national where one is, and fixed only where all are."""
    national = any(name[:1] == "N" or name == "SYSNAME" for name in names)
    padded = all(name in ("CHAR", "NCHAR") for name in names)
    return f"{'N' if national else ''}{'' if padded else 'VAR'}CHAR"


def string_size(shape: TypeShape) -> float | None:
    """Return the maximum number of characters of a string type, or None where it does not say."""
    if shape.name == "SYSNAME":
        return 128
    text = shape.parameters[0] if shape.parameters else ""
    return float("inf") if text == "MAX" or shape.name in ("TEXT", "NTEXT") else float(text) if text.isdigit() else None


def _widen_by_precedence(family: TypeFamily, left: TypeShape, right: TypeShape) -> str | None:
    """Two types become the one of higher precedence."""
    known = left.name in TYPE_PRECEDENCE and right.name in TYPE_PRECEDENCE
    if not known or is_refused(left.name, right.name, family.conversions, "unites"):
        return None
    if family.decimal in (left.name, right.name) and (left.name in MONEY_TYPES or right.name in MONEY_TYPES):
        sides = [
            parse_type_shape(MONEY_TYPES[side.name]) if side.name in MONEY_TYPES else side for side in (left, right)
        ]
        return widen_numbers(family, *sides)
    best = min(left, right, key=lambda shape: TYPE_PRECEDENCE.index(shape.name))
    return f"{best.name}({','.join(best.parameters)})" if best.parameters else best.name


def tsql_digits(op: str, left: Digits, right: Digits) -> Digits:
    """The digits of an operation in T-SQL: products and quotients keep six digits behind the point, sums fewer."""
    precision, scale = EXACT_DIGIT_RULES[op](left, right)
    if precision <= DEFAULT_PRECISION_LIMIT:
        return precision, scale
    if op in ("ADD", "SUB"):
        return DEFAULT_PRECISION_LIMIT, max(
            0, min(scale, DEFAULT_PRECISION_LIMIT - max(left[0] - left[1], right[0] - right[1]))
        )
    return DEFAULT_PRECISION_LIMIT, max(DEFAULT_PRECISION_LIMIT - (precision - scale), min(scale, 6))


MAX_LENGTH = float("inf")
MAX_STRING_BYTES = 8000
"""The most bytes of a string without MAX; a national one has half as many characters."""


def _is_long(kind: str | None) -> bool:
    shape = parse_type_shape(kind or "")
    return shape.parameters == ("MAX",) or shape.name in ("TEXT", "NTEXT", "IMAGE", "XML")


def tsql_operator_rule(op: str) -> TypeRule:
    """Build the rule of an operator: the type of higher precedence wins."""
    plain = arithmetic_rule(op)

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        if len(types) != 2 or types[0] is None or types[1] is None:
            return None
        shapes = [parse_type_shape(kind or "") for kind in types]
        if op == "ADD" and all(shape.name in family.strings for shape in shapes):
            return join_string_types(family, types)
        if op == "ADD" and all(shape.name in ("BINARY", "VARBINARY") for shape in shapes):
            return _sized_string(family, "VARBINARY", [string_size(shape) for shape in shapes], MAX_STRING_BYTES)
        if "DATETIME" in (shapes[0].name, shapes[1].name) or "SMALLDATETIME" in (shapes[0].name, shapes[1].name):
            return common_type(types, family)  # a number of days and the time between two are moments, too
        for own_side, other in ((0, 1), (1, 0)):
            kind, beside = types[own_side], shapes[other].name
            if shapes[own_side].name in family.strings and (
                is_numeric_type(shapes[other], family) or beside in MONEY_TYPES
            ):
                return types[other] if beside != family.decimal else None
            if shapes[own_side].name in MONEY_TYPES and beside != family.decimal:
                return common_type(types, family)
            if kind == family.boolean and beside in family.integers:
                return types[other]
        return plain(family, tuple([MONEY_TYPES.get(kind or "", kind) for kind in types]), texts)

    return rule


def join_string_types(family: TypeFamily, types: ArgumentTypes) -> str | None:
    """Concatenated strings: as long as all of them, up to the limit."""
    shapes = [parse_type_shape(kind or "") for kind in types]
    name = combine_tsql_strings([shape.name for shape in shapes])
    return _sized_string(
        family,
        name,
        [string_size(shape) for shape in shapes],
        MAX_STRING_BYTES // 2 if name[0] == "N" else MAX_STRING_BYTES,
    )


def _sized_string(family: TypeFamily, name: str, sizes: list[float | None], most: int) -> str:
    if MAX_LENGTH in sizes:
        return f"{name}(MAX)"
    return f"{name}({min(int(sum(size or 0 for size in sizes)), most)})" if None not in sizes else name


def infer_variable_string(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """UPPER, TRIM and REVERSE: a string of the same length that is not padded."""
    return infer_substring(family, types[:1], ())


def infer_substring(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """LEFT, RIGHT, SUBSTRING: a part of a string, no longer than it and than a length that is written out."""
    shape = parse_type_shape(types[0] or "") if types else parse_type_shape("")
    if shape.name not in family.strings:
        return shape.name if shape.name in ("BINARY", "VARBINARY") else family.string if shape.name else None
    name, size = combine_tsql_strings([shape.name, family.string]), string_size(shape)
    wanted = texts[-1] if len(texts) > 1 else ""
    if size is None:
        return name
    if wanted.isdigit() and parse_whole_number(wanted) > 0:
        size = min(size, parse_whole_number(wanted))
    return f"{name}({'MAX' if size == MAX_LENGTH else int(size)})"


def infer_replace(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """REPLACE and the like: the maximum length of a string."""
    names = [
        argument_type_name(types, at) for at in range(len(types)) if argument_type_name(types, at) in family.strings
    ]
    name = combine_tsql_strings([*names, family.string])
    if types and _is_long(types[0]):
        return f"{name}(MAX)"
    return f"{name}({MAX_STRING_BYTES // 2 if name[0] == 'N' else MAX_STRING_BYTES})"


def infer_stuff(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """STUFF, REPLICATE: a string of which only the kind is known, and whether it has a limit."""
    name = combine_tsql_strings(
        [argument_type_name(types) if argument_type_name(types) in family.strings else family.string, family.string]
    )
    return f"{name}(MAX)" if types and _is_long(types[0]) else name


def infer_concat(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """CONCAT: a string, national where one argument is; how long numbers are as strings is left open."""
    names = [argument_type_name(types, at) for at in range(len(types))]
    if all(name in family.strings for name in names):
        return join_string_types(family, types) if len(types) > 1 else infer_variable_string(family, types, ())
    name = combine_tsql_strings([*(name for name in names if name in family.strings), family.string])
    return f"{name}(MAX)" if any(_is_long(kind) for kind in types) else name


def infer_concat_ws(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """CONCAT_WS: a string whose length is left open."""
    return infer_concat(family, (*types, family.integer), texts)


def infer_string_agg(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """STRING_AGG: as long as a string may be; what is no string becomes a national one."""
    name = argument_type_name(types)
    kind = combine_tsql_strings([name, family.string]) if name in family.strings else "NVARCHAR"
    if types and _is_long(types[0]):
        return f"{kind}(MAX)"
    return f"{kind}({MAX_STRING_BYTES // 2 if kind == 'NVARCHAR' else MAX_STRING_BYTES})" if name else None


def infer_len(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """LEN, DATALENGTH and CHARINDEX: BIGINT for a string with MAX."""
    return family.bigint if types and _is_long(types[0]) else family.integer


def infer_patindex(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """PATINDEX: BIGINT for a string with MAX."""
    return infer_len(family, types[1:], texts)


def infer_convert(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """CONVERT: the type that it names; a string without a length has thirty characters."""
    kind = normalize_type(texts[0].upper(), family) if texts and texts[0] else None
    return family.cast_alone.get(kind, kind) if kind else None


def infer_dateadd(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """DATEADD: the moved type; a string or number becomes a datetime first."""
    shape = parse_type_shape(types[0] or "") if types else parse_type_shape("")
    if not shape.name:
        return None
    return "DATETIME" if shape.name in family.strings or is_numeric_type(shape, family) else types[0]


def infer_datetrunc(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """DATETRUNC: what is cut; a string is a moment first."""
    kind = infer_dateadd(family, types, texts)
    return "DATETIME2(7)" if kind == "DATETIME" and argument_type_name(types) != "DATETIME" else kind


def infer_floor(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """FLOOR and CEILING: a decimal loses the digits behind the point."""
    digits = (
        type_digits(parse_type_shape(types[0] or ""), family)
        if types and argument_type_name(types) == family.decimal
        else None
    )
    return family.numeric(digits[0], 0) if digits is not None else infer_same_number(family, types, texts)


def infer_same_number(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """ABS, ROUND, SIGN: the same type; short integers become integers, other values floating numbers."""
    name = argument_type_name(types)
    if name in family.integers:
        return family.bigint if name == family.bigint else family.integer
    if name in MONEY_TYPES:
        return "MONEY"
    return types[0] if name == family.decimal else family.double if name else None


def infer_power(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """POWER: the type of the base, a decimal as long as it can be."""
    digits = (
        type_digits(parse_type_shape(types[0] or ""), family)
        if types and argument_type_name(types) == family.decimal
        else None
    )
    return family.numeric(38, digits[1]) if digits is not None else infer_same_number(family, types[:1], texts)


def infer_sum(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """SUM: short integers become integers, decimals as long as they can be."""
    name = argument_type_name(types)
    if name in MONEY_TYPES:
        return "MONEY"
    digits = type_digits(parse_type_shape(types[0] or ""), family) if types and name == family.decimal else None
    return family.numeric(38, digits[1]) if digits is not None else infer_same_number(family, types, texts)


def infer_avg(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """AVG: of integers an integer, of decimals at least six digits behind the point."""
    digits = (
        type_digits(parse_type_shape(types[0] or ""), family)
        if types and argument_type_name(types) == family.decimal
        else None
    )
    return family.numeric(38, max(digits[1], 6)) if digits is not None else infer_sum(family, types, texts)


def infer_choose(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """CHOOSE: the least type that holds all values behind the number."""
    return common_type(types[1:], family)


def infer_format(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """FORMAT, or DATENAME, which the parser gives a moment that it has converted."""
    return (
        "NVARCHAR(30)" if types and types[0] == "DATETIME2" and texts[-1:] in _DATE_NAME_FORMATS else "NVARCHAR(4000)"
    )


_DATE_NAME_FORMATS = [(f"'%{letter}'",) for letter in ("B", "A", "Y", "m", "d", "H", "M", "S", "j", "W", "f", "Q")]


def infer_str(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """STR: ten characters unless it says how many."""
    return f"VARCHAR({texts[1] if len(texts) > 1 and texts[1].isdigit() else 10})"


def infer_national_literal(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """N'…': a national string as long as it is written."""
    return f"NVARCHAR({min(max(len(texts[0][1:-1]), 1), MAX_STRING_BYTES // 2)})" if texts else "NVARCHAR"


def infer_xml_value(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """XML's value(): the type that it names."""
    return normalize_type(texts[-1].strip("'").upper(), family) if texts and texts[-1] else None


def infer_bit_operation(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """An operation on the bits of numbers."""
    numbers = [kind for kind in types if kind != family.boolean]
    return common_type(numbers, family) if numbers else family.boolean


FIXED_TYPES: dict[str, str] = {
    "INT": (
        "ASCII BINARY_CHECKSUM CHECKSUM CHECKSUM_AGG COLUMNPROPERTY DATABASE_PRINCIPAL_ID DATEDIFF DATEPART DAY DB_ID "
        "DIFFERENCE ERROR_LINE ERROR_NUMBER ERROR_SEVERITY ERROR_STATE EXTRACT FILEPROPERTY GETANSINULL GROUPINGID "
        "HAS_PERMS_BY_NAME INDEXPROPERTY ISDATE ISJSON ISNUMERIC IS_MEMBER IS_SRVROLEMEMBER MONTH OBJECTID OBJECT_ID "
        "OBJECTPROPERTY SCHEMA_ID SUSER_ID TYPE_ID TYPEPROPERTY UNICODE USER_ID YEAR DAYOFMONTH DAY_OF_MONTH"
    ),
    "BIGINT": "COUNT_BIG COUNT:big_int DATEDIFF:big_int DATEDIFF_BIG ROWCOUNT_BIG APPROXDISTINCT",
    "SMALLINT": "COL_LENGTH XACT_STATE CURSOR_STATUS",
    "TINYINT": "GROUPING",
    "DECIMAL(38,0)": "SCOPE_IDENTITY IDENT_CURRENT IDENT_INCR IDENT_SEED",
    "FLOAT": "ACOS ASIN ATAN ATAN2 ATN2 COS COT EXP LN LOG LOG10 PI RAND SIN SQRT SQUARE TAN STDDEV STDEVP VAR VARP",
    "DATE": "LASTDAY EOMONTH DATEFROMPARTS TSORDSTODATE",
    "DATETIME": "GETUTCDATE TIMESTAMPFROMPARTS DATETIMEFROMPARTS",
    "SMALLDATETIME": "SMALLDATETIMEFROMPARTS",
    "DATETIME2(7)": "SYSDATETIME SYSUTCDATETIME",
    "DATETIMEOFFSET(7)": "CURRENTTIMESTAMPLTZ SWITCHOFFSET TODATETIMEOFFSET",
    "DATETIMEOFFSET": "ATTIMEZONE DATETIMEOFFSETFROMPARTS",
    "DATETIME2": "DATETIME2FROMPARTS",
    "TIME": "TIMEFROMPARTS",
    "UNIQUEIDENTIFIER": "UUID NEWID NEWSEQUENTIALID",
    "VARBINARY(8000)": "HASHBYTES MD5 MD5DIGEST SHA SHA2",
    "VARBINARY(MAX)": "COMPRESS DECOMPRESS",
    "NVARCHAR(128)": (
        "APP_NAME COL_NAME CURRENTUSER DB_NAME ERROR_PROCEDURE FILEGROUP_NAME FILE_NAME HOST_NAME INDEX_COL "
        "OBJECT_NAME OBJECT_SCHEMA_NAME ORIGINAL_DB_NAME ORIGINAL_LOGIN PARSENAME SCHEMA_NAME SESSIONUSER "
        "SUSER_NAME SUSER_SNAME SYSTEM_USER TYPE_NAME USER_NAME"
    ),
    "NVARCHAR(258)": "QUOTENAME",
    "NVARCHAR(4000)": "ERROR_MESSAGE FORMAT NUMBERTOSTR JSONVALUE JSON_VALUE JSONEXTRACTSCALAR FORMATMESSAGE",
    "NVARCHAR(MAX)": "OBJECT_DEFINITION JSONEXTRACT JSON_QUERY JSON_MODIFY JSON_OBJECT JSON_ARRAY STRING_ESCAPE",
    "VARCHAR(4)": "SOUNDEX",
    "CHAR(1)": "CHR CHAR",
    "NCHAR(1)": "NCHAR",
    "SQL_VARIANT": (
        "CONNECTIONPROPERTY DATABASEPROPERTYEX SERVERPROPERTY SESSION_CONTEXT SESSIONPROPERTY SQL_VARIANT_PROPERTY "
        "EXTENDEDPROPERTY"
    ),
    "VARBINARY": "HEXSTRING",
    "XML": "NODES",
}
"""Types, and the functions that always return them."""

XML_METHODS: dict[str, TypeRule] = {
    "METHOD EXIST": fixed_rule("BIT"),
    "METHOD QUERY": fixed_rule("XML"),
    "METHOD VALUE": infer_xml_value,
}
"""Methods of XML values."""

DOCUMENTED_TYPES: dict[str, str] = {"BIGINT": "BIT_COUNT"}
"""Types, and the functions whose manual says that they always return them; the rules below come first."""

TSQL_RULES: dict[str, TypeRule] = {
    **fixed_rules(DOCUMENTED_TYPES),
    **dict.fromkeys(split_names("LEFT_SHIFT RIGHT_SHIFT"), argument_rule(0)),
    **fixed_rules(FIXED_TYPES),
    **XML_METHODS,
    **{op: tsql_operator_rule(op) for op in ("ADD", "SUB", "MUL", "DIV", "MOD")},
    **dict.fromkeys(split_names("UPPER LOWER TRIM REVERSE TRANSLATE STRING_SPLIT"), infer_variable_string),
    **dict.fromkeys(split_names("LEFT RIGHT SUBSTRING"), infer_substring),
    **dict.fromkeys(split_names("STUFF REPEAT SPACE"), infer_stuff),
    **dict.fromkeys(split_names("LENGTH DATALENGTH STRPOSITION"), infer_len),
    **dict.fromkeys(split_names("CEIL FLOOR"), infer_floor),
    **dict.fromkeys(split_names("ABS ROUND SIGN DEGREES RADIANS"), infer_same_number),
    **dict.fromkeys(split_names("BITWISEAND BITWISEOR BITWISEXOR"), infer_bit_operation),
    **dict.fromkeys(split_names("COLLATE ESCAPE BITWISENOT COALESCE:is_null"), argument_rule(0)),
    **dict.fromkeys(split_names("DATEADD TSORDSADD"), infer_dateadd),
    **dict.fromkeys(split_names("TIMESTAMPTRUNC DATETRUNC"), infer_datetrunc),
    "AVG": infer_avg,
    "CHOOSE": infer_choose,
    "CONCAT": infer_concat,
    "CONCATWS": infer_concat_ws,
    "CONVERT": infer_convert,
    "GROUPCONCAT": infer_string_agg,
    "NATIONAL": infer_national_literal,
    "PATINDEX": infer_patindex,
    "POW": infer_power,
    "REPLACE": infer_replace,
    "STR": infer_str,
    "SUM": infer_sum,
    "TIMETOSTR": infer_format,
}
"""Rules of SQL Server's functions; the common rules hold for the rest."""

TSQL_CONSTANT_OPERATORS = split_names("CONVERT LEFT RIGHT SUBSTRING NATIONAL STR TIMETOSTR") | {"METHOD VALUE"}
"""Operators whose type also depends on the values of constants."""

SERVER_VARIABLES: dict[str, str] = {
    **dict.fromkeys(
        "ROWCOUNT ERROR TRANCOUNT NESTLEVEL FETCH_STATUS CURSOR_ROWS MAX_CONNECTIONS LOCK_TIMEOUT "
        "OPTIONS PROCID TEXTSIZE CPU_BUSY IO_BUSY IDLE CONNECTIONS TOTAL_ERRORS".split(),
        "INT",
    ),
    "SPID": "SMALLINT",
    "DATEFIRST": "TINYINT",
    "IDENTITY": "DECIMAL(38,0)",
    "DBTS": "VARBINARY(8)",
    **dict.fromkeys("SERVERNAME SERVICENAME VERSION LANGUAGE REMSERVER".split(), "NVARCHAR(128)"),
}
"""Variables that the server sets, without the `@@` before their names."""


# ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

TSQL_TYPES = TypeFamily(
    name="tsql",
    integers=("TINYINT", "SMALLINT", "INT", "BIGINT"),
    digits=(3, 5, 10, 19),
    integer="INT",
    bigint="BIGINT",
    decimal="DECIMAL",
    real="REAL",
    double="FLOAT",
    string="VARCHAR",
    boolean="BIT",
    binary="VARBINARY",
    timestamp="DATETIME2",
    zoned="DATETIMEOFFSET",
    aliases={"INTEGER": "INT", "NUMERIC": "DECIMAL", "BOOLEAN": "BIT"},
    alone={"DECIMAL": "DECIMAL(18,0)"},
    strings=("CHAR", "VARCHAR", "NCHAR", "NVARCHAR", "TEXT", "NTEXT", "SYSNAME"),
    literal="VARCHAR({})",
    cast_alone={name: f"{name}(30)" for name in ("CHAR", "VARCHAR", "NCHAR", "NVARCHAR", "BINARY", "VARBINARY")},
    adds_texts=True,
    compute_digits=tsql_digits,
    literal_digits=True,
    keeps_real=True,
    combine_strings=combine_tsql_strings,
    widening=(_widen_by_precedence,),
    # A DATETIME is a number of days as well, and a TIMESTAMP is no moment there.
    conversions=build_uniform_conversions(
        "string-* number-boolean date-moment time-moment binary-*",
        DATETIME="",
        SMALLDATETIME="",
        TIMESTAMP="",
        BIT="boolean",
    ),
)


# ── the dialect ───────────────────────────────────────────────────────────────────────────────────────────────────────

TSQL = DialectTraits(
    name="tsql",
    family="tsql",
    naming=UnaliasedNaming.NONE,
    dotted_members=False,
    uses_catalog=True,
    implicit_recursion=True,
    transact_sql=True,
    select_assigns=True,
    alias_in_group=False,
    count="INT",
    label_first=False,
    keeps_not_null=True,
    bare_drop_is_constraint=True,
    fixes_views=True,
    default_schema="dbo",
    plain_functions=frozenset({"SYSDATETIME", "SQUARE"}),
    table_arguments={
        "OPENQUERY": TableArgument(text=1, server=0),
        "OPENROWSET": TableArgument(text=2, server=1),
        **dict.fromkeys(
            ("CONTAINSTABLE", "FREETEXTTABLE"), TableArgument((0,), added=("key", "rank"), searched=1)
        ),  # docs: Full-text search rowset functions
    },
    server_variables=SERVER_VARIABLES,
    table_pseudo_columns=frozenset("$ACTION $IDENTITY $ROWGUID $PARTITION $NODE_ID $EDGE_ID $FROM_ID $TO_ID".split()),
    system_catalog=SystemCatalog(
        schemas=STANDARD_SCHEMAS | {"sys"},
        databases=frozenset({"msdb", "master", "model"}),
        names=frozenset(
            "sysobjects syscolumns sysindexes sysusers syscomments systypes sysprocesses sysfiles sysdatabases "
            "syslogins sysdepends sysindexkeys sysreferences sysconstraints sysaltfiles sysconfigures".split()
        ),
    ),
    types=TSQL_TYPES,
    type_rules=TypeRules(
        nulls=NULL_SKIPPING_RULES,
        functions=TSQL_RULES,
        constants=TSQL_CONSTANT_OPERATORS,
        table_functions={"STRING_SPLIT": (SAME_AS_EXPRESSION,), "OPENJSON": ("NVARCHAR(4000)", "NVARCHAR(MAX)", "INT")},
    ),
    signs=(
        build_sign("GO on a line of its own", r"^[ \t]*GO[ \t]*;?[ \t]*\r?$", 3, "go"),
        build_sign("names in brackets", r"\[\w+\]\.\[\w+\]", 3, "].["),
        build_sign(
            "SET NOCOUNT ON",
            r"\bSET\s+(?:NOCOUNT|ANSI_NULLS|QUOTED_IDENTIFIER|XACT_ABORT)\s+O",
            3,
            "set&nocount set&ansi_nulls set&quoted_identifier set&xact_abort",
        ),
        build_sign("variables with @", r"\bDECLARE\s+@\w+", 2, "declare&@"),
        build_sign("NVARCHAR(MAX)", r"\bN?VARCHAR\s*\(\s*MAX\s*\)", 2, "varchar&max nvarchar&max"),
        build_sign("ISNULL or CONVERT", r"\b(?:ISNULL\s*\(|CONVERT\(\s*N?\w+(\(\d+\))?\s*,)", words="isnull convert"),
        build_sign("SELECT TOP", r"\bSELECT\s+TOP\s*\(?\d+", words="select~top*"),
        build_sign("the schema dbo", r"\bdbo\.\w", words="dbo&dbo."),
        build_sign(
            "#temporary tables",
            r"\b(?:INTO|FROM|TABLE|JOIN|UPDATE)\s+##?[A-Z]\w*",
            3,
            "into~# from~# table~# join~# update~#",
        ),
        build_sign(
            "the catalog sys",
            r"\bsys\.(?:objects|tables|columns|indexes|schemas|databases|types|dm_\w+|sp_\w+|partitions)\b|\bOBJECT_ID\s*\(",
            3,
            "sys&. object_id",
        ),
        build_sign(
            "UNIQUEIDENTIFIER or DATETIME2",
            r"\b(?:UNIQUEIDENTIFIER|DATETIME2|DATETIMEOFFSET|SMALLDATETIME|NVARCHAR|NTEXT)\b",
            2,
            "uniqueidentifier datetime2 datetimeoffset smalldatetime nvarchar ntext",
        ),
        build_sign(
            "WITH (NOLOCK)",
            r"\(\s*NOLOCK\s*\)|@@(?:ROWCOUNT|ERROR|TRANCOUNT|FETCH_STATUS|SERVERNAME|VERSION|SPID)\b",
            3,
            "nolock @@",
        ),
        build_sign(
            "BEGIN TRY or RAISERROR",
            r"\bBEGIN\s+TRY\b|\bRAISERROR\s*\(|\bCROSS\s+APPLY\b",
            3,
            "begin~try raiserror cross~apply",
        ),
        build_sign("sqlcmd commands", r"^:(?:setvar|r|on\s+error|connect)\b", 3, "setvar&: r&: on~error&: connect&:"),
        build_sign("CLUSTERED indexes", r"\b(?:NON)?CLUSTERED\s+(?:INDEX|COLUMNSTORE|\()", 3, "clustered nonclustered"),
        DATE_PARTS_FIRST,
        IDENTITY_COLUMNS,
        SYSTEM_DATE,
    ),
    path_words=frozenset({"tsql", "mssql", "sqlserver", "synapse"}),
    host_signs=(build_driver_sign("SQL Server", modules="pymssql", operators="MsSql", scheme="mssql"),),
    project_suffixes=(".sqlproj",),
)


STATEMENT_STARTS = frozenset(
    "SELECT INSERT UPDATE DELETE MERGE WITH EXEC EXECUTE DECLARE SET IF WHILE BEGIN END ELSE RETURN PRINT "
    "RAISERROR THROW CREATE ALTER DROP TRUNCATE USE COMMIT ROLLBACK SAVE OPEN CLOSE FETCH DEALLOCATE GOTO WAITFOR "
    "GRANT DENY REVOKE BREAK CONTINUE BULK DBCC RECONFIGURE CHECKPOINT REVERT RECEIVE BACKUP RESTORE KILL".split()
) | {"END CONVERSATION"}
"""Words that begin a statement, and so end the one before."""

SILENT_BATCH_STATEMENTS = frozenset("DISABLE ENABLE REVERT SEND EXTERNAL GET MOVE".split()) | {"END CONVERSATION"}
"""Statements without lineage that are no procedure calls, by their first word (docs: Service Broker statements)."""

EXPECTED_WORDS: dict[str, frozenset[str]] = {
    "WITH": frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"}),
    "INSERT": frozenset({"SELECT", "EXEC", "EXECUTE", "WITH"}),
    "UPDATE": frozenset({"SET"}),
    "BULK": frozenset({"INSERT"}),
}
"""Words that a statement is still waiting for, by its first word."""


class ContinuationRule(msgspec.Struct, frozen=True):
    """Words that do not begin a statement where they stand; an empty field allows any word."""

    first: frozenset[str]
    """The first word of the statement that they may belong to."""
    before: frozenset[str]
    """The word right before them."""
    words: frozenset[str]
    """The words themselves."""
    unless: frozenset[str] = frozenset()
    """Words right after them with which they begin a statement after all."""


_OBJECT_KINDS = (
    "TABLE VIEW PROCEDURE PROC FUNCTION TRIGGER INDEX COLUMN CONSTRAINT SCHEMA DATABASE SYNONYM SEQUENCE TYPE USER "
    "ROLE LOGIN STATISTICS RULE DEFAULT ASSEMBLY AGGREGATE"
)

_SETTING_WORDS = (
    "@ NOCOUNT XACT_ABORT ROWCOUNT TRANSACTION IDENTITY_INSERT DATEFORMAT DATEFIRST LANGUAGE DEADLOCK_PRIORITY "
    "LOCK_TIMEOUT STATISTICS NOEXEC FMTONLY SHOWPLAN_XML SHOWPLAN_ALL"
)

CONTINUATIONS: tuple[ContinuationRule, ...] = tuple(
    ContinuationRule(*(frozenset(words.split()) for words in row))
    for row in (
        ("", "UNION ALL EXCEPT INTERSECT", "SELECT"),
        ("CREATE ALTER", "ON FOR AFTER BEFORE , OF", "INSERT UPDATE DELETE"),
        ("CREATE ALTER", "WITH , (", "EXECUTE EXEC"),
        ("DECLARE SET", "FOR", "SELECT WITH"),
        ("DECLARE SELECT WITH", "FOR", "UPDATE"),
        ("", "ROWS ROW", "FETCH"),
        ("CREATE ALTER", "AS", "SELECT WITH"),
        ("CREATE", "OR", "ALTER"),
        ("CREATE ALTER DROP", _OBJECT_KINDS, "IF"),
        ("ALTER", "", "ALTER", _OBJECT_KINDS.replace("INDEX COLUMN", "")),
        ("ALTER", "", "DROP", _OBJECT_KINDS.replace("INDEX COLUMN CONSTRAINT", "")),
        ("ALTER", "", "SET", _SETTING_WORDS),
        ("ALTER", "", "MERGE"),
        ("", "INNER LEFT RIGHT FULL OUTER", "MERGE"),
        ("GRANT DENY REVOKE", "ADMINISTER ,", "BULK RECEIVE"),
        ("RETURN", "RETURN", "SELECT WITH"),
        ("GRANT DENY REVOKE", "", "SELECT INSERT UPDATE DELETE EXEC EXECUTE ALTER CREATE BACKUP RESTORE"),
        ("MERGE", "", " ".join(STATEMENT_STARTS - {"IF", "EXEC", "END"})),
    )
)
"""Words that only seem to begin a statement."""

SQLCMD_COMMANDS = frozenset(
    "R SETVAR ON CONNECT OUT ERROR EXIT QUIT LIST LISTVAR RESET SERVERLIST HELP XML PERFTRACE ED".split()
)
"""Commands of sqlcmd, each on a line of its own after a colon."""

MODULE_OPTIONS = frozenset("SCHEMABINDING ENCRYPTION VIEW_METADATA RECOMPILE NATIVE_COMPILATION EXECUTE EXEC".split())
"""Words after the WITH of a module's header."""

NOT_PROCEDURES = frozenset(
    "DENY DISABLE ENABLE SEND REVERT MOVE GET KILL SHUTDOWN ADD BACKUP RESTORE DUMP LOAD BULK".split()
)
"""Words at the start of a batch that are no procedure call."""
