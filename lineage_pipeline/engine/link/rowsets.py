"""Functions in the place of tables, and generators of select lists: the columns that they make of their arguments."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.dialects.functions import UNNESTED
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.dialects.typing.families import Family
from lineage_pipeline.dialects.typing.rowsets import ELEMENT, SELF
from lineage_pipeline.dialects.typing.rules import typing_of
from lineage_pipeline.engine.link.flows import Flows, approximated, changed, united
from lineage_pipeline.engine.link.members import element, mapped, member, pair, spread
from lineage_pipeline.engine.link.model import Input, Linked, Members, Out, Value, Variables
from lineage_pipeline.engine.link.shapes import element_type
from lineage_pipeline.engine.link.types import common_of, settled
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.sets import Subtype


class Rowset(msgspec.Struct, frozen=True):
    """What a function makes: columns with names of their own, and what any other column would be."""

    columns: Members
    rest: Value | None = None


def record(variables: Variables, name: str) -> Linked:
    """The rows of a cursor; of one that somebody else opened all that is known is who handed it over, if that is."""
    if (known := variables.records.get(name)) is not None:
        return known
    given = variables.scalars.get(name)
    flows = approximated(given.flows) if given is not None else ()
    return Linked((), rest=Value(flows, None, True, name))


Handed = Iterator[tuple[tuple[str, str], Out]]
"""What parameters of modules get: the module and the parameter, and the value."""


def handed(function: Input, call: ir.Expr, value_of: Callable[[ir.Expr], Value]) -> Handed:
    """What the parameters of a known function get where it stands in the place of a table."""
    args = call.args if isinstance(call, ir.Call) else ()
    for parameter, arg in zip(function.parameters, args, strict=False):
        value = value_of(arg)
        if value.flows:
            yield (function.object, parameter), Out(parameter, parameter, value)


def rowset(source: ir.Source, value: Value, args: Sequence[Value], traits: Traits) -> Linked:
    """The columns of a function that stands where a table may stand, under the names that the source gives them."""
    call = source.function
    op = call.op.split(":", 1)[0] if isinstance(call, ir.Call) else ""
    made, kinds = _opened(value), None
    if source.paths:
        columns = tuple((name, member(made, path)) for name, path in zip(source.produces, source.paths, strict=True))
        found = Rowset(columns)
    else:
        found = MAKERS.get(op, _anything)(made, [_opened(arg) for arg in args], source, traits)
        found = _numbered(found, made, source, traits) if source.position else found
        kinds = typing_of(traits.family).rowsets.get(op)
        found = _typed(found, kinds, value.type) if kinds is not None else found
    many = len(found.columns) > len(source.produces)  # EXPLODE of a map makes more than it is known for
    names = source.columns or (() if many else source.produces)
    columns = _fitted(found, names, made, len(args)) if not source.paths else found.columns
    if kinds is not None and not found.columns:  # whoever names them
        columns = _typed(Rowset(columns), kinds, value.type).columns
    family = typing_of(traits.family).family
    outs = tuple(Out(name, name, _settled(item, family)) for name, item in _declared(columns, source.types))
    return Linked(outs, rest=found.rest)


def bare_name(function: ir.Expr) -> tuple[str, ...]:
    """The name of what rows are made of, which may be a function without brackets."""
    only = function.args[0] if isinstance(function, ir.Call) and len(function.args) == 1 else None
    return only.parts if isinstance(only, ir.Ref) else ()


def _declared(columns: Members, types: Sequence[str]) -> Members:
    """The columns with the types that the statement declares them to have."""
    pairs = zip(columns, (*types, *[""] * len(columns)), strict=False)
    return tuple((name, msgspec.structs.replace(item, type=kind) if kind else item) for (name, item), kind in pairs)


def _settled(value: Value, family: Family) -> Value:
    """A column whose type is known once it is one: that of a constant would take any."""
    kind = settled(value.type, family)
    return value if kind is value.type else msgspec.structs.replace(value, type=kind)


def _typed(found: Rowset, kinds: Sequence[str], own: str | None) -> Rowset:
    """The columns with the types that they always have, that of the function, or of what it gives a list of."""
    types = [{SELF: own, ELEMENT: element_type(own or "")}.get(kind, kind) for kind in kinds]
    pairs = zip(found.columns, types, strict=False)
    columns = tuple((name, msgspec.structs.replace(item, type=kind)) for (name, item), kind in pairs)
    return Rowset((*columns, *found.columns[len(columns) :]), found.rest)


def _opened(value: Value) -> Value:
    """A value out of which a function takes parts."""
    return _with_flows(value, lambda flows: changed(flows, Subtype.TRANSFORMATION, keeping=True))


def _with_flows(value: Value, change: Callable[[Flows], Flows]) -> Value:
    members = mapped(value.members, change)
    return Value(change(value.flows), value.type, True, value.text, members)


def _plain(value: Value) -> Value:
    """A value that a path does not lead into any more."""
    return Value(changed(value.flows, Subtype.TRANSFORMATION), None, True, value.text)


def _fitted(found: Rowset, names: Sequence[str], made: Value, arguments: int) -> Members:
    """The columns under the given names; where their number is not as expected, each is made of everything."""
    if not names:
        return found.columns
    if len(found.columns) >= len(names) or not found.columns:
        pairs = list(zip(names, (item for _, item in found.columns), strict=False))
    elif arguments < 2:
        pairs = [(name, _plain(made)) for name in names]
    else:
        uncertain = _plain(made)
        pairs = [(name, msgspec.structs.replace(uncertain, flows=approximated(uncertain.flows))) for name in names]
    known = len(pairs)
    rest = [(name, member(found.rest, (name,)) if found.rest else _plain(made)) for name in names[known:]]
    return (*pairs, *rest, *found.columns[len(names) :])


def _numbered(found: Rowset, made: Value, source: ir.Source, traits: Traits) -> Rowset:
    """The columns with one behind them that counts the rows."""
    family = typing_of(traits.family).family
    number = family.bigint if family.numbered else None  # elsewhere it may be the key of a document
    columns = found.columns or tuple((name, _plain(made)) for name in source.columns[:-1])
    return Rowset((*columns, ("ordinality", msgspec.structs.replace(_plain(made), type=number))), found.rest)


# ── by function ──────────────────────────────────────────────────────────────────────────────────────────────────


def _unnest(value: Value, args: Sequence[Value], source: ir.Source, traits: Traits) -> Rowset:
    """UNNEST: an element of each array, a map as key and value, a row as its fields where the dialect says so."""
    columns: list[tuple[str, Value]] = []
    rest: Value | None = None
    for arg in args:
        item = element(arg)
        fields = spread(item)
        parts = (pair(arg) or fields) if traits.unnest_expands else ()
        columns.extend(parts or ((source.alias or "unnest", item),))
        if len(args) == 1 and not parts and (fields or item.type is None):
            rest = item
    if rest is not None and not source.columns and not source.alias and traits.family not in UNNESTED:
        return Rowset((*spread(rest), *columns[1:]), rest)
    return Rowset(tuple(columns), rest if not (traits.unnest_expands and source.columns) else None)


def _explode(value: Value, args: Sequence[Value], source: ir.Source, traits: Traits) -> Rowset:
    """EXPLODE: the elements of an array, or the keys and values of a map."""
    item = args[0] if args else value
    entry = pair(item)
    if not entry:
        return Rowset((("col", element(item)),))
    key = msgspec.structs.replace(entry[0][1], nullable=_may_be_empty(source))
    return Rowset((("key", key), entry[1]))


def _may_be_empty(source: ir.Source) -> bool:
    """Whether there is a row of nulls where there is nothing to take apart."""
    return isinstance(source.function, ir.Call) and "OUTER" in source.function.op


def _posexplode(value: Value, args: Sequence[Value], source: ir.Source, traits: Traits) -> Rowset:
    position = msgspec.structs.replace(_plain(value), nullable=_may_be_empty(source))
    return Rowset((("pos", position), *_explode(value, args, source, traits).columns))


def _inline(value: Value, args: Sequence[Value], source: ir.Source, traits: Traits) -> Rowset:
    """INLINE: the members of an array of structs."""
    item = element(args[0] if args else value)
    return Rowset(spread(item), item)


def _flatten(value: Value, args: Sequence[Value], source: ir.Source, traits: Traits) -> Rowset:
    """FLATTEN: the elements of a document, and where they stand in it."""
    shaped = {"value", "this"}
    return Rowset(tuple((name, value if name.lower() in shaped else _plain(value)) for name in source.produces))


def _stack(value: Value, args: Sequence[Value], source: ir.Source, traits: Traits) -> Rowset:
    """STACK: its arguments row by row."""
    call = source.function
    first = call.args[0] if isinstance(call, ir.Call) and call.args else None
    if not isinstance(first, ir.Literal) or not first.text.isdigit() or len(args) < 2:
        return Rowset((), _plain(value))
    width = -(-(len(args) - 1) // max(whole_number(first.text), 1))
    typing = typing_of(traits.family)
    columns = []
    for at in range(width):
        cells = args[1 + at :: width]
        made = Value(united(cell.flows for cell in cells), common_of(cells, typing), True, value.text)
        columns.append((f"col{at}", made))
    return Rowset(tuple(columns))


def _json_tuple(value: Value, args: Sequence[Value], source: ir.Source, traits: Traits) -> Rowset:
    """JSON_TUPLE: the fields of a document that its other arguments name."""
    call = source.function
    keys = call.args[1:] if isinstance(call, ir.Call) else ()
    return Rowset(
        tuple(
            (f"c{at}", member(args[0], (key.text,)) if isinstance(key, ir.Literal) else _plain(value))
            for at, key in enumerate(keys)
        )
    )


def _rows_from(value: Value, args: Sequence[Value], source: ir.Source, traits: Traits) -> Rowset:
    return Rowset(tuple((f"column{at}", arg) for at, arg in enumerate(args, 1)))


def _elements(value: Value, args: Sequence[Value], source: ir.Source, traits: Traits) -> Rowset:
    """Functions that take a document apart: keys are read off it, values still have the shape of its parts."""
    shaped = {"value", "col", "this"}
    columns = tuple((name, value if name.lower() in shaped else _plain(value)) for name in source.produces)
    return Rowset(columns, value if not columns else None)


def _nodes(value: Value, args: Sequence[Value], source: ir.Source, traits: Traits) -> Rowset:
    return Rowset((("node", _plain(value)),))


def _record(made: Value, args: Sequence[Value], source: ir.Source, traits: Traits) -> Rowset:
    """A row that an expression gives, such as a function with several parameters to hand back."""
    members = args[0].members if args else None
    return Rowset(members) if members else _anything(made, args, source, traits)


def _anything(value: Value, args: Sequence[Value], source: ir.Source, traits: Traits) -> Rowset:
    """A function of which nothing is known: every column may be made of every argument."""
    call = source.function
    certain = isinstance(call, ir.Call) and call.op in typing_of(traits.family).counting
    made = msgspec.structs.replace(_plain(value), nullable=not certain)
    return Rowset(tuple((name, made) for name in source.produces), made if not source.produces else None)


MAKERS: dict[str, Callable[[Value, Sequence[Value], ir.Source, Traits], Rowset]] = {
    "UNNEST": _unnest,
    "EXPLODE": _explode,
    "EXPLODEOUTER": _explode,
    "EXPLODE_OUTER": _explode,
    "POSEXPLODE": _posexplode,
    "POSEXPLODEOUTER": _posexplode,
    "POSEXPLODE_OUTER": _posexplode,
    "INLINE": _inline,
    "INLINE_OUTER": _inline,
    "FLATTEN": _flatten,
    "STACK": _stack,
    "JSON_TUPLE": _json_tuple,
    "ROWSFROM": _rows_from,
    "JSON_EACH": _elements,
    "JSONB_EACH": _elements,
    "JSON_ARRAY_ELEMENTS": _elements,
    "JSONB_ARRAY_ELEMENTS": _elements,
    "RECORD": _record,
    "JSON_TO_RECORDSET": _elements,
    "JSONB_TO_RECORDSET": _elements,
    "JSON_TO_RECORD": _elements,
    "JSONB_TO_RECORD": _elements,
    "VARIANT_EXPLODE": _elements,
    "TABLE": _elements,
    "NODES": _nodes,
}
"""What is known of functions that make rows; the names are those of the IR."""
