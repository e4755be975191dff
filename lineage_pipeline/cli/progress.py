"""How far a long piece of work has come, for people at a terminal and for nobody else."""

import sys
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import TypeVar

from lineage_pipeline.cli.manners import MANNERS

ItemT = TypeVar("ItemT")

WIDTH, PAUSE, PATIENCE = 30, 0.1, 0.5
"""Signs of the bar, seconds between two drawings, and seconds before the first."""


def progress(items: Sequence[ItemT], title: str) -> Iterator[ItemT]:
    """Give the items one by one; on a terminal a bar is drawn meanwhile, and wiped away at the end."""
    if MANNERS.quiet or not sys.stderr.isatty():
        yield from items
        return
    drawn, next_time = False, monotonic() + PATIENCE
    for number, item in enumerate(items):
        if monotonic() >= next_time:
            drawn, next_time = True, monotonic() + PAUSE
            _draw(number, len(items), title)
        yield item
    if drawn:
        sys.stderr.write("\r\x1b[2K")
        sys.stderr.flush()


def _draw(done: int, whole: int, title: str) -> None:
    full = WIDTH * done // max(whole, 1)
    bar = "━" * full + " " * (WIDTH - full)
    sys.stderr.write(f"\r\x1b[2K{title} {bar} {done} of {whole}")
    sys.stderr.flush()
