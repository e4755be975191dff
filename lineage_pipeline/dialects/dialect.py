"""What can be said of a dialect: flags, functions, pseudo columns, types and signs; one file beside this for each."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from lineage_pipeline.dialects.client_commands import ClientCommands
from lineage_pipeline.dialects.column_names import ColumnNameRules
from lineage_pipeline.dialects.identifier_folding import IdentifierFolding
from lineage_pipeline.dialects.procedural_languages import ProceduralLanguage
from lineage_pipeline.dialects.signs import DialectSign
from lineage_pipeline.dialects.system_catalogs import SystemCatalog
from lineage_pipeline.dialects.table_functions import TableArgument, TableEngine
from lineage_pipeline.dialects.types.families import GENERIC_TYPES, TypeFamily
from lineage_pipeline.dialects.types.type_rules import TypeRules


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


VALUE_KEYWORDS = frozenset(
    "ROWNUM LEVEL SYSDATE SYSTIMESTAMP ROWID USER CURRENT_USER SESSION_USER CURRENT_DATE CURRENT_TIMESTAMP".split()
)
"""Keywords that are values of the engine, in dialects that do not say which they have."""

TWO_PARTS = ("schema", "name")
"""The parts of a full table name where names have no catalog."""


class DialectTraits(msgspec.Struct, frozen=True, eq=False):
    """The rules of one dialect that affect lineage.

    The page in parentheses is the manual of one engine that has the rule; other dialects may share it.
    Traits are equal only to themselves, so that they can be keys of a cache whatever their tables hold.
    """

    # ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    name: str
    """The dialect's own name, as sqlglot calls it."""
    family: str
    """The main dialect whose rules it shares: `tsql` for `fabric`; rows of the grammar are looked up by it."""
    grammar: str = ""
    """The sqlglot dialect that parses it, where that is not the one of its own name."""
    definitions: str = ""
    """The sqlglot dialect for CREATE, ALTER and DROP without a query; Athena's is Hive (Athena: CREATE TABLE)."""
    hash_comments: bool = False
    """# begins a comment, although the grammar does not know it: the client strips it (MySQL docs: Comments)."""
    quotes: str = ""
    """More quote characters of identifiers than the grammar's (Athena docs: Escape reserved keywords in queries)."""
    tables: IdentifierFolding = IdentifierFolding.INSENSITIVE
    """How table names are compared (BigQuery docs: Lexical structure and syntax, on case sensitivity)."""
    columns: IdentifierFolding = IdentifierFolding.INSENSITIVE
    """How column names are compared (PostgreSQL docs: Lexical Structure, on quoted identifiers)."""
    aliases: IdentifierFolding | None = None
    """How aliases of sources are compared; None: like tables (BigQuery docs: Lexical structure and syntax)."""
    parts: tuple[str, ...] = ("catalog", "schema", "name")
    """The parts of a full table name; only two where names have no catalog (MySQL docs: Identifier Qualifiers)."""
    uses_catalog: bool = False
    """USE with one name changes the catalog, not the schema (SQL Server docs: USE)."""
    default_schema: str = ""
    """The schema of names without one: `t` and `dbo.t` are the same object; empty: unknown (SQL Server: dbo)."""
    function_schemas: frozenset[str] = frozenset()
    """Schemas of functions that the engine brings: `pg_catalog.upper(x)` is `upper(x)` (PostgreSQL docs: Schemas)."""
    type_schemas: frozenset[str] = frozenset()
    """Schemas that the name of a type may omit: `public.mood` is `mood` (PostgreSQL docs: Schemas)."""
    virtual: tuple[str, ...] = ()
    """Schemas that are no part of a table's name: `LIVE.t` is `t` (Databricks docs: LIVE schema (legacy))."""
    decorators: str = ""
    """The character before a partition or version: `t$20240101` (BigQuery docs: Load data into partitioned tables)."""
    file_tables: bool = False
    """A table name may be a file or a path: `FROM "a.csv"` (Spark SQL guide: Run SQL on files directly)."""
    dual: bool = False
    """DUAL is a table of one row with the column DUMMY (Oracle docs: Selecting from the DUAL Table)."""

    # ── select lists and stars ────────────────────────────────────────────────────────────────────────────────────────

    naming: UnaliasedNaming = UnaliasedNaming.TEXT
    """How an output column without an alias is named: `SELECT a + b`."""
    printed_names: ColumnNameRules | None = None
    """How an expression without an alias is printed, where that is its name; None: it is not printed anew."""
    lateral_queries: bool = False
    """A query in FROM sees the sources before it without LATERAL (DuckDB docs: FROM, "Lateral Joins")."""
    lateral_alias: bool = False
    """A select list may use its earlier aliases: `SELECT a + 1 AS b, b * 2` (Databricks docs: Name resolution)."""
    alias_in_where: bool = False
    """WHERE and HAVING may use aliases: `SELECT a + 1 AS b … WHERE b > 0` (DuckDB docs: Friendly SQL)."""
    alias_in_group: bool = True
    """GROUP BY may use aliases: `SELECT a + 1 AS b … GROUP BY b` (MySQL docs: Problems with Column Aliases)."""
    alias_in_having: bool = False
    """HAVING may use aliases: `COUNT(*) AS n … HAVING n > 1` (MySQL docs: Problems with Column Aliases)."""
    alias_if_unclaimed: bool = False
    """A name that no source can have is an earlier alias: most engines with lateral aliases, where which is unknown."""
    alias_first: bool = False
    """An alias hides a column everywhere: `SELECT a + 1 AS a, a * 2` (ClickHouse: prefer_column_name_to_alias)."""
    alias_first_in_group: bool = False
    """A name that is all of a GROUP BY key is the alias even if a source has such a column (BigQuery: GROUP BY)."""
    alias_prefix: str = ""
    """The word before a name that makes it an alias: `a + 1 AS b … WHERE LOCAL.b > 0` (Exasol: SELECT)."""
    positions: bool = False
    """`$1` is the first column of a source, not a parameter (Snowflake docs: Query data in staged files)."""
    dotted_members: bool = True
    """`a.b` may be a field of an unlisted column `a`; PostgreSQL needs `(a).b` (PostgreSQL docs: Composite Types)."""
    star_rows: bool = False
    """`(t.*)` in parentheses is a row; where not set, a star (PostgreSQL docs: Composite Types)."""
    row_function: str = ""
    """A function that gives the row of a source by its alias: `VALUE(p).name` (Oracle docs: VALUE)."""
    row_values: bool = False
    """The alias of a source as a value is its row: `SELECT t FROM t` (PostgreSQL docs: Composite Types)."""
    column_sets: bool = False
    """One select item may stand for many columns: `COLUMNS('a.*')`, `* LIKE 'a%'` (DuckDB docs: Star Expression)."""
    dotted_tables: bool = False
    """A quoted table is split at its dot: `db.t` as SHOW CREATE TABLE prints it (Hive: Utilities.getDbTableName)."""
    pattern_columns: bool = False
    """A quoted select item may be a regular expression, as `a.*` (Hive docs: LanguageManual Select, REGEX columns)."""
    generator_names: bool = False
    """`SELECT EXPLODE(m)` names its columns itself: `key`, `value` (Hive docs: LanguageManual UDF)."""
    numbers_doubles: bool = False
    """Duplicate columns of a subquery or new table become `a`, `a_1` (DuckDB docs: Keywords and Identifiers)."""
    merges_in_place: bool = False
    """In a star, a USING column keeps its position of the left side; where not set, it comes first."""
    merges_first: bool = False
    """A USING column comes first even in the star of one side: `SELECT t.* FROM s JOIN t USING (k)` (Spark)."""
    merges_by_table: bool = False
    """USING columns have the order of the first table, and a RIGHT JOIN puts its table first (MySQL docs: JOIN)."""
    lenient_stars: bool = False
    """A star may exclude a column that does not exist: `* EXCEPT (x)` (ClickHouse)."""
    short_lists: bool = False
    """A list of names may be shorter than the columns it names: `FROM t AS x (a)` (PostgreSQL docs: SELECT)."""

    # ── sources ───────────────────────────────────────────────────────────────────────────────────────────────────────

    implicit_recursion: bool = False
    """A CTE that unions with itself is recursive without the keyword RECURSIVE (Snowflake docs: WITH)."""
    implicit_unnest: bool = False
    """FROM may name an array of an earlier source: `FROM t, t.items` (Redshift docs: Querying semi-structured data)."""
    unnest_expands: bool = False
    """UNNEST of rows gives a column per field, UNNEST of a map gives key and value (Trino docs: SELECT)."""
    alias_names_element: bool = False
    """The alias names the column too: `SELECT n FROM generate_series(1, 3) AS n` (PostgreSQL: SELECT)."""
    flattens: bool = False
    """What sqlglot parses as EXPLODE is FLATTEN, with six columns (Snowflake docs: FLATTEN)."""
    label_first: bool = True
    """UNPIVOT gives the label, then the values; BigQuery and T-SQL the values first (BigQuery docs: Query syntax)."""
    row_names: str = "column{1}"
    """The column names of VALUES; `{0}` counts from 0, `{1}` from 1 (PostgreSQL docs: VALUES)."""

    # ── statements ────────────────────────────────────────────────────────────────────────────────────────────────────

    transact_sql: bool = False
    """The language is Transact-SQL: GO ends a batch, semicolons are optional, `@name` is a variable, functions of users
    have a schema, a backslash escapes nothing (docs: Transact-SQL reference, SQL Server Utilities Statements - GO).
    """
    triple_quotes: bool = False
    """Three quotes open a string; where not set, the second is an escaped one (BigQuery docs: Lexical structure)."""
    select_assigns: bool = False
    """SELECT may assign variables: `SELECT @v = a FROM t` (SQL Server docs: SELECT @local_variable)."""
    short_insert: bool = False
    """INSERT may give fewer values than there are columns; the first columns take them (PostgreSQL docs: INSERT)."""
    copies_names: bool = False
    """COPY INTO matches columns by name unless it says BY POSITION or lists them (Databricks docs: COPY INTO)."""
    updates_joined: bool = False
    """UPDATE may set columns of any table that it joins: `UPDATE a, b SET b.x = 1` (MySQL docs: UPDATE Statement)."""
    stars_by_position: bool = False
    """The star of a MERGE maps by position; where not set, it maps by name: `INSERT *` (DuckDB)."""
    query_adds_columns: bool = False
    """`CREATE TABLE t (a INT) SELECT b …` has both columns (MySQL docs: CREATE TABLE ... SELECT Statement)."""
    as_table_is_like: bool = False
    """`CREATE TABLE t AS s` copies the columns of `s`, not its rows (ClickHouse docs: CREATE TABLE)."""
    global_temporary_lasts: bool = False
    """CREATE GLOBAL TEMPORARY TABLE outlives the session; only its rows do not (Oracle docs: CREATE TABLE)."""
    keeps_not_null: bool = False
    """A table made from a query is NOT NULL where its values cannot be null (SQL Server docs: SELECT - INTO clause)."""
    executable_comments: bool = False
    """`/*!50001 CREATE VIEW … */` is run (MySQL docs: Comments); hints, `/*+ … */`, are not."""
    alter_changes_rows: bool = False
    """ALTER TABLE may update or delete rows (ClickHouse docs: ALTER TABLE … UPDATE)."""
    bare_drop_is_constraint: bool = False
    """ALTER TABLE … DROP x removes a constraint, not a column (T-SQL docs: ALTER TABLE)."""
    one_way_exchange: bool = False
    """EXCHANGE PARTITION takes a partition of another table and gives none back (Hive docs: Exchange partition)."""
    nested_columns: bool = False
    """`n.a` is the name of a column, a part of the nested structure `n` (ClickHouse docs: Nested)."""
    fixes_views: bool = False
    """A view keeps the columns its query had when created, even of `*` (MySQL docs: CREATE VIEW Statement)."""

    # ── functions ─────────────────────────────────────────────────────────────────────────────────────────────────────

    count: str = "BIGINT"
    """The type that COUNT returns (SQL Server docs: COUNT)."""
    describe_columns: Mapping[str, Mapping[str, bool]] = {}
    """The columns of DESCRIBE and SUMMARIZE as sources, and whether they are computed (DuckDB docs: DESCRIBE)."""
    plain_functions: frozenset[str] = frozenset()
    """Functions that the parser mistakes for others with another type or other arguments."""
    callable_keywords: frozenset[str] = frozenset()
    """Keywords that may be called as functions, by the names of sqlglot's tokens: `OVERLAPS(…)`."""
    json_documents: bool = False
    """JSON_OBJECT returns a document, not a string."""
    ordinality_type: str = ""
    """The type of the FOR ORDINALITY column of JSON_TABLE and XMLTABLE; empty: unknown."""
    builtin_schemas: frozenset[str] = frozenset()
    """Schemas whose functions are built in and no objects: `ML.PREDICT(…)` (BigQuery)."""
    row_member_names: str = ""
    """The names of the members of `ROW(…)`, counted from 1: `f{}`; empty: they have none (PostgreSQL)."""
    struct_unnesting_functions: frozenset[str] = frozenset()
    """Functions that expand a struct in a select list into a column per member: `SELECT UNNEST(s)` (DuckDB)."""
    table_function_columns: dict[str, tuple[str, ...]] = {}
    """Default column names of table functions, where they are not the common ones: `range` has `id` (Spark)."""
    time_window_functions: frozenset[str] = frozenset()
    """Grouping functions that a query refers to by name, as structs of a start and an end: `window.start` (Spark)."""
    window_columns: tuple[str, ...] = ()
    """What TUMBLE and HOP add where they take a table and its time column by name; empty: they do not (RisingWave)."""
    table_arguments: dict[str, TableArgument] = {}
    """Table functions that take a table by its name, or a query as text, and return its rows."""
    implied_sources: bool = False
    """A qualifier that FROM does not list is a table (Teradata docs: UPDATE, "FROM table_name")."""
    stages: bool = False
    """`@name` in FROM is a stage with files (Snowflake docs: Querying data in staged files)."""
    in_reads_table: bool = False
    """`a IN t` looks the value up in a table (ClickHouse docs: IN operators)."""
    table_engines: Mapping[str, TableEngine] = {}
    """Engines of tables over another table: `Distributed` (ClickHouse docs: Special table engines)."""
    lookup_functions: frozenset[str] = frozenset()
    """Functions that look up a value: table as text, column(s) as text, key, default: `dictGet` (ClickHouse)."""

    # ── what the engine provides ──────────────────────────────────────────────────────────────────────────────────────

    value_keywords: frozenset[str] = VALUE_KEYWORDS
    """Keywords that are values of the engine where no column has such a name: `SELECT sysdate`."""
    reserved_values: frozenset[str] = frozenset()
    """Value keywords that no table can have as a column."""
    sequence_columns: frozenset[str] = frozenset()
    """Pseudo columns of a sequence: `s.NEXTVAL`."""
    table_pseudo_columns: frozenset[str] = frozenset()
    """Columns that tables have beside those of their schema: `ROWID`."""
    pseudo_column_types: dict[str, str] = {}
    """The documented types of pseudo columns and value keywords."""
    server_variables: dict[str, str] = {}
    """Types of variables that the server sets, without the `@@` before their names (SQL Server)."""
    system_catalog: SystemCatalog = SystemCatalog()
    """Schemas and views of the engine that exist although no file creates them."""
    client_commands: ClientCommands | None = None
    """What lines meant for the client look like, not for the database: psql, SQL*Plus; None: there are none."""
    procedural: ProceduralLanguage | None = None
    """The procedural language whose statements end in semicolons; None: there is none (T-SQL: see `transact_sql`)."""

    # ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    types: TypeFamily = GENERIC_TYPES
    """The names of its types, and how they behave."""
    type_rules: TypeRules = TypeRules()
    """The result types of its functions, beside the common rules."""

    # ── signs ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    signs: tuple[DialectSign, ...] = ()
    """What gives the dialect away in a SQL text."""
    host_signs: tuple[DialectSign, ...] = ()
    """What gives it away in a program or notebook: the drivers it passes its SQL to."""
    path_words: frozenset[str] = frozenset()
    """Words in the names of folders and files, and file suffixes, that speak for the dialect: `pgsql`, `hql`."""
    project_suffixes: tuple[str, ...] = ()
    """Suffixes of project files whose SQL is all of this dialect: `.sqlproj` (SQL Server)."""

    @property
    def marks_variables(self) -> bool:
        """Whether a name in a query is a variable only if it is marked."""
        return self.procedural is not None and self.procedural.marked

    @property
    def variables_hide_columns(self) -> bool:
        """Whether a variable hides a column of the same name; where not, a known column wins."""
        return self.procedural is not None and self.procedural.variable_first


_ENGINE_FIELDS = (
    "grammar",
    "plain_functions",
    "callable_keywords",
    "value_keywords",
    "reserved_values",
    "sequence_columns",
    "table_pseudo_columns",
    "pseudo_column_types",
    "system_catalog",
    "procedural",
    "signs",
    "host_signs",
    "path_words",
    "project_suffixes",
)
"""Fields that are true of one engine, not of all dialects of its family."""


def derive_dialect(base: DialectTraits, name: str, **own: Any) -> DialectTraits:
    """Return a dialect of the same family: it shares the rules of SQL and of types, but nothing of the engine."""
    plain = {field: getattr(_NO_ENGINE, field) for field in _ENGINE_FIELDS}
    return msgspec.structs.replace(base, **{**plain, "name": name, **own})


_NO_ENGINE = DialectTraits(name="", family="")
"""A dialect that says nothing of its engine."""
