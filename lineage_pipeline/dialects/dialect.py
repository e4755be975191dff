"""The traits of each dialect: identifier comparison, alias visibility, names of unaliased columns and the like."""

import difflib
from enum import StrEnum
from functools import cache

import msgspec

from lineage_pipeline.dialects.identifier_folding import IdentifierFolding


class UnaliasedNaming(StrEnum):
    """How a column without an alias is named: by its text, as printed, by value or function, or a number.

    `UPPER` is the text in upper case, `PACKED` without its spaces too.
    """

    TEXT = "text"
    UPPER = "upper"
    PACKED = "packed"
    VALUE = "value"
    CAPTION = "caption"
    PRINTED = "printed"
    FUNCTION = "function"
    NONE = "none"
    COL0 = "_col{}"
    C0 = "_c{}"
    F0 = "f{}_"


DEFAULT_SCHEMAS = {"tsql": "dbo"}
"""Default schema by dialect family: a name with it and one without mean the same object."""


class DialectTraits(msgspec.Struct, frozen=True):
    """The rules of one dialect that affect lineage.

    * `aliases`: how aliases of sources are compared, where that differs from tables.
    * `quotes`: quote characters of identifiers beside those of the grammar.
    * `grammar`: the dialect whose grammar is used, if another; `definitions`: the one of CREATE, ALTER and DROP
    without a query; `family`: the main dialect whose rules it follows.
    * `alias_first`: an alias hides a column of the same name everywhere.
    * `row_names`: the column names of VALUES, counted from 0 or from 1.
    * `row_values`: the alias of a source as a value is its whole row.
    * `unnest_expands`: UNNEST of rows and maps gives several columns.
    * `alias_names_element`: the alias of a one-column table function is the name of its column.
    * `label_first`: UNPIVOT puts the column name before its value.
    * `generator_names`: row generators in a select list have column names of their own.
    * `pattern_columns`: a quoted name may be a column pattern.
    * `positions`: `$1` is the first column.
    * `column_sets`: an item of a select list may be several columns.
    * `decorators`: what follows this character in a table name is a partition or version of the table.
    * `flattens`: EXPLODE is FLATTEN, with six columns.
    * `copies_names`: COPY matches columns by name.
    """

    name: str
    tables: IdentifierFolding = IdentifierFolding.INSENSITIVE
    columns: IdentifierFolding = IdentifierFolding.INSENSITIVE
    naming: UnaliasedNaming = UnaliasedNaming.TEXT
    parts: tuple[str, ...] = ("catalog", "schema", "name")
    lateral_alias: bool = False
    alias_in_where: bool = False
    alias_in_group: bool = True
    alias_in_having: bool = False
    implicit_recursion: bool = False
    implicit_unnest: bool = False
    batches: bool = False
    short_insert: bool = False
    dual: bool = False
    query_adds_columns: bool = False
    keeps_not_null: bool = False  # what a query never gives null for is not null in the table made of it
    fixes_views: bool = False  # a view keeps the columns that its query gave when it was created
    updates_joined: bool = False  # UPDATE sets columns of any table that it names
    virtual: tuple[str, ...] = ()
    file_tables: bool = False
    positions: bool = False
    as_table_is_like: bool = False
    global_temporary_lasts: bool = False
    select_assigns: bool = False
    count: str = "BIGINT"
    quotes: str = ""
    grammar: str = ""
    definitions: str = ""
    family: str = ""
    alias_first: bool = False
    alias_first_in_group: bool = False
    row_names: str = "column{1}"
    row_values: bool = False
    unnest_expands: bool = False
    alias_names_element: bool = False
    label_first: bool = True
    generator_names: bool = False
    pattern_columns: bool = False
    column_sets: bool = False
    decorators: str = ""
    flattens: bool = False
    copies_names: bool = False
    dotted_members: bool = True  # `a.b` may be a member of a column, not only a column of a source
    numbers_doubles: bool = False  # columns of one name are numbered where a query becomes a table
    alias_prefix: str = ""  # names of the select list are said behind this word, and hide columns then
    uses_catalog: bool = False  # USE with one name changes the catalog, not the schema
    aliases: IdentifierFolding | None = None


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
