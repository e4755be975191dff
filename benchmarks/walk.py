"""The walk of one statement through the modules: which it passes, in order, and how often it changes.

python -m benchmarks.walk                      # a plain Snowflake view
python -m benchmarks.walk FILE --dialect tsql  # another text
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from lineage_pipeline.api import analyze

PACKAGE = "lineage_pipeline."
VIEW = "create view mart.daily as select o.day, sum(o.amount) as total from core.orders o where o.paid group by o.day"


class Walk:
    """The modules that calls pass through."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str], int] = {}
        self.modules: dict[str, int] = {}
        self.changes = 0
        self.depth = 0
        self._last = ""

    def enter(self, frame: FrameType) -> None:
        """Count one call."""
        module = str(frame.f_globals.get("__name__", ""))
        if not module.startswith(PACKAGE):
            return
        function = (module, frame.f_code.co_qualname)
        self.functions[function] = self.functions.get(function, 0) + 1
        self.modules[module] = self.modules.get(module, 0) + 1
        self.changes += module != self._last
        self._last = module
        self.depth = max(self.depth, _own_depth(frame))


def _own_depth(frame: FrameType | None) -> int:
    depth = 0
    while frame is not None:
        depth += str(frame.f_globals.get("__name__", "")).startswith(PACKAGE)
        frame = frame.f_back
    return depth


@contextmanager
def recorded() -> Iterator[Walk]:
    """Record every call of a function of ours."""
    walk = Walk()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            walk.enter(frame)

    sys.setprofile(profile)
    try:
        yield walk
    finally:
        sys.setprofile(None)


def main(arguments: list[str]) -> int:
    """Print the walk of a text."""
    parser = argparse.ArgumentParser(description="print the modules that one text passes through")
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--dialect", default="snowflake")
    options = parser.parse_args(arguments)
    text = options.file.read_text(encoding="utf-8") if options.file else VIEW
    analyze(text, dialect=options.dialect)  # what is imported and made once does not count
    with recorded() as walk:
        analyze(text, dialect=options.dialect)
    for module, calls in walk.modules.items():
        print(f"{calls:6} {module.removeprefix(PACKAGE)}")
    print(
        f"{len(walk.modules)} modules, {len(walk.functions)} functions, {walk.changes} changes of module, "
        f"{walk.depth} frames deep"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
