"""No regular expression of ours backtracks exponentially."""

import random
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import FrameType

import pytest

import lineage_pipeline
from lineage_pipeline.api import scan
from lineage_pipeline.discover.ignore_rules import IgnoreRules
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline_tests.support.git_repositories import run_git

HEAVY = ("spark", "defs", "definitions", "web", "quality", "cli", "alerts")
"""Rooms that take seconds to import."""

SECONDS = 10
ATOMS = (
    " ", "\n", "a", "1", "a1", "_", "/**/", "/* a */ ", "--\n ", "-- a\n", "#\n", "'", '"', "''", "a.", ".", "(", ")",
    "[1]", ",", "\\", "\\\n", "a,", "a ", "{{", "}}", "{%", "@a", "$", ":a", "*", "/*", "*/", "<", ">", "=", "\t",
)  # fmt: skip
REPEATED_GROUP = re.compile(r"[)][*+{]")
"""A group that is repeated, where a text may match in more than one way."""


def iter_patterns() -> Iterator[re.Pattern[str]]:
    """All that modules keep and that repeat a group."""
    for module in walk_packages(lineage_pipeline.__path__, "lineage_pipeline."):
        if module.name.split(".")[1] not in HEAVY:
            for held in list(vars(import_module(module.name)).values()):
                yield from (one for one in _iter_held_patterns(held) if REPEATED_GROUP.search(one.pattern))


def _iter_held_patterns(held: object) -> Iterator[re.Pattern[str]]:
    if isinstance(held, re.Pattern) and isinstance(held.pattern, str):
        yield held
    elif isinstance(held, tuple | list | dict):
        for item in held.values() if isinstance(held, dict) else held:
            yield from _iter_held_patterns(item)
    else:
        for field in getattr(held, "__struct_fields__", ()) if not isinstance(held, type) else ():
            yield from _iter_held_patterns(getattr(held, field))


def _raise_timeout(_: int, __: FrameType | None) -> None:
    raise TimeoutError


def test_no_pattern_backtracks_exponentially() -> None:
    before = signal.signal(signal.SIGALRM, _raise_timeout)
    known = list(dict.fromkeys(iter_patterns()))
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
def test_unclosed_openings_are_scanned_once(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(OPENED[name])
    started = time.process_time()
    scan(tmp_path)
    assert time.process_time() - started < 20  # each opening looked through to the end takes hours


STARRED = {
    ".gitignore": "*a" * 40 + "b\n" + "**/a/" * 40 + "b\n",
    ".lineageignore": "*a" * 40 + "b\n" + "**/a/" * 40 + "b\n",
    "CODEOWNERS": "*a" * 40 + "b @x\n" + "**/a/" * 40 + "b @x\n" + "a**" * 40 + "b @x\n",
    "lineage.toml": f'exclude = ["{"*a" * 40}b", "{"**/a/" * 40}b", "{"a**" * 40}b"]\n',
}
"""Files of a repository that hold patterns, with ones that fit in more ways than anybody can try."""


@pytest.mark.parametrize("name", STARRED)
def test_stars_of_path_patterns_do_not_backtrack(name: str, tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*("a" * 60))
    deep.mkdir(parents=True)
    for file in (deep / "c.sql", tmp_path / f"{'a' * 200}.sql"):
        file.write_text("create table t (a int);\n")
    (tmp_path / name).write_text(STARRED[name])
    before = signal.signal(signal.SIGALRM, _raise_timeout)
    signal.alarm(SECONDS)
    try:
        assert len(scan(tmp_path).lineage.statements) == 2
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_stars_match_what_git_matches(tmp_path: Path) -> None:
    """Some hundred patterns of a few signs, each on as many paths; two stars stand alone, as git has quirks there."""
    chance, pieces = random.Random(3), ("a", "b", "/", "*", "**", "**/", "/**/", "?", "[ab]", "a*b", "*a")
    made = {"".join(chance.choices(pieces, k=chance.randint(1, 7))) for _ in range(200)}
    written = {pattern for pattern in made if not re.search(r"[^/*]\*\*|\*\*[^/*]|\*{3}", pattern)}
    shapes = ("".join(chance.choices(("a", "b", "/", "ab", "a/b"), k=chance.randint(1, 8))) for _ in range(400))
    paths = sorted({re.sub("/+", "/", shape).strip("/") for shape in shapes} - {""})
    run_git(tmp_path, "init", "-q")
    asked = "\0".join(paths)
    for pattern in sorted(written):
        (tmp_path / ".gitignore").write_text(pattern + "\n")
        command = ["git", "check-ignore", "--no-index", "--stdin", "-z"]
        said = subprocess.run(command, cwd=tmp_path, input=asked, text=True, capture_output=True).stdout
        ignores = IgnoreRules({".gitignore": pattern}.get, (".gitignore",))
        assert [path for path in paths if ignores.ignores(path)] == said.split("\0")[:-1], pattern


def test_a_file_of_patterns_that_is_too_long_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("a\n" * 1_000_000)
    with pytest.raises(LineageError, match="over the limit of 1 MB"):
        scan(tmp_path)
