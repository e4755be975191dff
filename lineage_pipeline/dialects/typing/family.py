"""What a family of dialects knows of its types."""

import msgspec

UNKNOWN = "UNKNOWN"
"""The type of a constant that takes whatever type is asked of it."""


def _quoted(name: str) -> str:
    """The name of a member, in quotes where it would not be read as one."""
    return name if not name or name.replace("_", "a").isalnum() else f'"{name}"'


class Family(msgspec.Struct, frozen=True):
    """The types of one family, by what they are for.

    `integers` go from narrow to wide; `digits` is how many digits each of them has. `cap` limits the digits of a
    decimal (0: nothing does), `alone` is what types without parameters mean. `unsigned` are the integers without a
    sign, with their digits. `notation` writes an array, a map, a struct and one of its members. `strings` are the
    types that hold text; where `bare_strings`, a value that is read has the type without a length. `null` is the type
    of NULL, and `literal` that of a string that is written out, which fits everywhere where it is not known;
    `settled` says what becomes of such types in a result.

    `sized`: what is computed has lengths and digits, too. `flat`: an array of arrays is an array. `adapts`: a whole
    number that is written out takes the type of the integer beside it. `default_first`: ELSE comes before the
    branches of a CASE where their types are compared. `exponents`: a number with one is floating. `using_widens`: the
    column that USING makes of two holds both. `real_digits`: a FLOAT of no more binary digits is a short one.
    `leading_zero`: a zero before the point is a digit. `results` are the words for types that the parser knows of
    functions, `cast_alone` what types without parameters mean where a value is converted. `days` is
    what two dates differ by, where that is no interval. `whole_days`: a date moved by whole days stays one.
    `fraction` is the type of a number that is written out with a point, where it is no decimal.
    `long_positions`: what a lambda is told of where an element stands is a long integer.
    `numbered`: what comes with an element that is unnested is its number, and never the key of a member.
    `adds_texts`: the sign that adds numbers puts texts together. `nothing` is the type of NULL where types say that
    they may be null, and `shortest` says that a whole number that is written out has the shortest type that holds it;
    `truth` is the type of TRUE where that of a condition is another one.
    """

    name: str
    integers: tuple[str, ...]
    digits: tuple[int, ...]
    integer: str
    bigint: str
    decimal: str
    real: str
    double: str
    string: str
    boolean: str
    binary: str
    date: str = "DATE"
    time: str = "TIME"
    timestamp: str = "TIMESTAMP"
    zoned: str = "TIMESTAMP"
    interval: str = "INTERVAL"
    aliases: dict[str, str] = {}
    cap: int = 38
    alone: dict[str, str] = {}
    notation: tuple[str, str, str, str] = ("ARRAY<{}>", "MAP<{},{}>", "STRUCT<{}>", "{}:{}")
    strings: tuple[str, ...] = ("STRING", "VARCHAR", "CHAR", "TEXT")
    bare_strings: bool = False
    null: str | None = None
    literal: str = ""
    settled: dict[str, str] = {}
    unsigned: dict[str, int] = {}
    sized: bool = True
    flat: bool = False
    adapts: bool = False
    default_first: bool = False
    exponents: bool = True
    using_widens: bool = False
    real_digits: int = 0
    leading_zero: bool = False
    results: dict[str, str] = {}
    cast_alone: dict[str, str] = {}
    days: str = ""
    whole_days: bool = False
    fraction: str = ""
    numbered: bool = True
    long_positions: bool = False
    adds_texts: bool = False
    nothing: str = ""
    shortest: bool = False
    truth: str = ""

    def array(self, kind: str, size: str = "") -> str:
        """An array of a type; some have a size."""
        if size:
            return f"{kind}[{size}]"
        return kind if self.flat and kind.endswith("[]") else self.notation[0].format(kind)

    def map(self, key: str, kind: str) -> str:
        """A map from one type to another."""
        return self.notation[1].format(key, kind)

    def struct(self, members: list[tuple[str, str]]) -> str:
        """A struct of named members."""
        return self.notation[2].format(",".join(self.notation[3].format(_quoted(name), kind) for name, kind in members))

    def numeric(self, precision: int, scale: int) -> str:
        """A decimal."""
        return f"{self.decimal}({precision},{scale})"
