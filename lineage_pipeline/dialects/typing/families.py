"""One row a family of dialects: what it calls its types, and how types of other names are to be read."""

from functools import lru_cache

import msgspec

from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.dialects.typing.family import UNKNOWN as UNKNOWN
from lineage_pipeline.dialects.typing.family import Family as Family
from lineage_pipeline.dialects.typing.server_families import BARE, CLICKHOUSE, MYSQL, ORACLE, REDSHIFT, TRINO
from lineage_pipeline.dialects.typing.shapes import Shape, shape_of

_WORDS = {"INT": "INTEGER", "INT4": "INTEGER", "INT8": "BIGINT", "INT2": "SMALLINT", "INT1": "TINYINT"}

SPARK = Family(
    "spark",
    ("TINYINT", "SMALLINT", "INT", "BIGINT"),
    (3, 5, 10, 20),
    "INT",
    "BIGINT",
    "DECIMAL",
    "FLOAT",
    "DOUBLE",
    "STRING",
    "BOOLEAN",
    "BINARY",
    aliases={
        **{
            "INTEGER": "INT",
            "LONG": "BIGINT",
            "INT64": "BIGINT",
            "BYTE": "TINYINT",
            "SHORT": "SMALLINT",
            "REAL": "FLOAT",
        },
        **{"NUMERIC": "DECIMAL", "DEC": "DECIMAL", "TEXT": "STRING", "BOOL": "BOOLEAN", "NULL": "VOID"},
        **{"DOUBLE PRECISION": "DOUBLE", "TIMESTAMPNTZ": "TIMESTAMP_NTZ", "TIMESTAMP_LTZ": "TIMESTAMP"},
    },
    alone={"DECIMAL": "DECIMAL(10,0)"},
    bare_strings=True,
    null="VOID",
)
DUCKDB = Family(
    "duckdb",
    ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    (3, 5, 10, 19, 38),
    "INTEGER",
    "BIGINT",
    "DECIMAL",
    "FLOAT",
    "DOUBLE",
    "VARCHAR",
    "BOOLEAN",
    "BLOB",
    zoned="TIMESTAMP WITH TIME ZONE",
    aliases={
        **_WORDS,
        **{"TEXT": "VARCHAR", "STRING": "VARCHAR", "CHAR": "VARCHAR", "BPCHAR": "VARCHAR", "NUMERIC": "DECIMAL"},
        **{"REAL": "FLOAT", "FLOAT4": "FLOAT", "FLOAT8": "DOUBLE", "LONG": "BIGINT", "BOOL": "BOOLEAN"},
        **{"TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE", "DATETIME": "TIMESTAMP", "BYTEA": "BLOB", "VARBINARY": "BLOB"},
        **{"BINARY": "BLOB", "DOUBLE PRECISION": "DOUBLE", "INT128": "HUGEINT", "TIMETZ": "TIME WITH TIME ZONE"},
        **{
            "UINT8": "UTINYINT",
            "UINT16": "USMALLINT",
            "UINT32": "UINTEGER",
            "UINT64": "UBIGINT",
            "UINT128": "UHUGEINT",
        },
    },
    alone={"DECIMAL": "DECIMAL(18,3)"},
    unsigned={"UTINYINT": 3, "USMALLINT": 5, "UINTEGER": 10, "UBIGINT": 20, "UHUGEINT": 38},
    adapts=True,
    leading_zero=True,
    long_positions=True,
    days="BIGINT",
    notation=("{}[]", "MAP({},{})", "STRUCT({})", "{} {}"),
    strings=("VARCHAR",),
    bare_strings=True,
    null='"NULL"',
    literal=UNKNOWN,
    settled={UNKNOWN: "VARCHAR"},
)
POSTGRES = Family(
    "postgres",
    ("SMALLINT", "INT", "BIGINT"),
    (5, 10, 19),
    "INT",
    "BIGINT",
    "DECIMAL",
    "REAL",
    "DOUBLE PRECISION",
    "TEXT",
    "BOOLEAN",
    "BYTEA",
    zoned="TIMESTAMPTZ",
    aliases={
        **{"INTEGER": "INT", "NUMERIC": "DECIMAL", "FLOAT8": "DOUBLE PRECISION", "FLOAT4": "REAL", "BOOL": "BOOLEAN"},
        **{"SMALLSERIAL": "SMALLINT", "SERIAL": "INT", "BIGSERIAL": "BIGINT"},
    },
    cap=0,
    days="INT",
    notation=("{}[]", "", "", ""),
    strings=("TEXT", "VARCHAR", "CHAR", "BPCHAR", "NAME"),
    null=UNKNOWN,
    literal=UNKNOWN,
    settled={UNKNOWN: "TEXT"},
    alone={"CHAR": "CHAR(1)"},
    sized=False,
    flat=True,
    default_first=True,
    exponents=False,
    using_widens=True,
    real_digits=24,
    results={"VARCHAR": "TEXT"},
)
TSQL = Family(
    "tsql",
    ("TINYINT", "SMALLINT", "INT", "BIGINT"),
    (3, 5, 10, 19),
    "INT",
    "BIGINT",
    "DECIMAL",
    "REAL",
    "FLOAT",
    "VARCHAR",
    "BIT",
    "VARBINARY",
    timestamp="DATETIME2",
    zoned="DATETIMEOFFSET",
    aliases={"INTEGER": "INT", "NUMERIC": "DECIMAL", "BOOLEAN": "BIT"},
    alone={"DECIMAL": "DECIMAL(18,0)"},
    strings=("CHAR", "VARCHAR", "NCHAR", "NVARCHAR", "TEXT", "NTEXT", "SYSNAME"),
    literal="VARCHAR({})",
    cast_alone={name: f"{name}(30)" for name in ("CHAR", "VARCHAR", "NCHAR", "NVARCHAR", "BINARY", "VARBINARY")},
    adds_texts=True,
)
SNOWFLAKE = Family(
    "snowflake",
    (),
    (),
    "NUMBER(38,0)",
    "NUMBER(38,0)",
    "NUMBER",
    "FLOAT",
    "FLOAT",
    "VARCHAR",
    "BOOLEAN",
    "BINARY",
    timestamp="TIMESTAMP_NTZ",
    zoned="TIMESTAMP_LTZ",
    aliases={
        **dict.fromkeys("DECIMAL NUMERIC DEC INT INTEGER BIGINT SMALLINT TINYINT BYTEINT".split(), "NUMBER"),
        **dict.fromkeys(("DOUBLE", "REAL", "FLOAT8", "FLOAT4", "DOUBLE PRECISION"), "FLOAT"),
        **dict.fromkeys(("TEXT", "STRING", "NVARCHAR", "NVARCHAR2", "CHAR VARYING"), "VARCHAR"),
        **dict.fromkeys(("TIMESTAMP", "DATETIME", "TIMESTAMPNTZ"), "TIMESTAMP_NTZ"),
        **{"TIMESTAMPLTZ": "TIMESTAMP_LTZ", "TIMESTAMPTZ": "TIMESTAMP_TZ", "VARBINARY": "BINARY"},
    },
    alone={"NUMBER": "NUMBER(38,0)"},
    notation=("ARRAY", "MAP({},{})", "OBJECT", "{} {}"),
    strings=("VARCHAR", "CHAR"),
    days="NUMBER(38,0)",
    whole_days=True,
)
BIGQUERY = Family(
    "bigquery",
    ("INT64",),
    (19,),
    "INT64",
    "INT64",
    "NUMERIC",
    "FLOAT64",
    "FLOAT64",
    "STRING",
    "BOOL",
    "BYTES",
    timestamp="DATETIME",
    zoned="TIMESTAMP",
    aliases={
        **{"INT": "INT64", "INTEGER": "INT64", "BIGINT": "INT64", "SMALLINT": "INT64", "TINYINT": "INT64"},
        **{
            "DECIMAL": "NUMERIC",
            "BIGDECIMAL": "BIGNUMERIC",
            "FLOAT": "FLOAT64",
            "DOUBLE": "FLOAT64",
            "BOOLEAN": "BOOL",
            "VARCHAR": "STRING",
        },
    },
    cap=0,
    notation=("ARRAY<{}>", "", "STRUCT<{}>", "{} {}"),
    strings=("STRING",),
    fraction="FLOAT64",
)
GENERIC = Family(
    "",
    ("TINYINT", "SMALLINT", "INT", "BIGINT"),
    (3, 5, 10, 19),
    "INT",
    "BIGINT",
    "DECIMAL",
    "REAL",
    "DOUBLE",
    "VARCHAR",
    "BOOLEAN",
    "BINARY",
    zoned="TIMESTAMPTZ",
    aliases={"INTEGER": "INT", "NUMERIC": "DECIMAL", "LONG": "BIGINT"},
    strings=("VARCHAR", "CHAR", "TEXT", "STRING"),
    numbered=False,
    results=BARE,
)

FAMILIES: dict[str, Family] = {
    "spark": SPARK,
    "hive": msgspec.structs.replace(SPARK, name="hive", null=None),
    "duckdb": DUCKDB,
    "postgres": POSTGRES,
    "tsql": TSQL,
    "snowflake": SNOWFLAKE,
    "bigquery": BIGQUERY,
    "clickhouse": CLICKHOUSE,
    "oracle": ORACLE,
    "mysql": MYSQL,
    "redshift": REDSHIFT,
    "trino": TRINO,
}
"""The families of which types are known in full; all others share the generic one."""


def family_of(name: str) -> Family:
    """The family by the name that the traits of a dialect give it."""
    return FAMILIES.get(name, GENERIC)


@lru_cache(maxsize=4096)
def own(text: str, name: str) -> str:
    """A type in the words of a family, whatever its notation was; what is not known stays as it is."""
    family = family_of(name)
    if family is GENERIC:
        return text
    shape = shape_of(text)
    if shape.members and family.notation[0] == "ARRAY":  # one that says of what it is made stays as it is written
        return text
    if shape.members and family.notation[1 if shape.name == "MAP" else 0]:
        return _nested(shape, family)
    known = family.aliases.get(shape.name, shape.name)
    if not shape.parameters:
        return family.alone.get(known, known)
    if known == family.decimal and len(shape.parameters) == 1 and shape.numbers and family is not ORACLE:
        return family.numeric(shape.numbers[0], 0)
    if family.real_digits and known == "FLOAT":
        return family.real if whole_number(shape.parameters[0]) <= family.real_digits else family.double
    behind = next((words for words in _BEHIND if known.endswith(words)), "")
    head, rest = known.removesuffix(behind), behind
    if not behind and known != shape.name:
        head, blank, last = known.partition(" ")
        rest = blank + last
    return f"{head}({','.join(shape.parameters)}){rest}"


_BEHIND = (" WITH TIME ZONE", " WITH LOCAL TIME ZONE", " WITHOUT TIME ZONE", " UNSIGNED")
"""What stands behind the digits of a type."""


def _nested(shape: Shape, family: Family) -> str:
    members = [(name, own(kind, family.name)) for name, kind in shape.members]
    if shape.name == "TUPLE":
        return f"TUPLE({','.join(kind for _, kind in members)})"
    if shape.name == "MAP" and len(members) == 2:
        return family.map(members[0][1], members[1][1])
    if shape.name in ("ARRAY", "LIST"):
        size = shape.parameters[0] if shape.parameters and not family.flat else ""
        return family.array(members[0][1], size)
    return family.struct(members) if family.notation[2] else f"{shape.name}"


@lru_cache(maxsize=4096)
def cast_to(text: str, name: str) -> str:
    """The type of a value that is converted: what it is read as, with the length that it has where none is said."""
    return family_of(name).cast_alone.get(text) or as_read(text, name)


@lru_cache(maxsize=4096)
def as_read(text: str, name: str) -> str:
    """The type of a value that is read from a column of a type: in some families strings lose their length."""
    family = family_of(name)
    if not family.bare_strings or not ("CHAR" in text or "TEXT" in text):
        return text
    shape = shape_of(text)
    if shape.members:
        return own(text.replace("NVARCHAR", "VARCHAR"), name)
    return family.string if shape.name in ("CHAR", "VARCHAR", "TEXT", "NVARCHAR", "NCHAR") else text
