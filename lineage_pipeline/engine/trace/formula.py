"""End-to-end formulas: the expression of a column with its inputs' definitions inlined down to the sources."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from lineage_pipeline.engine.trace.column_graph import ALL, ColumnRef, find_upstream
from lineage_pipeline.engine.trace.facts import LineageFacts
from lineage_pipeline.engine.trace.impact import edge_line
from lineage_pipeline.model.enums import EdgeType, Subtype
from lineage_pipeline.model.tables import ColumnEdge, Facet

MAX_FORMULA_LENGTH, MAX_FORMULA_DEPTH = 20_000, 200
"""Limits on length and nesting; beyond them a definition is not inlined and its name stays."""

_STRING = r"'(?:[^']|'')*'"
PROJECTION = "projection"


class ValueChange(StrEnum):
    """What happens to a value on its way from the sources to a column."""

    SOURCE = "source"
    PASSTHROUGH = "passthrough"
    RENAMED = "renamed"
    TRANSFORMED = "transformed"
    CONSTANT = "constant"


class Formula(msgspec.Struct, frozen=True):
    """One way in which a column gets its value; `exact` is false where part of the expression is unknown."""

    object: str
    column: str
    change: ValueChange
    formula: str
    sources: tuple[ColumnRef, ...]
    expression: str
    path: str | None
    statement: int | None
    line: int | None
    exact: bool


class _InlinedText(msgspec.Struct, frozen=True):
    """A text, the sources named in it, and whether it is complete."""

    text: str
    sources: tuple[ColumnRef, ...] = ()
    exact: bool = True


def build_formulas(facts: LineageFacts, ref: ColumnRef) -> tuple[Formula, ...]:
    """The formula of a column for each statement that writes it."""
    objects = {ref.object, *(found.object for found in find_upstream(facts.graph(), [ref]))}
    writer = _FormulaWriter(facts.facets(objects), facts.edges_into(objects))
    made = tuple(writer.build_formula(facet) for facet in writer.definitions.get(ref, ()))
    nothing = Formula(
        object=ref.object,
        column=ref.column,
        change=ValueChange.SOURCE,
        formula=canonical_column_name(ref),
        sources=(ref,),
        expression="",
        path=None,
        statement=None,
        line=None,
        exact=True,
    )
    return made or (nothing,)


def canonical_column_name(ref: ColumnRef) -> str:
    """A column as canonical texts write it."""
    return f"{ref.object}.{ref.column}"


class _FormulaWriter:
    """Inlines definitions into each other."""

    def __init__(self, facets: Iterable[Facet], edges: Iterable[ColumnEdge]) -> None:
        self.definitions: dict[ColumnRef, list[Facet]] = defaultdict(list)
        for facet in facets:
            if facet.name == PROJECTION:
                self.definitions[ColumnRef(facet.object, facet.column)].append(facet)
        self.edges: dict[tuple[str, int, ColumnRef], list[ColumnEdge]] = defaultdict(list)
        for edge in edges:
            if edge.to_column != ALL:
                target = ColumnRef(edge.to_object, edge.to_column)
                self.edges[edge.path, edge.statement, target].append(edge)
        self.done: dict[ColumnRef, _InlinedText] = {}

    def build_formula(self, facet: Facet) -> Formula:
        """The formula of one statement."""
        ref = ColumnRef(facet.object, facet.column)
        written = self._inline_definitions(facet, (ref,))
        return Formula(
            object=ref.object,
            column=ref.column,
            change=_classify_change(ref, written),
            formula=written.text,
            sources=written.sources,
            expression=facet.expression,
            path=facet.path,
            statement=facet.statement,
            line=facet.span.line if facet.span else next(map(edge_line, self._edges_of(facet)), None),
            exact=written.exact,
        )

    def _edges_of(self, facet: Facet) -> list[ColumnEdge]:
        return self.edges.get((facet.path, facet.statement, ColumnRef(facet.object, facet.column)), [])

    def _inline_definitions(self, facet: Facet, active: tuple[ColumnRef, ...]) -> _InlinedText:
        """The text of a facet with the definitions of the columns it names inlined."""
        edges = self._edges_of(facet)
        names = {canonical_column_name(source): self._column_text(source, active) for source in map(edge_source, edges)}
        names = _temp_column_texts(edges, names) | names
        found: dict[ColumnRef, None] = {}
        exact = "…#" not in facet.text  # a long text is cut short

        def replaced(match: "re.Match[str]") -> str:
            nonlocal exact
            if match[0] not in names:
                return match[0]
            inner = names[match[0]]
            found.update(dict.fromkeys(inner.sources))
            exact = exact and inner.exact
            return f"{{{inner.text}}}" if _is_alternative(inner.text) else inner.text

        choice = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        pattern = rf'{_STRING}|(?<![\w.$#@"])(?:{choice})(?![\w$#@"])' if choice else _STRING
        text = re.sub(pattern, replaced, facet.text)
        if not exact:  # a shortened text does not name all that flows in
            found.update(dict.fromkeys(one for name in names.values() for one in name.sources))
        return _InlinedText(text, tuple(sorted(found)), exact)

    def _column_text(self, ref: ColumnRef, active: tuple[ColumnRef, ...]) -> _InlinedText:
        """The text of a column: all its definitions, or its name where it has none or refers to itself."""
        if ref in self.done:
            return self.done[ref]
        own = _InlinedText(canonical_column_name(ref), (ref,))
        facets = self.definitions.get(ref, ())
        if not facets:
            return own
        if ref in active or len(active) > MAX_FORMULA_DEPTH:
            return msgspec.structs.replace(own, exact=ref in active)
        texts = [self._inline_definitions(facet, (*active, ref)) for facet in facets]
        joint = " | ".join(dict.fromkeys(one.text for one in texts))
        sources = tuple(sorted({source for one in texts for source in one.sources}))
        made = _InlinedText(joint, sources, all(one.exact for one in texts))
        if len(joint) > MAX_FORMULA_LENGTH:
            made = _InlinedText(canonical_column_name(ref), sources, False)
        if not active or not any(source in active for source in sources):  # in a cycle it depends on where one starts
            self.done[ref] = made
        return made


def _is_alternative(text: str) -> bool:
    """Say whether a text consists of alternatives (` | `) outside of brackets."""
    depth = 0
    for piece in re.findall(rf"{_STRING}|[({{\[]|[)}}\]]| \| ", text):
        if piece == " | " and not depth:
            return True
        depth += (piece in "({[") - (piece in ")}]")
    return False


def _temp_column_texts(edges: Iterable[ColumnEdge], sources: Mapping[str, _InlinedText]) -> dict[str, _InlinedText]:
    """Texts for columns of temporary tables: their inputs and subtype, without the expression."""
    through: dict[str, dict[str, ColumnEdge]] = defaultdict(dict)
    for edge in edges:
        if edge.hops:
            through[canonical_column_name(ColumnRef(edge.hops[-1].object, edge.hops[-1].column))][
                canonical_column_name(edge_source(edge))
            ] = edge
    found = {}
    for name, feeds in through.items():
        texts = [sources[source] for source in feeds]
        kinds = {edge.subtype for edge in feeds.values() if edge.type is EdgeType.DIRECT}
        inner = ", ".join(dict.fromkeys(text.text for text in texts))
        copied = kinds == {Subtype.IDENTITY} and len(feeds) == 1
        shown = inner if copied else f"{'/'.join(sorted(kinds)).lower() or 'from'}({inner})"
        named = tuple(sorted({source for text in texts for source in text.sources}))
        found[name] = _InlinedText(shown, named, copied and all(text.exact for text in texts))
    return found


def edge_source(edge: ColumnEdge) -> ColumnRef:
    """The column that an edge starts from."""
    return ColumnRef(edge.from_object, edge.from_column)


def _classify_change(ref: ColumnRef, written: _InlinedText) -> ValueChange:
    if not written.sources:
        return ValueChange.CONSTANT
    (first, *others) = written.sources
    if others or written.text != canonical_column_name(first):
        return ValueChange.TRANSFORMED
    return ValueChange.PASSTHROUGH if first.column == ref.column else ValueChange.RENAMED
