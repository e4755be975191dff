"""Bars as SVG, made on the server: no script, no inline style, readable without colour."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from lineage_pipeline.export.escaping import short

WIDTH, LEFT, STEP, THICK = 880, 360, 26, 16
LONGEST = 52


class Bar(NamedTuple):
    """One bar: its name, the figure beside it, where it stands and how long it is."""

    name: str
    label: str
    figure: str
    top: int
    length: float


class Chart(NamedTuple):
    """Bars, and how large the drawing is."""

    bars: tuple[Bar, ...]
    width: int
    height: int
    left: int
    thick: int


def bars(rows: Sequence[dict[str, Any]], label: str, value: str) -> Chart:
    """Draw a figure of each row as a bar; the longest fills the room."""
    figures = [float(row[value] or 0) for row in rows]
    most = max(figures, default=0) or 1
    room = WIDTH - LEFT - 90
    made = tuple(
        Bar(
            str(row[label]),
            short(str(row[label]), LONGEST),
            f"{figure:,.10g}",
            place * STEP,
            round(room * figure / most, 1),
        )
        for place, (row, figure) in enumerate(zip(rows, figures, strict=True))
    )
    return Chart(made, WIDTH, max(len(made) * STEP, STEP), LEFT, THICK)
