"""Our own dbt project is analyzed by us, and every column of the marts leads back to the published tables."""

from collections import defaultdict

import pytest

from lineage_pipeline.api import scan
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import EdgeType
from lineage_pipeline.model.tables import TABLES
from lineage_pipeline_tests.support.paths import FIXTURES, ROOT

EXPECTED = FIXTURES / "own_marts.txt"
MARTS, TABLE = "warehouse.marts.", "warehouse.lineage."
Ends = dict[tuple[str, str], set[tuple[str, str]]]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lineage() -> LineageTables:
    return scan(ROOT / "dbt_project", dialect="duckdb").lineage


def find_root_columns(name: tuple[str, str], before: Ends) -> set[tuple[str, str]]:
    """The columns of published tables whose values a column is made of."""
    seen, border, found = {name}, [name], set()
    while border:
        for one in before.get(border.pop(), set()) - seen:
            seen.add(one)
            border.append(one)
            if one[0].startswith(TABLE):
                found.add(one)
    return found


def render_lineage_lines(lineage: LineageTables) -> list[str]:
    """Each column of a mart with where its values, or what decides about them, come from."""
    values: Ends = defaultdict(set)
    every: Ends = defaultdict(set)
    for edge in lineage.column_edges:
        source, target = (edge.from_object, edge.from_column), (edge.to_object, edge.to_column)
        if edge.type is EdgeType.DIRECT:
            values[target].add(source)
        every[target].add(source)
    lines = []
    for column in lineage.columns:
        if column.object.startswith(MARTS):
            name = (column.object, column.name)
            found = find_root_columns(name, values)
            shown = ", ".join(sorted(".".join(one).removeprefix(TABLE) for one in found)) or "a figure of rows"
            lines.append(f"{column.object.removeprefix(MARTS)}.{column.name} <- {shown}")
    return lines


def test_the_dbt_project_is_analyzed_without_findings(lineage: LineageTables) -> None:
    assert [(row.code, row.path, row.line, row.message) for row in lineage.diagnostics] == []
    assert {row.object for row in lineage.objects if row.object.startswith(TABLE)} == {TABLE + name for name in TABLES}


def test_every_column_of_a_mart_leads_back_to_the_tables(
    lineage: LineageTables, request: pytest.FixtureRequest
) -> None:
    lines = render_lineage_lines(lineage)
    if request.config.getoption("--accept"):
        EXPECTED.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert EXPECTED.read_text(encoding="utf-8").splitlines() == lines
    assert sum(line.endswith("a figure of rows") for line in lines) < len(lines) / 3
