"""Names that DuckDB gives to unaliased columns: how it prints expressions."""

DESCRIBE_COLUMNS: dict[str, dict[str, bool]] = {
    "DESCRIBE": dict.fromkeys("column_name column_type null key default extra".split(), False),
    "SUMMARIZE": {
        **dict.fromkeys("column_name column_type".split(), False),
        **dict.fromkeys("min max approx_unique avg std q25 q50 q75 count null_percentage".split(), True),
    },
}
"""The columns of DESCRIBE and SUMMARIZE as sources, and whether they are computed from values."""

BINARY_PRECEDENCE: dict[str, int] = {
    "OR": 1,
    "AND": 2,
    **dict.fromkeys(("=", "==", "<>", "!=", "<", "<=", ">", ">="), 5),
    **dict.fromkeys(("||", "->", "->>", "&", "|", "<<", ">>", "~", "!~", "~*", "&&", "@>", "<@", "^@"), 7),
    **dict.fromkeys(("+", "-"), 8),
    **dict.fromkeys(("*", "/", "//", "%", "DIV"), 9),
    **dict.fromkeys(("^", "**"), 10),
}
"""Binary operators and their precedence."""

NOT, PREDICATE, SIGN = 3, 6, 11
"""How tight NOT, the words that compare, and signs bind."""

LOGICAL_OPERATORS = frozenset({"AND", "OR"})
RIGHT_ASSOCIATIVE = frozenset({"->", "->>"})
"""Right-associative operators."""

TWO_TOKEN_OPERATORS = frozenset({"<<", ">>"})
"""Operators of two tokens."""

OPERATOR_SHAPES = {
    "==": "({} = {})",
    "<>": "({} != {})",
    "~": "regexp_matches({}, {})",
    "~*": "regexp_matches({}, {}, 'i')",
    "!~": "(NOT regexp_matches({}, {}))",
}
"""Operators that are printed as others."""

PREFIX_SIGNS = frozenset({"-", "+", "~", "@"})
PREDICATE_KEYWORDS = frozenset("BETWEEN IN LIKE ILIKE GLOB IS NOT ISNULL NOTNULL".split()) | {"SIMILAR TO"}
PATTERN_OPERATORS = {"LIKE": "~~", "ILIKE": "~~*", "GLOB": "~~~"}
PRINTED_CONSTANTS = {"NULL": "NULL", "TRUE": "true", "FALSE": "false"}
LITERAL_TYPES = frozenset("DATE TIME TIMESTAMP TIMESTAMPTZ DATETIME".split())
"""Types before a string literal that convert it."""

BARE_FUNCTIONS = frozenset(
    "CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP CURRENT_USER SESSION_USER USER CURRENT_ROLE "
    "CURRENT_CATALOG CURRENT_SCHEMA".split()
)
"""Functions that are called without brackets."""

_WHOLE_NUMBER_CAST = "CAST(trunc(CAST({{}} AS DOUBLE)) AS {})"
INTERVAL_UNITS = {
    **dict.fromkeys(
        "year month day week quarter decade century millennium".split(), _WHOLE_NUMBER_CAST.format("INTEGER")
    ),
    **dict.fromkeys(("hour", "minute", "microsecond"), _WHOLE_NUMBER_CAST.format("BIGINT")),
    **dict.fromkeys(("second", "millisecond"), "CAST({} AS DOUBLE)"),
}
"""Units of intervals, and how their numbers are converted."""

DEFAULT_FRAME = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
"""The default window frame, which is not printed."""

GRAMMAR_TYPES = {
    "INT": "INTEGER",
    "REAL": "FLOAT",
    "DEC": "DECIMAL",
    "NUMERIC": "DECIMAL",
    "CHAR": "VARCHAR",
    "CHARACTER": "VARCHAR",
    "NVARCHAR": "VARCHAR",
    "JSON": '"json"',
    **{
        name: name
        for name in (
            "INTEGER BIGINT SMALLINT FLOAT DECIMAL BOOLEAN VARCHAR TIME TIMESTAMP INTERVAL BIT STRUCT MAP".split()
        )
    },
}
"""Types that the grammar knows; all others are printed as written."""

PRINTED_FUNCTIONS = {
    **{"ifnull": "COALESCE", "coalesce": "COALESCE", "try": "TRY"},
    **dict.fromkeys(("grouping", "grouping_id"), "GROUPING"),
}
"""Names under which functions are printed."""

COMPREHENSION_SHAPE = "list_apply({whole}, (lambda {name}: {made}))"
FILTERED_COMPREHENSION_SHAPE = (
    "list_apply(list_filter(list_apply({whole}, "
    '(lambda {name}: struct_pack("filter" := {condition}, result := {made}))), '
    "(lambda elem: struct_extract(elem, 'filter'))), (lambda elem: struct_extract(elem, 'result')))"
)
"""Printed form of a list comprehension with a condition."""

ORDERED_SET_FUNCTIONS = {"percentile_cont": "quantile_cont", "percentile_disc": "quantile_disc"}
"""Ordered-set aggregates, and how they are printed."""

RESERVED_KEYWORDS = frozenset(
    (
        "abort absolute access action add admin after aggregate all also alter always analyse analyze and anti any "
        "approx array as asc asof assertion assignment asymmetric at attach attribute authorization backward before "
        "begin between bigint binary bit boolean both by cache call called cascade cascaded case cast catalog "
        "centuries century chain char character characteristics check checkpoint class close cluster coalesce "
        "collate collation column columns comment comments commit committed compression concurrently configuration "
        "conflict connect connection constraint constraints content continue conversion copy cost create cross csv "
        "cube current cursor cycle data database day days deallocate dec decade decades decimal declare default "
        "defaults deferrable deferred definer delete delimiter delimiters depends desc describe destroy detach "
        "dictionary disable discard disconnect distance distinct do document domain double drop each else enable "
        "encoding encrypted end enum error escape event exact except exclude excluding exclusive execute exists "
        "explain export export_state extension extensions external extract false family fetch filter first float "
        "following for force foreign forward freeze from full function functions generated glob global grant "
        "granted group grouping grouping_id groups handler having header hold hour hours identity if ignore ilike "
        "immediate immutable implicit import in include including increment index indexes inherit inherits "
        "initially inline inner inout input insensitive insert install instead int integer intersect interval into "
        "invoker is isnull isolation join json key label lambda language large last lateral leading leakproof left "
        "level like limit listen load local location lock locked logged macro map mapping match matched "
        "materialized maxvalue merge method microsecond microseconds millennia millennium millisecond milliseconds "
        "minute minutes minvalue mode month months move name names national natural nchar nearest new next no none "
        "not nothing notify notnull nowait null nullif nulls numeric object of off offset oids old on only operator "
        "option options or order ordinality others out outer over overlaps overlay overriding owned owner parallel "
        "parser partial partition partitioned passing password percent persistent pivot pivot_longer pivot_wider "
        "placing plans policy position positional pragma preceding precision prepare prepared preserve primary "
        "prior privileges procedural procedure program publication qualify quarter quarters quote range read real "
        "reassign recheck recursive ref references referencing refresh register reindex relative release rename "
        "repeatable replace replica reset resource resources respect restart restrict returning returns revoke "
        "right role rollback rollup row rows rule sample savepoint schema schemas scope scroll search second "
        "seconds secret secure security select semi sequence sequences serializable server session set setof sets "
        "share show similar similarity simple skip smallint snapshot some sorted source sql stable standalone start "
        "statement statistics stdin stdout storage stored strict strip struct subscription substring summarize "
        "symmetric sysid system table tables tablesample tablespace target temp template temporary text then ties "
        "time timestamp to trailing transaction transform treat trigger trim true truncate trusted try_cast tuple "
        "type types unbounded uncommitted unencrypted union unique unknown unlisten unlogged unpack unpivot until "
        "update use user using vacuum valid validate validator value values varchar variable variadic varying "
        "verbose version view views virtual volatile week weeks when where whitespace window with within without "
        "work wrapper write xml xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi "
        "xmlroot xmlserialize xmltable year years yes zone"
    ).split()
)
"""Keywords that are quoted where they are names."""
