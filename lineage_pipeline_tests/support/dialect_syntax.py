"""The syntax of each dialect as rows: what the query generator may use, and how it is spelled."""

from dataclasses import dataclass

SOURCE_TABLES: dict[str, tuple[str, ...]] = {
    "orders": ("id", "customer", "amount", "status"),
    "customers": ("id", "name", "region"),
    "items": ("id", "sku", "price", "status"),
}
"""The tables that queries read, all in the schema `s`."""

TARGET_COLUMNS = ("c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8")
"""The columns of the table that statements write."""

TARGET_WIDTH = len(TARGET_COLUMNS)


@dataclass(frozen=True)
class DialectSyntax:
    """What one dialect allows and how it is spelled; an empty text means that the dialect has no such syntax."""

    dialect: str
    quotes: str = '""'
    alias: str = "as "
    using: bool = True
    full: bool = True
    natural: bool = True
    lateral: str = ""
    left_out: str = ""
    qualify: bool = False
    lateral_alias: bool = False
    alias_first: bool = False
    intersect: bool = True
    excepts: str = "except"
    group_position: bool = True
    group_alias: bool = True
    recursive: str = "with recursive"
    with_first: bool = False
    text: str = "varchar(20)"
    update: str = ""
    merge: bool = False


_LATERAL = ("cross join lateral ({query}) {alias}", "left join lateral ({query}) {alias} on true")
_UPDATE_FROM = "update s.target as ‹t› set {sets} from ({query}) as ‹u› where ‹t›.c1 = ‹u›.{key}"

DIALECT_SYNTAXES: tuple[DialectSyntax, ...] = (
    DialectSyntax("postgres", lateral=_LATERAL[0], update=_UPDATE_FROM, merge=True, text="text"),
    DialectSyntax(
        "tsql",
        "[]",
        using=False,
        natural=False,
        lateral="cross apply ({query}) {alias}",
        group_position=False,
        group_alias=False,
        recursive="with",
        with_first=True,
        update="update ‹t› set {sets} from s.target as ‹t› join ({query}) as ‹u› on ‹t›.c1 = ‹u›.{key}",
        merge=True,
    ),
    DialectSyntax(
        "snowflake",
        lateral=", lateral ({query}) {alias}",
        left_out="exclude ({})",
        qualify=True,
        lateral_alias=True,
        update=_UPDATE_FROM.replace("as ‹", "‹"),
        merge=True,
    ),
    DialectSyntax(
        "bigquery",
        "``",
        natural=False,
        left_out="except ({})",
        qualify=True,
        excepts="except distinct",
        intersect=False,
        text="string",
        update=_UPDATE_FROM,
        merge=True,
    ),
    DialectSyntax(
        "spark",
        "``",
        lateral=_LATERAL[1],
        left_out="except ({})",
        qualify=True,
        lateral_alias=True,
        merge=True,
        text="string",
    ),
    DialectSyntax(
        "databricks", "``", left_out="except ({})", qualify=True, lateral_alias=True, merge=True, text="string"
    ),
    DialectSyntax(
        "duckdb",
        lateral=_LATERAL[1],
        left_out="exclude ({})",
        qualify=True,
        lateral_alias=True,
        update=_UPDATE_FROM,
        merge=True,
    ),
    DialectSyntax("redshift", qualify=True, lateral_alias=True, update=_UPDATE_FROM, merge=True),
    DialectSyntax(
        "mysql",
        "``",
        full=False,
        lateral=_LATERAL[0],
        text="char(20)",
        update="update s.target as ‹t› join ({query}) as ‹u› on ‹t›.c1 = ‹u›.{key} set {sets}",
    ),
    DialectSyntax(
        "oracle",
        alias="",
        lateral="cross apply ({query}) {alias}",
        excepts="minus",
        group_position=False,
        group_alias=False,
        recursive="with",
        merge=True,
    ),
    DialectSyntax("trino", lateral=_LATERAL[0], group_alias=False, merge=True, text="varchar"),
    DialectSyntax("clickhouse", alias_first=True, natural=False, text="String"),
    DialectSyntax("hive", "``", left_out="", qualify=False, recursive="", text="string", group_alias=False),
    DialectSyntax("teradata", qualify=True, using=False, natural=False, merge=True),
    DialectSyntax("", lateral=_LATERAL[0]),
)
