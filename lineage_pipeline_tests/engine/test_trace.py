"""Neighbors, paths and reach of columns, compared with a plain search on a graph with every edge written out."""

import random
from collections import deque

import pytest

from lineage_pipeline.engine.trace import reach
from lineage_pipeline.engine.trace.column_graph import (
    ColumnRef,
    build_column_graph,
    find_downstream,
    find_upstream,
)
from lineage_pipeline.engine.trace.reach import build_column_reach
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import EdgeType, Origin, Subtype
from lineage_pipeline.model.tables import Column, ColumnEdge, ColumnReach

Plain = dict[ColumnRef, set[ColumnRef]]


def ref(text: str) -> ColumnRef:
    name, _, column = text.rpartition(".")
    return ColumnRef(name, column)


def column(text: str, ordinal: int = 1) -> Column:
    one = ref(text)
    return Column(one.object, ordinal, one.column, one.column, "INT", True, Origin.IMPLIED, False, None, None, (), None)


def edge(text: str) -> ColumnEdge:
    """`a.x -> b.y` carries a value, `a.x ~> b.*` only decides."""
    left, arrow, right = text.split()
    one, two = ref(left), ref(right)
    kind, subtype = (EdgeType.DIRECT, Subtype.IDENTITY) if arrow == "->" else (EdgeType.INDIRECT, Subtype.FILTER)
    return ColumnEdge(
        "a.sql", 0, one.object, one.column, None, two.object, two.column, kind, subtype,
        False, False, False, "", None, None, (), (),
    )  # fmt: skip


def lineage(columns: str, *edges: str) -> LineageTables:
    return LineageTables(columns=tuple(column(text) for text in columns.split()), column_edges=tuple(map(edge, edges)))


def names(found: dict[ColumnRef, int]) -> dict[str, int]:
    return {f"{one.object}.{one.column}": hops for one, hops in found.items()}


CHAIN = lineage("a.x b.x c.x c.y", "a.x -> b.x", "b.x -> c.x", "a.x ~> c.*")


def test_values_flow_hop_by_hop() -> None:
    graph = build_column_graph(CHAIN)
    assert names(find_downstream(graph, [ref("a.x")], direct_only=True)) == {"b.x": 1, "c.x": 2}
    assert names(find_upstream(graph, [ref("c.x")], direct_only=True)) == {"b.x": 1, "a.x": 2}


def test_a_statement_wide_input_touches_every_column_in_one_hop() -> None:
    graph = build_column_graph(CHAIN)
    assert names(find_downstream(graph, [ref("a.x")])) == {"b.x": 1, "c.x": 1, "c.y": 1}
    assert names(find_upstream(graph, [ref("c.y")])) == {"a.x": 1}


def test_a_walk_ends_at_its_depth() -> None:
    assert names(find_downstream(build_column_graph(CHAIN), [ref("a.x")], depth=1, direct_only=True)) == {"b.x": 1}


def test_a_walk_ends_on_a_cycle_and_leaves_out_its_start() -> None:
    graph = build_column_graph(lineage("a.x b.x", "a.x -> b.x", "b.x -> a.x"))
    assert names(find_downstream(graph, [ref("a.x")])) == {"b.x": 1}


def test_an_unknown_column_leads_nowhere() -> None:
    assert find_downstream(build_column_graph(CHAIN), [ref("no.where")]) == {}


def test_a_filter_column_does_not_reach_other_columns_of_its_own_table() -> None:
    graph = build_column_graph(lineage("a.x a.y b.x", "a.x ~> b.*"))
    assert names(find_downstream(graph, [ref("a.x")])) == {"b.x": 1}
    assert names(find_downstream(graph, [ref("a.y")])) == {}


def test_an_object_without_known_columns_is_one_column() -> None:
    graph = build_column_graph(lineage("a.x", "a.x ~> b.*", "b.* -> c.*"))
    assert names(find_downstream(graph, [ref("a.x")])) == {"b.*": 1, "c.*": 2}


def test_wide_edges_are_not_multiplied_out() -> None:
    targets = [f"b.c{number}" for number in range(100)]
    sources = [f"a.c{number}" for number in range(100)]
    graph = build_column_graph(lineage(" ".join(targets + sources), *(f"{source} ~> b.*" for source in sources)))
    assert len(graph.every.down.targets) == 200


def test_the_order_of_the_rows_does_not_matter() -> None:
    one = make_random_rows(7)
    two = LineageTables(columns=one.columns[::-1], column_edges=one.column_edges[::-1])
    assert build_column_graph(one).refs == build_column_graph(two).refs
    assert sorted(build_column_reach(one), key=key) == sorted(build_column_reach(two), key=key)


@pytest.mark.parametrize("seed", range(40))
def test_reach_counts_what_a_plain_search_finds(seed: int) -> None:
    one = make_random_rows(seed)
    direct, every = expand_edges(one, direct_only=True), expand_edges(one, direct_only=False)
    for row in build_column_reach(one):
        start = ColumnRef(row.object, row.name)
        assert (row.direct_downstream_columns, row.direct_downstream_objects) == count_reached(direct, start)
        assert (row.direct_upstream_columns, row.direct_upstream_objects) == count_reached(reverse_links(direct), start)
        assert (row.all_downstream_columns, row.all_downstream_objects) == count_reached(every, start)
        assert (row.all_upstream_columns, row.all_upstream_objects) == count_reached(reverse_links(every), start)
        assert row.direct_leaves == sum(not direct[other] for other in search_reached(direct, start))
        assert row.exact


@pytest.mark.parametrize("seed", range(20))
def test_walks_find_what_a_plain_search_finds(seed: int) -> None:
    one = make_random_rows(seed)
    graph = build_column_graph(one)
    for direct_only in (True, False):
        links = expand_edges(one, direct_only=direct_only)
        for start in graph.refs:
            assert find_downstream(graph, [start], direct_only=direct_only) == search_reached(links, start)
            assert find_upstream(graph, [start], direct_only=direct_only) == search_reached(reverse_links(links), start)


def test_depth_is_the_longest_way_and_a_cycle_counts_as_one() -> None:
    one = lineage("a.x b.x c.x d.x", "a.x -> b.x", "b.x -> c.x", "a.x -> c.x", "c.x -> d.x", "d.x -> c.x")
    rows = {row.object: row for row in build_column_reach(one)}
    assert {name: row.direct_downstream_depth for name, row in rows.items()} == {"a": 3, "b": 2, "c": 1, "d": 1}
    assert rows["d"].direct_upstream_depth == 3
    assert {name: row.direct_leaves for name, row in rows.items()} == {"a": 0, "b": 0, "c": 0, "d": 0}


def test_beyond_the_limit_small_reach_is_exact_and_large_reach_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "SAMPLE", 150)
    wide = [f"b.c{number}" for number in range(200)]
    one = lineage(" ".join(["a.x", *wide, "z.x", "z.y"]), *(f"a.x -> {name}" for name in wide), "z.x -> z.y")
    rows = {f"{row.object}.{row.name}": row for row in build_column_reach(one, exact_columns=100)}
    assert (rows["z.x"].direct_downstream_columns, rows["z.x"].exact) == (1, True)
    assert not rows["a.x"].exact
    assert 150 <= rows["a.x"].direct_downstream_columns <= 250


@pytest.mark.parametrize("seed", range(20))
def test_reach_is_counted_in_parts_where_the_sets_exceed_memory(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = build_column_reach(make_random_rows(seed))
    monkeypatch.setattr(reach, "MAX_HELD_PIECES", 1)
    monkeypatch.setattr(reach, "MIN_WINDOW_LABELS", 3)
    monkeypatch.setattr(reach, "PIECE_LABELS", 2)
    assert build_column_reach(make_random_rows(seed)) == expected


def test_counting_takes_one_pass_a_direction_however_many_columns_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    views = [f"v{number}.x" for number in range(3 * reach.PIECE_LABELS)]
    one = lineage(" ".join(["a.x", *views]), *(f"a.x -> {name}" for name in views))
    passes: list[int] = []
    run = reach._Sweep.run

    def counted(sweep: reach._Sweep, columns: int) -> bool:
        passes.append(columns)
        return run(sweep, columns)

    monkeypatch.setattr(reach._Sweep, "run", counted)
    rows = {row.object: row for row in build_column_reach(one)}
    assert (rows["a"].direct_downstream_columns, rows["v7"].direct_upstream_columns) == (len(views), 1)
    assert passes == [len(views) + 1] * 4  # up and down, by values and by every edge


def key(row: ColumnReach) -> tuple[str, str]:
    return row.object, row.name


def make_random_rows(seed: int) -> LineageTables:
    """A small graph with chains, cycles, self-loops and statement-wide inputs."""
    chance = random.Random(seed)
    columns = [f"o{number}.c{place}" for number in range(6) for place in range(chance.randint(1, 4))]
    edges = {f"{chance.choice(columns)} -> {chance.choice(columns)}" for _ in range(chance.randint(0, 25))}
    edges |= {f"{chance.choice(columns)} ~> o{chance.randrange(6)}.*" for _ in range(chance.randint(0, 6))}
    return lineage(" ".join(columns), *sorted(edges))


def expand_edges(one: LineageTables, *, direct_only: bool) -> Plain:
    links: Plain = {ColumnRef(row.object, row.name): set() for row in one.columns}
    for row in one.column_edges:
        targets = [two for two in links if two.object == row.to_object and row.to_column in ("*", two.column)]
        if row.type is EdgeType.DIRECT or not direct_only:
            links[ColumnRef(row.from_object, row.from_column)].update(targets)
    return links


def reverse_links(links: Plain) -> Plain:
    return {two: {one for one in links if two in links[one]} for two in links}


def search_reached(links: Plain, start: ColumnRef) -> dict[ColumnRef, int]:
    found, queue = {start: 0}, deque([start])
    while queue:
        here = queue.popleft()
        for other in sorted(links[here] - set(found)):
            found[other] = found[here] + 1
            queue.append(other)
    del found[start]
    return found


def count_reached(links: Plain, start: ColumnRef) -> tuple[int, int]:
    found = search_reached(links, start)
    return len(found), len({other.object for other in found})
