"""How the operators and functions of SQL Server make types of the types of their arguments."""

from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.dialects.typing.arithmetic import Rule, Texts, Types, arithmetic
from lineage_pipeline.dialects.typing.families import own
from lineage_pipeline.dialects.typing.family import Family
from lineage_pipeline.dialects.typing.shapes import shape_of
from lineage_pipeline.dialects.typing.strings import MONEYS, size_of, string_of
from lineage_pipeline.dialects.typing.widening import common_type, digits_of, is_number

MAX = float("inf")
BYTES = 8000
"""The most bytes of a string that has no MAX; a national one has half as many characters."""


def name_of(types: Types, position: int = 0) -> str:
    """The name of the type of an argument, or nothing."""
    return shape_of(types[position] or "").name if len(types) > position else ""


def _is_long(kind: str | None) -> bool:
    shape = shape_of(kind or "")
    return shape.parameters == ("MAX",) or shape.name in ("TEXT", "NTEXT", "IMAGE", "XML")


def operator(op: str) -> Rule:
    """An operator between numbers, money, strings or moments: the type of higher precedence decides."""
    plain = arithmetic(op)

    def rule(family: Family, types: Types, texts: Texts) -> str | None:
        if len(types) != 2 or types[0] is None or types[1] is None:
            return None
        shapes = [shape_of(kind or "") for kind in types]
        if op == "ADD" and all(shape.name in family.strings for shape in shapes):
            return joined(family, types)
        if op == "ADD" and all(shape.name in ("BINARY", "VARBINARY") for shape in shapes):
            return _sized(family, "VARBINARY", [size_of(shape) for shape in shapes], BYTES)
        if "DATETIME" in (shapes[0].name, shapes[1].name) or "SMALLDATETIME" in (shapes[0].name, shapes[1].name):
            return common_type(types, family)  # a number of days and the time between two are moments, too
        for own_side, other in ((0, 1), (1, 0)):
            kind, beside = types[own_side], shapes[other].name
            if shapes[own_side].name in family.strings and (is_number(shapes[other], family) or beside in MONEYS):
                return types[other] if beside != family.decimal else None
            if shapes[own_side].name in MONEYS and beside != family.decimal:
                return common_type(types, family)
            if kind == family.boolean and beside in family.integers:
                return types[other]
        return plain(family, tuple([MONEYS.get(kind or "", kind) for kind in types]), texts)

    return rule


def joined(family: Family, types: Types) -> str | None:
    """Strings one behind the other: as long as all of them, up to what fits."""
    shapes = [shape_of(kind or "") for kind in types]
    name = string_of([shape.name for shape in shapes])
    return _sized(family, name, [size_of(shape) for shape in shapes], BYTES // 2 if name[0] == "N" else BYTES)


def _sized(family: Family, name: str, sizes: list[float | None], most: int) -> str:
    if MAX in sizes:
        return f"{name}(MAX)"
    return f"{name}({min(int(sum(size or 0 for size in sizes)), most)})" if None not in sizes else name


def variable(family: Family, types: Types, texts: Texts) -> str | None:
    """A string of the same length that is not padded, as UPPER, TRIM and REVERSE give it."""
    return cut(family, types[:1], ())


def cut(family: Family, types: Types, texts: Texts) -> str | None:
    """LEFT, RIGHT, SUBSTRING: a part of a string, no longer than it and than a length that is written out."""
    shape = shape_of(types[0] or "") if types else shape_of("")
    if shape.name not in family.strings:
        return shape.name if shape.name in ("BINARY", "VARBINARY") else family.string if shape.name else None
    name, size = string_of([shape.name, family.string]), size_of(shape)
    wanted = texts[-1] if len(texts) > 1 else ""
    if size is None:
        return name
    if wanted.isdigit() and whole_number(wanted) > 0:
        size = min(size, whole_number(wanted))
    return f"{name}({'MAX' if size == MAX else int(size)})"


def replaced(family: Family, types: Types, texts: Texts) -> str | None:
    """REPLACE and the like: as long as a string may be."""
    names = [name_of(types, at) for at in range(len(types)) if name_of(types, at) in family.strings]
    name = string_of([*names, family.string])
    return f"{name}({'MAX' if types and _is_long(types[0]) else BYTES // 2 if name[0] == 'N' else BYTES})"


def stuffed(family: Family, types: Types, texts: Texts) -> str | None:
    """STUFF, REPLICATE: a string of which only the kind is known, and whether it has a limit."""
    name = string_of([name_of(types) if name_of(types) in family.strings else family.string, family.string])
    return f"{name}(MAX)" if types and _is_long(types[0]) else name


def concatenated(family: Family, types: Types, texts: Texts) -> str | None:
    """CONCAT: a string, national where one argument is; how long numbers are as strings is left open."""
    names = [name_of(types, at) for at in range(len(types))]
    if all(name in family.strings for name in names):
        return joined(family, types) if len(types) > 1 else variable(family, types, ())
    name = string_of([*(name for name in names if name in family.strings), family.string])
    return f"{name}(MAX)" if any(_is_long(kind) for kind in types) else name


def separated(family: Family, types: Types, texts: Texts) -> str | None:
    """CONCAT_WS: a string whose length is left open."""
    return concatenated(family, (*types, family.integer), texts)


def listed(family: Family, types: Types, texts: Texts) -> str | None:
    """STRING_AGG: as long as a string may be; what is no string becomes a national one."""
    name = name_of(types)
    kind = string_of([name, family.string]) if name in family.strings else "NVARCHAR"
    if types and _is_long(types[0]):
        return f"{kind}(MAX)"
    return f"{kind}({BYTES // 2 if kind == 'NVARCHAR' else BYTES})" if name else None


def counted(family: Family, types: Types, texts: Texts) -> str | None:
    """LEN, DATALENGTH and CHARINDEX: a long number of a string without a limit."""
    return family.bigint if types and _is_long(types[0]) else family.integer


def sought(family: Family, types: Types, texts: Texts) -> str | None:
    """PATINDEX: a long number of a string without a limit."""
    return counted(family, types[1:], texts)


def converted(family: Family, types: Types, texts: Texts) -> str | None:
    """CONVERT: the type that it names; a string without a length has thirty characters."""
    kind = own(texts[0].upper(), family.name) if texts and texts[0] else None
    return family.cast_alone.get(kind, kind) if kind else None


def moved(family: Family, types: Types, texts: Texts) -> str | None:
    """DATEADD: what is moved; a string and a number are moments first."""
    shape = shape_of(types[0] or "") if types else shape_of("")
    if not shape.name:
        return None
    return "DATETIME" if shape.name in family.strings or is_number(shape, family) else types[0]


def truncated(family: Family, types: Types, texts: Texts) -> str | None:
    """DATETRUNC: what is cut; a string is a moment first."""
    kind = moved(family, types, texts)
    return "DATETIME2(7)" if kind == "DATETIME" and name_of(types) != "DATETIME" else kind


def rounded(family: Family, types: Types, texts: Texts) -> str | None:
    """FLOOR and CEILING: a decimal loses the digits behind the point."""
    digits = digits_of(shape_of(types[0] or ""), family) if types and name_of(types) == family.decimal else None
    return family.numeric(digits[0], 0) if digits is not None else same(family, types, texts)


def same(family: Family, types: Types, texts: Texts) -> str | None:
    """ABS, ROUND, SIGN: the same type; short integers become integers, other values floating numbers."""
    name = name_of(types)
    if name in family.integers:
        return family.bigint if name == family.bigint else family.integer
    if name in MONEYS:
        return "MONEY"
    return types[0] if name == family.decimal else family.double if name else None


def power(family: Family, types: Types, texts: Texts) -> str | None:
    """POWER: the type of the base, a decimal as long as it can be."""
    digits = digits_of(shape_of(types[0] or ""), family) if types and name_of(types) == family.decimal else None
    return family.numeric(38, digits[1]) if digits is not None else same(family, types[:1], texts)


def total(family: Family, types: Types, texts: Texts) -> str | None:
    """SUM: short integers become integers, decimals as long as they can be."""
    name = name_of(types)
    if name in MONEYS:
        return "MONEY"
    digits = digits_of(shape_of(types[0] or ""), family) if types and name == family.decimal else None
    return family.numeric(38, digits[1]) if digits is not None else same(family, types, texts)


def average(family: Family, types: Types, texts: Texts) -> str | None:
    """AVG: of integers an integer, of decimals at least six digits behind the point."""
    digits = digits_of(shape_of(types[0] or ""), family) if types and name_of(types) == family.decimal else None
    return family.numeric(38, max(digits[1], 6)) if digits is not None else total(family, types, texts)


def chosen(family: Family, types: Types, texts: Texts) -> str | None:
    """CHOOSE: the least type that holds all values behind the number."""
    return common_type(types[1:], family)


def printed(family: Family, types: Types, texts: Texts) -> str | None:
    """FORMAT, or DATENAME, which the parser gives a moment that it has converted."""
    return "NVARCHAR(30)" if types and types[0] == "DATETIME2" and texts[-1:] in _NAMES else "NVARCHAR(4000)"


_NAMES = [(f"'%{letter}'",) for letter in ("B", "A", "Y", "m", "d", "H", "M", "S", "j", "W", "f", "Q")]


def number_text(family: Family, types: Types, texts: Texts) -> str | None:
    """STR: ten characters unless it says how many."""
    return f"VARCHAR({texts[1] if len(texts) > 1 and texts[1].isdigit() else 10})"


def national(family: Family, types: Types, texts: Texts) -> str | None:
    """N'…': a national string as long as it is written."""
    return f"NVARCHAR({min(max(len(texts[0]), 1), BYTES // 2)})" if texts else "NVARCHAR"


def asked(family: Family, types: Types, texts: Texts) -> str | None:
    """XML's value(): the type that it names."""
    return own(texts[-1].strip("'").upper(), family.name) if texts and texts[-1] else None


def bits(family: Family, types: Types, texts: Texts) -> str | None:
    """An operation on the bits of numbers."""
    numbers = [kind for kind in types if kind != family.boolean]
    return common_type(numbers, family) if numbers else family.boolean
