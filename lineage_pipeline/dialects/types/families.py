"""Type families: the names of a dialect's types and how they behave, and how types of other names are read."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec

from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.types.conversions import ImplicitConversions
from lineage_pipeline.dialects.types.decimals import Digits
from lineage_pipeline.dialects.types.shapes import TypeShape, parse_type_shape

UNTYPED_CONSTANT = "UNKNOWN"
"""The type of a constant that adapts to any type."""


def _quote_member(name: str) -> str:
    """The name of a member, in quotes where it would not be read as one."""
    return name if not name or name.replace("_", "a").isalnum() else f'"{name}"'


WideningRule = Callable[["TypeFamily", TypeShape, TypeShape], str | None]
"""Returns the type that holds two others, or None where it does not know."""

DigitsOfOperation = Callable[[str, Digits, Digits], Digits | None]
"""Returns the digits of a decimal after an operation, by the operator and the digits of both sides."""


class TypeFamily(msgspec.Struct, frozen=True, eq=False):
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
    keeps_precision: bool = False
    """A decimal without a scale is written so: NUMBER(10), not NUMBER(10,0) (Oracle docs: Data Types)."""
    float_division: bool = False
    """A quotient of integers is floating: `1 / 2` is 0.5 (Spark, Hive, DuckDB, BigQuery)."""
    float_quotients: bool = False
    """A quotient of decimals is floating, too (DuckDB)."""
    double_quotients: bool = False
    """A quotient of FLOATs is a DOUBLE (Spark)."""
    decimal_quotients: bool = False
    """A quotient of integers is a decimal (MySQL)."""
    reads_strings: bool = False
    """A string operand is read as a number: `'1' + 1` (Spark, Hive)."""
    reads_whole_strings: bool = False
    """A string operand beside an integer is read as a BIGINT, not as a DOUBLE (Spark)."""
    literal_digits: bool = False
    """An integer constant beside a decimal has only the digits it shows (Spark, Hive, SQL Server, MySQL)."""
    unit_intervals: bool = False
    """Intervals are named by their units: `date - date` is an INTERVAL DAY (Spark docs: Data Types)."""
    scale_yields: bool = False
    """Where two decimals together need too many digits, the scale shrinks (Spark, DuckDB)."""
    scale_yields_to_integers: bool = False
    """The scale shrinks beside an integer, too (Spark)."""
    keeps_real: bool = False
    """REAL beside an exact number stays REAL; where not set, it becomes a DOUBLE (SQL Server, DuckDB)."""
    null_on_failure: bool = False
    """The analyzer assumes that a failing conversion gives NULL; where not set, it is an error (Spark, Hive)."""
    compute_digits: DigitsOfOperation | None = None
    """The digits of a decimal after an operation; None: unknown."""
    widen: Callable[["TypeFamily", str, str], str | None] | None = None
    """The type that holds two others, where it has rules of its own for all types (PostgreSQL, ClickHouse)."""
    widening: tuple[WideningRule, ...] = ()
    """Rules for the type that holds two others, after the common ones: a string beside a number."""
    combine_strings: Callable[[Sequence[str]], str] | None = None
    """The type of combined strings by their types; None: that of the longer one (SQL Server: national strings)."""
    conversions: ImplicitConversions | None = None
    """The implicit conversions; None: everything is converted, or it is unknown."""

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

GENERIC_TYPES = TypeFamily(
    name="",
    integers=("TINYINT", "SMALLINT", "INT", "BIGINT"),
    digits=(3, 5, 10, 19),
    integer="INT",
    bigint="BIGINT",
    decimal="DECIMAL",
    real="REAL",
    double="DOUBLE",
    string="VARCHAR",
    boolean="BOOLEAN",
    binary="BINARY",
    zoned="TIMESTAMPTZ",
    aliases={"INTEGER": "INT", "NUMERIC": "DECIMAL", "LONG": "BIGINT"},
    strings=("VARCHAR", "CHAR", "TEXT", "STRING"),
    numbered=False,
    results=UNPARAMETERIZED_TYPES,
)
"""The types of all dialects that have no family of their own."""


@lru_cache(maxsize=4096)
def normalize_type(text: str, family: TypeFamily) -> str:
    """Return a type in the notation of a family; unknown types stay as they are."""
    if not family.name:
        return text
    shape = parse_type_shape(text)
    if shape.members and family.notation[0] == "ARRAY":  # one that says of what it is made stays as it is written
        return text
    if shape.members and family.notation[1 if shape.name == "MAP" else 0]:
        return _normalize_nested(shape, family)
    known = family.aliases.get(shape.name, shape.name)
    if not shape.parameters:
        return family.alone.get(known, known)
    if known == family.decimal and len(shape.parameters) == 1 and shape.numbers and not family.keeps_precision:
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
    members = [(name, normalize_type(kind, family)) for name, kind in shape.members]
    if shape.name == "TUPLE":
        return f"TUPLE({','.join(kind for _, kind in members)})"
    if shape.name == "MAP" and len(members) == 2:
        return family.map(members[0][1], members[1][1])
    if shape.name in ("ARRAY", "LIST"):
        size = shape.parameters[0] if shape.parameters and not family.flat else ""
        return family.array(members[0][1], size)
    return family.struct(members) if family.notation[2] else f"{shape.name}"


@lru_cache(maxsize=4096)
def cast_type(text: str, family: TypeFamily) -> str:
    """Return the type of a cast: as normalized, with the default length where none is given."""
    return family.cast_alone.get(text) or column_value_type(text, family)


@lru_cache(maxsize=4096)
def column_value_type(text: str, family: TypeFamily) -> str:
    """Return the type of a value read from a column: in some families strings lose their length."""
    if not family.bare_strings or not ("CHAR" in text or "TEXT" in text):
        return text
    shape = parse_type_shape(text)
    if shape.members:
        return normalize_type(text.replace("NVARCHAR", "VARCHAR"), family)
    return family.string if shape.name in ("CHAR", "VARCHAR", "TEXT", "NVARCHAR", "NCHAR") else text
