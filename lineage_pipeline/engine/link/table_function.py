"""Table functions and generators (UNNEST, EXPLODE, FLATTEN): the columns they make of their arguments."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.dialects.types.families import TypeFamily
from lineage_pipeline.dialects.types.inference import inference_for
from lineage_pipeline.dialects.types.type_rules import ELEMENT_OF_EXPRESSION, SAME_AS_EXPRESSION
from lineage_pipeline.engine.link.model import (
    BoundRelation,
    ExprResult,
    Flows,
    Members,
    OutputColumn,
    TableInput,
    VariableValues,
    expand_map,
    expand_struct,
    map_member_flows,
    mark_approximate,
    parse_element_type,
    resolve_element,
    resolve_member,
    transform_flows,
    union_flows,
)
from lineage_pipeline.engine.link.type_inference import infer_common_type, settle_unknown_type
from lineage_pipeline.model import ir
from lineage_pipeline.model.enums import Subtype


class FunctionRows(msgspec.Struct, frozen=True):
    """The rows of a table function: its named columns, and the value of any other column."""

    columns: Members
    catch_all: ExprResult | None = None


def read_cursor_rows(variables: VariableValues, name: str) -> BoundRelation:
    """The rows of a cursor; for one opened elsewhere only the flows of the parameter that passed it."""
    if (known := variables.records.get(name)) is not None:
        return known
    given = variables.scalars.get(name)
    flows = mark_approximate(given.flows) if given is not None else ()
    return BoundRelation((), catch_all=ExprResult(flows, None, True, name))


ParameterBindings = Iterator[tuple[tuple[str, str], OutputColumn]]
"""The values of module parameters: module, parameter and value."""


def bind_table_arguments(
    function: TableInput, call: ir.Expr, value_of: Callable[[ir.Expr], ExprResult]
) -> ParameterBindings:
    """The values of the parameters of a user-defined table function."""
    args = call.args if isinstance(call, ir.Call) else ()
    for parameter, arg in zip(function.parameters, args, strict=False):
        value = value_of(arg)
        if value.flows:
            yield (function.object, parameter), OutputColumn(parameter, parameter, value)


def expand_table_function(
    source: ir.Source, value: ExprResult, args: Sequence[ExprResult], traits: DialectTraits
) -> BoundRelation:
    """The columns of a function in FROM, under the names that the source gives them."""
    call = source.function
    op = call.op.split(":", 1)[0] if isinstance(call, ir.Call) else ""
    made, kinds = _as_decomposed(value), None
    if source.paths:
        columns = tuple(
            (name, resolve_member(made, path)) for name, path in zip(source.produces, source.paths, strict=True)
        )
        found = FunctionRows(columns)
    else:
        found = EXPANDERS.get(op, _expand_unknown)(made, [_as_decomposed(arg) for arg in args], source, traits)
        found = _add_ordinality(found, made, source, traits) if source.position else found
        kinds = traits.type_rules.table_functions.get(op)
        found = _apply_fixed_types(found, kinds, value.type) if kinds is not None else found
    many = len(found.columns) > len(source.produces)  # EXPLODE of a map makes more than it is known for
    names = source.columns or (() if many else source.produces)
    columns = _apply_names(found, names, made, len(args)) if not source.paths else found.columns
    if kinds is not None and not found.columns:  # whoever names them
        columns = _apply_fixed_types(FunctionRows(columns), kinds, value.type).columns
    family = traits.types
    outs = tuple(
        OutputColumn(name, name, _settle_column_type(item, family))
        for name, item in _apply_declared_types(columns, source.types)
    )
    return BoundRelation(outs, catch_all=found.catch_all)


def find_bare_name(function: ir.Expr) -> tuple[str, ...]:
    """The name of the only argument of a table function, which may be a function without brackets."""
    only = function.args[0] if isinstance(function, ir.Call) and len(function.args) == 1 else None
    return only.parts if isinstance(only, ir.Ref) else ()


def _apply_declared_types(columns: Members, types: Sequence[str]) -> Members:
    """The columns with the types that the statement declares for them."""
    pairs = zip(columns, (*types, *[""] * len(columns)), strict=False)
    return tuple((name, msgspec.structs.replace(item, type=kind) if kind else item) for (name, item), kind in pairs)


def _settle_column_type(value: ExprResult, family: TypeFamily) -> ExprResult:
    """A column with an unknown type replaced by the dialect's default."""
    kind = settle_unknown_type(value.type, family)
    return value if kind is value.type else msgspec.structs.replace(value, type=kind)


def _apply_fixed_types(found: FunctionRows, kinds: Sequence[str], own: str | None) -> FunctionRows:
    """The columns with the types that the function always gives them."""
    types = [
        {SAME_AS_EXPRESSION: own, ELEMENT_OF_EXPRESSION: parse_element_type(own or "")}.get(kind, kind)
        for kind in kinds
    ]
    pairs = zip(found.columns, types, strict=False)
    columns = tuple((name, msgspec.structs.replace(item, type=kind)) for (name, item), kind in pairs)
    return FunctionRows((*columns, *found.columns[len(columns) :]), found.catch_all)


def _as_decomposed(value: ExprResult) -> ExprResult:
    """A value that a function takes apart; paths still lead into it."""
    return _map_flows(value, lambda flows: transform_flows(flows, Subtype.TRANSFORMATION, keeping=True))


def _map_flows(value: ExprResult, change: Callable[[Flows], Flows]) -> ExprResult:
    members = map_member_flows(value.members, change)
    return ExprResult(flows=change(value.flows), type=value.type, nullable=True, text=value.text, members=members)


def _as_opaque(value: ExprResult) -> ExprResult:
    """A value that no path leads into any more."""
    return ExprResult(transform_flows(value.flows, Subtype.TRANSFORMATION), None, True, value.text)


def _apply_names(found: FunctionRows, names: Sequence[str], made: ExprResult, arguments: int) -> Members:
    """The columns under the given names; where their number differs, each comes from all arguments."""
    if not names:
        return found.columns
    if len(found.columns) >= len(names) or not found.columns:
        pairs = list(zip(names, (item for _, item in found.columns), strict=False))
    elif arguments < 2:
        pairs = [(name, _as_opaque(made)) for name in names]
    else:
        uncertain = _as_opaque(made)
        pairs = [(name, msgspec.structs.replace(uncertain, flows=mark_approximate(uncertain.flows))) for name in names]
    known = len(pairs)
    rest = [
        (name, resolve_member(found.catch_all, (name,)) if found.catch_all else _as_opaque(made))
        for name in names[known:]
    ]
    return (*pairs, *rest, *found.columns[len(names) :])


def _add_ordinality(found: FunctionRows, made: ExprResult, source: ir.Source, traits: DialectTraits) -> FunctionRows:
    """The columns followed by WITH ORDINALITY's row number."""
    family = traits.types
    number = family.bigint if family.numbered else None  # elsewhere it may be the key of a document
    columns = found.columns or tuple((name, _as_opaque(made)) for name in source.columns[:-1])
    return FunctionRows(
        (*columns, ("ordinality", msgspec.structs.replace(_as_opaque(made), type=number))), found.catch_all
    )


# ── by function ──────────────────────────────────────────────────────────────────────────────────────────────────


def _expand_unnest(
    value: ExprResult, args: Sequence[ExprResult], source: ir.Source, traits: DialectTraits
) -> FunctionRows:
    """UNNEST: one element of each array, a map as key and value, a row as its fields where the dialect expands it."""
    columns: list[tuple[str, ExprResult]] = []
    rest: ExprResult | None = None
    for arg in args:
        item = resolve_element(arg)
        fields = expand_struct(item)
        parts = (expand_map(arg) or fields) if traits.unnest_expands else ()
        columns.extend(parts or ((source.alias or "unnest", item),))
        if len(args) == 1 and not parts and (fields or item.type is None):
            rest = item
    if rest is not None and not source.columns and not source.alias and not traits.struct_unnesting_functions:
        return FunctionRows((*expand_struct(rest), *columns[1:]), rest)
    return FunctionRows(tuple(columns), rest if not (traits.unnest_expands and source.columns) else None)


def _expand_explode(
    value: ExprResult, args: Sequence[ExprResult], source: ir.Source, traits: DialectTraits
) -> FunctionRows:
    """EXPLODE: the elements of an array, or the keys and values of a map."""
    item = args[0] if args else value
    entry = expand_map(item)
    if not entry:
        return FunctionRows((("col", resolve_element(item)),))
    key = msgspec.structs.replace(entry[0][1], nullable=_is_outer(source))
    return FunctionRows((("key", key), entry[1]))


def _is_outer(source: ir.Source) -> bool:
    """Say whether the function gives a row of NULLs for an empty input."""
    return isinstance(source.function, ir.Call) and "OUTER" in source.function.op


def _expand_posexplode(
    value: ExprResult, args: Sequence[ExprResult], source: ir.Source, traits: DialectTraits
) -> FunctionRows:
    position = msgspec.structs.replace(_as_opaque(value), nullable=_is_outer(source))
    return FunctionRows((("pos", position), *_expand_explode(value, args, source, traits).columns))


def _expand_inline(
    value: ExprResult, args: Sequence[ExprResult], source: ir.Source, traits: DialectTraits
) -> FunctionRows:
    """INLINE: the members of an array of structs."""
    item = resolve_element(args[0] if args else value)
    return FunctionRows(expand_struct(item), item)


def _expand_flatten(
    value: ExprResult, args: Sequence[ExprResult], source: ir.Source, traits: DialectTraits
) -> FunctionRows:
    """Snowflake: FLATTEN gives the elements of a document and their positions."""
    shaped = {"value", "this"}
    return FunctionRows(
        tuple((name, value if name.lower() in shaped else _as_opaque(value)) for name in source.produces)
    )


def _expand_stack(
    value: ExprResult, args: Sequence[ExprResult], source: ir.Source, traits: DialectTraits
) -> FunctionRows:
    """STACK: its arguments, arranged in rows."""
    call = source.function
    first = call.args[0] if isinstance(call, ir.Call) and call.args else None
    if not isinstance(first, ir.Literal) or not first.text.isdigit() or len(args) < 2:
        return FunctionRows((), _as_opaque(value))
    width = -(-(len(args) - 1) // max(parse_whole_number(first.text), 1))
    typing = inference_for(traits)
    columns = []
    for at in range(width):
        cells = args[1 + at :: width]
        made = ExprResult(union_flows(cell.flows for cell in cells), infer_common_type(cells, typing), True, value.text)
        columns.append((f"col{at}", made))
    return FunctionRows(tuple(columns))


def _expand_json_tuple(
    value: ExprResult, args: Sequence[ExprResult], source: ir.Source, traits: DialectTraits
) -> FunctionRows:
    """JSON_TUPLE: the fields of a document that its other arguments name."""
    call = source.function
    keys = call.args[1:] if isinstance(call, ir.Call) else ()
    return FunctionRows(
        tuple(
            (f"c{at}", resolve_member(args[0], (key.text,)) if isinstance(key, ir.Literal) else _as_opaque(value))
            for at, key in enumerate(keys)
        )
    )


def _expand_rows_from(
    value: ExprResult, args: Sequence[ExprResult], source: ir.Source, traits: DialectTraits
) -> FunctionRows:
    return FunctionRows(tuple((f"column{at}", arg) for at, arg in enumerate(args, 1)))


def _expand_document(
    value: ExprResult, args: Sequence[ExprResult], source: ir.Source, traits: DialectTraits
) -> FunctionRows:
    """Functions that take a document apart: keys are plain, values keep the shape of its parts."""
    shaped = {"value", "col", "this"}
    columns = tuple((name, value if name.lower() in shaped else _as_opaque(value)) for name in source.produces)
    return FunctionRows(columns, value if not columns else None)


def _expand_nodes(
    value: ExprResult, args: Sequence[ExprResult], source: ir.Source, traits: DialectTraits
) -> FunctionRows:
    return FunctionRows((("node", _as_opaque(value)),))


def _expand_record(
    made: ExprResult, args: Sequence[ExprResult], source: ir.Source, traits: DialectTraits
) -> FunctionRows:
    """A row that an expression gives, such as a function with several output parameters."""
    members = args[0].members if args else None
    return FunctionRows(members) if members else _expand_unknown(made, args, source, traits)


def _expand_unknown(
    value: ExprResult, args: Sequence[ExprResult], source: ir.Source, traits: DialectTraits
) -> FunctionRows:
    """An unknown function: every column may come from every argument."""
    call = source.function
    certain = isinstance(call, ir.Call) and call.op in traits.type_rules.counting_functions
    made = msgspec.structs.replace(_as_opaque(value), nullable=not certain)
    return FunctionRows(tuple((name, made) for name in source.produces), made if not source.produces else None)


EXPANDERS: dict[str, Callable[[ExprResult, Sequence[ExprResult], ir.Source, DialectTraits], FunctionRows]] = {
    "UNNEST": _expand_unnest,
    "EXPLODE": _expand_explode,
    "EXPLODEOUTER": _expand_explode,
    "EXPLODE_OUTER": _expand_explode,
    "POSEXPLODE": _expand_posexplode,
    "POSEXPLODEOUTER": _expand_posexplode,
    "POSEXPLODE_OUTER": _expand_posexplode,
    "INLINE": _expand_inline,
    "INLINE_OUTER": _expand_inline,
    "FLATTEN": _expand_flatten,
    "STACK": _expand_stack,
    "JSON_TUPLE": _expand_json_tuple,
    "ROWSFROM": _expand_rows_from,
    "JSON_EACH": _expand_document,
    "JSONB_EACH": _expand_document,
    "JSON_ARRAY_ELEMENTS": _expand_document,
    "JSONB_ARRAY_ELEMENTS": _expand_document,
    "RECORD": _expand_record,
    "JSON_TO_RECORDSET": _expand_document,
    "JSONB_TO_RECORDSET": _expand_document,
    "JSON_TO_RECORD": _expand_document,
    "JSONB_TO_RECORD": _expand_document,
    "VARIANT_EXPLODE": _expand_document,
    "TABLE": _expand_document,
    "NODES": _expand_nodes,
}
"""Known table functions, by their names in the IR."""
