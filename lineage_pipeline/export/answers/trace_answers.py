"""Answers of `impact`, `path`, `formula` and `search` as text, JSON and CSV."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from lineage_pipeline.engine.trace.column_graph import ColumnRef
from lineage_pipeline.engine.trace.formula import Formula, ValueChange
from lineage_pipeline.engine.trace.impact import Direction, Reached, edge_line
from lineage_pipeline.engine.trace.name_lookup import Hit
from lineage_pipeline.engine.trace.routes import Leg, Routes
from lineage_pipeline.export.answers.answer import Answer, Row, format_column
from lineage_pipeline.export.escaping import collapse_whitespace, format_count, format_location
from lineage_pipeline.model.tables import ColumnEdge

SHOWN_STARTS = 100


# ── impact ───────────────────────────────────────────────────────────────────────────────────────────────────────


def answer_impact(selector: str, level: str, starts: Sequence[str], reached: Sequence[Reached]) -> Answer:
    """Return what is upstream or downstream of some columns or objects."""
    return Answer(
        lambda: {
            "selector": selector,
            "level": level,
            "starts": list(starts),
            "reached": [_reached_document(row) for row in reached],
            "summary": {
                side.value: _summarize_reached(row for row in reached if row.direction is side) for side in Direction
            },
        },
        lambda: (_reached_row(row) for row in reached) if reached else (),
        lambda: _impact_lines(selector, starts, reached),
        REACHED_HEADER,
    )


REACHED_HEADER = (
    *("direction", "hops", "object", "column", "via_object", "via_column", "type", "subtype", "expression"),
    *("path", "line", "root", "leaf"),
)


def _reached_document(row: Reached) -> Row:
    plain: Row = msgspec.to_builtins(row)
    return plain


def _reached_row(row: Reached) -> Row:
    via = row.via
    values = (
        *(row.direction.value, row.hops, row.object, row.column),
        *((via.object, via.column, via.type, via.subtype, via.expression, via.path, via.line) if via else (None,) * 7),
        *(row.root, row.leaf),
    )
    return dict(zip(REACHED_HEADER, values, strict=True))


def _summarize_reached(rows: Iterable[Reached]) -> Row:
    found = list(rows)
    return {
        "reached": len(found),
        "objects": len({row.object for row in found}),
        "hops": max((row.hops for row in found), default=0),
        "roots": sum(row.root for row in found),
        "leaves": sum(row.leaf for row in found),
    }


def _impact_lines(selector: str, starts: Sequence[str], reached: Sequence[Reached]) -> Iterator[str]:
    yield from starts if len(starts) <= SHOWN_STARTS else [f"{len(starts)} columns fit {selector}"]
    for side in Direction:
        rows = [row for row in reached if row.direction is side]
        if rows:
            counted = _summarize_reached(rows)
            yield ""
            yield (
                f"{side.value}: {counted['reached']} in {format_count(counted['objects'], 'object')}, "
                f"{format_count(counted['hops'], 'hop')} at most"
            )
            yield from map(_impact_line, rows)
    if not reached:
        yield "nothing within reach"


def _impact_line(row: Reached) -> str:
    arrow = "<-" if row.direction is Direction.DOWNSTREAM else "->"
    marks = [word for word, is_so in (("root", row.root), ("leaf", row.leaf)) if is_so]
    line = f"{row.hops:>4}  {format_column(row.object, row.column)}" + (f"  [{', '.join(marks)}]" if marks else "")
    if row.via is None:
        return line
    kind = "" if row.via.subtype is None else f"  {row.via.subtype}"
    where = "" if row.via.path is None else f"  {format_location(row.via.path, row.via.line)}"
    return f"{line}  {arrow} {format_column(row.via.object, row.via.column)}{kind}{where}"


# ── paths ────────────────────────────────────────────────────────────────────────────────────────────────────────


def answer_routes(source: str, target: str, found: Routes) -> Answer:
    """Return the paths between two columns, with expression and location of each hop."""
    return Answer(
        lambda: {
            "from": source,
            "to": target,
            "paths": [{"hops": len(legs), "legs": [_leg_document(leg) for leg in legs]} for legs in found.routes],
            "cut": found.cut or None,
        },
        lambda: _leg_rows(found),
        lambda: _route_lines(source, target, found),
        LEG_HEADER,
    )


LEG_HEADER = (
    *("path_number", "hop", "from_object", "from_column", "to_object", "to_column", "type", "subtype"),
    *("expression", "path", "line"),
)


def _leg_document(leg: Leg) -> Row:
    return {
        "from": {"object": leg.source.object, "column": leg.source.column},
        "to": {"object": leg.target.object, "column": leg.target.column},
        "edges": [_edge_document(edge) for edge in leg.edges],
    }


def _edge_document(edge: ColumnEdge) -> Row:
    return {
        "type": edge.type.value,
        "subtype": edge.subtype.value,
        "expression": edge.expression,
        "path": edge.path,
        "statement": edge.statement,
        "line": edge_line(edge),
        "hops": [f"{hop.object}.{hop.column}" for hop in edge.hops],
        "approximate": edge.approximate,
    }


def _leg_rows(found: Routes) -> Iterator[Row]:
    for number, legs in enumerate(found.routes, start=1):
        for hop, leg in enumerate(legs, start=1):
            ends = (leg.source.object, leg.source.column, leg.target.object, leg.target.column)
            for edge in leg.edges:
                how = (edge.type.value, edge.subtype.value, edge.expression, edge.path, edge_line(edge))
                yield dict(zip(LEG_HEADER, (number, hop, *ends, *how), strict=True))


def _route_lines(source: str, target: str, found: Routes) -> Iterator[str]:
    for number, legs in enumerate(found.routes, start=1):
        yield f"path {number}, {format_count(len(legs), 'hop')}"
        yield f"  {_format_ref(legs[0].source)}"
        for leg in legs:
            yield f"  -> {_format_ref(leg.target)}"
            for edge in leg.edges:
                how = f"{edge.subtype}: {collapse_whitespace(edge.expression)}" if edge.expression else edge.subtype
                yield f"       {how}  {format_location(edge.path, edge_line(edge))}"
    if not found.routes:
        yield f"no path leads from {source} to {target}"
    if found.cut:
        yield f"not all paths are shown: {found.cut} (--max-paths shows more)"


def _format_ref(ref: ColumnRef) -> str:
    return format_column(ref.object, ref.column)


# ── formulas and hits ────────────────────────────────────────────────────────────────────────────────────────────


def answer_formulas(column: str, found: Sequence[Formula]) -> Answer:
    """Return the formulas of a column."""
    return Answer(
        lambda: {"column": column, "formulas": [msgspec.to_builtins(one) for one in found]},
        lambda: (_formula_row(one) for one in found),
        lambda: (line for one in found for line in _formula_lines(one)),
        Formula.__struct_fields__,
    )


def _formula_row(one: Formula) -> Row:
    plain: Row = msgspec.to_builtins(one)
    return plain | {"sources": [_format_ref(ref) for ref in one.sources]}


def _formula_lines(one: Formula) -> Iterator[str]:
    where = "" if one.path is None else f"  {format_location(one.path, one.line)}"
    yield f"{format_column(one.object, one.column)}  ({one.change}){where}"
    if one.change is not ValueChange.SOURCE:
        yield f"  = {one.formula}"
        yield from (f"  from {_format_ref(ref)}" for ref in one.sources)
    if not one.exact:
        yield "  a part of the expression is not known, such as what a temporary table was made of"


def answer_search(text: str, found: Sequence[Hit]) -> Answer:
    """Return the hits of a search."""
    return Answer(
        lambda: {"text": text, "hits": [msgspec.to_builtins(hit) for hit in found]},
        lambda: (msgspec.to_builtins(hit) for hit in found),
        lambda: (
            (
                f"{format_column(hit.object, hit.column)}  "
                f"({'object' if hit.column is None else 'column'}, {hit.match} it)"
            )
            for hit in found
        ),
        Hit.__struct_fields__,
    )
