"""Plans of queries: a query with its names resolved, from which a comparison makes its normal form.

A plan is nested tuples. A column is `("r", level, place, column)`: of the source at a place of the select that is so
many scopes around, by position where all columns of the source are known, else by name. So a plan knows no alias, and a
query that is used twice has one plan. What is not planned has none; two revisions are then compared by other facets.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from lineage_pipeline.dialects.number_literals import parse_whole_number
from lineage_pipeline.engine.link.context import RelationResolver
from lineage_pipeline.engine.link.expression import evaluate_expression, select_read_arguments
from lineage_pipeline.engine.link.model import BoundRelation, ExprResult, OutputColumn, PlanNode
from lineage_pipeline.engine.link.scope import Scope, ScopeSource
from lineage_pipeline.engine.link.type_inference import strip_options
from lineage_pipeline.model import ir

MAX_PLAN_LENGTH = 200_000
"""Characters of a plan as text; a longer one is left out."""

MAX_VALUE_ROWS = 50
"""Rows of VALUES in a plan."""

_PLANNED_SIDES = frozenset({"", "inner", "left", "right", "full", "cross", "semi", "anti"})

Plan = tuple[Any, ...]


class UnplannedError(Exception):
    """Something that plans do not express."""


def plan_select(
    body: ir.Select, scope: Scope, links: RelationResolver, columns: Sequence[OutputColumn]
) -> PlanNode | None:
    """The plan of a linked select."""
    try:
        return PlanNode(_SelectPlanner(body, scope, links).plan(columns))
    except UnplannedError:
        return None


def plan_set_operation(body: ir.SetOperation, branches: Sequence[BoundRelation]) -> PlanNode | None:
    """The plan of a set operation that matches columns by position and has no limit."""
    plans = [branch.plan for branch in branches]
    if not branches or body.by_name or body.limit or None in plans or any(branch.unexpanded for branch in branches):
        return None
    return PlanNode(
        ("U", body.op, body.distinct, tuple(plans), tuple(remove_layout(column.name) for column in branches[0].columns))
    )


def plan_values(body: ir.Values, scope: Scope, links: RelationResolver) -> PlanNode | None:
    """The plan of a few rows of expressions, all of one width."""
    widths = {len(row) for row in body.rows}
    if len(body.rows) > MAX_VALUE_ROWS or len(widths) != 1:
        return None
    names = (*body.columns, *(f"column{at + 1}" for at in range(len(body.columns), widths.pop())))
    encoder = _ExpressionPlanner(scope, links, VisibleSources(scope), {})
    try:
        return PlanNode(("V", tuple(tuple(map(encoder.plan, row)) for row in body.rows), names))
    except UnplannedError:
        return None


_LAYOUT = re.compile(r"/\*.*?\*/|--[^\n]*|\s+", re.DOTALL)


def remove_layout(name: str) -> str:
    """The name of a column without blanks and remarks: one without an alias may be called as its text is laid out."""
    return _LAYOUT.sub("", name) if not name.isidentifier() else name


def plan_write(names: Sequence[str], linked: BoundRelation) -> PlanNode | None:
    """The plan of the rows of a write, under the names of the columns that they go into."""
    if linked.plan is None:
        return None
    if linked.unexpanded:
        return linked.plan
    return PlanNode(("A", tuple(map(remove_layout, names)), linked.plan)) if len(names) == len(linked.columns) else None


def render_plan(plan: PlanNode) -> str:
    """A plan as a line of JSON: a list with each of its queries once, the outermost last; empty if it is too long."""
    known: dict[int, int] = {}
    texts: list[msgspec.Raw] = []
    lengths: list[int] = []

    def number(node: Any) -> Any:
        if id(node) not in known:
            text = msgspec.json.encode(node.body, enc_hook=number)
            lengths.append(len(text))
            if sum(lengths) > MAX_PLAN_LENGTH:
                raise UnplannedError
            texts.append(msgspec.Raw(text))
            known[id(node)] = len(texts) - 1
        return ["#", known[id(node)]]

    try:
        number(plan)
    except UnplannedError:
        return ""
    return msgspec.json.encode(texts).decode()


class VisibleSources:
    """The sources of a select that can be named, with their places: all, or those before a join."""

    def __init__(self, scope: Scope, limit: int | None = None) -> None:
        """Keep the scope; the sources of semi and anti joins are seen by their own conditions alone."""
        self.scope = scope
        own = -1 if limit is None else limit - 1
        sides = scope.placed_sides
        self.placed = [
            one for one in enumerate(scope.placed[:limit]) if one[0] == own or sides[one[0]] not in ("semi", "anti")
        ]
        self.places = {place for place, _ in self.placed}

    def having(self, name: str) -> list[tuple[int, ScopeSource]]:
        """Those that have a column."""
        return [one for one in self.placed if one[1].has(name)]

    def matching(self, qualifier: Sequence[str]) -> list[tuple[int, ScopeSource]]:
        """Those that a qualifier names."""
        named = self.scope.placed_by_alias.get(qualifier[-1], ())
        return [one for one in named if one[0] in self.places and one[1].matches(qualifier)]


class _SelectPlanner:
    """Plans one select: its sources and joins, then its clauses."""

    def __init__(self, body: ir.Select, scope: Scope, links: RelationResolver) -> None:
        self.body = body
        self.scope = scope
        self.links = links
        self.shown = VisibleSources(scope)

    def plan(self, columns: Sequence[OutputColumn]) -> Plan:
        body = self.body
        if body.value_table or body.partial or len(self.scope.placed) != len(body.sources):
            raise UnplannedError
        sources = tuple(map(self._plan_source, body.sources, self.scope.placed, range(len(body.sources))))
        joins = tuple(self._plan_join(source.join, place) for place, source in enumerate(body.sources))
        outputs = list(self._plan_outputs())
        named: dict[str, Plan] = {}
        if not any(item[0] == "*" for item in outputs):
            pairs = zip(columns, outputs, strict=False)
            named = {column.name: output[1] for column, output in pairs if column.name}
        return (
            "S",
            sources,
            joins,
            tuple(outputs),
            self._plan_condition("where", body.where, named),
            tuple(self._plan_keys("group", body.group, outputs, named))
            if not body.group_all
            else self._all_keys(outputs),
            body.grouping,
            self._plan_condition("having", body.having, named),
            self._plan_condition("qualify", body.qualify, named),
            tuple(self._plan_keys("order", body.order, outputs, named)) if body.limit or body.distinct_on else (),
            body.distinct,
            tuple(self._plan_keys("order", body.distinct_on, outputs, named)),
            body.limit,
        )

    def _plan_source(self, source: ir.Source, placed: ScopeSource, place: int) -> Plan:
        marks = tuple(source.marks)
        if source.record or (source.relation != ir.NOWHERE and source.name is not None):
            raise UnplannedError
        if source.relation != ir.NOWHERE:
            plan = placed.linked.plan if placed.linked is not None else None
            if plan is None or marks:
                raise UnplannedError
            return ("q", plan, source.lateral)
        if source.function is not None:
            planner = _ExpressionPlanner(self.scope, self.links, VisibleSources(self.scope, place), {})
            return ("f", planner.plan_rows(source.function), source.produces, source.position, marks)
        if placed.input is None or not placed.input.object or placed.input.object == "?":
            raise UnplannedError
        if placed.input.plan is not None and not marks:
            return ("q", placed.input.plan, False)
        if placed.input.temporary and (
            placed.input.facets or any(one.flows is not None for one in placed.input.columns)
        ):
            raise UnplannedError
        return ("t", placed.input.object, marks)

    def _plan_join(self, join: ir.Join | None, place: int) -> Plan:
        if join is None:
            return ("", ())
        if join.side not in _PLANNED_SIDES or join.natural:
            raise UnplannedError
        seen = VisibleSources(self.scope, place + 1)
        planner = _ExpressionPlanner(self.scope, self.links, seen, {})
        conditions = [planner.plan_merged(key.parts[0], place) for key in join.using]
        if join.on is not None:
            conditions.append(planner.plan(join.on))
        return (join.side, tuple(conditions))

    def _plan_outputs(self) -> Iterator[Plan]:
        """The outputs in order; later ones may name earlier ones where the dialect has it so."""
        aliases: dict[str, Plan] = {}
        seen = self.scope.traits.lateral_alias
        for output in self.body.outputs:
            if isinstance(output, ir.Star):
                yield from self._plan_star(output)
                continue
            plan = _ExpressionPlanner(self.scope, self.links, self.shown, aliases if seen else {}).plan(output.expr)
            if output.name:
                aliases.setdefault(output.name, plan)
            yield (remove_layout(output.name), plan)

    def _plan_star(self, star: ir.Star) -> Iterator[Plan]:
        if star.replace or star.rename or star.pattern or star.each is not None or star.of is not None:
            raise UnplannedError
        meant = self.shown.matching(star.qualifier) if star.qualifier else self.shown.placed
        if not meant or (star.qualifier and len(meant) > 1):
            raise UnplannedError
        done: set[str] = set()
        if self.scope.merged and not star.qualifier:
            planner = _ExpressionPlanner(self.scope, self.links, self.shown, {})
            for name in self.scope.merged:
                done.add(name)
                if name not in star.exclude:
                    yield (name, planner.plan(ir.Ref((name,), ir.NOWHERE, ir.NOWHERE)))
        for place, source in meant:
            if source.has_catch_all() or source.element or source.is_uncertain():
                raise UnplannedError
            left_out = tuple(sorted({*star.exclude, *(done & set(source.merged))}))
            if source.is_open():
                yield ("*", place, left_out)
                continue
            yield from ((name, _plan_column(0, place, source, name)) for name in source.names() if name not in left_out)

    def _plan_condition(self, clause: str, condition: ir.Expr | None, named: Mapping[str, Plan]) -> Plan | None:
        if condition is None:
            return None
        traits = self.scope.traits
        allowed = {
            "where": traits.alias_in_where,
            "having": traits.alias_in_having or traits.alias_in_where,
        }.get(clause, True)
        return _ExpressionPlanner(self.scope, self.links, self.shown, named if allowed else {}).plan(condition)

    def _plan_keys(
        self, clause: str, keys: Iterable[ir.Expr], outputs: Sequence[Plan], named: Mapping[str, Plan]
    ) -> Iterator[Plan]:
        """The keys of GROUP BY or ORDER BY; numbers and names of outputs are looked up."""
        traits = self.scope.traits
        planner = _ExpressionPlanner(self.scope, self.links, self.shown, named if traits.alias_in_group else {})
        for key in keys:
            if isinstance(key, ir.Literal) and key.text.isdigit():
                place = parse_whole_number(key.text) - 1
                if not 0 <= place < len(outputs) or any(one[0] == "*" for one in outputs):
                    raise UnplannedError
                yield outputs[place][1]
            elif isinstance(key, ir.Ref) and len(key.parts) == 1 and key.parts[0] in named:
                own = self.shown.having(key.parts[0])
                first = clause == "order" or (traits.alias_in_group and (traits.alias_first_in_group or not own))
                yield named[key.parts[0]] if first else planner.plan(key)
            else:
                yield planner.plan(key)

    def _all_keys(self, outputs: Sequence[Plan]) -> tuple[Plan, ...]:
        """The keys of GROUP BY ALL."""
        if any(output[0] == "*" for output in outputs):
            raise UnplannedError
        return tuple(output[1] for output in outputs if not _has_aggregate(output[1]))


def _has_aggregate(plan: Any) -> bool:
    """Say whether an expression aggregates rows of its own select."""
    if not isinstance(plan, tuple) or not plan or plan[0] in ("o", "q"):
        return False
    if plan[0] == "c" and plan[3] & ir.AGGREGATE:
        return True
    return any(_has_aggregate(part) for part in plan) or any(
        _has_aggregate(part) for parts in plan if isinstance(parts, tuple) for part in parts
    )


_COMPARISONS = frozenset("EQ NEQ GT GTE LT LTE BETWEEN IN".split())


def _is_typed_constant(expr: ir.Expr) -> bool:
    """Say whether an expression is a text that is converted, or a truth value."""
    if type(expr) is ir.Literal:
        return expr.kind == "boolean"
    return type(expr) is ir.Cast and type(expr.arg) is ir.Literal and expr.arg.kind == "string" and not expr.safe


def _keep_quiet(code: str, start: int, end: int, **values: str) -> None:
    """Report nothing."""


class _ExpressionPlanner:
    """Plans expressions over some sources of a select, and the aliases that may be named."""

    def __init__(
        self,
        scope: Scope,
        links: RelationResolver,
        sources: "VisibleSources",
        aliases: Mapping[str, Plan],
    ) -> None:
        self.scope = scope
        self.links = links
        self.sources = sources
        self.aliases = aliases
        self.params: tuple[str, ...] = ()

    def evaluate(self, expr: ir.Expr) -> ExprResult:
        """The type of an expression, and whether it may be NULL; what is wrong with it has been reported."""
        report, self.scope.report = self.scope.report, _keep_quiet
        try:
            return evaluate_expression(expr, self.scope, self.links)
        finally:
            self.scope.report = report

    def plan(self, expr: ir.Expr) -> Plan:
        """The plan of an expression."""
        planner = _PLANNERS.get(type(expr))
        if planner is None:
            raise UnplannedError
        found: Plan = planner(self, expr)
        return found

    def plan_merged(self, name: str, place: int) -> Plan:
        """The equality that USING stands for."""
        earlier = VisibleSources(self.scope, place)
        owners = earlier.having(name) or [one for one in earlier.placed if one[1].is_open()][:1]
        if not owners or any(side in ("right", "full") for side in self.scope.placed_sides):
            raise UnplannedError  # with those, which of several columns counts depends on the joins before
        added = _plan_column(0, place, self.scope.placed[place], name)
        return ("c", "EQ", (_plan_column(0, *owners[0], name), added), 0)

    def plan_ref(self, ref: ir.Ref) -> Plan:
        if ref.parts[0] in self.params:
            return ("m", ref.parts)
        return self._plan_name(ref) if len(ref.parts) == 1 else self._plan_at_levels(ref, self._plan_qualified_at)

    def _plan_at_levels(
        self, ref: ir.Ref, plan_at: Callable[[int, Scope, "VisibleSources", ir.Ref], Plan | None]
    ) -> Plan:
        """The plan of a reference in the innermost scope that knows it."""
        level, scope, sources = 0, self.scope, self.sources
        while (found := plan_at(level, scope, sources, ref)) is None:
            if scope.outer is None:
                raise UnplannedError
            level, scope = level + 1, scope.outer
            sources = VisibleSources(scope)
        return found

    def _plan_name(self, ref: ir.Ref) -> Plan:
        name, variables = ref.parts[0], self.scope.variables
        if name in variables.scalars and self.scope.traits.variables_hide_columns:
            return ("v", name)
        return self._plan_at_levels(ref, self._plan_name_at)

    def _plan_name_at(self, level: int, scope: Scope, sources: "VisibleSources", ref: ir.Ref) -> Plan | None:
        """The plan of a name alone in one scope, or None where only a scope around it may know the name."""
        name = ref.parts[0]
        owners = [one for one in sources.having(name) if not one[1].reach]
        if name in scope.merged:
            owners = [one for one in owners if any(one[1] is other for other in scope.merged[name])]
        if len(owners) == 1:
            return _plan_column(level, *owners[0], name)
        if owners or name in scope.merged or (level and scope.sees_aliases and name in scope.aliases):
            raise UnplannedError
        variables = self.scope.variables
        if level == 0 and name in self.aliases:
            return self.aliases[name]
        if name in variables.scalars or name in variables.records:
            return ("v", name)
        return self._plan_undeclared(level, sources, name)

    def _plan_undeclared(self, level: int, sources: "VisibleSources", name: str) -> Plan | None:
        """The plan of a name that no source is known to have: a word of the engine, or an unlisted column."""
        traits = self.scope.traits
        if name.upper() in traits.reserved_values or name.upper() in traits.value_keywords:
            return ("l", "word", name.upper())
        if any(one[1].has_catch_all() for one in sources.placed):
            raise UnplannedError
        opened = [one for one in sources.placed if one[1].is_open()]
        if len(opened) == 1:
            return _plan_column(level, *opened[0], name)
        if opened or (traits.row_values and any(one[1].alias == name for one in sources.placed)):
            raise UnplannedError
        return None

    def _plan_qualified_at(self, level: int, scope: Scope, sources: "VisibleSources", ref: ir.Ref) -> Plan | None:
        """The plan of a qualified name in one scope, or None where a scope around it may know it."""
        parts = ref.parts
        for size in range(len(parts) - 1, 0, -1):
            for place, source in sources.matching(parts[:size]):
                if source.has(parts[size]) or source.is_open():
                    return _with_path(_plan_column(level, place, source, parts[size]), parts[size + 1 :])
        owners = sources.having(parts[0]) if scope.traits.dotted_members else []
        return _with_path(_plan_column(level, *owners[0], parts[0]), parts[1:]) if len(owners) == 1 else None

    def plan_rows(self, function: ir.Expr) -> Plan:
        """The plan of a function in FROM, which may give several rows there."""
        if type(function) is ir.Call and function.traits & ir.GENERATOR:
            return ("c", function.op, tuple(map(self.plan, function.args)), function.traits)
        return self.plan(function)

    def plan_call(self, call: ir.Call) -> Plan:
        op = strip_options(call.op)
        if call.traits & ir.GENERATOR or op in ("PART", "OUTERJOIN", "PRIOR", "CONNECTBYROOT"):
            raise UnplannedError
        args = select_read_arguments(op, call.args)
        if op == "COUNT" and len(args) == 1 and type(args[0]) is ir.Ref:
            value = self.evaluate(args[0])
            args = () if not value.nullable and value.flows else args  # who counts what is never null counts rows
        if op in ("COALESCE", *_COMPARISONS) and (simpler := self._plan_typed(call, op)) is not None:
            return simpler
        return ("c", call.op, tuple(map(self.plan, args)), call.traits)

    def _plan_typed(self, call: ir.Call, op: str) -> Plan | None:
        """A call that types make simpler: ISNULL of equal types, a flag that is true, a text in the type it meets."""
        typed = call.op.endswith(":is_null") if op == "COALESCE" else any(_is_typed_constant(arg) for arg in call.args)
        if not typed:
            return None
        types = [self.evaluate(arg).type for arg in call.args]
        if None in types or len(set(types)) != 1:
            return None
        if op == "COALESCE":
            return ("c", "COALESCE", tuple(map(self.plan, call.args)), call.traits)
        left = [arg for arg in call.args if not (type(arg) is ir.Literal and arg.text.lower() == "true")]
        if op == "EQ" and len(left) == 1 and types[0] == self.scope.typing.family.boolean:
            return self.plan(left[0])
        bare = (arg.arg if type(arg) is ir.Cast and _is_typed_constant(arg) else arg for arg in call.args)
        return ("c", call.op, tuple(map(self.plan, bare)), call.traits)

    def plan_cast(self, cast: ir.Cast) -> Plan:
        arg = self.plan(cast.arg)
        inner = self.evaluate(cast.arg) if type(cast.arg) is not ir.Literal else None
        outer = self.evaluate(cast) if inner is not None and inner.type else None
        idle = inner is not None and outer is not None and inner.type == outer.type
        return arg if idle else ("t", arg, cast.to, cast.safe)

    def plan_case(self, case: ir.Case) -> Plan:
        whens = tuple((self.plan(condition), self.plan(value)) for condition, value in case.whens)
        return ("w", whens, self.plan(case.default) if case.default is not None else None)

    def plan_window(self, over: ir.Over) -> Plan:
        keys = tuple(tuple(map(self.plan, keys)) for keys in (over.partition, over.order))
        return ("o", self.plan(over.arg), *keys, over.frame)

    def plan_query(self, sub: ir.Sub) -> Plan:
        plan = self.links.relation(sub.relation, self.scope).plan
        if plan is None:
            raise UnplannedError
        return ("q", sub.mode, plan, tuple(map(self.plan, sub.args)))

    def plan_field(self, field: ir.Field) -> Plan:
        return ("p", self.plan(field.arg), field.path, field.index)

    def plan_lambda(self, made: ir.Lambda) -> Plan:
        before, self.params = self.params, (*self.params, *made.params)
        plan = ("x", made.params, self.plan(made.body))
        self.params = before
        return plan

    def plan_routine(self, routine: ir.Routine) -> Plan:
        return ("d", routine.parts, self.plan(routine.call))

    def plan_whole(self, whole: ir.Whole) -> Plan:
        if whole.qualifier or whole.exclude:
            raise UnplannedError
        return ("a",)


def _with_path(plan: Plan, path: Sequence[str]) -> Plan:
    return ("p", plan, tuple(path), "") if path else plan


def _plan_column(level: int, place: int, source: ScopeSource, name: str) -> Plan:
    """A column of a source: by position in a query whose columns are all known, else by name."""
    position = source.positions.get(name)
    if source.has_catch_all() or source.element:
        raise UnplannedError
    if source.input is not None:
        if position is None:
            return ("r", level, place, name)
        if position >= len(source.input.columns):
            raise UnplannedError
        return ("r", level, place, source.input.final_name(source.input.columns[position].name))
    if source.linked is None or (source.columns and source.linked.unexpanded):
        raise UnplannedError
    if position is None or source.linked.unexpanded or source.linked.plan is None:
        return ("r", level, place, name)
    return ("r", level, place, position)


_PLANNERS: dict[type, Any] = {
    ir.Ref: _ExpressionPlanner.plan_ref,
    ir.Literal: lambda planner, literal: ("l", literal.kind, literal.text),
    ir.Call: _ExpressionPlanner.plan_call,
    ir.Cast: _ExpressionPlanner.plan_cast,
    ir.Case: _ExpressionPlanner.plan_case,
    ir.Over: _ExpressionPlanner.plan_window,
    ir.Sub: _ExpressionPlanner.plan_query,
    ir.Field: _ExpressionPlanner.plan_field,
    ir.Lambda: _ExpressionPlanner.plan_lambda,
    ir.Variable: lambda planner, variable: ("v", variable.name),
    ir.Routine: _ExpressionPlanner.plan_routine,
    ir.Whole: _ExpressionPlanner.plan_whole,
}
