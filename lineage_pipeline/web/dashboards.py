"""Dashboards: a title, a description and a query each, shown as a bar chart in SVG and a table."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from lineage_pipeline.export.escaping import shorten_middle


class Dashboard(NamedTuple):
    """One chart with the table behind it; `label` and `value` are the columns that the bars show."""

    title: str
    about: str
    sql: str
    label: str
    value: str


DASHBOARDS: dict[str, Dashboard] = {
    "blast-radius": Dashboard(
        title="Blast radius",
        about="Objects whose change would reach farthest, by the column that reaches most.",
        sql="select object, widest_column, downstream_columns, downstream_objects, leaves, owners from "
        "marts.blast_radius"
        " where snapshot = $snapshot order by downstream_columns desc, object limit 30",
        label="object",
        value="downstream_columns",
    ),
    "critical": Dashboard(
        title="Critical objects",
        about="Reach, leaves and changes as one score; for the newest snapshot of each repository.",
        sql="select object, score, readers, downstream_objects, leaves, changes, owners from marts.object_criticality"
        " where snapshot = $snapshot order by score desc, object limit 30",
        label="object",
        value="score",
    ),
    "unused": Dashboard(
        title="Unused columns",
        about="Columns of objects that others read, but which nobody reads.",
        sql="select object, count(*) as unused, any_value(owners) as owners from marts.unused_columns"
        " where snapshot = $snapshot and not is_in_leaf and not may_be_read"
        " group by object order by unused desc, object limit 30",
        label="object",
        value="unused",
    ),
    "breaking": Dashboard(
        title="Breaking changes",
        about="Breaking changes that nobody waived, by commit and rule.",
        sql="select substr(commit, 1, 10) || ' ' || rule as change, breaking, potentially_breaking, waived, consumers,"
        " author, committed_at from marts.breaking_trend where $snapshot is not null"
        " order by committed_at desc nulls last, breaking desc, rule limit 60",
        label="change",
        value="breaking",
    ),
    "complexity": Dashboard(
        title="Complexity",
        about="Objects that are made of most others, with how many read them and what they hold.",
        sql="select object, kind, producers, readers, columns, findings, owners from marts.objects"
        " where snapshot = $snapshot and producers > 0 order by producers desc, readers desc, object limit 30",
        label="object",
        value="producers",
    ),
    "coverage": Dashboard(
        title="Coverage",
        about="How much of the SQL was understood, by system and dialect, in per cent of the statements.",
        sql="select system_name || ' ' || dialect as source, round(100 * analysed_share, 2) as analysed, "
        "files, statements,"
        " partial_statements, failed_statements, round(100 * approximate_share, 2) as guessed"
        " from marts.lineage_coverage where snapshot = $snapshot order by source",
        label="source",
        value="analysed",
    ),
    "personal-data": Dashboard(
        title="Tagged data",
        about="How many columns a tag's values flow into, and where masking ends their way.",
        sql="select tag, count(distinct to_object || '.' || to_column) as columns, count(*) filter (where "
        "is_stopped) as"
        " stopped, count(*) filter (where reaches_leaf and not is_stopped) as reaching_leaves from marts.pii_flow"
        " where snapshot = $snapshot group by tag order by columns desc, tag limit 30",
        label="tag",
        value="columns",
    ),
    "fragile": Dashboard(
        title="Stars and positional inserts",
        about="Files with statements that break when a column is added or moved.",
        sql="select path, count(*) as statements, string_agg(distinct feature, ', ' order by feature) as features,"
        " any_value(owners) as owners from marts.star_usage where snapshot = $snapshot"
        " group by path order by statements desc, path limit 30",
        label="path",
        value="statements",
    ),
    "stale": Dashboard(
        title="Stale objects",
        about="Objects that have not changed for longest, counted in snapshots of the history.",
        sql="select object, snapshots_since_change, last_author, last_changed_at, readers, owners from "
        "marts.stale_objects"
        " where snapshot = $snapshot order by snapshots_since_change desc, readers, object limit 30",
        label="object",
        value="snapshots_since_change",
    ),
    "history": Dashboard(
        title="What came and went",
        about="Objects, columns and edges that appeared or vanished, by commit.",
        sql="select substr(commit, 1, 10) || ' ' || event as step, count(*) as elements,"
        " count(*) filter (where element_kind = 'object') as objects,"
        " count(*) filter (where element_kind = 'column') as columns,"
        " count(*) filter (where element_kind = 'edge') as edges, any_value(author) as author"
        " from marts.lineage_history where event <> 'first seen' and $snapshot is not null"
        " group by commit, event, committed_at order by committed_at desc, event limit 60",
        label="step",
        value="elements",
    ),
}


CHART_WIDTH, CHART_LEFT, BAR_STEP, BAR_THICKNESS = 880, 360, 26, 16
LONGEST_LABEL = 52


class Bar(NamedTuple):
    """One bar: its name, shown label and figure, its position and its length."""

    name: str
    label: str
    figure: str
    top: int
    length: float


class Chart(NamedTuple):
    """Bars, and the size of the drawing."""

    bars: tuple[Bar, ...]
    width: int
    height: int
    left: int
    thick: int


def build_bar_chart(rows: Sequence[dict[str, Any]], label: str, value: str) -> Chart:
    """Build a bar for each row; the longest fills the width."""
    figures = [float(row[value] or 0) for row in rows]
    most = max(figures, default=0) or 1
    room = CHART_WIDTH - CHART_LEFT - 90
    made = tuple(
        Bar(
            name=str(row[label]),
            label=shorten_middle(str(row[label]), LONGEST_LABEL),
            figure=f"{figure:,.10g}",
            top=place * BAR_STEP,
            length=round(room * figure / most, 1),
        )
        for place, (row, figure) in enumerate(zip(rows, figures, strict=True))
    )
    return Chart(
        bars=made, width=CHART_WIDTH, height=max(len(made) * BAR_STEP, BAR_STEP), left=CHART_LEFT, thick=BAR_THICKNESS
    )
