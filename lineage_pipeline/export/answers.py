"""Answers to questions as text for people, JSON for programs and CSV for sheets."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from lineage_pipeline.engine.trace.formula import Change, Formula
from lineage_pipeline.engine.trace.graph import ColumnRef
from lineage_pipeline.engine.trace.impact import Direction, Reached, line_of
from lineage_pipeline.engine.trace.routes import Leg, Routes
from lineage_pipeline.engine.trace.search import Hit
from lineage_pipeline.export.escaping import cell, visible
from lineage_pipeline.export.json import SCHEMA_VERSION, dump
from lineage_pipeline.export.report import many, one_line, place
from lineage_pipeline.vocabulary.tables import ColumnEdge

Row = dict[str, Any]
SHOWN = 100


class Answer(NamedTuple):
    """An answer in three shapes, each made when it is asked for."""

    document: Callable[[], Row]
    rows: Callable[[], Iterable[Row]]
    lines: Callable[[], Iterable[str]]
    header: Sequence[str] = ()
    """The columns of the rows, for where there is none."""


def write_answer(answer: Answer, format: str) -> str:
    """Write an answer as text, json or csv."""
    if format == "json":
        return dump({"schema_version": SCHEMA_VERSION} | answer.document())
    if format == "csv":
        return write_csv(answer.rows(), answer.header)
    return "".join(f"{visible(line)}\n" for line in answer.lines())


def write_csv(rows: Iterable[Row], header: Sequence[str] = ()) -> str:
    """Write rows of plain values with a header; nothing for null, lists joined by spaces."""
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    for number, row in enumerate(rows):
        if number == 0:
            writer.writerow(row)
        writer.writerow([_cell(value) for value in row.values()])
    if not sink.tell() and header:
        writer.writerow(header)
    return sink.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        value = " ".join(str(item) for item in value)
    if isinstance(value, str):  # a name is no formula, and steers nothing
        return cell("\n".join(map(visible, value.split("\n"))))
    return value


def named(name: str, column: str | None) -> str:
    """Write an object, or a column of it."""
    return name if column is None else f"{name}.{column}"


# ── impact ───────────────────────────────────────────────────────────────────────────────────────────────────────


def impact_answer(selector: str, level: str, starts: Sequence[str], reached: Sequence[Reached]) -> Answer:
    """Give what is within reach of some columns or objects."""
    return Answer(
        lambda: {
            "selector": selector,
            "level": level,
            "starts": list(starts),
            "reached": [_reached(row) for row in reached],
            "summary": {side.value: _summary(row for row in reached if row.direction is side) for side in Direction},
        },
        lambda: (_flat(row) for row in reached) if reached else (),
        lambda: _reach_lines(selector, starts, reached),
        REACHED_HEADER,
    )


REACHED_HEADER = (
    *("direction", "hops", "object", "column", "via_object", "via_column", "type", "subtype", "expression"),
    *("path", "line", "root", "leaf"),
)


def _reached(row: Reached) -> Row:
    plain: Row = msgspec.to_builtins(row)
    return plain


def _flat(row: Reached) -> Row:
    via = row.via
    values = (
        *(row.direction.value, row.hops, row.object, row.column),
        *((via.object, via.column, via.type, via.subtype, via.expression, via.path, via.line) if via else (None,) * 7),
        *(row.root, row.leaf),
    )
    return dict(zip(REACHED_HEADER, values, strict=True))


def _summary(rows: Iterable[Reached]) -> Row:
    found = list(rows)
    return {
        "reached": len(found),
        "objects": len({row.object for row in found}),
        "hops": max((row.hops for row in found), default=0),
        "roots": sum(row.root for row in found),
        "leaves": sum(row.leaf for row in found),
    }


def _reach_lines(selector: str, starts: Sequence[str], reached: Sequence[Reached]) -> Iterator[str]:
    yield from starts if len(starts) <= SHOWN else [f"{len(starts)} columns fit {selector}"]
    for side in Direction:
        rows = [row for row in reached if row.direction is side]
        if rows:
            counted = _summary(rows)
            yield ""
            yield (
                f"{side.value}: {counted['reached']} in {many(counted['objects'], 'object')}, "
                f"{many(counted['hops'], 'hop')} at most"
            )
            yield from map(_reach_line, rows)
    if not reached:
        yield "nothing within reach"


def _reach_line(row: Reached) -> str:
    arrow = "<-" if row.direction is Direction.DOWNSTREAM else "->"
    marks = [word for word, is_so in (("root", row.root), ("leaf", row.leaf)) if is_so]
    line = f"{row.hops:>4}  {named(row.object, row.column)}" + (f"  [{', '.join(marks)}]" if marks else "")
    if row.via is None:
        return line
    kind = "" if row.via.subtype is None else f"  {row.via.subtype}"
    where = "" if row.via.path is None else f"  {place(row.via.path, row.via.line)}"
    return f"{line}  {arrow} {named(row.via.object, row.via.column)}{kind}{where}"


# ── paths ────────────────────────────────────────────────────────────────────────────────────────────────────────


def routes_answer(source: str, target: str, found: Routes) -> Answer:
    """Give the ways between two columns, with expression and place of each hop."""
    return Answer(
        lambda: {
            "from": source,
            "to": target,
            "paths": [{"hops": len(legs), "legs": [_leg(leg) for leg in legs]} for legs in found.routes],
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


def _leg(leg: Leg) -> Row:
    return {
        "from": {"object": leg.source.object, "column": leg.source.column},
        "to": {"object": leg.target.object, "column": leg.target.column},
        "edges": [_edge(edge) for edge in leg.edges],
    }


def _edge(edge: ColumnEdge) -> Row:
    return {
        "type": edge.type.value,
        "subtype": edge.subtype.value,
        "expression": edge.expression,
        "path": edge.path,
        "statement": edge.statement,
        "line": line_of(edge),
        "hops": [f"{hop.object}.{hop.column}" for hop in edge.hops],
        "approximate": edge.approximate,
    }


def _leg_rows(found: Routes) -> Iterator[Row]:
    for number, legs in enumerate(found.routes, start=1):
        for hop, leg in enumerate(legs, start=1):
            ends = (leg.source.object, leg.source.column, leg.target.object, leg.target.column)
            for edge in leg.edges:
                how = (edge.type.value, edge.subtype.value, edge.expression, edge.path, line_of(edge))
                yield dict(zip(LEG_HEADER, (number, hop, *ends, *how), strict=True))


def _route_lines(source: str, target: str, found: Routes) -> Iterator[str]:
    for number, legs in enumerate(found.routes, start=1):
        yield f"path {number}, {many(len(legs), 'hop')}"
        yield f"  {_name(legs[0].source)}"
        for leg in legs:
            yield f"  -> {_name(leg.target)}"
            for edge in leg.edges:
                how = f"{edge.subtype}: {one_line(edge.expression)}" if edge.expression else edge.subtype
                yield f"       {how}  {place(edge.path, line_of(edge))}"
    if not found.routes:
        yield f"no path leads from {source} to {target}"
    if found.cut:
        yield f"not all paths are shown: {found.cut} (--max-paths shows more)"


def _name(ref: ColumnRef) -> str:
    return named(ref.object, ref.column)


# ── formulas and hits ────────────────────────────────────────────────────────────────────────────────────────────


def formulas_answer(column: str, found: Sequence[Formula]) -> Answer:
    """Give the formulas of a column."""
    return Answer(
        lambda: {"column": column, "formulas": [msgspec.to_builtins(one) for one in found]},
        lambda: (_formula_row(one) for one in found),
        lambda: (line for one in found for line in _formula_lines(one)),
        Formula.__struct_fields__,
    )


def _formula_row(one: Formula) -> Row:
    plain: Row = msgspec.to_builtins(one)
    return plain | {"sources": [_name(ref) for ref in one.sources]}


def _formula_lines(one: Formula) -> Iterator[str]:
    where = "" if one.path is None else f"  {place(one.path, one.line)}"
    yield f"{named(one.object, one.column)}  ({one.change}){where}"
    if one.change is not Change.SOURCE:
        yield f"  = {one.formula}"
        yield from (f"  from {_name(ref)}" for ref in one.sources)
    if not one.exact:
        yield "  a part of the expression is not known, such as what a temporary table was made of"


def hits_answer(text: str, found: Sequence[Hit]) -> Answer:
    """Give what a search found."""
    return Answer(
        lambda: {"text": text, "hits": [msgspec.to_builtins(hit) for hit in found]},
        lambda: (msgspec.to_builtins(hit) for hit in found),
        lambda: (
            (f"{named(hit.object, hit.column)}  ({'object' if hit.column is None else 'column'}, {hit.match} it)")
            for hit in found
        ),
        Hit.__struct_fields__,
    )
