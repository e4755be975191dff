"""How the functions of DuckDB over lists, maps and structs make types of the types of their arguments."""

import json
import re

from lineage_pipeline.dialects.typing.arithmetic import Rule, Texts, Types
from lineage_pipeline.dialects.typing.duckdb_rules import average, part, quantile, shape_at, total
from lineage_pipeline.dialects.typing.families import own
from lineage_pipeline.dialects.typing.family import UNKNOWN, Family
from lineage_pipeline.dialects.typing.results import SLICE
from lineage_pipeline.dialects.typing.shapes import Shape, member_type, shape_of
from lineage_pipeline.dialects.typing.widening import common_type


def element(family: Family, types: Types, texts: Texts) -> str | None:
    """What a list or a map holds; of a string, a character; a stretch is of the same type."""
    kind = types[0] if types else None
    if len(types) > 1 and types[1] == SLICE:
        return kind
    return kind if kind in (family.string, UNKNOWN, "JSON") else member_type(kind, "")


def aggregated(family: Family, types: Types, texts: Texts) -> str | None:
    """LIST_AGGREGATE: what the aggregate that it names gives for an element."""
    name = texts[1].strip("'").lower() if len(texts) > 1 else ""
    rule = LISTED.get(name)
    return rule(family, (member_type(types[0], ""),), ()) if rule is not None and types else None


def listed(name: str) -> Rule:
    """LIST_SUM and the like: what the aggregate gives for an element."""
    return lambda family, types, texts: LISTED[name](family, (member_type(types[0], ""),), ()) if types else None


def _same(family: Family, types: Types, texts: Texts) -> str | None:
    return types[0] if types else None


def _double(family: Family, types: Types, texts: Texts) -> str | None:
    return family.double


LISTED: dict[str, Rule] = {
    "sum": total,
    "avg": average,
    "median": quantile,
    "count": lambda family, types, texts: family.bigint,
    "string_agg": lambda family, types, texts: family.string,
    **dict.fromkeys("min max first last any_value mode bit_and bit_or bit_xor bool_and bool_or".split(), _same),
    **dict.fromkeys("stddev_pop stddev_samp var_pop var_samp product entropy kurtosis skewness sem".split(), _double),
}
"""What aggregates give that are asked of the elements of a list."""


def entries(family: Family, types: Types, texts: Texts) -> str | None:
    """The entries of a map as a list of structs."""
    shape = shape_at(types)
    if shape.name != "MAP" or len(shape.members) != 2:
        return None
    return family.array(family.struct([("key", shape.members[0][1]), ("value", shape.members[1][1])]))


def from_entries(family: Family, types: Types, texts: Texts) -> str | None:
    """A map made of a list of pairs."""
    inner = shape_of(member_type(types[0], "") or "") if types else Shape("")
    return family.map(inner.members[0][1], inner.members[1][1]) if len(inner.members) == 2 else None


def counted(family: Family, types: Types, texts: Texts) -> str | None:
    """HISTOGRAM: how often each value occurs."""
    return family.map(types[0], "UBIGINT") if types and types[0] else None


def counted_elements(family: Family, types: Types, texts: Texts) -> str | None:
    """LIST_HISTOGRAM: how often each element occurs."""
    return counted(family, (member_type(types[0], ""),), texts) if types else None


def sized(family: Family, types: Types, texts: Texts) -> str | None:
    """ARRAY_VALUE: an array that is as long as it is."""
    kind = common_type(types, family)
    return family.array(kind, str(len(types))) if kind else None


def tuple_of(family: Family, types: Types, texts: Texts) -> str | None:
    """ROW: members without names."""
    return f"TUPLE({','.join(kind or '' for kind in types)})" if types and all(types) else None


def zipped(family: Family, types: Types, texts: Texts) -> str | None:
    """LIST_ZIP: a list of tuples of the elements of each."""
    kinds = tuple(member_type(kind, "") for kind in types)
    inner = tuple_of(family, kinds, ())
    return family.array(inner) if inner else None


def ranged(family: Family, types: Types, texts: Texts) -> str | None:
    """RANGE: a list of long integers or of moments."""
    name = shape_at(types).name
    if name == family.date:
        return family.array(family.timestamp)
    return family.array(name if name in (family.timestamp, family.zoned) else family.bigint)


def grown(family: Family, types: Types, texts: Texts) -> str | None:
    """A list with another element."""
    shape = shape_at(types)
    inner = member_type(types[0], "") if shape.name == "ARRAY" else None
    return family.array(inner) if inner else None


def merged(family: Family, types: Types, texts: Texts) -> str | None:
    """Several lists as one."""
    return common_type(types, family)


def flattened(family: Family, types: Types, texts: Texts) -> str | None:
    """A list of lists becomes one."""
    return member_type(types[0], "") if types else None


def keys(family: Family, types: Types, texts: Texts) -> str | None:
    """The keys of a map, as a list."""
    shape = shape_at(types)
    return family.array(shape.members[0][1]) if shape.name == "MAP" and shape.members else None


def values(family: Family, types: Types, texts: Texts) -> str | None:
    """The values of a map, or of one key, as a list."""
    kind = member_type(types[0], "") if types and (types[0] or "").startswith("MAP") else None
    return family.array(kind) if kind else None


def transformed(family: Family, types: Types, texts: Texts) -> str | None:
    """A list of what a function gives."""
    return family.array(types[-1]) if types and types[-1] else None


def comprehended(family: Family, types: Types, texts: Texts) -> str | None:
    """`[x + 1 for x in list if x > 0]`: what is made of each element."""
    return types[1] if len(types) > 1 else None


def mapped(family: Family, types: Types, texts: Texts) -> str | None:
    """A map that is written out."""
    members = shape_at(types).members
    kind = common_type([inner for _, inner in members], family) if members else None
    return family.map(family.string, kind) if kind else None


def reduced(family: Family, types: Types, texts: Texts) -> str | None:
    """What is left of a list: what the function gives."""
    return types[1] if len(types) > 1 else None


_WORDS = re.compile(r"'([^']*)'")


def parts(family: Family, types: Types, texts: Texts) -> str | None:
    """A part of a moment, or a struct of the parts that a list names."""
    if shape_at(types).name != "ARRAY":
        return part(family, types, texts)
    names = _WORDS.findall(texts[0]) if texts else []
    return family.struct([(name, part(family, types[1:], (name,)) or "") for name in names]) if names else None


def extracted(family: Family, types: Types, texts: Texts) -> str | None:
    """REGEXP_EXTRACT: a string, or a struct of the groups that a list names."""
    names = next((_WORDS.findall(text) for text in texts[2:] if text.startswith("array(")), [])
    return family.struct([(name, family.string) for name in names]) if names else family.string


def per_path(kind: str) -> Rule:
    """A function of a document that gives a type for a path, and a list of them for a list of paths."""
    return lambda family, types, texts: f"{kind}[]" if len(types) > 1 and shape_at(types, 1).name == "ARRAY" else kind


def described(family: Family, types: Types, texts: Texts) -> str | None:
    """A document read as the structure that another document shows."""
    text = texts[1] if len(texts) > 1 else ""
    try:
        return _shown(json.loads(text[1:-1]), family) if text.startswith("'") else None
    except ValueError:
        return None


def _shown(value: object, family: Family) -> str | None:
    """The type that a structure shows: a name of one, a list of one, or an object of several."""
    if isinstance(value, str):
        return own(value.upper(), family.name)
    if isinstance(value, list) and len(value) == 1:
        inner = _shown(value[0], family)
        return family.array(inner) if inner else None
    if not isinstance(value, dict) or not value:
        return None
    members = [(name, _shown(item, family)) for name, item in value.items()]
    return family.struct([(name, kind or "") for name, kind in members]) if all(kind for _, kind in members) else None
