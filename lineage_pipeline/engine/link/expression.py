"""Expressions: `EVALUATORS` maps each IR expression to its function; also names that engines generate for columns."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from lineage_pipeline.dialects.dialect import UnaliasedNaming
from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.spark_column_names import print_moment_arithmetic, round_compared_constants
from lineage_pipeline.dialects.types.families import UNTYPED_CONSTANT, cast_type
from lineage_pipeline.dialects.types.lambda_parameters import lambda_parameter_types
from lineage_pipeline.engine.link.canonical import render_call, render_cast, render_typed_call, shorten_text
from lineage_pipeline.engine.link.context import FLOW_COUNT_THRESHOLD, SOURCES_PER_STEP, RelationResolver
from lineage_pipeline.engine.link.model import (
    NO_FLOWS,
    WHOLE_ROW,
    BoundRelation,
    ColumnFlow,
    ExprResult,
    Flows,
    Members,
    expand_struct,
    is_within_member_limit,
    map_member_flows,
    mark_indirect,
    merge_members,
    parse_struct_members,
    resolve_element,
    resolve_member,
    transform_flows,
    union_flows,
)
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.engine.link.table_function import expand_table_function
from lineage_pipeline.engine.link.type_inference import (
    CHECKED_OPERATORS,
    build_struct_type,
    evaluate_literal,
    infer_call_type,
    infer_case_type,
    infer_subquery_type,
    is_call_nullable,
    is_case_nullable,
    is_cast_nullable,
    is_subquery_test_nullable,
    report_branch_types,
    report_comparison_types,
    report_operand_types,
    strip_options,
)
from lineage_pipeline.engine.link.variables import evaluate_function_result, read_variable, with_declared_type
from lineage_pipeline.model import ir
from lineage_pipeline.model.enums import Subtype


def evaluate_expression(expr: ir.Expr, scope: Scope, links: RelationResolver) -> ExprResult:
    """The result of an expression in a scope."""
    return EVALUATORS[type(expr)](expr, scope, links)


def _evaluate_ref(expr: ir.Ref, scope: Scope, links: RelationResolver) -> ExprResult:
    found = scope.resolve(expr)
    asked = () if len(expr.parts) > 1 and scope.sources.with_alias(expr.parts[-2]) else scope.sources
    ways = len(found.flows) + len(asked) // SOURCES_PER_STEP
    if ways > FLOW_COUNT_THRESHOLD:
        links.budget.charge_steps(ways)
    return found


def _evaluate_literal(expr: ir.Literal, scope: Scope, links: RelationResolver) -> ExprResult:
    return evaluate_literal(expr, scope.typing.family)


def _evaluate_variable(expr: ir.Variable, scope: Scope, links: RelationResolver) -> ExprResult:
    return read_variable(links.variables, expr)


def _evaluate_call(expr: ir.Call, scope: Scope, links: RelationResolver) -> ExprResult:
    op = strip_options(expr.op)
    special = _CALL_EVALUATORS.get(op)
    if special is not None:
        return special(expr, scope, links)
    if op in links.variables.scalars:  # PL/SQL: an element of a collection
        return links.variables.scalars[op]
    if op in links.variables.records:  # or of one of records
        return evaluate_expression(ir.Ref((op,), ir.NOWHERE, ir.NOWHERE), scope, links)
    if links.functions and op in links.functions:
        return evaluate_function_result(_evaluate_plain_call(expr, op, scope, links), links.functions[op])
    return _evaluate_plain_call(expr, op, scope, links)


def _evaluate_plain_call(expr: ir.Call, op: str, scope: Scope, links: RelationResolver) -> ExprResult:
    """The result of a call without special rules."""
    args = _evaluate_arguments(op, expr, scope, links)
    if scope.typing.conversions is not None and op in CHECKED_OPERATORS and args:
        report_operand_types(op, expr.args, args, scope.typing.conversions, scope.report)
    kind = infer_call_type(expr, op, args, scope.typing)
    nullable = is_call_nullable(op, args, scope.typing, kind)
    text = render_typed_call(expr, op, args, scope.typing.family)
    side = SIDE_ARGUMENTS.get(op)
    if side is not None and args:
        return evaluate_filtered_aggregate(expr, side, args, ExprResult(NO_FLOWS, kind, nullable, text))
    flows = union_flows([arg.flows for arg in args])
    if len(flows) > FLOW_COUNT_THRESHOLD:
        links.budget.charge_steps(sum([len(arg.flows) for arg in args]))
    members = None
    if op in TRANSPARENT_OPERATORS:
        members = args[0].members if args else None
    else:
        subtype = Subtype.AGGREGATION if expr.traits & ir.AGGREGATE else Subtype.TRANSFORMATION
        keeping = bool(expr.traits & ir.KEEPING)
        flows = transform_flows(flows, subtype, bool(expr.traits & ir.MASKING), keeping)
        if op == "TUPLE":
            by_number = tuple((str(at), arg) for at, arg in enumerate(args, 1))
            members = by_number if is_within_member_limit(by_number) else None
        if keeping and any(arg.members is not None for arg in args):
            members = map_member_flows(
                merge_members(args if op in ANY_ARGUMENT_FUNCTIONS else args[:1]),
                lambda own: transform_flows(own, subtype, False, True),
            )
    return ExprResult(flows=flows, type=kind, nullable=nullable, text=text, members=members)


def _evaluate_arguments(op: str, expr: ir.Call, scope: Scope, links: RelationResolver) -> list[ExprResult]:
    """The arguments of a call; a lambda's parameters get the element types of the arguments before it."""
    parts = select_read_arguments(op, expr.args)
    if ir.Lambda not in map(type, parts):
        return [evaluate_expression(part, scope, links) for part in parts]
    values: list[ExprResult] = []
    for part in parts:
        bound = lambda_parameter_types(op, [value.type for value in values], scope.typing.family)
        made = (
            _evaluate_lambda(part, bound, scope, links)
            if type(part) is ir.Lambda
            else evaluate_expression(part, scope, links)
        )
        values.append(made)
    return values


def _evaluate_struct(expr: ir.Call, scope: Scope, links: RelationResolver) -> ExprResult:
    """A struct built of values, or of all columns of a row."""
    members: list[tuple[str, ExprResult]] = []
    values: list[ExprResult] = []
    known, nullable = True, False
    for arg in expr.args:
        if isinstance(arg, ir.Call) and arg.op == "MEMBER":
            label, inner = arg.args
            value = evaluate_expression(inner, scope, links)
            members.append((label.text if isinstance(label, ir.Literal) else "", value))
        else:
            value = evaluate_expression(arg, scope, links)
            own = expand_struct(value)
            members.extend(own)
            known = known and (value.members is not None or bool(own))
            nullable = nullable or (value.nullable and type(arg) is not ir.Whole)
        values.append(value)
    flows = transform_flows(union_flows(value.flows for value in values), Subtype.TRANSFORMATION, keeping=not known)
    text = render_call(expr.op, [value.text for value in values])
    known = known and is_within_member_limit(tuple(members))
    kind = expr.result or (build_struct_type(members, scope.typing.family) if known else None)
    return ExprResult(flows=flows, type=kind, nullable=nullable, text=text, members=tuple(members) if known else None)


GENERATOR_ROW = "PARTS"
"""The type of a generator's result that stands for several unnamed columns."""


def _evaluate_generator_column(expr: ir.Call, scope: Scope, links: RelationResolver) -> ExprResult:
    """One of the columns that a generator in the select list makes."""
    call, position, count = expr.args
    value = evaluate_expression(call, scope, links)
    if not (isinstance(call, ir.Call) and isinstance(position, ir.Literal) and isinstance(count, ir.Literal)):
        return value
    args = [evaluate_expression(arg, scope, links) for arg in call.args]
    made = expand_table_function(ir.Source("", function=call), value, args, links.traits).columns
    at, wanted = parse_whole_number(position.text), parse_whole_number(count.text)
    if len(made) == wanted:
        return made[at].value
    if len(made) > wanted and at < wanted - 1:
        return made[at].value
    if made and at == wanted - 1:  # EXPLODE of a map, INLINE: the last name stands for all that are left
        members = tuple((column.name, column.value) for column in made[at:])
        return ExprResult(
            flows=union_flows(item.flows for _, item in members),
            type=GENERATOR_ROW,
            nullable=True,
            text=value.text,
            members=members,
        )
    return ExprResult(transform_flows(value.flows, Subtype.TRANSFORMATION), None, True, value.text)


def _evaluate_cast(expr: ir.Cast, scope: Scope, links: RelationResolver) -> ExprResult:
    inner = evaluate_expression(expr.arg, scope, links)
    flows = transform_flows(inner.flows, Subtype.TRANSFORMATION, keeping=True)
    members = rename_members(inner.members, expr.to) if inner.members is not None else None
    kind = cast_type(expr.to, scope.typing.family) if expr.to else None
    idle = kind is not None and kind == inner.type and type(expr.arg) is not ir.Literal
    text = inner.text if idle else render_cast(expr, inner.text)
    nullable = inner.nullable or is_cast_nullable(expr, inner.type, scope.typing)
    return ExprResult(flows=flows, type=kind, nullable=nullable, text=text, members=members)


def _evaluate_case(expr: ir.Case, scope: Scope, links: RelationResolver) -> ExprResult:
    conditions = [evaluate_expression(condition, scope, links) for condition, _ in expr.whens]
    values = [evaluate_expression(value, scope, links) for _, value in expr.whens]
    if expr.default is not None:
        values.append(evaluate_expression(expr.default, scope, links))
    flows = union_flows(
        [
            *(transform_flows(value.flows, Subtype.TRANSFORMATION, keeping=True) for value in values),
            *(mark_indirect(condition.flows, Subtype.CONDITIONAL) for condition in conditions),
        ]
    )
    branches = [f"when {when.text} then {then.text}" for when, then in zip(conditions, values, strict=False)]
    default = f" else {values[-1].text}" if expr.default is not None else ""
    kind = infer_case_type(values, expr.default is not None, scope.typing)
    if scope.typing.conversions is not None and any(value.type != values[0].type for value in values):
        parts = [value for _, value in expr.whens]
        report_branch_types(
            [*parts, expr.default] if expr.default else parts, values, scope.typing.conversions, scope.report
        )
    nullable = is_case_nullable(expr, conditions, values, kind, scope.typing)
    text = shorten_text(f"case {' '.join(branches)}{default} end")
    decided = union_flows(mark_indirect(condition.flows, Subtype.CONDITIONAL) for condition in conditions)
    members = map_member_flows(
        merge_members(values),
        lambda own: union_flows([transform_flows(own, Subtype.TRANSFORMATION, keeping=True), decided]),
    )
    return ExprResult(flows=flows, type=kind, nullable=nullable, text=text, members=members)


def _evaluate_window(expr: ir.Over, scope: Scope, links: RelationResolver) -> ExprResult:
    inner = evaluate_expression(expr.arg, scope, links)
    partition = [evaluate_expression(key, scope, links) for key in expr.partition]
    order = [evaluate_expression(key, scope, links) for key in expr.order]
    flows = union_flows([inner.flows, *(mark_indirect(key.flows, Subtype.WINDOW) for key in (*partition, *order))])
    by, then = (", ".join(key.text for key in keys) for keys in (partition, order))
    text = f"{inner.text} over (partition by {by} order by {then} {expr.frame.lower()})"
    keys = union_flows(mark_indirect(key.flows, Subtype.WINDOW) for key in (*partition, *order))
    members = map_member_flows(inner.members, lambda own: union_flows([own, keys]))
    return ExprResult(flows=flows, type=inner.type, nullable=inner.nullable, text=shorten_text(text), members=members)


def _evaluate_subquery(expr: ir.Sub, scope: Scope, links: RelationResolver) -> ExprResult:
    linked = links.relation(expr.relation, scope)
    args = [evaluate_expression(arg, scope, links) for arg in expr.args]
    outputs = [column.value for column in linked.columns]
    parts = [*(each.text for each in (*args, *outputs)), " ".join(map(" ".join, linked.facets))]
    text = shorten_text(f"{expr.mode}({', '.join(parts)})")
    if expr.mode == "exists":
        return ExprResult(
            linked.indirect, scope.typing.family.boolean, is_subquery_test_nullable("exists", [], scope.typing), text
        )
    body = relation_row_value(linked) if len(outputs) != 1 or expr.mode.endswith("struct") else outputs[0]
    if args and scope.typing.conversions is not None and len(outputs) == 1:
        report_comparison_types((expr.args[0], expr), (args[0], body), scope.typing.conversions, scope.report)
    inside = linked.indirect
    if expr.mode.startswith(("scalar", "rows")):
        members = map_member_flows(body.members, lambda own: union_flows([own, inside]))
        nullable = body.nullable or scope.typing.lenient or not linked.single
        kind = infer_subquery_type(body.type, expr.mode, scope.typing)
        return ExprResult(
            flows=union_flows([body.flows, inside]), type=kind, nullable=nullable, text=text, members=members
        )
    if expr.mode.startswith("array"):
        made = collect_into_array(body)
        members = map_member_flows(made.members, lambda own: union_flows([own, inside]))
        family = scope.typing.family
        inner = body.type or (build_struct_type(body.members, family) if body.members else None)
        kind = family.array(inner) if inner and family.notation[0] else None
        return ExprResult(
            flows=union_flows([made.flows, inside]), type=kind, nullable=False, text=text, members=members
        )
    lefts = (transform_flows(arg.flows, Subtype.TRANSFORMATION) for arg in args)
    flows = union_flows([*lefts, transform_flows(body.flows, Subtype.TRANSFORMATION), inside])
    nullable = is_subquery_test_nullable(expr.mode, [*args, body], scope.typing)
    return ExprResult(flows, scope.typing.family.boolean, nullable, text)


def _evaluate_field(expr: ir.Field, scope: Scope, links: RelationResolver) -> ExprResult:
    inner = evaluate_expression(expr.arg, scope, links)
    path = [part for part in expr.path if part != "[]"]
    if not path and scope.typing.family.flat and isinstance(expr.arg, ir.Field) and expr.arg.path[-1] == "[]":
        return inner  # one element of an array of several dimensions
    base = resolve_element(inner) if len(path) < len(expr.path) else inner
    found = resolve_member(base, path) if path else base
    if found.type is None and inner.type in (string := scope.typing.family.string, UNTYPED_CONSTANT):
        found = msgspec.structs.replace(found, type=string)  # a character of a string
    nullable = base.nullable or found.nullable
    return msgspec.structs.replace(found, nullable=nullable, text=f"{inner.text}.{'.'.join(expr.path)}{expr.index}")


def _evaluate_lambda(expr: ir.Lambda, types: Sequence[str | None], scope: Scope, links: RelationResolver) -> ExprResult:
    """The result of a lambda for arguments of the given types; its parameters hide columns of the same name."""
    kinds = [*types, *[None] * len(expr.params)]
    bound = {name: ExprResult(NO_FLOWS, kind, True, name) for name, kind in zip(expr.params, kinds, strict=False)}
    hidden, scope.hidden = scope.hidden, {**scope.hidden, **bound}
    value = evaluate_expression(expr.body, scope, links)
    scope.hidden = hidden
    return value


def _evaluate_identifier(expr: ir.Call, scope: Scope, links: RelationResolver) -> ExprResult:
    """A name that is no column: a lambda parameter or a label."""
    args = [evaluate_expression(arg, scope, links) for arg in expr.args]
    known = scope.hidden.get(args[0].text) if args else None
    return known or ExprResult(text=render_call(expr.op, [arg.text for arg in args]))


_CALL_EVALUATORS: dict[str, Callable[[ir.Call, Scope, RelationResolver], ExprResult]] = {
    "STRUCT": _evaluate_struct,
    "PART": _evaluate_generator_column,
    "IDENTIFIER": _evaluate_identifier,
    "RETURNED": lambda expr, scope, links: with_declared_type(expr, evaluate_expression(expr.args[0], scope, links)),
    "BLANK": lambda expr, scope, links: ExprResult(
        NO_FLOWS, evaluate_expression(expr.args[0], scope, links).type, True, "null"
    ),
}
"""Calls with rules of their own."""

EVALUATORS: dict[type, Callable[[Any, Scope, RelationResolver], ExprResult]] = {
    ir.Ref: _evaluate_ref,
    ir.Literal: _evaluate_literal,
    ir.Variable: _evaluate_variable,
    ir.Call: _evaluate_call,
    ir.Cast: _evaluate_cast,
    ir.Case: _evaluate_case,
    ir.Over: _evaluate_window,
    ir.Sub: _evaluate_subquery,
    ir.Field: _evaluate_field,
    ir.Lambda: lambda expr, scope, links: _evaluate_lambda(expr, (), scope, links),
    ir.Routine: lambda expr, scope, links: evaluate_function_result(
        evaluate_expression(expr.call, scope, links), links.function(expr.parts)
    ),
    ir.Whole: lambda expr, scope, links: evaluate_whole_row(expr, scope),
}


TRANSPARENT_OPERATORS = frozenset(
    "DISTINCT IGNORENULLS RESPECTNULLS LIMIT WHERE KWARG PROPERTYEQ OUTERJOIN PRIOR CONNECTBYROOT".split()
)
"""Operators that leave the value as it is."""

ANY_ARGUMENT_FUNCTIONS = frozenset({"COALESCE", "ARRAY", "ARRAYCONCAT", "GREATEST", "LEAST"})
"""Functions whose value is, or contains, any of their arguments."""

SIDE_ARGUMENTS = {
    "FILTER": Subtype.CONDITIONAL,
    "ORDER": Subtype.WINDOW,
    "WITHINGROUP": Subtype.WINDOW,
    "HAVINGMAX": Subtype.WINDOW,
    "ARGMAX": Subtype.WINDOW,
    "ARGMIN": Subtype.WINDOW,
}
"""Operators whose arguments after the first decide about the value but are no part of it."""


def evaluate_filtered_aggregate(expr: ir.Call, side: Subtype, args: list[ExprResult], made: ExprResult) -> ExprResult:
    """An aggregate whose other arguments filter or sort its input, as FILTER and WITHIN GROUP do."""
    op = strip_options(expr.op)
    taken = (
        transform_flows(args[0].flows, Subtype.AGGREGATION, keeping=True)
        if expr.traits & ir.AGGREGATE
        else args[0].flows
    )
    if not taken and op == "WITHINGROUP":  # PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY v)
        flows = transform_flows(union_flows(arg.flows for arg in args[1:]), Subtype.AGGREGATION)
        return msgspec.structs.replace(made, flows=flows)
    decided = union_flows(mark_indirect(arg.flows, side) for arg in args[1:])
    members = map_member_flows(args[0].members, lambda own: union_flows([own, decided]))
    return msgspec.structs.replace(made, flows=union_flows([taken, decided]), members=members)


def has_aggregate(expr: ir.Expr) -> bool:
    """Say whether an expression aggregates rows; windows and subqueries do not count."""
    if isinstance(expr, ir.Call):
        return bool(expr.traits & ir.AGGREGATE) or any(has_aggregate(arg) for arg in expr.args)
    if isinstance(expr, ir.Case):
        parts = [*(part for when in expr.whens for part in when), *([expr.default] if expr.default is not None else [])]
        return any(has_aggregate(part) for part in parts)
    return has_aggregate(expr.arg) if isinstance(expr, ir.Cast | ir.Field) else False


def select_read_arguments(op: str, args: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
    """The arguments whose columns are read: COUNT(*) and GROUPING(x) read none."""
    if op.startswith("GROUPING"):
        return ()
    if op.startswith("COUNT"):
        return tuple(arg for arg in args if not isinstance(arg, ir.Whole) or arg.qualifier)
    return _flatten_chain(op, args) if op in ASSOCIATIVE_OPERATORS else args


ASSOCIATIVE_OPERATORS = frozenset({"AND", "OR"})
"""Operators whose nesting does not matter."""


def _flatten_chain(op: str, args: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
    found, pending = [], list(reversed(args))
    while pending:
        part = pending.pop()
        if type(part) is ir.Call and part.op == op:
            pending.extend(reversed(part.args))
        else:
            found.append(part)
    return tuple(found)


def rename_members(members: Members, kind: str) -> Members:
    """The members of a struct under the names of the type it is cast to."""
    names = [name for name, _ in parse_struct_members(kind, lower=True)]
    if len(names) != len(members):
        return members
    return tuple((name, item) for name, (_, item) in zip(names, members, strict=True))


def relation_row_value(linked: BoundRelation) -> ExprResult:
    """The single row of a subquery as a value."""
    members = tuple((column.name, column.value) for column in linked.columns)
    rows = tuple(
        ColumnFlow(item.object, WHOLE_ROW, approximate=True, start=item.start, end=item.end)
        for item in linked.unexpanded
    )
    flows = transform_flows(
        union_flows([*(item.flows for _, item in members), rows]), Subtype.TRANSFORMATION, keeping=True
    )
    return ExprResult(
        flows=flows, type=None, nullable=True, text="", members=members if not linked.unexpanded else None
    )


def collect_into_array(value: ExprResult) -> ExprResult:
    """The array of all values of a subquery."""

    def gather(own: Flows) -> Flows:
        return transform_flows(own, Subtype.AGGREGATION, keeping=True)

    return ExprResult(
        flows=gather(value.flows),
        type=None,
        nullable=False,
        text=value.text,
        members=map_member_flows(value.members, gather),
    )


def evaluate_whole_row(expr: ir.Whole, scope: Scope) -> ExprResult:
    """All columns of a source, or of all sources, as one value: COUNT(t.*), STRUCT(s.*), TO_JSON(t.*)."""
    sources = scope.sources.matching(expr.qualifier) if expr.qualifier else scope.sources
    if not sources and expr.qualifier:
        return _evaluate_outer_row(expr, scope)
    values = [source.row_value(expr.start, expr.end, scope.report, expr.exclude) for source in sources]
    known = all(value.members is not None for value in values)
    members = tuple(item for value in values for item in value.members or ()) if known else None
    return ExprResult(
        flows=union_flows(value.flows for value in values), type=None, nullable=True, text="*", members=members
    )


def _evaluate_outer_row(expr: ir.Whole, scope: Scope) -> ExprResult:
    """All columns of a source of an outer query, or all members of a struct."""
    outer = scope.outer
    if outer is not None and outer.sources.matching(expr.qualifier):
        return evaluate_whole_row(expr, outer)
    return scope.lookup(ir.Ref(expr.qualifier, expr.start, expr.end)) or ExprResult(text="*")


_OPERATOR_SIGNS = {"ADD": "+", "SUB": "-", "MUL": "*", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_SIGN_PATTERN = re.compile(r" ([-+*]|[<>]=?) ")
_MARK_PATTERN = re.compile(r" \0(\d+)\0 ")
_INTERVAL_PATTERN = re.compile(r"INTERVAL '[^']*' \w+(?: TO \w+)?")
_OPERAND_BOUNDARY = re.compile(r", | THEN | WHEN | ELSE | AND | OR | BY |DISTINCT | <?=?>? ")
"""What may stand before a date or timestamp operand that is not in brackets."""

_MINUS_ONE = ir.Call("NEG", (ir.Literal("number", "1"),))
"""The factor that the compiler adds to the days of a DATE_SUB."""

_MAX_SIGNS = 50
"""Names with more operators stay as they are, since each needs the types of its operands."""


def regenerate_name(output: ir.Output, scope: Scope, links: RelationResolver) -> ir.Output:
    """An output under the generated name that fits the types of its operands."""
    if links.traits.naming is not UnaliasedNaming.CAPTION or isinstance(output.expr, ir.Ref):
        return output
    printed = _SIGN_PATTERN.findall(output.written)
    if not printed or len(printed) > _MAX_SIGNS:
        return output
    calls = list(_iter_signed_calls(output.expr))
    if len(calls) > len(printed):
        calls = [call for call in calls if call.args[1] != _MINUS_ONE]
    if [_OPERATOR_SIGNS[call.op] for call in calls] != printed:  # a string has signs in it, or it is an alias
        return output
    text = _mark_signs(output.written)
    for at in sorted(range(len(calls)), key=lambda at: _nesting_depth(calls[at], calls), reverse=True):
        left, right = (evaluate_expression(arg, scope, links).type or "" for arg in calls[at].args)
        text = _reprint_operands(text, at, calls[at], left, right)
    written = _MARK_PATTERN.sub(lambda found: f" {printed[int(found[1])]} ", text)
    return msgspec.structs.replace(output, name=written.lower(), written=written)


def _iter_signed_calls(expr: ir.Expr | None) -> Iterator[ir.Call]:
    """The calls in an expression that are printed as signs, from left to right."""
    if isinstance(expr, ir.Call) and expr.op in _OPERATOR_SIGNS and len(expr.args) == 2:
        yield from _iter_signed_calls(expr.args[0])
        yield expr
        yield from _iter_signed_calls(expr.args[1])
        return
    for part in _child_expressions(expr):
        yield from _iter_signed_calls(part)


def _child_expressions(expr: ir.Expr | None) -> tuple[ir.Expr | None, ...]:
    """The parts of an expression in written order."""
    match expr:
        case ir.Call() | ir.Sub():
            return expr.args
        case ir.Cast() | ir.Field():
            return (expr.arg,)
        case ir.Case():
            return (*(part for branch in expr.whens for part in branch), expr.default)
        case ir.Over():
            return (expr.arg, *expr.partition, *expr.order)
        case ir.Lambda():
            return (expr.body,)
    return ()


def _nesting_depth(call: ir.Call, calls: list[ir.Call]) -> int:
    """How many of the calls contain this one: inner ones are printed first."""
    return sum(any(inner is call for inner in _iter_signed_calls(other)) for other in calls)


def _mark_signs(text: str) -> str:
    """The text with a numbered mark in place of each sign."""
    parts = _SIGN_PATTERN.split(text)[::2]
    return parts[0] + "".join(f" \0{at}\0 {part}" for at, part in enumerate(parts[1:]))


def _reprint_operands(text: str, at: int, call: ir.Call, left: str, right: str) -> str:
    """The text with the operands of one sign printed as these types require."""
    mark = f" \0{at}\0 "
    comparing = call.op not in _SIGNED_ARITHMETIC
    shape = "" if comparing else print_moment_arithmetic(call.op, left, right)
    if not shape and not comparing:
        return text
    at = text.index(mark)
    bare = None if comparing or call.op == "MUL" else _INTERVAL_PATTERN.match(text, at + len(mark))
    begin, end = _find_operands(text, at, bare)
    first, second = text[begin:end].split(mark, 1)
    if comparing:
        return text[:begin] + mark.join(round_compared_constants(call.op, (first, left), (second, right))) + text[end:]
    around = bare is None and text[begin - 1 : begin] == "("
    return text[: begin - around] + shape.format(first, second) + text[end + around :]


_SIGNED_ARITHMETIC = ("ADD", "SUB", "MUL")


def _find_operands(text: str, at: int, interval: re.Match[str] | None) -> tuple[int, int]:
    """Where the operands of a sign start and end: all of its brackets, or a timestamp and an interval."""
    begin = _find_opening(text, at)
    if interval is None:
        return begin, _find_closing(text, at)
    inside = _blank_brackets(text[begin:at])
    return begin + max((found.end() for found in _OPERAND_BOUNDARY.finditer(inside)), default=0), interval.end()


def _blank_brackets(text: str) -> str:
    """A text with everything inside brackets blanked out."""
    depth, kept = 0, []
    for character in text:
        depth -= character == ")"
        kept.append(character if depth == 0 else "\1")
        depth += character == "("
    return "".join(kept)


def _find_opening(text: str, at: int) -> int:
    """The position behind the bracket that encloses a position; 0 where there is none."""
    depth = 0
    while at > 0:
        at -= 1
        depth += (text[at] == ")") - (text[at] == "(")
        if depth < 0:
            return at + 1
    return 0


def _find_closing(text: str, at: int) -> int:
    """The position of the bracket that closes around a position; the end where there is none."""
    depth = 0
    while at < len(text):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth < 0:
            return at
        at += 1
    return at
