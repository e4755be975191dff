"""The traits of each dialect: identifier comparison, alias visibility, names of unaliased columns and the like."""

import difflib
from enum import StrEnum
from functools import cache

import msgspec

from lineage_pipeline.dialects.identifier_folding import IdentifierFolding


class UnaliasedNaming(StrEnum):
    """How the output column of an expression without an alias is named."""

    TEXT = "text"
    """The text of the expression: `SELECT a + b` gives `a + b`."""
    UPPER = "upper"
    """The text in upper case: `A + B` (Snowflake)."""
    PACKED = "packed"
    """The text in upper case and without spaces: `A+B` (Oracle)."""
    VALUE = "value"
    """The text, and for a string constant its value: `SELECT 'x'` gives `x` (MySQL)."""
    CAPTION = "caption"
    """The expression as Spark prints it, `(a + b)`; a string constant is named by its value."""
    PRINTED = "printed"
    """The expression as DuckDB prints it: `(a + b)`."""
    FUNCTION = "function"
    """The name of the function or type, else `?column?` (PostgreSQL docs: Select Lists)."""
    NONE = "none"
    """No name at all (T-SQL)."""
    COL0 = "_col{}"
    """Its position in the select list, from 0: `_col0` (Trino)."""
    C0 = "_c{}"
    """Its position in the select list, from 0: `_c0` (Hive)."""
    F0 = "f{}_"
    """A number among the unnamed columns only, from 0: `f0_` (BigQuery)."""


DEFAULT_SCHEMAS = {"tsql": "dbo"}
"""Default schema by dialect family: a name with it and one without mean the same object."""


class DialectTraits(msgspec.Struct, frozen=True):
    """The rules of one dialect that affect lineage.

    The page in parentheses is the manual of one engine that has the rule; other dialects may share it.
    """

    name: str
    """The dialect's own name, as sqlglot calls it."""
    tables: IdentifierFolding = IdentifierFolding.INSENSITIVE
    """How table names are compared (BigQuery docs: Lexical structure and syntax, on case sensitivity)."""
    columns: IdentifierFolding = IdentifierFolding.INSENSITIVE
    """How column names are compared (PostgreSQL docs: Lexical Structure, on quoted identifiers)."""
    naming: UnaliasedNaming = UnaliasedNaming.TEXT
    """How an output column without an alias is named: `SELECT a + b`."""
    parts: tuple[str, ...] = ("catalog", "schema", "name")
    """The parts of a full table name; only two where names have no catalog (MySQL docs: Identifier Qualifiers)."""
    lateral_alias: bool = False
    """A select list may use its earlier aliases: `SELECT a + 1 AS b, b * 2` (Databricks docs: Name resolution)."""
    alias_in_where: bool = False
    """WHERE and HAVING may use aliases: `SELECT a + 1 AS b … WHERE b > 0` (DuckDB docs: Friendly SQL)."""
    alias_in_group: bool = True
    """GROUP BY may use aliases: `SELECT a + 1 AS b … GROUP BY b` (MySQL docs: Problems with Column Aliases)."""
    alias_in_having: bool = False
    """HAVING may use aliases: `COUNT(*) AS n … HAVING n > 1` (MySQL docs: Problems with Column Aliases)."""
    implicit_recursion: bool = False
    """A CTE that unions with itself is recursive without the keyword RECURSIVE (Snowflake docs: WITH)."""
    implicit_unnest: bool = False
    """FROM may name an array of an earlier source: `FROM t, t.items` (Redshift docs: Querying semi-structured data)."""
    batches: bool = False
    """Scripts are T-SQL: GO ends a batch, semicolons are optional (docs: SQL Server Utilities Statements - GO)."""
    short_insert: bool = False
    """INSERT may give fewer values than there are columns; the first columns take them (PostgreSQL docs: INSERT)."""
    dual: bool = False
    """DUAL is a table of one row with the column DUMMY (Oracle docs: Selecting from the DUAL Table)."""
    query_adds_columns: bool = False
    """`CREATE TABLE t (a INT) SELECT b …` has both columns (MySQL docs: CREATE TABLE ... SELECT Statement)."""
    keeps_not_null: bool = False
    """A table made from a query is NOT NULL where its values cannot be null (SQL Server docs: SELECT - INTO clause)."""
    fixes_views: bool = False
    """A view keeps the columns its query had when created, even of `*` (MySQL docs: CREATE VIEW Statement)."""
    updates_joined: bool = False
    """UPDATE may set columns of any table that it joins: `UPDATE a, b SET b.x = 1` (MySQL docs: UPDATE Statement)."""
    virtual: tuple[str, ...] = ()
    """Schemas that are no part of a table's name: `LIVE.t` is `t` (Databricks docs: LIVE schema (legacy))."""
    file_tables: bool = False
    """A table name may be a file or a path: `FROM "a.csv"` (Spark SQL guide: Run SQL on files directly)."""
    positions: bool = False
    """`$1` is the first column of a source, not a parameter (Snowflake docs: Query data in staged files)."""
    as_table_is_like: bool = False
    """`CREATE TABLE t AS s` copies the columns of `s`, not its rows (ClickHouse docs: CREATE TABLE)."""
    global_temporary_lasts: bool = False
    """CREATE GLOBAL TEMPORARY TABLE outlives the session; only its rows do not (Oracle docs: CREATE TABLE)."""
    select_assigns: bool = False
    """SELECT may assign variables: `SELECT @v = a FROM t` (SQL Server docs: SELECT @local_variable)."""
    count: str = "BIGINT"
    """The type that COUNT returns (SQL Server docs: COUNT)."""
    quotes: str = ""
    """More quote characters of identifiers than the grammar's (Athena docs: Escape reserved keywords in queries)."""
    grammar: str = ""
    """The sqlglot dialect that parses it, where that is not the one of its own name."""
    definitions: str = ""
    """The sqlglot dialect for CREATE, ALTER and DROP without a query; Athena's is Hive (Athena: CREATE TABLE)."""
    family: str = ""
    """The main dialect whose rules it shares: `tsql` for `fabric`; types and functions are looked up by it."""
    alias_first: bool = False
    """An alias hides a column everywhere: `SELECT a + 1 AS a, a * 2` (ClickHouse: prefer_column_name_to_alias)."""
    alias_first_in_group: bool = False
    """A name that is all of a GROUP BY key is the alias even if a source has such a column (BigQuery: GROUP BY)."""
    row_names: str = "column{1}"
    """The column names of VALUES; `{0}` counts from 0, `{1}` from 1 (PostgreSQL docs: VALUES)."""
    row_values: bool = False
    """The alias of a source as a value is its row: `SELECT t FROM t` (PostgreSQL docs: Composite Types)."""
    unnest_expands: bool = False
    """UNNEST of rows gives a column per field, UNNEST of a map gives key and value (Trino docs: SELECT)."""
    alias_names_element: bool = False
    """The alias names the column too: `SELECT n FROM generate_series(1, 3) AS n` (PostgreSQL: SELECT)."""
    label_first: bool = True
    """UNPIVOT gives the label, then the values; BigQuery and T-SQL the values first (BigQuery docs: Query syntax)."""
    generator_names: bool = False
    """`SELECT EXPLODE(m)` names its columns itself: `key`, `value` (Hive docs: LanguageManual UDF)."""
    pattern_columns: bool = False
    """A quoted select item may be a regular expression, as `a.*` (Hive docs: LanguageManual Select, REGEX columns)."""
    column_sets: bool = False
    """One select item may stand for many columns: `COLUMNS('a.*')`, `* LIKE 'a%'` (DuckDB docs: Star Expression)."""
    decorators: str = ""
    """The character before a partition or version: `t$20240101` (BigQuery docs: Load data into partitioned tables)."""
    flattens: bool = False
    """What sqlglot parses as EXPLODE is FLATTEN, with six columns (Snowflake docs: FLATTEN)."""
    copies_names: bool = False
    """COPY INTO matches columns by name unless it says BY POSITION or lists them (Databricks docs: COPY INTO)."""
    dotted_members: bool = True
    """`a.b` may be a field of an unlisted column `a`; PostgreSQL needs `(a).b` (PostgreSQL docs: Composite Types)."""
    numbers_doubles: bool = False
    """Duplicate columns of a subquery or new table become `a`, `a_1` (DuckDB docs: Keywords and Identifiers)."""
    alias_prefix: str = ""
    """The word before a name that makes it an alias: `a + 1 AS b … WHERE LOCAL.b > 0` (Exasol: SELECT)."""
    uses_catalog: bool = False
    """USE with one name changes the catalog, not the schema (SQL Server docs: USE)."""
    aliases: IdentifierFolding | None = None
    """How aliases of sources are compared; None: like tables (BigQuery docs: Lexical structure and syntax)."""


_TWO_PARTS = ("schema", "name")
_TSQL = DialectTraits(
    "tsql",
    naming=UnaliasedNaming.NONE,
    dotted_members=False,
    uses_catalog=True,
    implicit_recursion=True,
    batches=True,
    select_assigns=True,
    alias_in_group=False,
    count="INT",
    label_first=False,
    keeps_not_null=True,
    fixes_views=True,
)
_POSTGRES = DialectTraits(
    "postgres",
    IdentifierFolding.LOWER,
    IdentifierFolding.LOWER,
    UnaliasedNaming.FUNCTION,
    dotted_members=False,
    uses_catalog=True,
    short_insert=True,
    row_values=True,
    unnest_expands=True,
    alias_names_element=True,
    fixes_views=True,
)
_SPARK = DialectTraits(
    "spark",
    naming=UnaliasedNaming.CAPTION,
    lateral_alias=True,
    alias_in_having=True,
    short_insert=True,
    row_names="col{1}",
    generator_names=True,
    file_tables=True,
    virtual=("live",),
    decorators="@",
    copies_names=True,
    fixes_views=True,
)
_TRINO = DialectTraits(
    "trino", naming=UnaliasedNaming.COL0, alias_in_group=False, row_names="_col{0}", unnest_expands=True
)
_MYSQL = DialectTraits(
    "mysql",
    IdentifierFolding.EXACT,
    naming=UnaliasedNaming.VALUE,
    dotted_members=False,
    parts=_TWO_PARTS,
    alias_in_having=True,
    row_names="column_{0}",
    dual=True,
    query_adds_columns=True,
    keeps_not_null=True,
    fixes_views=True,
    updates_joined=True,
)
_UPPER = DialectTraits(
    "oracle",
    IdentifierFolding.UPPER,
    IdentifierFolding.UPPER,
    UnaliasedNaming.PACKED,
    alias_in_group=False,
    implicit_recursion=True,
    dual=True,
    count="NUMBER",
    global_temporary_lasts=True,
    keeps_not_null=True,
    fixes_views=True,
)

GENERIC = DialectTraits("", quotes="`")

_DIALECT_ROWS: dict[str, DialectTraits] = {
    "": GENERIC,
    "athena": msgspec.structs.replace(_TRINO, quotes="`", grammar="trino", definitions="hive"),
    "bigquery": DialectTraits(
        "bigquery",
        IdentifierFolding.EXACT,
        aliases=IdentifierFolding.INSENSITIVE,
        naming=UnaliasedNaming.F0,
        alias_in_having=True,
        implicit_unnest=True,
        count="INT64",
        alias_first_in_group=True,
        row_values=True,
        label_first=False,
        decorators="$",
    ),
    "clickhouse": DialectTraits(
        "clickhouse",
        IdentifierFolding.EXACT,
        IdentifierFolding.EXACT,
        parts=_TWO_PARTS,
        lateral_alias=True,
        alias_in_where=True,
        alias_in_having=True,
        keeps_not_null=True,
        as_table_is_like=True,
        alias_first=True,
        alias_first_in_group=True,
        row_names="c{1}",
        column_sets=True,
    ),
    "databricks": _SPARK,
    "doris": _MYSQL,
    "dremio": GENERIC,
    "drill": GENERIC,
    "druid": GENERIC,
    "dune": _TRINO,
    "duckdb": DialectTraits(
        "duckdb",
        naming=UnaliasedNaming.PRINTED,
        lateral_alias=True,
        alias_in_where=True,
        alias_in_having=True,
        row_names="col{0}",
        row_values=True,
        column_sets=True,
        file_tables=True,
        numbers_doubles=True,
    ),
    "exasol": msgspec.structs.replace(_UPPER, alias_prefix="LOCAL."),
    "fabric": _TSQL,
    "hive": DialectTraits(
        "hive",
        naming=UnaliasedNaming.C0,
        parts=_TWO_PARTS,
        alias_in_having=True,
        row_names="col{1}",
        generator_names=True,
        pattern_columns=True,
        fixes_views=True,
    ),
    "materialize": _POSTGRES,
    "mysql": _MYSQL,
    "oracle": _UPPER,
    "postgres": _POSTGRES,
    "presto": _TRINO,
    "redshift": DialectTraits(
        "redshift",
        naming=UnaliasedNaming.FUNCTION,
        uses_catalog=True,
        lateral_alias=True,
        implicit_unnest=True,
        short_insert=True,
        row_values=True,
        fixes_views=True,
    ),
    "risingwave": _POSTGRES,
    "singlestore": _MYSQL,
    "snowflake": DialectTraits(
        "snowflake",
        IdentifierFolding.UPPER,
        IdentifierFolding.UPPER,
        UnaliasedNaming.UPPER,
        count="NUMBER(18,0)",
        dotted_members=False,
        uses_catalog=True,
        lateral_alias=True,
        alias_in_where=True,
        alias_in_having=True,
        implicit_recursion=True,
        dual=True,
        positions=True,
        row_names="COLUMN{1}",
        flattens=True,
    ),
    "solr": GENERIC,
    "spark": msgspec.structs.replace(_SPARK, grammar="databricks"),
    "spark2": _SPARK,
    "sqlite": DialectTraits("sqlite", parts=_TWO_PARTS, alias_in_where=True, alias_in_having=True),
    "starrocks": _MYSQL,
    "tableau": GENERIC,
    "teradata": DialectTraits(
        "teradata",
        parts=_TWO_PARTS,
        lateral_alias=True,
        alias_in_where=True,
        alias_in_having=True,
        global_temporary_lasts=True,
    ),
    "trino": _TRINO,
    "tsql": _TSQL,
}

TRAITS = {
    name: msgspec.structs.replace(traits, name=name, family=traits.name) for name, traits in _DIALECT_ROWS.items()
}
"""The dialects by name; one that shares the rules of another has a grammar of its own."""

DIALECT_ALIASES = {
    "": "",
    "ansi": "",
    "cockroachdb": "postgres",
    "flink": "",
    "generic": "",
    "greenplum": "postgres",
    "impala": "hive",
    "mariadb": "mysql",
    "mssql": "tsql",
    "postgresql": "postgres",
    "sparksql": "spark",
    "sqlserver": "tsql",
    "synapse": "tsql",
}


CASE_FOLDINGS = {
    "lower": IdentifierFolding.INSENSITIVE,
    "upper": IdentifierFolding.CAPITAL,
    "exact": IdentifierFolding.EXACT,
}
"""Identifier folding by the setting `case_sensitivity`."""


@cache
def find_traits(dialect: str, case: str = "dialect") -> DialectTraits | None:
    """Return the traits of a dialect by one of its names, or None where it is unknown."""
    name = dialect.lower()
    traits = TRAITS.get(DIALECT_ALIASES.get(name, name))
    folding = CASE_FOLDINGS.get(case)
    if traits is None or folding is None:
        return traits
    return msgspec.structs.replace(traits, tables=folding, columns=folding, aliases=None)


def suggest_dialect(dialect: str) -> str:
    """Return a hint which dialect was meant by an unknown name, or which there are."""
    names = sorted(name for name in {*TRAITS, *DIALECT_ALIASES} if name)
    close = difflib.get_close_matches(dialect.lower(), names, n=1)
    return f"did you mean {close[0]}?" if close else f"known are {', '.join(names)}"


MERGED_IN_PLACE = frozenset({"duckdb", "sqlite", "clickhouse"})
"""Dialects in which a USING column keeps its position of the left side; in all others it comes first."""

MERGED_FIRST = frozenset({"spark"})
"""Families in which a USING column comes first even in the star of one side."""

SHORT_LISTS = frozenset({"", "postgres", "redshift", "duckdb"})
"""Families in which a list of names may be shorter than the columns it names."""


LENIENT_STARS = frozenset({"clickhouse"})
"""Dialects in which a star may exclude a column that does not exist."""

STARS_BY_POSITION = frozenset({"duckdb"})
"""Families in which the star of a MERGE maps by position; in all others it maps by name."""
