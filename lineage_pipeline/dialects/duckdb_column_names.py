"""Names that DuckDB gives to unaliased columns: how it prints expressions."""

from lineage_pipeline.dialects.column_names import (
    BARE_FUNCTIONS,
    BinaryOperator,
    ColumnNameRules,
    PatternOperator,
    PrefixOperator,
    build_infix_operators,
)

_OPERATORS = {
    "OR": BinaryOperator(1, "({} OR {})", flat=True),
    "AND": BinaryOperator(2, "({} AND {})", flat=True),
    **build_infix_operators(5, "= != < <= > >="),
    "==": BinaryOperator(5, "({} = {})"),
    "<>": BinaryOperator(5, "({} != {})"),
    **build_infix_operators(7, "|| & | << >> && @> <@ ^@ ~~ ~~* ~~~ !~~ !~~* !~~~"),
    "->": BinaryOperator(7, "({} -> {})", right_associative=True),
    "->>": BinaryOperator(7, "({} ->> {})", right_associative=True),
    "~": BinaryOperator(7, "regexp_matches({}, {})"),
    "~*": BinaryOperator(7, "regexp_matches({}, {}, 'i')"),
    "!~": BinaryOperator(7, "(NOT regexp_matches({}, {}))"),
    **build_infix_operators(8, "+ -"),
    **build_infix_operators(9, "* / // % DIV"),
    **build_infix_operators(10, "^ **"),
}

_WHOLE_NUMBER = "CAST(trunc(CAST({{}} AS DOUBLE)) AS {})"
_INTERVAL_SHAPES = {
    **{
        unit.upper(): f"to_{unit}s({_WHOLE_NUMBER.format('INTEGER')})"
        for unit in "year month day week quarter decade millennium".split()
    },
    "CENTURY": f"to_centuries({_WHOLE_NUMBER.format('INTEGER')})",
    **{unit.upper(): f"to_{unit}s({_WHOLE_NUMBER.format('BIGINT')})" for unit in ("hour", "minute", "microsecond")},
    **{unit.upper(): f"to_{unit}s(CAST({{}} AS DOUBLE))" for unit in ("second", "millisecond")},
}
"""Intervals by unit: the function that makes one of a number."""

_DEFAULT_FRAME = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
"""The default window frame, which is not printed."""

_GRAMMAR_TYPES = {
    "INT": "INTEGER",
    "REAL": "FLOAT",
    "DEC": "DECIMAL",
    "NUMERIC": "DECIMAL",
    "CHAR": "VARCHAR",
    "CHARACTER": "VARCHAR",
    "CHARACTER VARYING": "VARCHAR",
    "DOUBLE PRECISION": "DOUBLE",
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


def _quote_name(name: str) -> str:
    """Return a name, quoted if it is a keyword or not a plain word."""
    plain = name.isidentifier() and name.isascii() and name.lower() not in RESERVED_KEYWORDS
    return name if plain else f'"{name}"'


def _print_typed_literal(kind: str, text: str) -> str:
    """Return a constant of a type, which is a cast."""
    return f"CAST({text} AS {kind})"


def _print_lambda(body: str, parameters: list[str]) -> str:
    """Return a lambda."""
    return f"(lambda {', '.join(parameters)}: {body})"


def _print_unit(written: str) -> str:
    """Return the unit of EXTRACT as a string."""
    if written[0] == "'":
        return written
    return f"'{written.upper() if written.upper() in _INTERVAL_SHAPES else written}'"


def _print_order_key(direction: str, nulls: str, function: str) -> str:
    """Return the shape of a key with what is written behind it."""
    return "{}" + (f" {direction}" if direction else "") + (f" NULLS {nulls}" if nulls else "")


def _print_frame(written: str, function: str, offset: str, ordered: bool) -> str:
    """Return the frame of a window, unless it is the default."""
    return "" if written == _DEFAULT_FRAME else written


DUCKDB_COLUMN_NAMES = ColumnNameRules(
    operators=_OPERATORS,
    prefixes={
        "NOT": PrefixOperator(3, "(NOT {})"),
        "-": PrefixOperator(11, "(-({}))", number_shape="-{}"),
        "+": PrefixOperator(11, "(+({}))"),
        "~": PrefixOperator(11, "(~({}))"),
        "@": PrefixOperator(11, "(@({}))"),
    },
    signs_number_tokens=False,
    predicates=frozenset({*"BETWEEN IN LIKE ILIKE GLOB IS NOT ISNULL NOTNULL".split(), "SIMILAR TO"}),
    predicate_precedence=6,
    patterns={
        "LIKE": PatternOperator("({} ~~ {})", "({} !~~ {})", "like_escape({}, {}, {})"),
        "ILIKE": PatternOperator("({} ~~* {})", "({} !~~* {})", "ilike_escape({}, {}, {})"),
        "GLOB": PatternOperator("({} ~~~ {})", "({} !~~~ {})", "glob_escape({}, {}, {})"),
        "SIMILAR TO": PatternOperator("regexp_full_match({}, {})", "(NOT regexp_full_match({}, {}))"),
    },
    null_tests={"ISNULL": "({} IS NULL)", "NOTNULL": "({} IS NOT NULL)"},
    null_words=("NULL", "UNKNOWN"),
    between_shape="({} BETWEEN {} AND {})",
    in_list_shape="contains({1}, {0})",
    same_shape="({} IS NOT DISTINCT FROM {})",
    different_shape="({} IS DISTINCT FROM {})",
    truth_shape="CAST({} AS BOOLEAN)",
    time_zone_shape="timezone({1}, {0})",
    collate_shape="{} COLLATE {}",
    quote_name=_quote_name,
    raw_literals=True,
    print_number=str,
    literal_types=frozenset("DATE TIME TIMESTAMP TIMESTAMPTZ DATETIME".split()),
    print_typed_literal=_print_typed_literal,
    interval_shapes=_INTERVAL_SHAPES,
    unitless_interval_shape="CAST({} AS INTERVAL)",
    constant_intervals=False,
    bare_functions=dict.fromkeys(BARE_FUNCTIONS, "{}"),
    member_shape="({}).{}",
    prints_member_stars=False,
    slices=True,
    row_shape='"row"({})',
    row_item_shape="{}",
    list_shape="list_value({})",
    array_shape="(ARRAY[{}])",
    struct_shape="struct_pack({})",
    map_shape='"map"(list_value({}), list_value({}))',
    comprehension_shape="list_apply({whole}, (lambda {name}: {made}))",
    filtered_comprehension_shape=(
        "list_apply(list_filter(list_apply({whole}, "
        '(lambda {name}: struct_pack("filter" := {condition}, result := {made}))), '
        "(lambda elem: struct_extract(elem, 'filter'))), (lambda elem: struct_extract(elem, 'result')))"
    ),
    branch_shape="WHEN ({}) THEN ({})",
    case_shape="CASE  {} END",
    default_else="NULL",
    lambda_sign="LAMBDA",
    print_lambda=_print_lambda,
    prints_queries=True,
    scalar_shape="({})",
    exists_shape="EXISTS({})",
    in_query_shape="({} = ANY({}))",
    printed_functions=PRINTED_FUNCTIONS,
    call_shapes={"date": "CAST({} AS DATE)"},
    arity_functions={("count", 0): "count_star"},
    argument_quantifiers=("DISTINCT",),
    named_arguments={":=": "{0} := {1}"},
    prints_argument_order=True,
    star="*",
    counted_star=(),
    extract_shape="date_part({}, {})",
    print_unit=_print_unit,
    position_shape='"position"({1}, {0})',
    trim_shapes={
        "": ('"trim"({})', '"trim"({}, {})'),
        "BOTH": ('"trim"({})', '"trim"({}, {})'),
        "LEADING": ("ltrim({})", "ltrim({}, {})"),
        "TRAILING": ("rtrim({})", "rtrim({}, {})"),
    },
    within_group_shape="{call} WITHIN GROUP ( ORDER BY {order})",
    ordered_set_shapes={
        "percentile_cont": "quantile_cont({arguments} ORDER BY {order})",
        "percentile_disc": "quantile_disc({arguments} ORDER BY {order})",
    },
    print_order_key=_print_order_key,
    windowed_functions={"count_star": "count"},
    frame_words=frozenset({"ROWS", "RANGE", "GROUPS", "EXCLUDE"}),
    print_frame=_print_frame,
    types=_GRAMMAR_TYPES,
    keeps_type_case=True,
    type_brackets=frozenset({"("}),
    type_separator=", ",
    array_types=True,
)
