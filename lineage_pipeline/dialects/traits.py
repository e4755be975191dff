"""One row a dialect: how it compares names, what a select list may see, what it calls its columns."""

from functools import cache

import msgspec

from lineage_pipeline.dialects.folding import Folding
from lineage_pipeline.dialects.naming import Naming


class Traits(msgspec.Struct, frozen=True):
    """The rules of one dialect that bear on lineage.

    `aliases` says how the names that queries give to their sources are compared, where that is not as tables are.
    `quotes` may stand around names beside those that the grammar knows. `grammar` is the dialect whose grammar it has
    where that is another one, and `definitions` the one in which CREATE, ALTER and DROP without a query are written.
    `family` is the main dialect whose rules it follows. `alias_first`: an alias hides a column of its name
    everywhere. `row_names`: the columns of VALUES, counted from 0 or from 1. `row_values`: the alias of a source
    stands for its whole row. `unnest_expands`: rows and maps become several columns. `alias_names_element`: the alias
    of a function that makes one column is the name of it. `label_first`: UNPIVOT puts the name of a column before its
    value. `generator_names`: the columns of a function that makes rows have names of their own in a select list.
    `pattern_columns`: a quoted name may be one. `positions`: `$1` is the first column. `column_sets`: an item of a
    select list may stand for several columns. `decorators`: what stands behind this sign in the name of a table is a
    part or a version of it. `flattens`: EXPLODE is FLATTEN, six columns. `copies_names`: COPY goes by names.
    """

    name: str
    tables: Folding = Folding.INSENSITIVE
    columns: Folding = Folding.INSENSITIVE
    naming: Naming = Naming.TEXT
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
    aliases: Folding | None = None


_PAIR = ("schema", "name")
_TSQL = Traits(
    "tsql",
    naming=Naming.NONE,
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
_POSTGRES = Traits(
    "postgres",
    Folding.LOWER,
    Folding.LOWER,
    Naming.FUNCTION,
    dotted_members=False,
    uses_catalog=True,
    short_insert=True,
    row_values=True,
    unnest_expands=True,
    alias_names_element=True,
    fixes_views=True,
)
_SPARK = Traits(
    "spark",
    naming=Naming.CAPTION,
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
_TRINO = Traits("trino", naming=Naming.COL0, alias_in_group=False, row_names="_col{0}", unnest_expands=True)
_MYSQL = Traits(
    "mysql",
    Folding.EXACT,
    naming=Naming.VALUE,
    dotted_members=False,
    parts=_PAIR,
    alias_in_having=True,
    row_names="column_{0}",
    dual=True,
    query_adds_columns=True,
    keeps_not_null=True,
    fixes_views=True,
    updates_joined=True,
)
_UPPER = Traits(
    "oracle",
    Folding.UPPER,
    Folding.UPPER,
    Naming.PACKED,
    alias_in_group=False,
    implicit_recursion=True,
    dual=True,
    count="NUMBER",
    global_temporary_lasts=True,
    keeps_not_null=True,
    fixes_views=True,
)

GENERIC = Traits("", quotes="`")

_ROWS: dict[str, Traits] = {
    "": GENERIC,
    "athena": msgspec.structs.replace(_TRINO, quotes="`", grammar="trino", definitions="hive"),
    "bigquery": Traits(
        "bigquery",
        Folding.EXACT,
        aliases=Folding.INSENSITIVE,
        naming=Naming.F0,
        alias_in_having=True,
        implicit_unnest=True,
        count="INT64",
        alias_first_in_group=True,
        row_values=True,
        label_first=False,
        decorators="$",
    ),
    "clickhouse": Traits(
        "clickhouse",
        Folding.EXACT,
        Folding.EXACT,
        parts=_PAIR,
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
    "duckdb": Traits(
        "duckdb",
        naming=Naming.PRINTED,
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
    "hive": Traits(
        "hive",
        naming=Naming.C0,
        parts=_PAIR,
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
    "redshift": Traits(
        "redshift",
        naming=Naming.FUNCTION,
        uses_catalog=True,
        lateral_alias=True,
        implicit_unnest=True,
        short_insert=True,
        row_values=True,
        fixes_views=True,
    ),
    "risingwave": _POSTGRES,
    "singlestore": _MYSQL,
    "snowflake": Traits(
        "snowflake",
        Folding.UPPER,
        Folding.UPPER,
        Naming.UPPER,
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
    "sqlite": Traits("sqlite", parts=_PAIR, alias_in_where=True, alias_in_having=True),
    "starrocks": _MYSQL,
    "tableau": GENERIC,
    "teradata": Traits(
        "teradata",
        parts=_PAIR,
        lateral_alias=True,
        alias_in_where=True,
        alias_in_having=True,
        global_temporary_lasts=True,
    ),
    "trino": _TRINO,
    "tsql": _TSQL,
}

TRAITS = {name: msgspec.structs.replace(traits, name=name, family=traits.name) for name, traits in _ROWS.items()}
"""The dialects by their names; one that shares the rules of another has a grammar of its own."""

ALIASES = {
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


CASES = {"lower": Folding.INSENSITIVE, "upper": Folding.CAPITAL, "exact": Folding.EXACT}
"""How names are compared where the settings do not leave that to the dialect."""


@cache
def traits_of(dialect: str, case: str = "dialect") -> Traits | None:
    """The traits of a dialect by one of its names, or None where it is not known."""
    name = dialect.lower()
    traits = TRAITS.get(ALIASES.get(name, name))
    folding = CASES.get(case)
    if traits is None or folding is None:
        return traits
    return msgspec.structs.replace(traits, tables=folding, columns=folding, aliases=None)
