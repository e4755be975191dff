"""Types: what the rules of a dialect make of the types of constants, calls and members."""

from collections.abc import Sequence

import msgspec

from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.dialects.typing.arithmetic import Texts
from lineage_pipeline.dialects.typing.casts import is_widening, may_fail, operands_fail
from lineage_pipeline.dialects.typing.decimals import literal_digits
from lineage_pipeline.dialects.typing.families import UNKNOWN, Family, as_read
from lineage_pipeline.dialects.typing.results import LABELLED
from lineage_pipeline.dialects.typing.rules import Typing
from lineage_pipeline.dialects.typing.widening import common_type, folded
from lineage_pipeline.engine.link.canonical import literal_text
from lineage_pipeline.engine.link.flows import NONE
from lineage_pipeline.engine.link.model import Input, Value
from lineage_pipeline.vocabulary import ir


def common_of(values: Sequence[Value], typing: Typing, written: bool = True) -> str | None:
    """The least type that holds all of several values, or None where that is not known; NULL fits everywhere.

    Values that are columns of results are not `written` here: what they take the type of is decided elsewhere.
    """
    family = typing.family
    if not family.sized:
        return common_type([value.type if written else _asked(value) for value in values], family)
    if family.adapts and written and len(values) > 1:
        return folded([value.type for value in values], [value.text for value in values], family)
    types = [value.type for value in values if value.text != "null" or family.nothing]
    return common_type(types, family) if types else family.null


def _asked(value: Value) -> str | None:
    """The type of a value; a constant that is written out takes the one that is asked of it."""
    return UNKNOWN if not value.flows and (value.text == "null" or value.text[:1] == "'") else value.type


def case_type(values: Sequence[Value], has_default: bool, typing: Typing) -> str | None:
    """The type of a CASE; in some dialects that of ELSE comes first."""
    if not typing.family.default_first:
        family = typing.family
        gap = [] if has_default or not (family.adapts or family.nothing) else [literal_value(NULL, family)]
        return common_of([*gap, *values], typing)
    default = values[-1] if has_default else Value((), typing.family.null, True, "null")
    return common_of([default, *(values[:-1] if has_default else values)], typing)


NULL = ir.Literal("null", "NULL")

_LITERALS: dict[tuple[str, str, str], Value] = {}
"""What constants come to: the same few stand in many places."""

_MOST_LITERALS = 20_000


def literal_value(literal: ir.Literal, family: Family) -> Value:
    """What a constant comes to."""
    key = (family.name, literal.kind, literal.text)
    known = _LITERALS.get(key)
    if known is None:
        known = Value(NONE, literal_type(literal, family), literal.kind == "null", literal_text(literal))
        if len(_LITERALS) < _MOST_LITERALS:
            _LITERALS[key] = known
    return known


def literal_type(literal: ir.Literal, family: Family) -> str | None:
    """The type of a constant."""
    if literal.kind == "number":
        return _number_type(literal.text, family)
    if literal.kind == "string":
        return family.literal.format(max(len(literal.text), 1)) or family.string if family.name else None
    return {"boolean": family.truth or family.boolean, "null": family.nothing or family.null}.get(literal.kind)


def _number_type(text: str, family: Family) -> str | None:
    if text.isdigit():
        if family.shortest:
            return next((name for at, name in enumerate(family.unsigned) if whole_number(text) < 1 << (8 << at)), None)
        if family.integers and len(text) < 11 and int(text) <= 2**31 - 1:
            return family.integer
        if not family.name:
            return None
        if family.integers and len(text) < 20 and int(text) <= 2**63 - 1:
            return family.bigint
        if family.unsigned and len(text) < 40:
            return family.integers[-1]
        return family.numeric(*literal_digits(text)) if family.cap else family.decimal
    if not family.name:
        return None
    if family.exponents and ("e" in text or "E" in text):
        return family.double
    if family.fraction:
        return family.fraction
    return family.numeric(*literal_digits(text, family.leading_zero)) if family.cap else family.decimal


def optional(kind: str | None, mode: str, typing: Typing) -> str | None:
    """The type of what a query gives, which may give no row; where types say whether they hold NULL, it does."""
    family = typing.family
    holds = family.nothing and kind is not None and mode == "scalar"
    return common_type([kind, family.nothing], family) if holds else kind


def settled(kind: str | None, family: Family) -> str | None:
    """The type of a column of a result: what would take any type has one there."""
    if kind is None or not family.settled or UNKNOWN not in kind:
        return kind
    return kind.replace(UNKNOWN, family.settled[UNKNOWN])


def base_of(op: str) -> str:
    """An operator without its options."""
    return op if ":" not in op else op.split(":", 1)[0]


def call_type(call: ir.Call, op: str, args: Sequence[Value], typing: Typing) -> str | None:
    """The type of an operator or function."""
    types = tuple([arg.type for arg in args])
    texts: Texts = tuple([arg.text if not arg.flows else "" for arg in args]) if op in typing.constants else ()
    if op in LABELLED:
        texts = tuple([arg.parts[-1] if type(arg) is ir.Ref else "" for arg in call.args])
    if call.op is not op and call.op in typing.rules:  # what an option makes of it
        op = call.op
    return typing.result(op, types, texts, call.result)


def struct_type(members: Sequence[tuple[str, Value]], family: Family) -> str | None:
    """A struct that is built of values, where every member has a name and a type."""
    if not members or not family.notation[2] or not all(name and value.type for name, value in members):
        return None
    return family.struct([(name, value.type or "") for name, value in members])


def call_nullable(op: str, args: Sequence[Value], typing: Typing, kind: str | None) -> bool:
    """Whether an operator or function may give null."""
    nulls = typing.nulls
    if op in nulls.where_any or (op in nulls.of_spans and _is_span(args)):
        for arg in args:
            if arg.nullable:
                return True
        return typing.lenient and _conversion_fails(op, args, typing)
    if op in nulls.never:
        return False
    if op in nulls.by_argument:
        return any(at >= len(args) or args[at].nullable for at in nulls.by_argument[op])
    if op in nulls.where_all:
        return all(arg.nullable or may_fail(arg.type, kind, typing.family.name) for arg in args)
    return op not in ("LAG", "LEAD") or len(args) < 3 or either_nullable((args[0], args[2]), kind, typing)


def _is_span(args: Sequence[Value]) -> bool:
    return bool(args) and (args[0].type or "").startswith("INTERVAL")


def _conversion_fails(op: str, args: Sequence[Value], typing: Typing) -> bool:
    """Whether an argument has to be converted in a way that may give null."""
    nulls, name = typing.nulls, typing.family.name
    wanted = nulls.reads.get(op)
    if wanted is not None and args:
        return may_fail(args[0].type, wanted, name) and not (len(args) > 1 and op in nulls.formatted)
    if op in nulls.fails_on and args:
        return args[0].type is None or args[0].type in nulls.fails_on[op]
    if op in nulls.converts:
        types, texts = tuple([arg.type for arg in args]), tuple([arg.text if not arg.flows else "" for arg in args])
        return operands_fail(op, types, texts, name)
    if op in nulls.parts and len(args) > 1:
        unit = args[0].text.strip("'").upper()
        return not _is_span(args[1:]) and may_fail(args[1].type, nulls.parts[op].get(unit, "TIMESTAMP"), name)
    return False


def either_nullable(values: Sequence[Value], kind: str | None, typing: Typing) -> bool:
    """Whether one of several values, once it has the type of all, may be null."""
    name = typing.family.name
    return any(value.nullable or (typing.lenient and may_fail(value.type, kind, name)) for value in values)


def case_nullable(
    case: ir.Case, conditions: Sequence[Value], values: Sequence[Value], kind: str | None, typing: Typing
) -> bool:
    """Whether a branch of a CASE that can be reached may be null: nothing behind `when true` can."""
    last = next((at for at, condition in enumerate(conditions) if condition.text == "true"), None)
    if last is not None:
        return either_nullable(values[: last + 1], kind, typing)
    return case.default is None or either_nullable(values, kind, typing)


TYPED = frozenset({"typed", "suffixed"})
"""Constants that say their type themselves, inside of what the parser takes for a conversion."""


def cast_nullable(cast: ir.Cast, source: str | None, typing: Typing) -> bool:
    """Whether a conversion of a value that is not null may give null; a constant that says its type never does."""
    if type(cast.arg) is ir.Literal and cast.arg.kind in TYPED:
        return False
    name = typing.family.name
    if cast.safe:
        return not (typing.lenient and is_widening(source, cast.to, name))
    return typing.lenient and may_fail(source, cast.to, name)


def tested_nullable(mode: str, values: Sequence[Value], typing: Typing) -> bool:
    """Whether a test over a subquery may be neither true nor false: EXISTS never is, of others most do not say."""
    if mode == "exists":
        return False
    return not typing.lenient or any(value.nullable for value in values)


def read(found: Input, family: Family) -> Input:
    """An object whose columns have the types that their values have once they are read."""
    if not any(column.type is not None and "CHAR" in column.type for column in found.columns):
        return found
    columns = tuple(
        msgspec.structs.replace(column, type=as_read(column.type, family.name)) if column.type is not None else column
        for column in found.columns
    )
    return msgspec.structs.replace(found, columns=columns)
