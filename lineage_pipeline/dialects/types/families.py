"""Type families: the names of types in each dialect family, and how types of other names are read."""

from functools import lru_cache

import msgspec

from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.types.shapes import TypeShape, parse_type_shape

UNTYPED_CONSTANT = "UNKNOWN"
"""The type of a constant that adapts to any type."""


def _quote_member(name: str) -> str:
    """The name of a member, in quotes where it would not be read as one."""
    return name if not name or name.replace("_", "a").isalnum() else f'"{name}"'


class TypeFamily(msgspec.Struct, frozen=True):
    """The types of one dialect family, by what they are for, and how its expressions are typed."""

    name: str
    """The dialect family."""
    integers: tuple[str, ...]
    """The signed integer types, narrow to wide."""
    digits: tuple[int, ...]
    """How many decimal digits each of `integers` has."""
    integer: str
    """The type of an integer constant that fits into 32 bits."""
    bigint: str
    """The type of an integer constant that fits into 64 bits."""
    decimal: str
    """The exact type with precision and scale."""
    real: str
    """The single-precision type, or the only floating one."""
    double: str
    """The double-precision type."""
    string: str
    """The type of text without a length."""
    boolean: str
    """The type of a condition."""
    binary: str
    """The type of bytes."""
    date: str = "DATE"
    """The type of a day."""
    time: str = "TIME"
    """The type of a time of day."""
    timestamp: str = "TIMESTAMP"
    """The type of a date and time without a time zone."""
    zoned: str = "TIMESTAMP"
    """The type of a date and time with a time zone."""
    interval: str = "INTERVAL"
    """The type of a span of time."""
    aliases: dict[str, str] = {}
    """Other names of types: `INTEGER` is `INT`."""
    cap: int = 38
    """The highest precision of a decimal; 0: decimals are computed without precision and scale."""
    alone: dict[str, str] = {}
    """What types without parameters mean: `DECIMAL` is `DECIMAL(18,3)` (DuckDB docs: Numeric Types)."""
    notation: tuple[str, str, str, str] = ("ARRAY<{}>", "MAP<{},{}>", "STRUCT<{}>", "{}:{}")
    """How an array, a map, a struct and a member of a struct are written; empty: no such type."""
    strings: tuple[str, ...] = ("STRING", "VARCHAR", "CHAR", "TEXT")
    """The types that hold text."""
    bare_strings: bool = False
    """A value read from a VARCHAR(10) column has the type without a length (DuckDB docs: Text Types)."""
    null: str | None = None
    """The type of NULL: VOID (Spark docs: Data Types); None: it has none."""
    literal: str = ""
    """The type of a string constant, `{}` being its length; empty: `string`."""
    settled: dict[str, str] = {}
    """What a type that is still open becomes in a result: TEXT (PostgreSQL docs: SELECT Output Columns)."""
    unsigned: dict[str, int] = {}
    """The unsigned integer types and their decimal digits, narrow to wide."""
    sized: bool = True
    """Computed values have lengths and precisions too; where not set, only columns and casts do (PostgreSQL)."""
    flat: bool = False
    """An array of arrays has the type of an array: `int[][]` is `int[]` (PostgreSQL docs: Arrays)."""
    adapts: bool = False
    """An integer constant takes the type of the integer beside it: `tiny + 1` (DuckDB docs: Literal Types)."""
    default_first: bool = False
    """CASE takes its type from ELSE first (PostgreSQL docs: UNION, CASE, and Related Constructs)."""
    exponents: bool = True
    """`1e3` is floating; where not set, it is a decimal (PostgreSQL docs: Lexical Structure)."""
    using_widens: bool = False
    """The merged column of JOIN … USING has the common type of both sides (PostgreSQL: JOIN)."""
    real_digits: int = 0
    """FLOAT(n) is `real` up to this n, then `double`; 0: n is kept (PostgreSQL docs: Numeric Types)."""
    leading_zero: bool = False
    """A zero before the point counts as a digit: `0.5` is a DECIMAL(2,1) (DuckDB: numeric literals)."""
    results: dict[str, str] = {}
    """What the parser's type of a function result means here; empty: nothing."""
    cast_alone: dict[str, str] = {}
    """What types without parameters mean in a cast: VARCHAR(30) (SQL Server docs: char and varchar)."""
    days: str = ""
    """The type of `date - date`, where it is no interval (PostgreSQL docs: Date/Time Functions and Operators)."""
    whole_days: bool = False
    """A date plus whole days stays a date: `d + INTERVAL '1' DAY` (MySQL docs: Date and Time Functions)."""
    fraction: str = ""
    """The type of `1.5`, where it is no decimal (BigQuery docs: Lexical structure and syntax)."""
    numbered: bool = True
    """The column of WITH ORDINALITY is always a number; where not set, it may be the key of a member."""
    long_positions: bool = False
    """The index that a lambda receives is a `bigint`, not an `integer` (DuckDB docs: Lambda Functions)."""
    adds_texts: bool = False
    """`+` may concatenate operands of unknown type, so they keep their order (docs: + (String Concatenation))."""
    nothing: str = ""
    """The type of NULL where types say if they are nullable: NULLABLE(NOTHING) (ClickHouse docs: Nothing)."""
    shortest: bool = False
    """An integer constant has the narrowest type that holds it: 1 is a UINT8 (ClickHouse docs: Syntax)."""
    truth: str = ""
    """The type of TRUE, where a condition has another: BOOL beside UINT8 (ClickHouse docs: Bool)."""

    def array(self, kind: str, size: str = "") -> str:
        """Return an array of a type; some have a size."""
        if size:
            return f"{kind}[{size}]"
        return kind if self.flat and kind.endswith("[]") else self.notation[0].format(kind)

    def map(self, key: str, kind: str) -> str:
        """Return a map from one type to another."""
        return self.notation[1].format(key, kind)

    def struct(self, members: list[tuple[str, str]]) -> str:
        """Return a struct of named members."""
        return self.notation[2].format(
            ",".join(self.notation[3].format(_quote_member(name), kind) for name, kind in members)
        )

    def numeric(self, precision: int, scale: int) -> str:
        """Return a decimal."""
        return f"{self.decimal}({precision},{scale})"


UNPARAMETERIZED_TYPES = {"ARRAY": "", "MAP": "", "STRUCT": ""}
"""Types that carry no information without their parameters."""

ORACLE_TYPES = TypeFamily(
    "oracle",
    ("SMALLINT", "INT", "INTEGER"),
    (38, 38, 38),
    "NUMBER",
    "NUMBER",
    "NUMBER",
    "BINARY_FLOAT",
    "BINARY_DOUBLE",
    "VARCHAR2",
    "BOOLEAN",
    "RAW",
    zoned="TIMESTAMP WITH TIME ZONE",
    cap=0,
    strings=("CHAR", "VARCHAR", "VARCHAR2", "NCHAR", "NVARCHAR2", "CLOB", "NCLOB"),
    results=UNPARAMETERIZED_TYPES,
)
MYSQL_TYPES = TypeFamily(
    "mysql",
    ("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT"),
    (3, 5, 7, 10, 19),
    "INT",
    "BIGINT",
    "DECIMAL",
    "FLOAT",
    "DOUBLE",
    "VARCHAR",
    "BOOLEAN",
    "VARBINARY",
    timestamp="DATETIME",
    zoned="TIMESTAMP",
    aliases={"INTEGER": "INT", "NUMERIC": "DECIMAL", "DOUBLE PRECISION": "DOUBLE"},
    cap=65,
    strings=("CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT"),
    literal="VARCHAR({})",
    unsigned={
        **{"TINYINT UNSIGNED": 3, "SMALLINT UNSIGNED": 5, "MEDIUMINT UNSIGNED": 7, "INT UNSIGNED": 10},
        "BIGINT UNSIGNED": 20,
    },
    whole_days=True,
    results=UNPARAMETERIZED_TYPES,
)
REDSHIFT_TYPES = TypeFamily(
    "redshift",
    ("SMALLINT", "INTEGER", "BIGINT"),
    (5, 10, 19),
    "INTEGER",
    "BIGINT",
    "DECIMAL",
    "REAL",
    "DOUBLE PRECISION",
    "VARCHAR",
    "BOOLEAN",
    "VARBYTE",
    zoned="TIMESTAMPTZ",
    aliases={"INT": "INTEGER", "NUMERIC": "DECIMAL", "FLOAT8": "DOUBLE PRECISION", "FLOAT": "DOUBLE PRECISION"},
    strings=("CHAR", "VARCHAR", "TEXT", "BPCHAR"),
    days="INTEGER",
    numbered=False,
    results=UNPARAMETERIZED_TYPES,
)
TRINO_TYPES = TypeFamily(
    "trino",
    ("TINYINT", "SMALLINT", "INTEGER", "BIGINT"),
    (3, 5, 10, 19),
    "INTEGER",
    "BIGINT",
    "DECIMAL",
    "REAL",
    "DOUBLE",
    "VARCHAR",
    "BOOLEAN",
    "VARBINARY",
    zoned="TIMESTAMP WITH TIME ZONE",
    aliases={"INT": "INTEGER"},
    notation=("ARRAY({})", "MAP({},{})", "ROW({})", "{} {}"),
    strings=("CHAR", "VARCHAR"),
    literal="VARCHAR({})",
    whole_days=True,
    results=UNPARAMETERIZED_TYPES,
)

CLICKHOUSE_TYPES = TypeFamily(
    "clickhouse",
    ("INT8", "INT16", "INT32", "INT64", "INT128", "INT256"),
    (3, 5, 10, 19, 39, 77),
    "INT32",
    "INT64",
    "DECIMAL",
    "FLOAT32",
    "FLOAT64",
    "STRING",
    "UINT8",
    "STRING",
    timestamp="DATETIME",
    zoned="DATETIME",
    aliases={
        **{"TINYINT": "INT8", "SMALLINT": "INT16", "INT": "INT32", "INTEGER": "INT32", "BIGINT": "INT64"},
        **{"FLOAT": "FLOAT32", "DOUBLE": "FLOAT64", "BOOLEAN": "BOOL", "TIMESTAMP": "DATETIME"},
        **dict.fromkeys(("VARCHAR", "TEXT", "CHAR"), "STRING"),
    },
    cap=76,
    notation=("ARRAY({})", "MAP({},{})", "TUPLE({})", "{} {}"),
    strings=("STRING", "FIXEDSTRING"),
    unsigned={"UINT8": 3, "UINT16": 5, "UINT32": 10, "UINT64": 20, "UINT128": 39, "UINT256": 78},
    fraction="FLOAT64",
    numbered=False,
    nothing="NULLABLE(NOTHING)",
    shortest=True,
    truth="BOOL",
)


_INTEGER_SYNONYMS = {"INT": "INTEGER", "INT4": "INTEGER", "INT8": "BIGINT", "INT2": "SMALLINT", "INT1": "TINYINT"}

SPARK_TYPES = TypeFamily(
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
DUCKDB_TYPES = TypeFamily(
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
        **_INTEGER_SYNONYMS,
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
    literal=UNTYPED_CONSTANT,
    settled={UNTYPED_CONSTANT: "VARCHAR"},
)
POSTGRES_TYPES = TypeFamily(
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
)
TSQL_TYPES = TypeFamily(
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
SNOWFLAKE_TYPES = TypeFamily(
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
BIGQUERY_TYPES = TypeFamily(
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
GENERIC_TYPES = TypeFamily(
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
    results=UNPARAMETERIZED_TYPES,
)

TYPE_FAMILIES: dict[str, TypeFamily] = {
    "spark": SPARK_TYPES,
    "hive": msgspec.structs.replace(SPARK_TYPES, name="hive", null=None),
    "duckdb": DUCKDB_TYPES,
    "postgres": POSTGRES_TYPES,
    "tsql": TSQL_TYPES,
    "snowflake": SNOWFLAKE_TYPES,
    "bigquery": BIGQUERY_TYPES,
    "clickhouse": CLICKHOUSE_TYPES,
    "oracle": ORACLE_TYPES,
    "mysql": MYSQL_TYPES,
    "redshift": REDSHIFT_TYPES,
    "trino": TRINO_TYPES,
}
"""Families whose types are known in full; all others share the generic one."""


def find_type_family(name: str) -> TypeFamily:
    """Return the type family of a dialect family."""
    return TYPE_FAMILIES.get(name, GENERIC_TYPES)


@lru_cache(maxsize=4096)
def normalize_type(text: str, name: str) -> str:
    """Return a type in the notation of a family; unknown types stay as they are."""
    family = find_type_family(name)
    if family is GENERIC_TYPES:
        return text
    shape = parse_type_shape(text)
    if shape.members and family.notation[0] == "ARRAY":  # one that says of what it is made stays as it is written
        return text
    if shape.members and family.notation[1 if shape.name == "MAP" else 0]:
        return _normalize_nested(shape, family)
    known = family.aliases.get(shape.name, shape.name)
    if not shape.parameters:
        return family.alone.get(known, known)
    if known == family.decimal and len(shape.parameters) == 1 and shape.numbers and family is not ORACLE_TYPES:
        return family.numeric(shape.numbers[0], 0)
    if family.real_digits and known == "FLOAT":
        return family.real if parse_whole_number(shape.parameters[0]) <= family.real_digits else family.double
    behind = next((words for words in _TYPE_SUFFIXES if known.endswith(words)), "")
    head, rest = known.removesuffix(behind), behind
    if not behind and known != shape.name:
        head, blank, last = known.partition(" ")
        rest = blank + last
    return f"{head}({','.join(shape.parameters)}){rest}"


_TYPE_SUFFIXES = (" WITH TIME ZONE", " WITH LOCAL TIME ZONE", " WITHOUT TIME ZONE", " UNSIGNED")
"""Words after the parameters of a type."""


def _normalize_nested(shape: TypeShape, family: TypeFamily) -> str:
    members = [(name, normalize_type(kind, family.name)) for name, kind in shape.members]
    if shape.name == "TUPLE":
        return f"TUPLE({','.join(kind for _, kind in members)})"
    if shape.name == "MAP" and len(members) == 2:
        return family.map(members[0][1], members[1][1])
    if shape.name in ("ARRAY", "LIST"):
        size = shape.parameters[0] if shape.parameters and not family.flat else ""
        return family.array(members[0][1], size)
    return family.struct(members) if family.notation[2] else f"{shape.name}"


@lru_cache(maxsize=4096)
def cast_type(text: str, name: str) -> str:
    """Return the type of a cast: as normalized, with the default length where none is given."""
    return find_type_family(name).cast_alone.get(text) or column_value_type(text, name)


@lru_cache(maxsize=4096)
def column_value_type(text: str, name: str) -> str:
    """Return the type of a value read from a column: in some families strings lose their length."""
    family = find_type_family(name)
    if not family.bare_strings or not ("CHAR" in text or "TEXT" in text):
        return text
    shape = parse_type_shape(text)
    if shape.members:
        return normalize_type(text.replace("NVARCHAR", "VARCHAR"), name)
    return family.string if shape.name in ("CHAR", "VARCHAR", "TEXT", "NVARCHAR", "NCHAR") else text
