"""Rows: linked statements at their places in a file become edges, facets and findings."""

from collections.abc import Iterator, Sequence
from operator import itemgetter

import msgspec

from lineage_pipeline.engine.link.canonical import fingerprint
from lineage_pipeline.engine.link.flows import Flow
from lineage_pipeline.engine.link.model import Opening, Out
from lineage_pipeline.engine.link.statement import LinkedStatement, Written
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.codes import diagnose
from lineage_pipeline.vocabulary.places import Text
from lineage_pipeline.vocabulary.plan import Bound
from lineage_pipeline.vocabulary.sets import Stage
from lineage_pipeline.vocabulary.tables import DECLARATION, ColumnEdge, Diagnostic, Facet, Span, Use


class Passing(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A star through which columns of an open object pass into another one."""

    target: str
    source: str
    exclude: tuple[str, ...]
    path: str
    statement: int
    span: Span | None
    approximate: bool
    conditional: bool = False
    expression: str = ""


class Places:
    """The places of one statement in its file, each worked out once: many inputs share one expression."""

    def __init__(self, text: Text, origin: int) -> None:
        """Start at a statement."""
        self.text = text
        self.origin = origin
        self.known: dict[tuple[int, int], Span | None] = {}
        self.said: dict[tuple[int, int], str] = {}

    def span(self, start: int, end: int) -> Span | None:
        """A place of the statement, or None where it is not known."""
        if start < 0:
            return None
        key = (start, end)
        found = self.known.get(key, _UNSEEN)
        if found is _UNSEEN:
            found = self.known[key] = self.text.span(self.origin + start, self.origin + end)
        return found

    def use(self, flow: Flow, out: Out | None) -> tuple[str, Span | None, Span | None]:
        """One use of an input: the expression it goes into, or itself where it only decides about rows."""
        from_span = self.span(flow.start, flow.end)
        if out is None:
            return self.words(flow.start, flow.end), None, from_span
        return self.words(out.start, out.end), self.span(out.start, out.end), from_span

    def words(self, start: int, end: int) -> str:
        """What is said at a place."""
        if start < 0:
            return ""
        found = self.said.get((start, end))
        if found is None:
            found = self.said[start, end] = self.text.text[self.origin + start : self.origin + end]
        return found


_UNSEEN = Span(0, 0, 0, 0, 0, 0)


def edge_rows(text: Text, placed: ir.Placed, ordinal: int, linked: LinkedStatement) -> list[ColumnEdge]:
    """The edges of one statement; several uses of one input are one row."""
    grouped: dict[tuple[str, ...], list[tuple[Flow, Out | None, bool]]] = {}
    key: tuple[str, ...]
    for written in linked.writes:
        target, conditional = written.target, written.conditional
        for name, out in written.columns:
            for flow in out.value.flows:
                key = (flow.object, flow.column, flow.path, target, name, flow.type, flow.subtype)
                grouped.setdefault(key, []).append((flow, out, conditional))
        for flow in written.indirect:
            key = (flow.object, flow.column, flow.path, target, "*", flow.type, flow.subtype)
            grouped.setdefault(key, []).append((flow, None, conditional))
        for opening in written.openings:  # the columns that nobody lists
            flow = Flow(opening.object, "*", approximate=True, start=opening.start, end=opening.end)
            key = (flow.object, "*", "", target, "*", flow.type, flow.subtype)
            grouped.setdefault(key, []).append((flow, None, conditional))
    places = Places(text, placed.start)
    return [_edge(places, ordinal, key, uses) for key, uses in sorted(grouped.items(), key=_FIRST)]


_FIRST = itemgetter(0)


def _edge(places: Places, ordinal: int, key: tuple[str, ...], uses: list[tuple[Flow, Out | None, bool]]) -> ColumnEdge:
    if len(uses) > 1:
        uses = sorted(uses, key=lambda use: (use[0].start < 0, use[0].start, use[1].start if use[1] else 0))
    first, out, conditional = uses[0]
    expression, span, from_span = places.use(first, out)
    masking, approximate, others = first.masking, first.approximate, tuple[Use, ...]()
    if len(uses) > 1:  # few inputs are used twice, and there are many edges
        masking = all(flow.masking for flow, _, _ in uses)
        approximate = any(flow.approximate for flow, _, _ in uses)
        conditional = all(guarded for _, _, guarded in uses)
        others = tuple([Use(*use) for use in dict.fromkeys(places.use(flow, out) for flow, out, _ in uses)][1:])
    from_object, from_column, path, to_object, to_column, _, _ = key
    return ColumnEdge(  # in the order of its fields: names take twice as long
        places.text.path,
        ordinal,
        from_object,
        from_column,
        path or None,
        to_object,
        to_column,
        first.type,
        first.subtype,
        masking,
        approximate,
        conditional,
        expression,
        span,
        from_span,
        first.hops,
        others,
    )


def facet_rows(text: Text, placed: ir.Placed, ordinal: int, linked: LinkedStatement) -> Iterator[Facet]:
    """The sides of what a statement does to each object, in canonical form."""
    places = Places(text, placed.start)
    for written in _merged(linked.writes):
        for name, out in written.columns:
            span = places.span(out.start, out.end)
            canonical = out.value.text
            words = places.words(out.start, out.end)
            mark = fingerprint(canonical)
            yield Facet(written.target, name, "projection", text.path, ordinal, mark, canonical, words, span)
        for facet, lines in written.facets:
            yield Facet(written.target, "*", facet, text.path, ordinal, fingerprint(lines), lines, "", None)


def declaration_rows(text: Text, placed: ir.Placed, names: Bound) -> Iterator[Facet]:
    """Where the columns stand that a CREATE TABLE lists."""
    definition = placed.statement.definition
    if definition is None or definition.relation != ir.NOWHERE or not definition.columns:
        return
    target, places = dict(names.names).get(definition.name.parts, ""), Places(text, placed.start)
    first = {column.name: column for column in reversed(definition.columns)}
    for column in first.values() if target else ():
        span = places.span(column.start, column.end)
        if span is not None:
            place = (text.path, names.ordinal)
            words = places.words(column.start, column.end)
            yield Facet(target, column.name, DECLARATION, *place, "", "", words, span)


def _merged(writes: Sequence[Written]) -> Iterator[Written]:
    """The writes into one object as one, names once: the arms of a MERGE together say what happens to a column."""
    grouped: dict[str, list[Written]] = {}
    for written in writes:
        grouped.setdefault(written.target, []).append(written)
    for group in grouped.values():
        if len(group) == 1 and len({name for name, _ in group[0].columns}) == len(group[0].columns):
            yield group[0]
            continue
        columns: dict[str, Out] = {}
        facets: dict[str, str] = {}
        for written in group:
            for name, out in written.columns:
                known = columns.get(name)
                text = out.value.text if known is None else f"{known.value.text} | {out.value.text}"
                value = msgspec.structs.replace(out.value, text=text)
                columns[name] = msgspec.structs.replace(known or out, value=value)
            for facet, lines in written.facets:
                facets[facet] = "\n".join(
                    dict.fromkeys([*facets.get(facet, "").split("\n"), *lines.split("\n")])
                ).strip("\n")
        yield msgspec.structs.replace(group[0], columns=tuple(columns.items()), facets=tuple(facets.items()))


def finding_rows(text: Text, placed: ir.Placed, findings: Sequence[ir.Finding], stage: Stage) -> Iterator[Diagnostic]:
    """Findings at their places in the file."""
    for finding in findings:
        offset = placed.start + max(finding.start, 0)
        yield diagnose(finding.code, dict(finding.values), text, offset, stage)


def passing_rows(text: Text, placed: ir.Placed, ordinal: int, linked: LinkedStatement) -> Iterator[Passing]:
    """The stars of a statement through which unknown columns pass."""
    for written in linked.writes:
        for opening in written.openings:
            yield _passing(text, placed.start, ordinal, written, opening)


def _passing(text: Text, origin: int, ordinal: int, written: Written, opening: Opening) -> Passing:
    span = text.span(origin + opening.start, origin + opening.end) if opening.start >= 0 else None
    expression = text.text[origin + opening.start : origin + opening.end] if opening.start >= 0 else ""
    listed = (*opening.exclude, *(name for name, _ in written.columns))  # these have edges of their own
    uncertain = len(written.openings) > 1 or written.lists
    guarded = written.conditional
    return Passing(written.target, opening.object, listed, text.path, ordinal, span, uncertain, guarded, expression)
