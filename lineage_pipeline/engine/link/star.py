"""Stars and generators in a select list: one item that expands to several columns."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from lineage_pipeline.dialects.identifier_folding import IdentifierFolding
from lineage_pipeline.engine.link.context import FLOW_COUNT_THRESHOLD, RelationResolver, estimate_match_steps
from lineage_pipeline.engine.link.expression import GENERATOR_ROW, evaluate_expression
from lineage_pipeline.engine.link.model import (
    WHOLE_ROW,
    ExprResult,
    OutputColumn,
    UnexpandedStar,
    expand_written_struct,
    mark_approximate,
    parse_element_type,
    resolve_element,
    transform_flows,
    union_flows,
)
from lineage_pipeline.engine.link.scope import Scope, ScopeSource, describe_unexpanded_star
from lineage_pipeline.engine.link.type_inference import build_struct_type, settle_unknown_type
from lineage_pipeline.model import ir
from lineage_pipeline.model.enums import Subtype


def build_output_column(output: ir.Output, name: str, value: ExprResult) -> OutputColumn:
    """A column of a select list."""
    return OutputColumn(
        name=name,
        written=output.written,
        value=value,
        start=output.start,
        end=output.end,
        approximate=has_approximate_flow(value),
    )


def has_approximate_flow(value: ExprResult) -> bool:
    """Say whether a value has an approximate flow."""
    for flow in value.flows:  # noqa: SIM110 - as `any` over a generator it takes three times as long
        if flow.approximate:
            return True
    return False


def expand_star_within_budget(
    links: RelationResolver, star: ir.Star, scope: Scope, openings: list[UnexpandedStar]
) -> Iterator[OutputColumn]:
    """The columns that a star expands to, charged to the budget."""
    for number, column in enumerate(expand_star(links, star, scope, openings), 1):
        links.budget.check_column_count(number)
        if len(column.value.flows) > FLOW_COUNT_THRESHOLD:
            links.budget.charge_steps(len(column.value.flows))
        yield column


def expand_star(
    links: RelationResolver, star: ir.Star, scope: Scope, openings: list[UnexpandedStar]
) -> Iterator[OutputColumn]:
    """The columns that a star expands to, in order; columns merged by USING come first and once."""
    replaced = {output.name: output for output in star.replace}
    renamed = dict(star.rename)
    ignoring = (
        re.IGNORECASE
        if links.traits.columns in (IdentifierFolding.INSENSITIVE, IdentifierFolding.CAPITAL)
        else re.NOFLAG
    )
    pattern = re.compile(star.pattern, ignoring) if star.pattern else None
    met = set()
    for name, written, value in _iter_star_columns(links, star, scope, openings):
        met.add(name)
        if pattern is not None:
            links.budget.reserve_steps(estimate_match_steps(star.pattern, len(name)))
        match = pattern.search(name) if pattern is not None else None
        if name in star.exclude or (pattern is not None and match is None):
            continue
        if name in replaced:
            output = replaced[name]
            yield build_output_column(output, renamed.get(name, name), evaluate_expression(output.expr, scope, links))
            continue
        shown = _output_name(star, renamed.get(name, name), match)
        made = value if star.each is None else _apply_each(links, star.each, scope, value)
        yield OutputColumn(
            name=shown,
            written=written if shown == name else shown,
            value=made,
            start=star.start,
            end=star.end,
            approximate=has_approximate_flow(made),
        )
    named = [name for name in (*star.exclude, *replaced, *renamed) if "." not in name and name not in met]
    if named and not links.traits.lenient_stars:
        _report_missing_names(links, star, scope, named)


def _report_missing_names(links: RelationResolver, star: ir.Star, scope: Scope, names: list[str]) -> None:
    """Report names in EXCEPT, REPLACE or RENAME that no source has, where all sources are known."""
    sources = _star_sources(star, scope)
    if not sources or any(one.unexpanded_stars(star) or one.is_uncertain() or one.has_catch_all() for one in sources):
        return
    candidates = ", ".join(source.alias or "a subquery" for source in sources)
    for name in dict.fromkeys(names):
        links.report("UNKNOWN_COLUMN", star.start, star.end, column=name, candidates=candidates)


def _output_name(star: ir.Star, name: str, match: re.Match[str] | None) -> str:
    """The output name of a star's column, by the star's naming pattern if it has one."""
    if not star.naming:
        return name
    shown = star.naming.replace("{}", name).replace("\\0", name)
    for number, group in enumerate(match.groups() if match is not None else (), 1):
        shown = shown.replace(f"\\{number}", group or "")
    return shown


def _apply_each(links: RelationResolver, each: ir.Expr, scope: Scope, value: ExprResult) -> ExprResult:
    """The result of the star's expression for one column."""
    scope.hole = value
    made = evaluate_expression(each, scope, links)
    scope.hole = None
    return made


StarColumn = tuple[str, str, ExprResult]
"""A column that a star expands to: name as compared, name as written, and value."""


def _iter_star_columns(
    links: RelationResolver, star: ir.Star, scope: Scope, openings: list[UnexpandedStar]
) -> Iterator[StarColumn]:
    sources = _star_sources(star, scope)
    if not sources and (star.qualifier or star.of is not None):
        yield from _expand_struct_star(links, star, scope, openings)
        return
    in_place = {} if star.qualifier or not links.traits.merges_in_place else dict(scope.merged)
    if not star.qualifier and not in_place:
        for name in scope.merged:
            yield _merged_column(name, star, scope)
    dotted = {name for name in star.exclude if "." in name}
    for source in sources:
        _report_unknown_columns(links, star, source, openings)
        for position, (name, written) in _order_columns(links, star, source):
            if dotted and f"{source.alias}.{name}" in dotted:
                continue
            if in_place.pop(name, None) is not None:
                yield _merged_column(name, star, scope)
            elif star.qualifier or name not in source.merged:
                value = source.column_at(position, name, star.start, star.end)
                if source.is_uncertain():
                    value = msgspec.structs.replace(value, flows=mark_approximate(value.flows))
                value = _drop_members(value, star.exclude, name, scope)
                members = tuple(expand_written_struct(value)) if source.element and position == 0 else ()
                yield from members or ((name, written, _mark_unknown_members(links, star, source, value)),)


def _drop_members(value: ExprResult, excluded: Sequence[str], column: str, scope: Scope) -> ExprResult:
    """The value of a struct without the members that a star leaves out: `* EXCEPT (s.a)` of Databricks."""
    dropped = {name.removeprefix(f"{column}.") for name in excluded if name.startswith(f"{column}.")}
    kept = [(name, shown, item) for name, shown, item in expand_written_struct(value) if name not in dropped]
    if not dropped or not kept:
        return value
    return ExprResult(
        flows=transform_flows(union_flows(item.flows for _, _, item in kept), Subtype.TRANSFORMATION),
        type=build_struct_type([(shown, item) for _, shown, item in kept], scope.typing.family),
        nullable=value.nullable,
        text=value.text,
        members=tuple((name, item) for name, _, item in kept),
    )


def _order_columns(links: RelationResolver, star: ir.Star, source: ScopeSource) -> list[tuple[int, tuple[str, str]]]:
    """The columns of a source with their positions; in some dialects merged ones come first."""
    found = list(enumerate(zip(source.names(), source.written_names(), strict=True)))
    if star.qualifier and source.merged and links.traits.merges_first:
        found.sort(key=lambda item: item[1][0] not in source.merged)
    return found


def _merged_column(name: str, star: ir.Star, scope: Scope) -> StarColumn:
    """A column merged by USING, with the spelling of its first owner."""
    owners = (side for side in scope.merged[name] if side.has(name))
    written = next((side.written_names()[side.positions[name]] for side in owners), name)
    return name, written, scope.resolve(ir.Ref((name,), star.start, star.end))


def _star_sources(star: ir.Star, scope: Scope) -> list[ScopeSource]:
    """The sources whose columns a star expands."""
    if star.of is not None:
        return []
    if star.qualifier:
        return scope.sources.matching(star.qualifier)
    if not scope.leading:
        return scope.sources
    leading = {id(item) for item in scope.leading}
    return [*scope.leading, *(item for item in scope.sources if id(item) not in leading)]


def _mark_unknown_members(links: RelationResolver, star: ir.Star, source: ScopeSource, value: ExprResult) -> ExprResult:
    """A column of a star; `e.*` over an element with unknown members is approximate."""
    if not (star.qualifier and source.element and source.has_catch_all() and len(source.positions) == 1):
        return value
    links.report("APPROXIMATE_LINEAGE", star.start, star.end, **describe_unexpanded_star(source.alias))
    return msgspec.structs.replace(value, flows=mark_approximate(value.flows))


def find_star_catch_all(links: RelationResolver, body: ir.Select, scope: Scope) -> ExprResult | None:
    """The single value that every unlisted column of a select's stars comes from, or None."""
    stars = [output for output in body.outputs if isinstance(output, ir.Star)]
    found = [
        source.linked.catch_all for star in stars for source in _star_sources(star, scope) if source.linked is not None
    ]
    found.extend(_resolve_star_struct(links, star, scope) for star in stars if star.of is not None)
    anything = [value for value in found if value is not None and value.members is None]
    return anything[0] if len(anything) == 1 else None


def _resolve_star_struct(links: RelationResolver, star: ir.Star, scope: Scope) -> ExprResult | None:
    if star.of is not None:
        return evaluate_expression(star.of, scope, links)
    return scope.lookup(ir.Ref(star.qualifier, star.start, star.end))


def _report_unknown_columns(
    links: RelationResolver, star: ir.Star, source: ScopeSource, openings: list[UnexpandedStar]
) -> None:
    for opening in source.unexpanded_stars(star):
        openings.append(opening)
        if source.input is not None:
            known = source.is_uncertain() and bool(source.input.columns)
            links.report("APPROXIMATE_LINEAGE", star.start, star.end, **describe_unexpanded_star(opening.object, known))
    if source.has_catch_all() and not source.names():
        links.report(
            "APPROXIMATE_LINEAGE", star.start, star.end, **describe_unexpanded_star(source.alias or "a function")
        )


def _expand_struct_star(
    links: RelationResolver, star: ir.Star, scope: Scope, openings: list[UnexpandedStar]
) -> Iterator[StarColumn]:
    """`s.*` over a struct: its members where they are known, else the struct itself, approximate."""
    value = _resolve_star_struct(links, star, scope)
    if value is None:
        links.report("UNRESOLVED_REFERENCE", star.start, star.end, name=".".join(star.qualifier))
        return
    members = tuple(expand_written_struct(value))
    rows = [flow for flow in value.flows if flow.column == WHOLE_ROW and flow.keeps]
    if rows:
        openings.extend(UnexpandedStar(flow.object, star.start, star.end, star.exclude) for flow in rows)
    elif not members:
        links.report(
            "APPROXIMATE_LINEAGE",
            star.start,
            star.end,
            **describe_unexpanded_star(".".join(star.qualifier) or value.text),
        )
        shown = star.qualifier[-1] if star.qualifier else ""
        yield shown, shown, ExprResult(mark_approximate(value.flows), None, True, value.text)
    yield from members


# ── generators ───────────────────────────────────────────────────────────────────────────────────────────────────

GENERATOR_NAMES = frozenset({"col", ""})
"""Names of a generator's column before its type is known."""


def expand_generator(
    output: ir.Output, value: ExprResult, scope: Scope, links: RelationResolver
) -> tuple[OutputColumn, ...]:
    """The columns of a generator in the select list whose type is known: EXPLODE of a map, INLINE, UNNEST."""
    if output.name in GENERATOR_NAMES and value.type == GENERATOR_ROW and value.members is not None:
        return tuple(
            msgspec.structs.replace(build_output_column(output, name, item), written=name)
            for name, item in value.members
        )
    call = output.expr
    if type(call) is not ir.Call or call.op not in links.traits.struct_unnesting_functions or not call.args:
        return ()
    whole, deep = evaluate_expression(call.args[0], scope, links), len(call.args) > 1
    while deep and (parse_element_type(whole.type or "") is not None):
        whole = resolve_element(whole)
    return tuple(
        msgspec.structs.replace(
            build_output_column(
                output, name, msgspec.structs.replace(item, type=settle_unknown_type(item.type, scope.typing.family))
            ),
            written=written,
        )
        for name, written, item in _flatten_struct(whole, deep)
    )


def _flatten_struct(whole: ExprResult, deep: bool) -> Iterator[StarColumn]:
    """The members of a struct; with `deep`, those of nested structs instead of the structs."""
    for name, written, item in expand_written_struct(whole):
        inner = tuple(_flatten_struct(item, deep)) if deep else ()
        yield from inner or ((name, written, item),)
