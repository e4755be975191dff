"""Graphs of single statements and of all together; walking the inside of a statement gives its column edges."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator

import pytest

from lineage_pipeline.api import analyze
from lineage_pipeline.detail import AnalysisGraphs
from lineage_pipeline.engine.link.detail import JOIN_OPERATIONS
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import GraphEdgeType, NodeType, Role
from lineage_pipeline.model.graph import Graph, GraphEdge, NodeRef
from lineage_pipeline.model.tables import StatementRef
from lineage_pipeline.pipeline import analyze_files
from lineage_pipeline_tests.support.cases import Case, accept_cases, case_inputs, load_cases

DECIDES = ("JOIN", "FILTER", "GROUP_BY", "SORT", "WINDOW", "CONDITIONAL")
RANKS = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
INSIDE = (NodeType.CTE, NodeType.SUBQUERY, NodeType.VARIABLE, NodeType.TEMP_TABLE)

Origin = tuple[str, str, str, str, bool]
"""Where a value or a decision comes from: object, column, member, subtype, approximate."""


def build_graphs(case: Case) -> AnalysisGraphs:
    return AnalysisGraphs(analyze_files(*case_inputs(case)))


# ── fixtures ─────────────────────────────────────────────────────────────────────────────────────────────────────


def render_graphs(case: Case) -> tuple[str, ...]:
    """The graphs of a case, as its file says them: those of the statements, then what crosses between them.

    A node is its type, its name, its columns and a question mark where it stands for something unknown; an edge is its
    ends, its type, its operation and a tilde where it is approximate.
    """
    graphs = build_graphs(case)
    several = len(graphs.lineage.statements) > 1
    lines = []
    for number, graph in enumerate(graphs.statements()):
        lines += [f"--> {number}: {line}" if several else f"--> {line}" for line in render_graph_lines(graph)]
    whole = graphs.whole()
    names = node_names(whole)
    for edge in whole.edges:
        if edge.type is GraphEdgeType.CROSS_STATEMENT:
            numbers = ", ".join(str(place.statement) for place in edge.statements)
            lines.append(f"--> {names[edge.source]} -> {names[edge.target]} cross_statement {numbers}")
    return tuple(lines)


def render_graph_lines(graph: Graph) -> Iterator[str]:
    names = node_names(graph)
    columns: dict[str, list[str]] = defaultdict(list)
    for edge in graph.edges:
        if edge.type is GraphEdgeType.OWNERSHIP:
            columns[edge.source].append(graph.node(edge.target).label)
    for node in graph.nodes:
        if node.type is not NodeType.COLUMN:
            unknown = "?" if node.resolution_source == "unknown" else ""
            yield f"{node.type} {names[node.id]}{unknown}({', '.join(columns[node.id])})"
    for edge in graph.edges:
        if edge.type is not GraphEdgeType.OWNERSHIP:
            path = f"[{edge.from_path}]" if edge.from_path else ""
            about = f"{edge.type} {edge.operation}{' ~' if edge.approximate else ''}"
            yield f"{names[edge.source]}{path} -> {names[edge.target]} {about}"


def node_names(graph: Graph) -> dict[str, str]:
    """Names that people can tell apart: a relation without one is called what it is."""
    owners = {edge.target: edge.source for edge in graph.edges if edge.type is GraphEdgeType.OWNERSHIP}
    labels = {node.id: node.qualified_name or node.label for node in graph.nodes}
    return {
        node.id: f"{labels[owners[node.id]]}.{node.label}" if node.id in owners else labels[node.id]
        for node in graph.nodes
    }


@pytest.mark.parametrize("case", load_cases("graph"), ids=lambda case: f"{case.file.stem}: {case.title}")
def test_fixture(case: Case, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--accept"):
        accept_cases(case.file, render_graphs)
        return
    assert render_graphs(case) == case.expected


# ── walking the graph ────────────────────────────────────────────────────────────────────────────────────────────


class Walk:
    """What reaches each node of a graph through relations inside statements and temp tables."""

    def __init__(self, graph: Graph) -> None:
        self.nodes = {node.id: node for node in graph.nodes}
        self.owners = {edge.target: edge.source for edge in graph.edges if edge.type is GraphEdgeType.OWNERSHIP}
        self.into: dict[str, list[GraphEdge]] = defaultdict(list)
        for edge in graph.edges:
            if edge.type not in (GraphEdgeType.OWNERSHIP, GraphEdgeType.CROSS_STATEMENT, GraphEdgeType.CALL):
                self.into[edge.target].append(edge)
        self.filled = {self.owners.get(target, target) for target in self.into}
        self.found: dict[str, set[Origin]] = {node: set() for node in self.nodes if self.is_inside(node)}
        grown = True
        while grown:
            grown = False
            for node, known in self.found.items():
                fresh = {origin for edge in self.into[node] for origin in self.through(edge)}
                grown = grown or not fresh <= known
                known |= fresh

    def is_inside(self, node: str) -> bool:
        """Whether to look behind a node; a temp table that nothing fills is as good as any other."""
        owner = self.nodes[self.owners.get(node, node)]
        return owner.type in INSIDE and (owner.type is not NodeType.TEMP_TABLE or owner.id in self.filled)

    def enters(self, objects: Collection[str]) -> bool:
        """Whether a member of a column of such an object is read."""
        paths = {self.owners[edge.source] for edges in self.into.values() for edge in edges if edge.from_path}
        return any(self.nodes[owner].qualified_name in objects for owner in paths)

    def through(self, edge: GraphEdge) -> Iterator[Origin]:
        """What an edge carries: rows carry what decides about them, columns what they are made of."""
        source, operation = self.nodes[edge.source], str(edge.operation)
        path = edge.from_path or ""
        if self.is_inside(edge.source):
            for name, column, inner, subtype, approximate in self.found[edge.source]:
                member = ".".join(filter(None, (inner, path))) if subtype == "IDENTITY" else inner
                yield name, column, member, compose_subtypes(subtype, operation), approximate or edge.approximate
        elif source.type is NodeType.COLUMN:
            owner = self.nodes[self.owners[edge.source]]
            column = str(source.qualified_name).removeprefix(f"{owner.qualified_name}.")
            yield str(owner.qualified_name), column, path, operation, edge.approximate

    def edges(self, statement: StatementRef) -> Iterator[tuple[str, str, Origin]]:
        """The edges of one statement into objects, with nothing inside left."""
        for target, edges in self.into.items():
            owner = self.nodes[self.owners.get(target, target)]
            if owner.type in INSIDE[:-1]:
                continue
            name = str(owner.qualified_name)
            column = str(self.nodes[target].qualified_name).removeprefix(f"{name}.") if target in self.owners else "*"
            for edge in edges:
                if statement in edge.statements:
                    yield from ((name, column, origin) for origin in self.through(edge))


def compose_subtypes(inner: str, outer: str) -> str:
    """What comes of two steps: a decision stays one, and of two changes of a value the greater counts."""
    if outer in DECIDES or inner in DECIDES:
        return outer if outer in DECIDES else inner
    return max(inner, outer, key=RANKS.index) if outer in RANKS else inner


@pytest.mark.parametrize(
    "case", [*load_cases("link"), *load_cases("graph")], ids=lambda case: f"{case.file.stem}: {case.title}"
)
def test_walking_the_inside_of_a_statement_gives_its_column_edges(case: Case) -> None:
    graphs = build_graphs(case)
    walk = Walk(graphs.whole())
    temporary = {row.object for row in graphs.lineage.objects if row.temporary}
    handed = temporary & {edge.from_object for edge in graphs.lineage.column_edges}  # filled by whoever calls
    exact = not handed and not temporary & find_recreated_objects(
        graphs.lineage
    )  # a graph shows all that such a table ever held
    for row in graphs.lineage.statements:
        here = StatementRef(row.path, row.ordinal)
        expected = {
            (edge.to_object, edge.to_column, edge.from_object, edge.from_column, edge.from_path or "", edge.subtype)
            for edge in graphs.lineage.column_edges
            if (edge.path, edge.statement) == (row.path, row.ordinal) and edge.from_object not in handed
        }
        walked = {
            (name, column, *origin[:4])
            for name, column, origin in walk.edges(here)
            if name not in temporary or name in {edge[0] for edge in expected}
        }
        if walk.enters(temporary):  # a graph shows a struct in a temp table as one column
            assert {edge[:4] for edge in expected} <= {edge[:4] for edge in walked}
        else:
            assert (walked if exact else walked & expected) == expected


def find_recreated_objects(lineage: LineageTables) -> set[str]:
    """The objects that are created again or truncated."""
    counts = Counter(part.object for part in lineage.object_statements if part.role in (Role.DEFINE, Role.ALTER))
    return {name for name, count in counts.items() if count > 1}


# ── ids and lookups ──────────────────────────────────────────────────────────────────────────────────────────────

SCRIPT = """create table raw.t (a int, b int);
create view v as with c as (select a, sum(b) as s from raw.t group by a) select a, s from c;
select s, z from v;
"""


def test_ids_do_not_depend_on_other_statements_or_layout() -> None:
    alone = analyze(SCRIPT, dialect="postgres")
    among = analyze(f"select 1 as one;\n\n{SCRIPT.replace(' ', '  ')}\nselect 2 as two", dialect="postgres")
    for number in range(3):
        graph, moved = alone.statement_graph(number), among.statement_graph(number + 1)
        assert [node.id for node in graph.nodes] == [node.id for node in moved.nodes]
        assert [edge.id for edge in graph.edges] == [edge.id for edge in moved.edges]


def test_equal_statements_have_separate_inner_nodes() -> None:
    query = "with c as (select a from t) select a from c"
    analysis = analyze(f"{query};\n{query}", dialect="postgres")
    first, second = ({node.label: node.id for node in analysis.statement_graph(n).nodes} for n in (0, 1))
    assert first["t"] == second["t"]
    assert first["c"] != second["c"]
    assert first["query"] != second["query_2"]


def test_nodes_of_the_whole_graph_and_of_statement_graphs_reference_each_other() -> None:
    analysis = analyze(SCRIPT, dialect="postgres")
    whole = analysis.global_graph()
    seen: set[NodeRef] = set()
    for number in range(3):
        for node in analysis.statement_graph(number).nodes:
            same = whole.node_for("-", number, node.id)
            assert (same.type, same.label, same.qualified_name) == (node.type, node.label, node.qualified_name)
            refs = whole.nodes_of(same.id)
            assert node.statement_refs[0] in refs
            seen.update(refs)
    assert seen == {ref for node in whole.nodes for ref in node.statement_refs}
    view = next(node for node in whole.nodes if node.qualified_name == "v")
    assert [ref.statement for ref in whole.nodes_of(view.id)] == [1, 2]


def test_the_span_of_a_node_is_where_the_text_names_it() -> None:
    spans = {}
    for number in range(3):
        for node in analyze(SCRIPT, dialect="postgres").statement_graph(number).nodes:
            if node.span is not None:
                spans[number, node.qualified_name] = SCRIPT[node.span.start : node.span.end]
                assert node.expression in (None, spans[number, node.qualified_name])
    assert spans[1, "c"] == "c"
    assert spans[1, "c.s"] == "sum(b)"
    assert spans[1, "raw.t"] == "raw.t"
    assert spans[1, "raw.t.b"] == "b"
    assert spans[2, "v"] == "v"


@pytest.mark.parametrize(
    "case", [*load_cases("link"), *load_cases("graph")], ids=lambda case: f"{case.file.stem}: {case.title}"
)
def test_a_graph_has_unique_ids_and_no_dangling_edges(case: Case) -> None:
    graphs = build_graphs(case)
    for graph in (*graphs.statements(), graphs.whole()):
        ids = [node.id for node in graph.nodes]
        assert len(ids) == len(set(ids))
        assert len({edge.id for edge in graph.edges}) == len(graph.edges)
        ends = {end for edge in graph.edges for end in (edge.source, edge.target)}
        assert ends <= set(ids)
        owned = [edge.target for edge in graph.edges if edge.type is GraphEdgeType.OWNERSHIP]
        assert sorted(owned) == sorted(node.id for node in graph.nodes if node.type is NodeType.COLUMN)


def test_every_operation_of_a_join_has_a_side() -> None:
    assert {operation.value for operation in JOIN_OPERATIONS.values()} == {
        f"{side.upper()}_JOIN" for side in JOIN_OPERATIONS
    }
