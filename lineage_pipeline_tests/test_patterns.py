"""No regular expression of ours tries every way through a text: with each character more, time would double."""

import re
import signal
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import FrameType

import pytest

import lineage_pipeline
from lineage_pipeline import scan

HEAVY = ("spark", "defs", "definitions", "web", "quality", "cli", "alerts")
"""Rooms that take seconds to import."""

SECONDS = 10
ATOMS = (
    " ", "\n", "a", "1", "a1", "_", "/**/", "/* a */ ", "--\n ", "-- a\n", "#\n", "'", '"', "''", "a.", ".", "(", ")",
    "[1]", ",", "\\", "\\\n", "a,", "a ", "{{", "}}", "{%", "@a", "$", ":a", "*", "/*", "*/", "<", ">", "=", "\t",
)  # fmt: skip
AGAIN = re.compile(r"[)][*+{]")
"""What repeats a group is where a text can be cut in more than one way."""


def patterns() -> Iterator[re.Pattern[str]]:
    """All that modules keep and that repeat a group."""
    for module in walk_packages(lineage_pipeline.__path__, "lineage_pipeline."):
        if module.name.split(".")[1] not in HEAVY:
            for held in list(vars(import_module(module.name)).values()):
                yield from (one for one in _within(held) if AGAIN.search(one.pattern))


def _within(held: object) -> Iterator[re.Pattern[str]]:
    if isinstance(held, re.Pattern) and isinstance(held.pattern, str):
        yield held
    elif isinstance(held, tuple | list | dict):
        for item in held.values() if isinstance(held, dict) else held:
            yield from _within(item)
    else:
        for field in getattr(held, "__struct_fields__", ()) if not isinstance(held, type) else ():
            yield from _within(getattr(held, field))


def _stop(_: int, __: FrameType | None) -> None:
    raise TimeoutError


def test_no_pattern_tries_every_way_through_a_text() -> None:
    before = signal.signal(signal.SIGALRM, _stop)
    known = list(dict.fromkeys(patterns()))
    trying: tuple[str, str] = ("", "")
    try:
        for pattern in known:
            for text in (atom * 40 + "\0" for atom in ATOMS):
                trying = (pattern.pattern, text)
                signal.alarm(SECONDS)
                pattern.match(text)
                pattern.search(text)
    except TimeoutError:
        pytest.fail(f"{trying[0]!r} does not come to an end on {trying[1]!r}")
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert len(known) > 20


OPENED = {
    "a.sql": "MODEL (name a.b, kind VIEW);\n" + "/* " * 100_000,
    "b.sql": " \n" * 100_000 + "select 1 as hive;\n/\n",
    "c.py": f'spark.sql("select {"{{ " * 100_000}")\nspark.sql("select {"/* " * 100_000}")\n',
}
"""Files that open something again and again and never close it, or that have nothing but ends of lines."""


@pytest.mark.parametrize("name", OPENED)
def test_what_opens_without_end_is_looked_at_once(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(OPENED[name])
    started = time.process_time()
    scan(tmp_path)
    assert time.process_time() - started < 20  # each opening looked through to the end takes hours
