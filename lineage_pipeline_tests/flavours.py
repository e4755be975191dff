"""How the SQL of each dialect is written, as rows: what the generator of queries may use, and how it spells it."""

from dataclasses import dataclass

TABLES: dict[str, tuple[str, ...]] = {
    "orders": ("id", "customer", "amount", "status"),
    "customers": ("id", "name", "region"),
    "items": ("id", "sku", "price", "status"),
}
"""What queries read, all in the schema `s`."""

TARGET = ("c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8")
"""The columns of the table that statements write."""

WIDTH = len(TARGET)


@dataclass(frozen=True)
class Flavour:
    """What one dialect allows and how it is spelled; an empty text means that it has nothing of the kind."""

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

FLAVOURS: tuple[Flavour, ...] = (
    Flavour("postgres", lateral=_LATERAL[0], update=_UPDATE_FROM, merge=True, text="text"),
    Flavour(
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
    Flavour(
        "snowflake",
        lateral=", lateral ({query}) {alias}",
        left_out="exclude ({})",
        qualify=True,
        lateral_alias=True,
        update=_UPDATE_FROM.replace("as ‹", "‹"),
        merge=True,
    ),
    Flavour(
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
    Flavour(
        "spark",
        "``",
        lateral=_LATERAL[1],
        left_out="except ({})",
        qualify=True,
        lateral_alias=True,
        merge=True,
        text="string",
    ),
    Flavour("databricks", "``", left_out="except ({})", qualify=True, lateral_alias=True, merge=True, text="string"),
    Flavour(
        "duckdb",
        lateral=_LATERAL[1],
        left_out="exclude ({})",
        qualify=True,
        lateral_alias=True,
        update=_UPDATE_FROM,
        merge=True,
    ),
    Flavour("redshift", qualify=True, lateral_alias=True, update=_UPDATE_FROM, merge=True),
    Flavour(
        "mysql",
        "``",
        full=False,
        lateral=_LATERAL[0],
        text="char(20)",
        update="update s.target as ‹t› join ({query}) as ‹u› on ‹t›.c1 = ‹u›.{key} set {sets}",
    ),
    Flavour(
        "oracle",
        alias="",
        lateral="cross apply ({query}) {alias}",
        excepts="minus",
        group_position=False,
        group_alias=False,
        recursive="with",
        merge=True,
    ),
    Flavour("trino", lateral=_LATERAL[0], group_alias=False, merge=True, text="varchar"),
    Flavour("clickhouse", alias_first=True, natural=False, text="String"),
    Flavour("hive", "``", left_out="", qualify=False, recursive="", text="string", group_alias=False),
    Flavour("teradata", qualify=True, using=False, natural=False, merge=True),
    Flavour("", lateral=_LATERAL[0]),
)
