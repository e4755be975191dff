"""A small plot as SVG: lines over two logarithmic axes, in colors that show on light and dark pages."""

import math
from collections.abc import Mapping, Sequence

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 560, 340, 64, 46, 34, 150
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9")
GRAY = "#888888"


def plot(title: str, across: str, up: str, lines: Mapping[str, Points]) -> str:
    """Draw lines by name; every value is above nought."""
    middle = HEIGHT / 2
    every = [point for points in lines.values() for point in points]
    xs, ys = _decades([x for x, _ in every]), _decades([y for _, y in every])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="11" fill="{GRAY}">',
        f'<text x="{LEFT}" y="18" font-size="13">{title}</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{across}</text>',
        f'<text x="14" y="{middle:.0f}" text-anchor="middle" transform="rotate(-90 14 {middle:.0f})">{up}</text>',
    ]
    for power in range(xs[0], xs[1] + 1):
        x = _x(10**power, xs)
        parts.append(_line(x, TOP, x, HEIGHT - BOTTOM))
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{10**power:,g}</text>')
    for power in range(ys[0], ys[1] + 1):
        y = _y(10.0**power, ys)
        parts.append(_line(LEFT, y, WIDTH - RIGHT, y))
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:,g}</text>')
    for color, (name, points) in zip(COLORS, lines.items(), strict=False):
        placed = [(_x(x, xs), _y(y, ys)) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in placed]
        x, y = placed[-1]
        parts.append(f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{color}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _x(value: float, decades: tuple[int, int]) -> float:
    return LEFT + (math.log10(value) - decades[0]) / (decades[1] - decades[0]) * (WIDTH - RIGHT - LEFT)


def _y(value: float, decades: tuple[int, int]) -> float:
    low, high = decades
    return HEIGHT - BOTTOM - (math.log10(value) - low) / (high - low) * (HEIGHT - BOTTOM - TOP)


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"'
    return f'<line {ends} stroke="{GRAY}" stroke-opacity="0.3"/>'
