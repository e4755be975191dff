"""The expression of a column from end to end: definitions written into each other down to what nobody defines."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from lineage_pipeline.engine.trace.facts import Facts
from lineage_pipeline.engine.trace.graph import ALL, ColumnRef
from lineage_pipeline.engine.trace.impact import line_of
from lineage_pipeline.engine.trace.walk import upstream
from lineage_pipeline.vocabulary.sets import EdgeType, Subtype
from lineage_pipeline.vocabulary.tables import ColumnEdge, Facet

LONGEST, DEEPEST = 20_000, 200
"""Over these a definition is not written into another any more: its name stays."""

_STRING = r"'(?:[^']|'')*'"
PROJECTION = "projection"


class Change(StrEnum):
    """What becomes of a value on its way from the sources to a column."""

    SOURCE = "source"
    PASSTHROUGH = "passthrough"
    RENAMED = "renamed"
    TRANSFORMED = "transformed"
    CONSTANT = "constant"


class Formula(msgspec.Struct, frozen=True):
    """One way in which a column gets its value; `exact` is false where a part of the expression is not known."""

    object: str
    column: str
    change: Change
    formula: str
    sources: tuple[ColumnRef, ...]
    expression: str
    path: str | None
    statement: int | None
    line: int | None
    exact: bool


class _Text(msgspec.Struct, frozen=True):
    """A text, the sources named in it, and whether it says everything."""

    text: str
    sources: tuple[ColumnRef, ...] = ()
    exact: bool = True


def formulas(facts: Facts, ref: ColumnRef) -> tuple[Formula, ...]:
    """Give the formula of a column for each statement that writes it."""
    objects = {ref.object, *(found.object for found in upstream(facts.graph(), [ref]))}
    writer = _Writer(facts.facets(objects), facts.edges_into(objects))
    made = tuple(writer.formula(facet) for facet in writer.definitions.get(ref, ()))
    nothing = Formula(ref.object, ref.column, Change.SOURCE, name_of(ref), (ref,), "", None, None, None, True)
    return made or (nothing,)


def name_of(ref: ColumnRef) -> str:
    """Write a column as the canonical texts do."""
    return f"{ref.object}.{ref.column}"


class _Writer:
    """Writes definitions into each other."""

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
        self.done: dict[ColumnRef, _Text] = {}

    def formula(self, facet: Facet) -> Formula:
        """Give the formula that one statement makes."""
        ref = ColumnRef(facet.object, facet.column)
        written = self._expanded(facet, (ref,))
        return Formula(
            ref.object,
            ref.column,
            _change(ref, written),
            written.text,
            written.sources,
            facet.expression,
            facet.path,
            facet.statement,
            facet.span.line if facet.span else next(map(line_of, self._edges(facet)), None),
            written.exact,
        )

    def _edges(self, facet: Facet) -> list[ColumnEdge]:
        return self.edges.get((facet.path, facet.statement, ColumnRef(facet.object, facet.column)), [])

    def _expanded(self, facet: Facet, active: tuple[ColumnRef, ...]) -> _Text:
        """Write the definitions of what a text names into it."""
        edges = self._edges(facet)
        names = {name_of(source): self._text(source, active) for source in map(source_of, edges)}
        names = _hop_names(edges, names) | names
        found: dict[ColumnRef, None] = {}
        exact = "…#" not in facet.text  # a long text is cut short

        def replaced(match: "re.Match[str]") -> str:
            nonlocal exact
            if match[0] not in names:
                return match[0]
            inner = names[match[0]]
            found.update(dict.fromkeys(inner.sources))
            exact = exact and inner.exact
            return f"{{{inner.text}}}" if _is_choice(inner.text) else inner.text

        choice = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        pattern = rf'{_STRING}|(?<![\w.$#@"])(?:{choice})(?![\w$#@"])' if choice else _STRING
        text = re.sub(pattern, replaced, facet.text)
        if not exact:  # a shortened text does not name all that flows in
            found.update(dict.fromkeys(one for name in names.values() for one in name.sources))
        return _Text(text, tuple(sorted(found)), exact)

    def _text(self, ref: ColumnRef, active: tuple[ColumnRef, ...]) -> _Text:
        """Give the text of a column, all its definitions side by side; its name where it has none or names itself."""
        if ref in self.done:
            return self.done[ref]
        own = _Text(name_of(ref), (ref,))
        facets = self.definitions.get(ref, ())
        if not facets:
            return own
        if ref in active or len(active) > DEEPEST:
            return msgspec.structs.replace(own, exact=ref in active)
        texts = [self._expanded(facet, (*active, ref)) for facet in facets]
        joint = " | ".join(dict.fromkeys(one.text for one in texts))
        sources = tuple(sorted({source for one in texts for source in one.sources}))
        made = _Text(joint, sources, all(one.exact for one in texts))
        if len(joint) > LONGEST:
            made = _Text(name_of(ref), sources, False)
        if not active or not any(source in active for source in sources):  # in a cycle it depends on where one starts
            self.done[ref] = made
        return made


def _is_choice(text: str) -> bool:
    """Say whether a text is several alternatives side by side, not inside brackets."""
    depth = 0
    for piece in re.findall(rf"{_STRING}|[({{\[]|[)}}\]]| \| ", text):
        if piece == " | " and not depth:
            return True
        depth += (piece in "({[") - (piece in ")}]")
    return False


def _hop_names(edges: Iterable[ColumnEdge], sources: Mapping[str, _Text]) -> dict[str, _Text]:
    """Give what is known of the columns of temporary tables: what flows into them, and how, but not the text."""
    through: dict[str, dict[str, ColumnEdge]] = defaultdict(dict)
    for edge in edges:
        if edge.hops:
            through[name_of(ColumnRef(edge.hops[-1].object, edge.hops[-1].column))][name_of(source_of(edge))] = edge
    found = {}
    for name, feeds in through.items():
        texts = [sources[source] for source in feeds]
        kinds = {edge.subtype for edge in feeds.values() if edge.type is EdgeType.DIRECT}
        inner = ", ".join(dict.fromkeys(text.text for text in texts))
        copied = kinds == {Subtype.IDENTITY} and len(feeds) == 1
        shown = inner if copied else f"{'/'.join(sorted(kinds)).lower() or 'from'}({inner})"
        named = tuple(sorted({source for text in texts for source in text.sources}))
        found[name] = _Text(shown, named, copied and all(text.exact for text in texts))
    return found


def source_of(edge: ColumnEdge) -> ColumnRef:
    """Give the column that an edge starts from."""
    return ColumnRef(edge.from_object, edge.from_column)


def _change(ref: ColumnRef, written: _Text) -> Change:
    if not written.sources:
        return Change.CONSTANT
    (first, *others) = written.sources
    if others or written.text != name_of(first):
        return Change.TRANSFORMED
    return Change.PASSTHROUGH if first.column == ref.column else Change.RENAMED
