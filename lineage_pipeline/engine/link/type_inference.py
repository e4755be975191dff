"""Types and nullability of expressions by the rules of the dialect, and findings about types that do not fit."""

from collections.abc import Iterator, Sequence

import msgspec

from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.types.arithmetic import ConstantTexts
from lineage_pipeline.dialects.types.coercion import (
    cast_may_fail,
    common_type,
    common_type_in_order,
    is_safe_cast,
    operand_casts_may_fail,
)
from lineage_pipeline.dialects.types.common_rules import NAME_DEPENDENT_FUNCTIONS
from lineage_pipeline.dialects.types.conversions import (
    ImplicitConversions,
    is_operation_refused,
    is_refused,
    type_kind,
)
from lineage_pipeline.dialects.types.decimals import literal_digits
from lineage_pipeline.dialects.types.families import UNTYPED_CONSTANT, TypeFamily, column_value_type
from lineage_pipeline.dialects.types.inference import TypeInference
from lineage_pipeline.engine.link.canonical import render_literal
from lineage_pipeline.engine.link.model import NO_FLOWS, ExprResult, FindingReporter, OutputColumn, TableInput
from lineage_pipeline.model import ir


def infer_common_type(values: Sequence[ExprResult], typing: TypeInference, written: bool = True) -> str | None:
    """The narrowest type that holds all of several values, or None where it is unknown; NULL fits everywhere.

    Columns of results are not `written` here: a constant among them takes the type of the others.
    """
    family = typing.family
    if not family.sized:
        return common_type([value.type if written else _flexible_type(value) for value in values], family)
    if family.adapts and written and len(values) > 1:
        return common_type_in_order([value.type for value in values], [value.text for value in values], family)
    types = [value.type for value in values if value.text != "null" or family.nothing]
    return common_type(types, family) if types else family.null


def _flexible_type(value: ExprResult) -> str | None:
    """The type of a value; a NULL or string constant takes the type of the others."""
    return UNTYPED_CONSTANT if not value.flows and (value.text == "null" or value.text[:1] == "'") else value.type


def infer_case_type(values: Sequence[ExprResult], has_default: bool, typing: TypeInference) -> str | None:
    """The type of a CASE; in some dialects that of ELSE comes first."""
    if not typing.family.default_first:
        family = typing.family
        if has_default and family.adapts:  # a constant adapts to the ELSE, be it NULL, before it meets other branches
            return infer_common_type([values[-1], *values[:-1]], typing)
        gap = [] if has_default or not (family.adapts or family.nothing) else [evaluate_literal(NULL_LITERAL, family)]
        return infer_common_type([*gap, *values], typing)
    default = values[-1] if has_default else ExprResult((), typing.family.null, True, "null")
    return infer_common_type([default, *(values[:-1] if has_default else values)], typing)


NULL_LITERAL = ir.Literal("null", "NULL")

_LITERAL_CACHE: dict[tuple[str, str, str], ExprResult] = {}
"""Results of constants: the same few occur in many places."""

_MAX_CACHED_LITERALS = 20_000


def evaluate_literal(literal: ir.Literal, family: TypeFamily) -> ExprResult:
    """The result of a constant."""
    key = (family.name, literal.kind, literal.text)
    known = _LITERAL_CACHE.get(key)
    if known is None:
        known = ExprResult(
            NO_FLOWS, infer_literal_type(literal, family), literal.kind == "null", render_literal(literal)
        )
        if len(_LITERAL_CACHE) < _MAX_CACHED_LITERALS:
            _LITERAL_CACHE[key] = known
    return known


def infer_literal_type(literal: ir.Literal, family: TypeFamily) -> str | None:
    """The type of a constant."""
    if literal.kind == "number":
        return _infer_number_type(literal.text, family)
    if literal.kind == "string":
        return family.literal.format(max(len(literal.text), 1)) or family.string if family.name else None
    return {"boolean": family.truth or family.boolean, "null": family.nothing or family.null}.get(literal.kind)


def _infer_number_type(text: str, family: TypeFamily) -> str | None:
    if text.isdigit():
        if family.shortest:
            return next(
                (name for at, name in enumerate(family.unsigned) if parse_whole_number(text) < 1 << (8 << at)), None
            )
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


def infer_subquery_type(kind: str | None, mode: str, typing: TypeInference) -> str | None:
    """The type of a subquery's value, which may have no row: NULL is added where types include it."""
    family = typing.family
    holds = family.nothing and kind is not None and mode == "scalar"
    return common_type([kind, family.nothing], family) if holds else kind


def settle_unknown_type(kind: str | None, family: TypeFamily) -> str | None:
    """The type of a result column: an unknown type is replaced by the dialect's default."""
    if kind is None or not family.settled or UNTYPED_CONSTANT not in kind:
        return kind
    return kind.replace(UNTYPED_CONSTANT, family.settled[UNTYPED_CONSTANT])


def strip_options(op: str) -> str:
    """An operator without its options."""
    return op if ":" not in op else op.split(":", 1)[0]


def infer_call_type(call: ir.Call, op: str, args: Sequence[ExprResult], typing: TypeInference) -> str | None:
    """The type of an operator or function."""
    types = tuple([arg.type for arg in args])
    texts: ConstantTexts = tuple([arg.text if not arg.flows else "" for arg in args]) if op in typing.constants else ()
    if op in NAME_DEPENDENT_FUNCTIONS:
        texts = tuple([arg.parts[-1] if type(arg) is ir.Ref else "" for arg in call.args])
    if call.op is not op and call.op in typing.rules:  # what an option makes of it
        op = call.op
    return typing.infer_result(op, types, texts, call.result)


def build_struct_type(members: Sequence[tuple[str, ExprResult]], family: TypeFamily) -> str | None:
    """The type of a struct built of values, where every member has a name and a type."""
    if not members or not family.notation[2] or not all(name and value.type for name, value in members):
        return None
    return family.struct([(name, value.type or "") for name, value in members])


def is_call_nullable(op: str, args: Sequence[ExprResult], typing: TypeInference, kind: str | None) -> bool:
    """Say whether an operator or function may give NULL."""
    nulls = typing.nulls
    if op in nulls.where_any or (op in nulls.of_spans and _is_interval(args)):
        for arg in args:
            if arg.nullable:
                return True
        return typing.lenient and _may_conversion_fail(op, args, typing)
    if op in nulls.never:
        return False
    if op in nulls.by_argument:
        return any(at >= len(args) or args[at].nullable for at in nulls.by_argument[op])
    if op in nulls.where_all:
        return all(arg.nullable or cast_may_fail(arg.type, kind, typing.family) for arg in args)
    return op not in ("LAG", "LEAD") or len(args) < 3 or is_any_nullable((args[0], args[2]), kind, typing)


def _is_interval(args: Sequence[ExprResult]) -> bool:
    return bool(args) and (args[0].type or "").startswith("INTERVAL")


def _may_conversion_fail(op: str, args: Sequence[ExprResult], typing: TypeInference) -> bool:
    """Say whether the implicit conversion of an argument may give NULL."""
    nulls, family = typing.nulls, typing.family
    wanted = nulls.reads.get(op)
    if wanted is not None and args:
        return cast_may_fail(args[0].type, wanted, family) and not (len(args) > 1 and op in nulls.formatted)
    if op in nulls.fails_on and args:
        return args[0].type is None or args[0].type in nulls.fails_on[op]
    if op in nulls.converts:
        types, texts = tuple([arg.type for arg in args]), tuple([arg.text if not arg.flows else "" for arg in args])
        return operand_casts_may_fail(op, types, texts, family)
    if op in nulls.parts and len(args) > 1:
        unit = args[0].text.strip("'").upper()
        return not _is_interval(args[1:]) and cast_may_fail(
            args[1].type, nulls.parts[op].get(unit, "TIMESTAMP"), family
        )
    return False


def is_any_nullable(values: Sequence[ExprResult], kind: str | None, typing: TypeInference) -> bool:
    """Say whether one of several values, converted to their common type, may be NULL."""
    family = typing.family
    return any(value.nullable or (typing.lenient and cast_may_fail(value.type, kind, family)) for value in values)


def is_case_nullable(
    case: ir.Case,
    conditions: Sequence[ExprResult],
    values: Sequence[ExprResult],
    kind: str | None,
    typing: TypeInference,
) -> bool:
    """Say whether a reachable branch of a CASE may be NULL: nothing behind `when true` is reachable."""
    last = next((at for at, condition in enumerate(conditions) if condition.text == "true"), None)
    if last is not None:
        return is_any_nullable(values[: last + 1], kind, typing)
    return case.default is None or is_any_nullable(values, kind, typing)


TYPED_LITERAL_KINDS = frozenset({"typed", "suffixed"})
"""Kinds of literals that name their type, wrapped in a cast by the parser."""


def is_cast_nullable(cast: ir.Cast, source: str | None, typing: TypeInference) -> bool:
    """Say whether a cast of a non-null value may give NULL; a typed literal never does."""
    if type(cast.arg) is ir.Literal and cast.arg.kind in TYPED_LITERAL_KINDS:
        return False
    family = typing.family
    if cast.safe:
        return not (typing.lenient and is_safe_cast(source, cast.to, family))
    return typing.lenient and cast_may_fail(source, cast.to, family)


def is_subquery_test_nullable(mode: str, values: Sequence[ExprResult], typing: TypeInference) -> bool:
    """Say whether a test over a subquery may be NULL: EXISTS never is, IN and ANY may be."""
    if mode == "exists":
        return False
    return not typing.lenient or any(value.nullable for value in values)


def convert_read_types(found: TableInput, family: TypeFamily) -> TableInput:
    """An object whose columns have the types that the engine gives them when they are read."""
    if not any(column.type is not None and "CHAR" in column.type for column in found.columns):
        return found
    columns = tuple(
        msgspec.structs.replace(column, type=column_value_type(column.type, family))
        if column.type is not None
        else column
        for column in found.columns
    )
    return msgspec.structs.replace(found, columns=columns)


COMPARISON_OPERATORS = frozenset("EQ NEQ GT GTE LT LTE NULLSAFEEQ NULLSAFENEQ BETWEEN IN".split())
"""Operators that compare their first argument with each of the others."""

CHOICE_FUNCTIONS = frozenset("COALESCE IFNULL NVL".split())
"""Functions that return one of their arguments."""

ARITHMETIC_OPERATORS = frozenset("ADD SUB MUL DIV MOD".split())

CHECKED_OPERATORS = COMPARISON_OPERATORS | CHOICE_FUNCTIONS | ARITHMETIC_OPERATORS

QUANTIFIERS = frozenset({"ANY", "ALL", "SOME"})


def report_operand_types(
    op: str,
    parts: Sequence[ir.Expr],
    args: Sequence[ExprResult],
    conversions: ImplicitConversions,
    report: FindingReporter,
) -> None:
    """Report operands whose types an operator cannot combine."""
    if op in COMPARISON_OPERATORS:
        report_comparison_types(parts, args, conversions, report, op == "IN")
    elif op in CHOICE_FUNCTIONS:
        report_branch_types(parts, args, conversions, report)
    elif (
        len(args) == 2
        and is_operation_refused(op, args[0].type, args[1].type, conversions)
        and not _is_adaptable(conversions, *args)
    ):
        _report_type_pair(parts, args, report)


def report_branch_types(
    parts: Sequence[ir.Expr], values: Sequence[ExprResult], conversions: ImplicitConversions, report: FindingReporter
) -> None:
    """Report branches of one expression whose types cannot be combined."""
    firm = [(part, value) for part, value in zip(parts, values, strict=False) if not _is_adaptable(conversions, value)]
    for part, value in firm[1:]:
        if is_refused(firm[0][1].type, value.type, conversions, "branches"):
            _report_type_pair((firm[0][0], part), (firm[0][1], value), report)


def _report_type_pair(parts: Sequence[ir.Expr], values: Sequence[ExprResult], report: FindingReporter) -> None:
    place = next((ref for expr in parts for ref in _iter_refs(expr)), None)
    start, end = (place.start, place.end) if place is not None else (0, 0)
    names = " and ".join(_describe_operand(expr, value) for expr, value in zip(parts, values, strict=False))
    report("TYPE_MISMATCH", start, end, column=names, left=str(values[0].type), right=str(values[1].type))


def report_comparison_types(
    parts: Sequence[ir.Expr],
    args: Sequence[ExprResult],
    conversions: ImplicitConversions,
    report: FindingReporter,
    among: bool = False,
) -> None:
    """Report compared values whose types do not fit, at the first column that is named."""
    first = args[0]
    for part, other in zip(parts[1:], args[1:], strict=False):
        if _is_quantified(part) or (among and type_kind(other.type or "", conversions) == "array"):
            continue  # a list may stand for its elements
        if is_refused(first.type, other.type, conversions, "compares") and not _is_adaptable(conversions, first, other):
            _report_type_pair((parts[0], part), (first, other), report)


def report_stored_types(
    target: str,
    own: TableInput | None,
    pairs: Sequence[tuple[str, OutputColumn]],
    conversions: ImplicitConversions | None,
    report: FindingReporter,
) -> None:
    """Report values whose types do not fit the columns they are stored in."""
    if own is None or conversions is None:
        return
    types = {column.name: column.type for column in own.columns}
    for name, out in pairs:
        wanted = types.get(name)
        if is_refused(out.value.type, wanted, conversions, "stores") and not _is_adaptable(conversions, out.value):
            place = max(out.start, 0), max(out.end, 0)
            report("TYPE_MISMATCH", *place, column=f"{target}.{name}", left=str(out.value.type), right=str(wanted))


def report_set_operation_types(
    column: OutputColumn, others: Sequence[OutputColumn], conversions: ImplicitConversions, report: FindingReporter
) -> None:
    """Report columns of a set operation whose types cannot be combined."""
    for other in others:
        if is_refused(column.value.type, other.value.type, conversions, "unites") and not _is_adaptable(
            conversions, column.value, other.value
        ):
            name = column.written or column.name or "a column of a set operation"
            place = max(other.start, 0), max(other.end, 0)
            report("TYPE_MISMATCH", *place, column=name, left=str(other.value.type), right=str(column.value.type))


def _is_quantified(part: ir.Expr) -> bool:
    """Say whether an operand is ANY or ALL of a subquery's rows or an array's elements."""
    return (isinstance(part, ir.Sub) and part.mode.startswith("compare")) or (
        isinstance(part, ir.Call) and part.op in QUANTIFIERS
    )


def _is_adaptable(conversions: ImplicitConversions, *values: ExprResult) -> bool:
    """Say whether one of the values takes any type: a string constant, NULL, a loop variable over a list."""
    return any(_accepts_any_type(value, type_kind(value.type or "", conversions)) for value in values)


def _accepts_any_type(value: ExprResult, kind: str) -> bool:
    if kind == "array":  # a variable that goes through a list is not known to hold its elements
        return any(flow.hops for flow in value.flows)
    return not value.flows and kind in ("string", "")


def _iter_refs(expr: ir.Expr) -> Iterator[ir.Ref]:
    """The column references of an expression, from left to right."""
    match expr:
        case ir.Ref():
            yield expr
        case ir.Call():
            for arg in expr.args:
                yield from _iter_refs(arg)
        case ir.Cast() | ir.Field() | ir.Over():
            yield from _iter_refs(expr.arg)


def _describe_operand(expr: ir.Expr, value: ExprResult) -> str:
    return ".".join(expr.parts) if isinstance(expr, ir.Ref) else value.text
