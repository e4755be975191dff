"""Whole rows as values: COUNT(t.*), STRUCT(s.*), TO_JSON(t.*)."""

from lineage_pipeline.engine.link.flows import united
from lineage_pipeline.engine.link.model import Value
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.vocabulary import ir


def whole(expr: ir.Whole, scope: Scope) -> Value:
    """All columns of a source, or of all sources, as one value."""
    sources = scope.sources.answering(expr.qualifier) if expr.qualifier else scope.sources
    if not sources and expr.qualifier:
        return _elsewhere(expr, scope)
    values = [source.whole(expr.start, expr.end, scope.report, expr.exclude) for source in sources]
    known = all(value.members is not None for value in values)
    members = tuple(item for value in values for item in value.members or ()) if known else None
    return Value(united(value.flows for value in values), None, True, "*", members)


def _elsewhere(expr: ir.Whole, scope: Scope) -> Value:
    """All columns of a source of an outer query, or all members of a struct."""
    outer = scope.outer
    if outer is not None and outer.sources.answering(expr.qualifier):
        return whole(expr, outer)
    return scope.lookup(ir.Ref(expr.qualifier, expr.start, expr.end)) or Value(text="*")
