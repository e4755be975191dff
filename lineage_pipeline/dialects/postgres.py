"""PostgreSQL: folding, rows as values, system columns, PL/pgSQL, psql, types and signs."""

import re

from lineage_pipeline.dialects.client_commands import COMMAND_KINDS, ClientCommands
from lineage_pipeline.dialects.dialect import DialectTraits, UnaliasedNaming
from lineage_pipeline.dialects.identifier_folding import IdentifierFolding
from lineage_pipeline.dialects.procedural_languages import ProceduralLanguage
from lineage_pipeline.dialects.signs import (
    ARRAY_BRACKETS,
    CASTS,
    DISTINCT_ON,
    DOLLAR_QUOTES,
    GENERATE_SERIES,
    JSON_PATHS,
    ON_CONFLICT,
    PG_CATALOG,
    PLPGSQL_BODIES,
    POSTGRES_DRIVERS,
    PSQL_COMMANDS,
    TIME_ZONE_TYPES,
    build_sign,
)
from lineage_pipeline.dialects.system_catalogs import STANDARD_SCHEMAS, SystemCatalog
from lineage_pipeline.dialects.table_functions import TableArgument
from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule, arithmetic_rule
from lineage_pipeline.dialects.types.coercion import common_type, normalized_shape, strip_size
from lineage_pipeline.dialects.types.common_rules import (
    argument_rule,
    argument_type_name,
    array_rule,
    fixed_rule,
    fixed_rules,
    infer_common_type,
    infer_element,
    infer_negation,
    role_rule,
    split_names,
)
from lineage_pipeline.dialects.types.conversions import STRICT_OPERANDS, ImplicitConversions, parse_pairs
from lineage_pipeline.dialects.types.families import UNTYPED_CONSTANT, TypeFamily
from lineage_pipeline.dialects.types.nullability import NULL_SKIPPING_RULES
from lineage_pipeline.dialects.types.shapes import member_type, parse_type_shape
from lineage_pipeline.dialects.types.type_rules import SAME_AS_EXPRESSION, TypeRules

# ── result types of operators and functions ───────────────────────────────────────────────────────────────────────────


def _widen_types(family: TypeFamily, first: str, second: str) -> str | None:
    """PostgreSQL keeps the first type unless only the other one holds it."""
    left, right = normalized_shape(first, family), normalized_shape(second, family)
    if left == right:
        return first
    for chain in (
        (*family.integers, family.decimal, family.real, family.double),
        (family.date, family.timestamp, family.zoned),
        (family.time, "TIMETZ"),
    ):
        if left.name in chain and right.name in chain:
            return max(left.name, right.name, key=chain.index)
    if left.name == right.name == "ARRAY":
        inner = common_type([left.members[0][1], right.members[0][1]], family)
        return family.array(inner) if inner is not None else None
    if left.name.startswith(family.interval) and right.name.startswith(family.interval):
        return family.interval
    if left.name == right.name or (left.name in family.strings and right.name in family.strings):
        return "BPCHAR" if left.name == "CHAR" else left.name
    return None


RANGE_TYPES: dict[str, str] = {
    "INT4RANGE": "INT",
    "INT8RANGE": "BIGINT",
    "NUMRANGE": "DECIMAL",
    "DATERANGE": "DATE",
    "TSRANGE": "TIMESTAMP",
    "TSTZRANGE": "TIMESTAMPTZ",
}
"""Ranges, and the types they range over."""

MULTIRANGE_TYPES: dict[str, str] = {
    name: name for name in (kind.replace("RANGE", "MULTIRANGE") for kind in RANGE_TYPES)
}
"""Multiranges, which are named like the functions that build them."""

OPERATOR_RESULTS: dict[tuple[str, str, str], str] = {
    ("ADD", "DATE", "TIME"): "TIMESTAMP",
    ("ADD", "TIME", "DATE"): "TIMESTAMP",
    ("ADD", "DATE", "TIMETZ"): "TIMESTAMPTZ",
    ("ADD", "TIMETZ", "DATE"): "TIMESTAMPTZ",
    **{(op, kind, "TIME"): kind for op in ("ADD", "SUB") for kind in ("TIMESTAMP", "TIMESTAMPTZ")},
    **{("ADD", "TIME", kind): kind for kind in ("TIMESTAMP", "TIMESTAMPTZ")},
    ("ADD", "TIMETZ", "INTERVAL"): "TIMETZ",
    ("ADD", "INTERVAL", "TIMETZ"): "TIMETZ",
    ("SUB", "TIMETZ", "INTERVAL"): "TIMETZ",
    ("DIV", "MONEY", "MONEY"): "DOUBLE PRECISION",
    ("SUB", "INET", "INET"): "BIGINT",
}
"""Results of operators for types that do not calculate like numbers."""

_SELF_PRESERVING_TYPES = frozenset({"MONEY", "JSONB", "INET", "TSVECTOR", "TSQUERY", *RANGE_TYPES})


def postgres_operator_rule(op: str) -> TypeRule:
    """Build the rule of an operator between numbers, moments, or values of other types."""
    plain = arithmetic_rule(op)

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        left, right = argument_type_name(types), argument_type_name(types, 1)
        known = OPERATOR_RESULTS.get((op, left, right))
        if known is not None:
            return known
        if left in _SELF_PRESERVING_TYPES or right in _SELF_PRESERVING_TYPES:
            return left if left in _SELF_PRESERVING_TYPES else right
        found = plain(family, types, texts)
        return (
            family.double if found == family.real and left != right and UNTYPED_CONSTANT not in (left, right) else found
        )

    return rule


def infer_concat(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """`||` of arrays is an array, of documents a document, of bytes bytes; of anything else, a text."""
    arrays = [kind for kind in types if kind and kind.endswith("[]")]
    if arrays:
        return arrays[0]
    names = {argument_type_name(types, at) for at in range(len(types))}
    if names & {"BIT", "VARBIT"}:
        return "VARBIT"
    same = names & {"JSONB", "BYTEA", "TSVECTOR", "TSQUERY"}
    return same.pop() if len(same) == 1 else family.string


def infer_numeric_or_double(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A function with a form for NUMERIC and one for DOUBLE, which integers take."""
    name = argument_type_name(types)
    return family.decimal if name == family.decimal else family.double if name else None


def infer_statistic(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A statistic: exact where its argument is."""
    name = argument_type_name(types)
    if not name:
        return None
    return family.decimal if name == family.decimal or name in family.integers else family.double


def infer_round(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """ROUND and TRUNC: with a number of digits they are exact."""
    return family.decimal if len(types) > 1 else infer_numeric_or_double(family, types, texts)


def infer_log(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """LOG: with a base it is exact; LOG10 comes with one, too."""
    if texts and texts[0] == "10":
        return infer_numeric_or_double(family, types[1:], ())
    return family.decimal if len(types) > 1 else infer_numeric_or_double(family, types, texts)


def infer_power(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A power: exact where one side is a decimal and none is floating."""
    names = {argument_type_name(types), argument_type_name(types, 1)}
    exact = family.decimal in names and not names & {family.real, family.double}
    return family.decimal if exact else family.double


def infer_sum(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """SUM: short integers grow long, long ones and decimals have any number of digits."""
    name = argument_type_name(types)
    if name in ("SMALLINT", family.integer):
        return family.bigint
    return {family.bigint: family.decimal, family.time: family.interval}.get(name, name or None)


def infer_avg(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """AVG: any number of digits, or floating."""
    name = argument_type_name(types)
    if name in family.integers or name == family.decimal:
        return family.decimal
    return {family.real: family.double, family.double: family.double, family.time: family.interval}.get(
        name, name or None
    )


def infer_min_max(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """MIN and MAX: strings are compared as texts."""
    kind = types[0] if types else None
    return family.string if argument_type_name(types) in ("VARCHAR", "NAME", UNTYPED_CONSTANT) else kind


def infer_text(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A string function that also takes bytes and bits."""
    name = argument_type_name(types)
    return name if name in (family.binary, "BIT", "VARBIT") else family.string


def infer_lower_upper(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """LOWER and UPPER: the end of a range, or a text."""
    return RANGE_TYPES.get(argument_type_name(types).replace("MULTIRANGE", "RANGE"), family.string)


def infer_range_merge(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """RANGE_MERGE: the range that holds all of some."""
    return argument_type_name(types).replace("MULTIRANGE", "RANGE") or None


def infer_range_agg(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """RANGE_AGG: the ranges of a column together."""
    return MULTIRANGE_TYPES.get(argument_type_name(types).replace("MULTIRANGE", "RANGE").replace("RANGE", "MULTIRANGE"))


def infer_overlap(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """`&&`: whether two ranges or arrays overlap; of two searches, both of them."""
    return "TSQUERY" if argument_type_name(types) == "TSQUERY" else family.boolean


def infer_ts_headline(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """TS_HEADLINE: a text, or a document, with what was found marked."""
    return next((kind for kind in types[:2] if kind in ("JSON", "JSONB")), family.string)


def infer_length(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """LENGTH: how many characters there are, or how long a line is."""
    return family.double if argument_type_name(types) in ("PATH", "LSEG") else family.integer


def infer_shift(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """`<<` and `>>`: bits are shifted; networks, ranges and shapes are compared."""
    return types[0] if argument_type_name(types) in (*family.integers, "BIT", "VARBIT", "") else family.boolean


def infer_subscript(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A subscript: an element of an array, a part of a document, or a coordinate."""
    return (
        family.double if argument_type_name(types) in ("POINT", "LSEG", "BOX") else infer_element(family, types, texts)
    )


def infer_nullif(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """NULLIF: the first value, in the type in which the two are compared."""
    kind, name, other = types[0], argument_type_name(types), argument_type_name(types, 1)
    if name == UNTYPED_CONSTANT and other not in _STRING_TYPES:
        return types[1] if len(types) > 1 else None
    if name in _STRING_TYPES:
        return _comparison_type(family, kind, name, other)
    if other in (name, UNTYPED_CONSTANT) or any(name in group and other in group for group in _COMPARABLE_TYPES):
        return kind
    if name == family.real:
        return kind
    if other == family.real:
        return family.double
    merged = common_type(types[:2], family)
    return kind if merged is None or argument_type_name((merged,)) == name else merged


_STRING_TYPES = frozenset({"TEXT", "VARCHAR", "CHAR", "BPCHAR", UNTYPED_CONSTANT})
_COMPARABLE_TYPES = (
    frozenset({"SMALLINT", "INT", "BIGINT"}),
    frozenset({"REAL", "DOUBLE PRECISION"}),
    frozenset({"DATE", "TIMESTAMP", "TIMESTAMPTZ"}),
)
"""Types that are compared with each other unconverted."""


def _comparison_type(family: TypeFamily, kind: str | None, name: str, other: str) -> str | None:
    """The first of two strings in the type of their comparison: padded ones as such, all others as text."""
    padded = ("CHAR", "BPCHAR")
    if family.string in (name, other) or not (name in padded or other in padded):
        return family.string
    return kind if name in padded else "BPCHAR"


def infer_array_literal(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """An array that is written out; strings in it are texts."""
    kind = common_type(types, family) if types else UNTYPED_CONSTANT
    return family.array(family.string if kind == UNTYPED_CONSTANT else kind) if kind else None


def infer_date_trunc(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """DATE_TRUNC: a date becomes a moment with a zone."""
    name = argument_type_name(types)
    return family.zoned if name == family.date else name or None


def infer_age(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """AGE: an interval of moments, a number of transactions."""
    name = argument_type_name(types)
    if name in ("XID", "XID8"):
        return family.integer
    return (
        family.interval
        if len(types) > 1 or name in (family.date, family.timestamp, family.zoned, UNTYPED_CONSTANT)
        else None
    )


def infer_date_bin(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """DATE_BIN: the kind of moment it is given."""
    moments = [kind for kind in types if parse_type_shape(kind or "").name in (family.timestamp, family.zoned)]
    return moments[0] if moments else None


_ZONE_TYPES = {"TIMESTAMP": "TIMESTAMPTZ", "TIMESTAMPTZ": "TIMESTAMP", "DATE": "TIMESTAMP", "TIME": "TIMETZ"}


def timezone_rule(position: int) -> TypeRule:
    """AT TIME ZONE: a moment gains a zone or loses it."""

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        name = argument_type_name(types, position)
        return _ZONE_TYPES.get(name, name or None)

    return rule


def infer_generate_series(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """GENERATE_SERIES: of numbers or of moments."""
    kind = common_type(types[:2], family)
    return family.zoned if kind == family.date else kind


def infer_percentile_cont(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """PERCENTILE_CONT: one floating number, or an array of them."""
    return family.array(family.double) if (types[0] or "").endswith("]") else family.double


PERCENTILE_ARRAY = "ARRAY"
"""The type of a percentile for several fractions: an array of what is ordered."""


def infer_percentile_disc(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """PERCENTILE_DISC: what is ordered, or an array of it."""
    return PERCENTILE_ARRAY if types and (types[0] or "").endswith("]") else None


def infer_within_group(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """An ordered-set aggregate; some return what is ordered."""
    kind, ordered = types[0], types[1] if len(types) > 1 else None
    if kind == PERCENTILE_ARRAY:
        return family.array(strip_size(ordered)) if ordered else None
    if kind is None:
        return strip_size(ordered) if ordered else None
    return family.interval if kind == family.double and ordered == family.interval else kind


def infer_json_part(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A part of a document is a document of the same kind."""
    name = argument_type_name(types)
    return name if name in ("JSON", "JSONB") else None


def infer_lag_lead(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """LAG and LEAD: the value, or the default."""
    return common_type([types[0], types[2]], family) if len(types) > 2 else types[0] if types else None


def infer_unnest(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """An element of an array; nested arrays are unnested completely."""
    return member_type(types[0], "") if types and (types[0] or "").endswith("]") else None


def current_time_rule(kind: str) -> TypeRule:
    """CURRENT_TIMESTAMP and the like, which may have a precision."""
    return lambda family, types, texts: f"{kind}({texts[0]})" if texts and texts[0].isdigit() else kind


SIZE_PRESERVING_OPERATORS = split_names(
    "COALESCE GREATEST LEAST NULLIF PAREN COLLATE ELEMENT DISTINCT FILTER ORDER CURRENTTIMESTAMP "
    "LOCALTIMESTAMP CURRENTTIME LOCALTIME ARRAY IFNULL XMLSERIALIZE"
)
"""Operators whose results keep length and digits."""

FIXED_TYPES: dict[str, str] = {
    "INT": (
        "ARRAYSIZE ARRAY_LOWER ARRAY_NDIMS ARRAYPOSITION ARRAY_UPPER CARDINALITY GENERATE_SUBSCRIPTS GET_BYTE GET_BIT "
        "HASHTEXT JSON_ARRAY_LENGTH JSONB_ARRAY_LENGTH MASKLEN MIN_SCALE NUM_NONNULLS NUM_NULLS OCTET_LENGTH "
        "REGEXPCOUNT REGEXPINSTR SCALE GROUPING WIDTHBUCKET BITLENGTH BIT_LENGTH STRPOSITION ASCII UNICODE "
        "NTILE FAMILY INET_CLIENT_PORT INET_SERVER_PORT NPOINTS NUMNODE PG_BACKEND_PID PG_TRIGGER_DEPTH MXID_AGE"
    ),
    "BIGINT": (
        "BIT_COUNT CURRVAL LASTVAL NEXTVAL REGRCOUNT SETVAL RANK ROWNUMBER DENSERANK PG_DATABASE_SIZE PG_INDEXES_SIZE "
        "PG_RELATION_SIZE PG_TABLE_SIZE PG_TABLESPACE_SIZE PG_TOTAL_RELATION_SIZE PG_COLUMN_SIZE "
        "PG_SEQUENCE_LAST_VALUE TXID_CURRENT TXID_CURRENT_IF_ASSIGNED PG_SIZE_BYTES"
    ),
    "DECIMAL": "FACTORIAL TRIM_SCALE EXTRACT TONUMBER PG_WAL_LSN_DIFF",
    "DOUBLE PRECISION": (
        "ATAN2 CORR DATE_PART REGRAVGX REGRAVGY REGRINTERCEPT REGRR2 REGRSLOPE REGRSXX REGRSXY REGRSYY COVARPOP "
        "COVARSAMP CUMEDIST PERCENTRANK ACOSD ASIND ATAND COSD SIND TAND ATAN2D COTD "
        "DSQRT DCBRT AREA DIAMETER RADIUS HEIGHT WIDTH SLOPE DISTANCE"
    ),
    "REAL": "TS_RANK TS_RANK_CD",
    "TEXT": (
        "ARRAY_DIMS ARRAYTOSTRING CHR CONCAT CONCATWS CONVERT_FROM CURRENT_SETTING FORMAT FORMAT_TYPE INITCAP "
        "JSONEXTRACTSCALAR JSONBEXTRACTSCALAR JSON_ARRAY_ELEMENTS_TEXT JSONB_ARRAY_ELEMENTS_TEXT JSON_OBJECT_KEYS "
        "JSONB_OBJECT_KEYS JSON_TYPEOF JSONB_TYPEOF JSONB_EXTRACT_PATH_TEXT JSONB_PRETTY MD5 PG_GET_VIEWDEF "
        "QUOTE_IDENT QUOTE_LITERAL QUOTE_NULLABLE REGEXP_SPLIT_TO_TABLE REGEXPSUBSTR REGEXPREPLACE REPEAT REPLACE "
        "REVERSE SPLITPART STRING_TO_TABLE TIMETOSTR TO_ASCII TOCHAR TO_HEX HEX TRANSLATE UNISTR CURRENTVERSION LEFT "
        "RIGHT PAD ENCODE HOST ABBREV CASH_WORDS COL_DESCRIPTION OBJ_DESCRIPTION SHOBJ_DESCRIPTION CURRENT_QUERY "
        "PG_DESCRIBE_OBJECT PG_READ_FILE PG_LS_DIR PG_SIZE_PRETTY PG_TABLESPACE_LOCATION SET_CONFIG TEXT TIMEOFDAY "
        "PG_GET_CONSTRAINTDEF PG_GET_EXPR PG_GET_FUNCTIONDEF PG_GET_INDEXDEF PG_GET_TRIGGERDEF PG_GET_RULEDEF "
        "PG_GET_FUNCTION_ARGUMENTS PG_GET_FUNCTION_RESULT PG_GET_FUNCTION_IDENTITY_ARGUMENTS PG_GET_SERIAL_SEQUENCE "
        "PG_GET_PARTKEYDEF PG_GET_PARTITION_CONSTRAINTDEF"
    ),
    "BOOLEAN": (
        "EVERY LOGICALAND LOGICALOR ISEMPTY ISFINITE IS_NORMALIZED JSONB_PATH_EXISTS JSONBPATHEXISTS JSONB_PATH_MATCH "
        "LOWER_INC LOWER_INF UPPER_INC UPPER_INF OVERLAPS ARRAYCONTAINSALL ARRAYCONTAINEDBY ARRAYCONTAINS ANY ALL "
        "JSONBCONTAINS JSONBCONTAINSTOPKEY JSONBCONTAINSALLTOPKEYS JSONBCONTAINSANYTOPKEYS REGEXPILIKE SIMILARTO "
        "MATCHAGAINST ADJACENT EXTENDSLEFT EXTENDSRIGHT ESCAPE INET_SAME_FAMILY ISCLOSED ISOPEN ISHORIZONTAL "
        "ISVERTICAL ISPARALLEL ISPERP JSONB_PATH_EXISTS_TZ JSONB_PATH_MATCH_TZ PG_ADVISORY_UNLOCK PG_CANCEL_BACKEND "
        "PG_HAS_ROLE PG_IS_IN_RECOVERY PG_RELOAD_CONF PG_TABLE_IS_VISIBLE PG_TYPE_IS_VISIBLE PG_FUNCTION_IS_VISIBLE "
        "PG_TERMINATE_BACKEND PG_TRY_ADVISORY_LOCK PG_TRY_ADVISORY_XACT_LOCK ROW_SECURITY_ACTIVE "
        "XML_IS_WELL_FORMED XML_IS_WELL_FORMED_CONTENT XML_IS_WELL_FORMED_DOCUMENT XPATH_EXISTS HAS_TABLE_PRIVILEGE "
        "HAS_SCHEMA_PRIVILEGE HAS_COLUMN_PRIVILEGE HAS_DATABASE_PRIVILEGE HAS_FUNCTION_PRIVILEGE "
        "HAS_SEQUENCE_PRIVILEGE"
    ),
    "JSON": (
        "ARRAY_TO_JSON JSONARRAYAGG JSON_AGG JSON_ARRAY_ELEMENTS JSON_BUILD_ARRAY JSON_BUILD_OBJECT JSON_OBJECT "
        "JSONOBJECT JSONOBJECTAGG JSON_OBJECT_AGG JSONSTRIPNULLS ROW_TO_JSON TO_JSON"
    ),
    "JSONB": (
        "JSONB_AGG JSONB_ARRAY_ELEMENTS JSONB_BUILD_ARRAY JSONB_BUILD_OBJECT JSONB_EXTRACT_PATH JSONB_INSERT "
        "JSONB_OBJECT JSONBOBJECTAGG JSONB_OBJECT_AGG JSONB_PATH_QUERY JSONB_PATH_QUERY_ARRAY JSONB_PATH_QUERY_FIRST "
        "JSONB_SET JSONB_SET_LAX JSONB_STRIP_NULLS JSONBDELETEATPATH TO_JSONB JSONB_PATH_QUERY_ARRAY_TZ "
        "JSONB_PATH_QUERY_FIRST_TZ JSONB_PATH_QUERY_TZ"
    ),
    "TIMESTAMPTZ": (
        "CLOCK_TIMESTAMP MAKE_TIMESTAMPTZ STATEMENT_TIMESTAMP TRANSACTION_TIMESTAMP STRTOTIME UNIXTOTIME "
        "PG_CONF_LOAD_TIME PG_POSTMASTER_START_TIME PG_XACT_COMMIT_TIMESTAMP PG_LAST_XACT_REPLAY_TIMESTAMP"
    ),
    "TIMESTAMP": "MAKE_TIMESTAMP TIMESTAMPFROMPARTS",
    "DATE": "MAKE_DATE DATEFROMPARTS",
    "TIME": "MAKE_TIME TIMEFROMPARTS",
    "INTERVAL": "JUSTIFY_DAYS JUSTIFY_HOURS JUSTIFY_INTERVAL MAKEINTERVAL MAKE_INTERVAL",
    "BYTEA": "CONVERT_TO DECODE SET_BYTE SHA224 SHA2DIGEST PG_READ_BINARY_FILE",
    "NAME": (
        "CURRENTDATABASE CURRENTCATALOG CURRENTSCHEMA CURRENTUSER SESSIONUSER GETDATABASEENCODING PG_CLIENT_ENCODING "
        "PG_GET_USERBYID"
    ),
    "TEXT[]": "PARSE_IDENT REGEXP_MATCH REGEXP_MATCHES REGEXP_SPLIT_TO_ARRAY STRINGTOARRAY TS_LEXIZE TSVECTOR_TO_ARRAY",
    "INT[]": "ARRAY_POSITIONS PG_BLOCKING_PIDS",
    "NAME[]": "CURRENT_SCHEMAS",
    "INET": "BROADCAST HOSTMASK NETMASK INET_CLIENT_ADDR INET_SERVER_ADDR",
    "CIDR": "NETWORK INET_MERGE",
    "POINT": "POINT CENTER",
    "BOX": "BOX BOUND_BOX",
    "LSEG": "LSEG DIAGONAL",
    "LINE": "LINE",
    "POLYGON": "POLYGON",
    "CIRCLE": "CIRCLE",
    "XML[]": "XPATH",
    "XID8": "PG_CURRENT_XACT_ID PG_CURRENT_XACT_ID_IF_ASSIGNED",
    "PG_LSN": "PG_CURRENT_WAL_LSN PG_CURRENT_WAL_INSERT_LSN PG_LAST_WAL_RECEIVE_LSN PG_LAST_WAL_REPLAY_LSN",
    "UUID": "UUID",
    "RECORD": "TUPLE JSON_EACH JSONB_EACH JSON_EACH_TEXT JSONB_EACH_TEXT",
    "TSVECTOR": "ARRAY_TO_TSVECTOR JSON_TO_TSVECTOR JSONB_TO_TSVECTOR SETWEIGHT STRIP TO_TSVECTOR TS_DELETE TS_FILTER",
    "TSQUERY": "PHRASETO_TSQUERY PLAINTO_TSQUERY TO_TSQUERY WEBSEARCH_TO_TSQUERY TS_REWRITE TSQUERY_PHRASE",
    "REGTYPE": "PG_TYPEOF TO_REGTYPE",
    "REGCLASS": "TO_REGCLASS PG_PARTITION_ROOT PG_PARTITION_ANCESTORS",
    "REGCONFIG": "GET_CURRENT_TS_CONFIG",
    "XML": (
        "XML XMLAGG XMLELEMENT XMLFOREST XMLCONCAT XMLCOMMENT XMLPARSE XMLPI XMLROOT QUERY_TO_XML TABLE_TO_XML "
        "SCHEMA_TO_XML DATABASE_TO_XML CURSOR_TO_XML"
    ),
    **MULTIRANGE_TYPES,
    **{kind: kind for kind in RANGE_TYPES},
}
"""Types, and the functions that always return them."""

TEXT_FUNCTIONS = split_names("SUBSTRING TRIM OVERLAY GROUPCONCAT")
SAME_TYPE_FUNCTIONS = split_names(
    "BITWISEANDAGG BITWISEORAGG BITWISEXORAGG BITWISENOT ARRAYAPPEND ARRAYPREPEND "
    "ARRAYCONCAT ARRAYREMOVE ARRAY_REPLACE TRIM_ARRAY ABS COLLATE FIRSTVALUE LASTVALUE NTHVALUE RANGE_INTERSECT_AGG "
    "SET_MASKLEN SET_BIT JSON_POPULATE_RECORD JSON_POPULATE_RECORDSET JSONB_POPULATE_RECORD JSONB_POPULATE_RECORDSET "
    "XMLSERIALIZE"
)

POSTGRES_RULES: dict[str, TypeRule] = {
    **fixed_rules(FIXED_TYPES),
    **dict.fromkeys(TEXT_FUNCTIONS, infer_text),
    **dict.fromkeys(SAME_TYPE_FUNCTIONS, argument_rule(0)),
    **dict.fromkeys(split_names("BITWISEAND BITWISEOR BITWISEXOR GCD LCM IFNULL"), infer_common_type),
    **dict.fromkeys(split_names("CEIL FLOOR EXP LN SQRT SIGN"), infer_numeric_or_double),
    **dict.fromkeys(split_names("STDDEV STDDEVPOP STDDEVSAMP VARIANCE VARIANCEPOP"), infer_statistic),
    **dict.fromkeys(split_names("ROUND TRUNC"), infer_round),
    **dict.fromkeys(split_names("MIN MAX"), infer_min_max),
    **dict.fromkeys(split_names("UPPER LOWER"), infer_lower_upper),
    **dict.fromkeys(split_names("LAG LEAD"), infer_lag_lead),
    **dict.fromkeys(split_names("JSONEXTRACT JSONBEXTRACT"), infer_json_part),
    **dict.fromkeys(split_names("GENERATESERIES EXPLODINGGENERATESERIES"), infer_generate_series),
    **dict.fromkeys(split_names("EXPLODE UNNEST"), infer_unnest),
    **{op: postgres_operator_rule(op) for op in ("ADD", "SUB", "MUL", "DIV", "MOD")},
    "ARRAY": infer_array_literal,
    "AGE": infer_age,
    "ARRAYAGG": array_rule(0),
    "ARRAY_FILL": array_rule(0),
    "RANGE_MERGE": infer_range_merge,
    **dict.fromkeys(split_names("RANGE_AGG MULTIRANGE"), infer_range_agg),
    "ARRAYOVERLAPS": infer_overlap,
    "TS_HEADLINE": infer_ts_headline,
    "LENGTH": infer_length,
    "AVG": infer_avg,
    "SUM": infer_sum,
    "DPIPE": infer_concat,
    "LOG": infer_log,
    "POW": infer_power,
    "NULLIF": infer_nullif,
    "TIMESTAMPTRUNC": infer_date_trunc,
    "DATEBIN": infer_date_bin,
    "ATTIMEZONE": timezone_rule(0),
    "TIMEZONE": timezone_rule(1),
    "PERCENTILECONT": infer_percentile_cont,
    "PERCENTILEDISC": infer_percentile_disc,
    "MODE": lambda family, types, texts: None,
    "WITHINGROUP": infer_within_group,
    "CURRENTTIMESTAMP": current_time_rule("TIMESTAMPTZ"),
    "LOCALTIMESTAMP": current_time_rule("TIMESTAMP"),
    "CURRENTTIME": current_time_rule("TIMETZ"),
    "LOCALTIME": current_time_rule("TIME"),
    "NEG": infer_negation,
    "ELEMENT": infer_subscript,
    **dict.fromkeys(split_names("BITWISELEFTSHIFT BITWISERIGHTSHIFT"), infer_shift),
    **dict.fromkeys(split_names("BYTESTRING UNICODESTRING"), fixed_rule(UNTYPED_CONSTANT)),
    "BITSTRING": fixed_rule("BIT"),
    "HEXSTRING": fixed_rule("BIT"),
    "CURRENTDATE": role_rule("date"),
}
"""Rules of PostgreSQL's functions; the common rules hold for the rest."""

POSTGRES_CONSTANT_OPERATORS = split_names("CURRENTTIMESTAMP LOCALTIMESTAMP CURRENTTIME LOCALTIME NEG LOG")
"""Operators whose type also depends on the values of constants."""


# ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

POSTGRES_TYPES = TypeFamily(
    name="postgres",
    integers=("SMALLINT", "INT", "BIGINT"),
    digits=(5, 10, 19),
    integer="INT",
    bigint="BIGINT",
    decimal="DECIMAL",
    real="REAL",
    double="DOUBLE PRECISION",
    string="TEXT",
    boolean="BOOLEAN",
    binary="BYTEA",
    zoned="TIMESTAMPTZ",
    aliases={
        **{"INTEGER": "INT", "NUMERIC": "DECIMAL", "FLOAT8": "DOUBLE PRECISION", "FLOAT4": "REAL", "BOOL": "BOOLEAN"},
        **{"SMALLSERIAL": "SMALLINT", "SERIAL": "INT", "BIGSERIAL": "BIGINT"},
    },
    cap=0,
    days="INT",
    notation=("{}[]", "", "", ""),
    strings=("TEXT", "VARCHAR", "CHAR", "BPCHAR", "NAME"),
    null=UNTYPED_CONSTANT,
    literal=UNTYPED_CONSTANT,
    settled={UNTYPED_CONSTANT: "TEXT"},
    alone={"CHAR": "CHAR(1)"},
    sized=False,
    flat=True,
    default_first=True,
    exponents=False,
    using_widens=True,
    real_digits=24,
    results={"VARCHAR": "TEXT"},
    widen=_widen_types,
    conversions=ImplicitConversions(
        compares=parse_pairs("date-moment time-interval"),
        unites=parse_pairs("date-moment"),
        stores=parse_pairs("*>string date-moment moment>time time-interval"),
        computes=STRICT_OPERANDS,
    ),
)


# ── the dialect ───────────────────────────────────────────────────────────────────────────────────────────────────────

_TABLE_FUNCTION_TYPES: dict[str, tuple[str, ...]] = {
    "JSON_EACH": ("TEXT", "JSON"),
    "JSONB_EACH": ("TEXT", "JSONB"),
    "JSON_EACH_TEXT": ("TEXT", "TEXT"),
    "JSONB_EACH_TEXT": ("TEXT", "TEXT"),
    "JSON_ARRAY_ELEMENTS": ("JSON",),
    "JSONB_ARRAY_ELEMENTS": ("JSONB",),
    "JSON_ARRAY_ELEMENTS_TEXT": ("TEXT",),
    "JSONB_ARRAY_ELEMENTS_TEXT": ("TEXT",),
    "JSON_OBJECT_KEYS": ("TEXT",),
    "JSONB_OBJECT_KEYS": ("TEXT",),
    "REGEXP_SPLIT_TO_TABLE": ("TEXT",),
    "STRING_TO_TABLE": ("TEXT",),
    "GENERATE_SUBSCRIPTS": ("INT",),
    **dict.fromkeys(("REGEXP_MATCHES", "JSONB_PATH_QUERY"), (SAME_AS_EXPRESSION,)),
    "EXPLODINGGENERATESERIES": (SAME_AS_EXPRESSION,),
    "GENERATESERIES": (SAME_AS_EXPRESSION,),
}


PLPGSQL = ProceduralLanguage(
    "PL/pgSQL",
    sections=True,
    opens=frozenset({"BEGIN", "RETURN"}),
    languages=frozenset({"SQL", "PLPGSQL"}),
    transactions=frozenset("TRANSACTION WORK ; ISOLATION READ DEFERRABLE NOT".split()),
    equals=True,
)


PSQL = ClientCommands(
    re.compile(r"\\(?P<word>[A-Za-z!?_]+)"),
    COMMAND_KINDS,
    statement=frozenset({"copy"}),
    anywhere=frozenset(
        "if elif else endif echo i ir set unset c connect pset x timing watch d dt q o t a r p e".split()
    ),
    ends=re.compile(r"\\(?:g(?:set|exec|desc|x)?|crosstabview|watch|bind|bind_named|parse|sendpipeline)\b[^\n]*"),
    # Each part is taken once for all and ends where another COPY begins: or many would each look at all others.
    data=re.compile(
        r"^copy\b(?>(?:[^;\n]|\n(?!copy\b))*?\bfrom\s+stdin\b)(?:[^;\n]|\n(?!copy\b))*+;[^\n]*\n", re.IGNORECASE | re.M
    ),
    data_end=re.compile(r"^(\\\.)[ \t]*$", re.M),
)


_TRIGGER_VARIABLES = frozenset(
    "TG_OP TG_NAME TG_WHEN TG_LEVEL TG_RELID TG_RELNAME TG_TABLE_NAME TG_TABLE_SCHEMA TG_NARGS TG_ARGV TG_EVENT "
    "TG_TAG".split()
)
"""Variables of a trigger function in PL/pgSQL."""

_ROLE_KEYWORDS = frozenset("CURRENT_USER SESSION_USER USER CURRENT_ROLE".split())
"""Role keywords, which are columns only in quotes."""

POSTGRES_VALUE_KEYWORDS = (
    _TRIGGER_VARIABLES | _ROLE_KEYWORDS | frozenset("CURRENT_DATE CURRENT_TIMESTAMP FOUND SQLSTATE SQLERRM".split())
)
"""Keywords that are values of the engine, in Redshift too."""


POSTGRES = DialectTraits(
    name="postgres",
    family="postgres",
    tables=IdentifierFolding.LOWER,
    columns=IdentifierFolding.LOWER,
    naming=UnaliasedNaming.FUNCTION,
    star_rows=True,
    dotted_members=False,
    uses_catalog=True,
    short_insert=True,
    row_values=True,
    unnest_expands=True,
    alias_names_element=True,
    fixes_views=True,
    short_lists=True,
    plain_functions=frozenset({"DATE_PART"}),
    callable_keywords=frozenset({"OVERLAPS"}),
    json_documents=True,
    ordinality_type="INT",
    row_member_names="f{}",
    table_function_columns={
        name.upper(): (name,)
        for name in (
            "json_object_keys jsonb_object_keys regexp_matches regexp_split_to_table string_to_table "
            "generate_subscripts jsonb_path_query"
        ).split()
    },
    table_arguments={"DBLINK": TableArgument(text=1, server=0)},
    value_keywords=POSTGRES_VALUE_KEYWORDS,
    reserved_values=_TRIGGER_VARIABLES | _ROLE_KEYWORDS,
    table_pseudo_columns=frozenset("CTID XMIN XMAX CMIN CMAX TABLEOID".split()),
    pseudo_column_types={
        **dict.fromkeys("TG_OP TG_WHEN TG_LEVEL TG_EVENT TG_TAG SQLSTATE SQLERRM".split(), "TEXT"),
        **dict.fromkeys("TG_NAME TG_RELNAME TG_TABLE_NAME TG_TABLE_SCHEMA".split(), "NAME"),
        **dict.fromkeys(sorted(_ROLE_KEYWORDS), "NAME"),
        **{"TG_NARGS": "INT", "TG_ARGV": "TEXT[]", "FOUND": "BOOLEAN", "CTID": "TID", "XMIN": "XID", "XMAX": "XID"},
        **{"CMIN": "CID", "CMAX": "CID", "TABLEOID": "OID", "TG_RELID": "OID"},
    },
    default_schema="public",
    function_schemas=frozenset({"pg_catalog"}),
    type_schemas=frozenset({"pg_catalog", "public"}),
    system_catalog=SystemCatalog(schemas=STANDARD_SCHEMAS | {"pg_catalog", "pg_toast"}, prefixes=("pg_",)),
    client_commands=PSQL,
    procedural=PLPGSQL,
    types=POSTGRES_TYPES,
    type_rules=TypeRules(
        nulls=NULL_SKIPPING_RULES,
        functions=POSTGRES_RULES,
        constants=POSTGRES_CONSTANT_OPERATORS,
        keeps_size=SIZE_PRESERVING_OPERATORS,
        table_functions=_TABLE_FUNCTION_TYPES,
    ),
    signs=(
        PSQL_COMMANDS,
        PLPGSQL_BODIES,
        build_sign("SERIAL columns", r"\b(BIG|SMALL)?SERIAL\b", 2, "serial bigserial smallserial"),
        build_sign(
            "JSONB, BYTEA or INET",
            r"\b(JSONB|BYTEA|TSVECTOR|TSQUERY|CITEXT|INET|INT4RANGE|TSTZRANGE|REGCLASS|REGPROC|HSTORE)\b",
            2,
            "jsonb bytea tsvector tsquery citext inet int4range tstzrange regclass regproc hstore",
        ),
        build_sign(
            "CREATE EXTENSION", r"\bCREATE\s+EXTENSION\b|\\echo Use \"CREATE", 4, "create&extension echo&use&create*"
        ),
        build_sign(
            "functions and views pg_…",
            r"\bpg_(?:stat|size_pretty|relation|total|table|get|backend|terminate|cancel|settings|locks|roles|extension|advisory|sleep|try|is_in|current_wal|wal|replication|matviews|policies)\w*",
            3,
            "pg_*",
        ),
        build_sign(
            "OWNER TO", r"\bOWNER\s+TO\b|\bSET\s+search_path\b|\bUNLOGGED\b", 1, "owner&to set&search_path unlogged"
        ),
        build_sign(
            "settings of pg_dump",
            r"^SET\s+(?:statement_timeout|lock_timeout|standard_conforming_strings|check_function_bodies"
            r"|client_min_messages|default_tablespace|default_with_oids|default_table_access_method)\s*=",
            4,
            "set&statement_timeout set&lock_timeout set&standard_conforming_strings set&check_function_bodies "
            "set&client_min_messages set&default_tablespace set&default_with_oids set&default_table_access_method",
        ),
        build_sign("NEXTVAL('…')", r"\bNEXTVAL\s*\(\s*'", 2, "nextval"),
        build_sign(
            "foreign data wrappers", r"\bFOREIGN\s+(?:TABLE|DATA\s+WRAPPER)\b", 3, "foreign&table foreign&wrapper"
        ),
        build_sign("DO blocks", r"^\s*DO\s+(?:LANGUAGE\s+\w+\s+)?\$\w*\$", 4, "do&$"),
        PG_CATALOG,
        DOLLAR_QUOTES.with_worth(2),
        CASTS,
        TIME_ZONE_TYPES,
        ON_CONFLICT,
        DISTINCT_ON,
        GENERATE_SERIES,
        ARRAY_BRACKETS,
        JSON_PATHS,
    ),
    path_words=frozenset({"postgres", "postgresql", "pgsql", "psql", "pg", "greenplum", "plpgsql"}),
    host_signs=(POSTGRES_DRIVERS,),
)


UNNAMED_COLUMN = "?column?"
"""The name that PostgreSQL gives to a column without a name."""

INTERNAL_TYPE_NAMES = {
    "int": "int4",
    "bigint": "int8",
    "smallint": "int2",
    "decimal": "numeric",
    "double": "float8",
    "float": "float4",
    "boolean": "bool",
    "char": "bpchar",
    "varbinary": "bytea",
}
"""PostgreSQL's internal type names; columns of a cast are named after them."""

MAX_REAL_DIGITS = 24
"""A FLOAT of no more binary digits is a REAL."""
