"""Value lineage of Spark's analysed plans: from each output, by expression ids, down to the columns of tables.

What only decides is no value: conditions of CASE and IF, keys of windows, filters, joins and groups. INTERSECT takes
its values from both sides, for they are in both; EXCEPT from its left one. `OPERATORS` and `EXPRESSIONS` say how each
kind of node passes values on; a kind that no table knows is an error, never a guess.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from lineage_pipeline_tests.oracles.answers import Sources
from lineage_pipeline_tests.oracles.trees import Tree, tree
from lineage_pipeline_tests.oracles.values import NOTHING, Value, united

Attribute = tuple[int, Value]
"""A column of a plan: its number, and where its values come from."""

Known = dict[int, Value]


@dataclass
class Walk:
    """What a walk through a plan knows: the tables, and what common table expressions and loops have come to."""

    tables: Collection[str]
    common: dict[int, list[Attribute]] = field(default_factory=dict)
    loops: dict[int, list[Attribute]] = field(default_factory=dict)

    def outputs(self, plan: Tree, outer: Known) -> list[Attribute]:
        """The columns of a plan; `outer` are those that a correlated one may refer to."""
        operator = OPERATORS.get(plan.kind)
        assert operator is not None, f"no rule for the operator {plan.kind}"
        return operator(self, plan, outer)

    def value(self, expression: Tree, known: Known) -> Value:
        """The columns that the values of an expression come from."""
        return EXPRESSIONS.get(expression.kind, _children)(self, expression, known)

    def named(self, expressions: Iterable[Tree], known: Known) -> list[Attribute]:
        """The columns that named expressions make."""
        return [(item.id, self.value(item, known)) for item in expressions]


def outputs(plan: str, tables: Collection[str]) -> list[Sources]:
    """The sources of each column of an analysed plan, given as JSON."""
    import json

    return [value.sources for _, value in Walk(tables).outputs(tree(json.loads(plan)), {})]


# ── operators ────────────────────────────────────────────────────────────────────────────────────────────────────


def _below(walk: Walk, plan: Tree, outer: Known) -> Known:
    """All that the expressions of an operator may refer to."""
    known = dict(outer)
    for child in plan.children:
        known.update(walk.outputs(child, outer))
    return known


def _same(walk: Walk, plan: Tree, outer: Known) -> list[Attribute]:
    return walk.outputs(plan.children[0], outer)


def _listed(name: str) -> Callable[[Walk, Tree, Known], list[Attribute]]:
    """An operator whose columns are the expressions of one field."""
    return lambda walk, plan, outer: walk.named(plan.trees(name), _below(walk, plan, outer))


def _window(walk: Walk, plan: Tree, outer: Known) -> list[Attribute]:
    below = _same(walk, plan, outer)
    return [*below, *walk.named(plan.trees("windowExpressions"), {**outer, **dict(below)})]


def _leaf(walk: Walk, plan: Tree, outer: Known) -> list[Attribute]:
    return [(item.id, NOTHING) for item in plan.trees("output")]


def _view(walk: Walk, plan: Tree, outer: Known) -> list[Attribute]:
    name = plan.fields["desc"]["identifier"]["table"]
    if name not in walk.tables:
        return _same(walk, plan, outer)
    columns = plan.children[0].trees("output")
    return [(item.id, Value(frozenset({f"{name}.{item.fields['name']}"}))) for item in columns]


def _join(walk: Walk, plan: Tree, outer: Known) -> list[Attribute]:
    left, right = (walk.outputs(child, outer) for child in plan.children)
    return left if _keeps_left(plan) else [*left, *right]


def _keeps_left(plan: Tree) -> bool:
    return str(plan.fields["joinType"]["object"]).endswith(("LeftSemi$", "LeftAnti$"))


def _lateral_join(walk: Walk, plan: Tree, outer: Known) -> list[Attribute]:
    left = walk.outputs(plan.children[0], outer)
    return [*left, *walk.outputs(plan.tree("right").tree("plan"), {**outer, **dict(left)})]


def _united(branches: Sequence[Sequence[Attribute]]) -> list[Attribute]:
    """Columns by position, under the numbers of the first branch."""
    columns = zip(*branches, strict=True)
    return [(column[0][0], united(value for _, value in column)) for column in columns]


def _union(walk: Walk, plan: Tree, outer: Known) -> list[Attribute]:
    return _united([walk.outputs(child, outer) for child in plan.children])


def _expand(walk: Walk, plan: Tree, outer: Known) -> list[Attribute]:
    known = _below(walk, plan, outer)
    columns = zip(*plan.rows("projections"), strict=True)
    found = [united(walk.value(cell, known) for cell in column) for column in columns]
    return [(item.id, value) for item, value in zip(plan.trees("output"), found, strict=True)]


def _generate(walk: Walk, plan: Tree, outer: Known) -> list[Attribute]:
    below = _same(walk, plan, outer)
    known = {**outer, **dict(below)}
    made = plan.trees("generatorOutput")
    generator = plan.tree("generator")
    if generator.kind == "Stack":  # rows of cells: each column has its own
        cells = [walk.value(cell, known) for cell in generator.children[1:]]
        return [*below, *((item.id, united(cells[at :: len(made)])) for at, item in enumerate(made))]
    value = walk.value(generator, known)
    if generator.kind == "Inline":
        return [*below, *((item.id, value.member(at)) for at, item in enumerate(made))]
    return [*below, *((item.id, value) for item in made)]


def _with(walk: Walk, plan: Tree, outer: Known) -> list[Attribute]:
    for definition in plan.trees("cteDefs"):
        walk.common[definition.fields["id"]] = walk.outputs(definition.children[0], outer)
    return walk.outputs(plan.tree("plan"), outer)


def _renumbered(attributes: Sequence[Tree], columns: Sequence[Attribute]) -> list[Attribute]:
    return [(item.id, value) for item, (_, value) in zip(attributes, columns, strict=True)]


def _reference(walk: Walk, plan: Tree, outer: Known) -> list[Attribute]:
    return _renumbered(plan.trees("output"), walk.common[plan.fields["cteId"]])


def _loop(walk: Walk, plan: Tree, outer: Known) -> list[Attribute]:
    """A recursion: what comes out goes in again, until nothing is added."""
    number = plan.fields["id"]
    found = walk.outputs(plan.tree("anchor"), outer)
    while walk.loops.get(number) != found:
        walk.loops[number] = found
        found = _united([found, walk.outputs(plan.tree("recursion"), outer)])
    numbers = [int(item["id"]) for item in plan.fields["outputAttrIds"]]
    return [(own, value) for own, (_, value) in zip(numbers, found, strict=True)]


def _loop_reference(walk: Walk, plan: Tree, outer: Known) -> list[Attribute]:
    return _renumbered(plan.trees("output"), walk.loops[plan.fields["loopId"]])


OPERATORS: dict[str, Callable[[Walk, Tree, Known], list[Attribute]]] = {
    "Aggregate": _listed("aggregateExpressions"),
    "CTERelationRef": _reference,
    "Deduplicate": _same,
    "Distinct": _same,
    "Except": _same,
    "Expand": _expand,
    "Filter": _same,
    "Generate": _generate,
    "GlobalLimit": _same,
    "Intersect": _union,
    "Join": _join,
    "LateralJoin": _lateral_join,
    "LocalLimit": _same,
    "LocalRelation": _leaf,
    "Offset": _same,
    "OneRowRelation": lambda walk, plan, outer: [],
    "PipeOperator": _same,
    "Project": _listed("projectList"),
    "Range": _leaf,
    "Repartition": _same,
    "RepartitionByExpression": _same,
    "ResolvedHint": _same,
    "Sample": _same,
    "Sort": _same,
    "SubqueryAlias": _same,
    "Union": _union,
    "UnionLoop": _loop,
    "UnionLoopRef": _loop_reference,
    "View": _view,
    "Window": _window,
    "WithCTE": _with,
}


# ── expressions ──────────────────────────────────────────────────────────────────────────────────────────────────


def _children(walk: Walk, expression: Tree, known: Known) -> Value:
    """All children are parts of the value, and none of them is all of it."""
    return united(walk.value(child, known) for child in expression.children).plain()


def _some(*positions: int) -> Callable[[Walk, Tree, Known], Value]:
    """An expression whose value is that of some of its children."""
    return lambda walk, expression, known: united(
        walk.value(expression.children[at], known) for at in positions if at < len(expression.children)
    )


def _every(walk: Walk, expression: Tree, known: Known) -> Value:
    """An expression whose value is that of one of its children."""
    return united(walk.value(child, known) for child in expression.children)


def _struct(walk: Walk, expression: Tree, known: Known) -> Value:
    """Names and values take turns."""
    members = tuple(walk.value(child, known) for child in expression.children[1::2])
    return Value(united(members).sources, members)


def _member(walk: Walk, expression: Tree, known: Known) -> Value:
    return walk.value(expression.children[0], known).member(expression.fields["ordinal"])


def _element(walk: Walk, expression: Tree, known: Known) -> Value:
    base, key = (walk.value(child, known) for child in expression.children[:2])
    return base if key == NOTHING else united((base.plain(), key))


def _attribute(walk: Walk, expression: Tree, known: Known) -> Value:
    return known[expression.id]


def _outer(walk: Walk, expression: Tree, known: Known) -> Value:
    return walk.value(expression.tree("e"), known)


def _nothing(walk: Walk, expression: Tree, known: Known) -> Value:
    return NOTHING


def _case(walk: Walk, expression: Tree, known: Known) -> Value:
    """Conditions and values take turns; what stands alone at the end is the value of ELSE."""
    children = expression.children
    values = children[1::2] if len(children) % 2 == 0 else (*children[1::2], children[-1])
    return united(walk.value(child, known) for child in values)


def _subquery(walk: Walk, expression: Tree, known: Known) -> Value:
    return walk.outputs(expression.tree("plan"), known)[0][1]


def _membership(walk: Walk, expression: Tree, known: Known) -> Value:
    wanted = (walk.value(item, known) for item in expression.trees("values"))
    offered = (value for _, value in walk.outputs(expression.tree("query").tree("plan"), known))
    return united((*wanted, *offered)).plain()


EXPRESSIONS: dict[str, Callable[[Walk, Tree, Known], Value]] = {
    "AggregateExpression": _some(0),
    "Alias": _some(0),
    "AnyValue": _some(0),
    "AttributeReference": _attribute,
    "CaseWhen": _case,
    "Cast": _some(0),
    "Coalesce": _every,
    "CollectList": _some(0),
    "CollectSet": _some(0),
    "CreateArray": _every,
    "CreateNamedStruct": _struct,
    "DenseRank": _nothing,
    "ElementAt": _element,
    "Exists": _nothing,
    "Explode": _some(0),
    "First": _some(0),
    "GetArrayItem": _element,
    "GetArrayStructFields": _member,
    "GetStructField": _member,
    "If": _some(1, 2),
    "InSubquery": _membership,
    "Inline": _some(0),
    "Last": _some(0),
    "ListAgg": _some(0, 1),
    "Max": _some(0),
    "MaxBy": _some(0),
    "Min": _some(0),
    "MinBy": _some(0),
    "OuterReference": _outer,
    "PercentRank": _nothing,
    "PivotFirst": _some(1),
    "Rank": _nothing,
    "ScalarSubquery": _subquery,
    "WindowExpression": _some(0),
}
"""How expressions pass values on that do not simply take all of their children."""
