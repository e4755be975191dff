"""Fuzzing: texts mutated from the fixtures, by seed; each must end in sound rows.

`python -m lineage_pipeline_tests.support.fuzzing --count 200000` works in child processes that are stopped when an
input takes too long, so that a hang and a crash of the interpreter are found like any fault: each prints its seed.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lineage_pipeline.model.analysis import InputFile, Options
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline.sandbox.child_process import ReportStep, StepLimits, run_in_child
from lineage_pipeline_tests.support.cases import Case, load_cases
from lineage_pipeline_tests.support.paths import FIXTURES
from lineage_pipeline_tests.support.soundness import assert_sound

DIALECTS = (
    "tsql",
    "snowflake",
    "bigquery",
    "spark",
    "postgres",
    "duckdb",
    "mysql",
    "oracle",
    "redshift",
    "databricks",
    "",
)
SECONDS, MEMORY, BATCH = 20.0, 2_000_000_000, 500
MAX_LENGTH = 6_000
HOSTILE_TOKENS = (
    "(", ")", "((", "[", "]", "'", "\"", "`", "$$", "/*", "*/", "--", ";", ",", ".", "..", "::", ":", "@", "#", "?",
    "\\", "\x00", "\ufeff", "\u2028", "\u202e", "\U0001f4a9", "\xe9", "\r", "\n", "\t", "\x1b[31m", "=", "=>", "->",
    "|>", "||", "*", "t.*", "-1", "1e999999", "0x", "''", "\"\"", "N'x'", "{{ x }}", "{% if %}", "GO\n", "BEGIN",
    "END", "CASE", "WHEN", "IF", "ELSE", "LOOP", "SELECT", "FROM", "WHERE", "JOIN", "UNION ALL", "WITH", "AS",
    "OVER (", "PIVOT (", "UNPIVOT (", "LATERAL", "MERGE INTO", "INSERT INTO", "CREATE VIEW v AS", "CREATE TABLE t (",
    "ALTER TABLE", "DROP", "DECLARE @x INT", "SET @x =", "EXEC (", "NULL", "NOT", "IN (", "EXISTS (", "BETWEEN",
    "QUALIFY", "GROUP BY ALL", "ORDER BY 1", "LIMIT", "VALUES (", "STRUCT(", "ARRAY[", "UNNEST(", "RECURSIVE", "$1",
    "%s", ":x", "interval '1' day", "__hole__",
)  # fmt: skip


def load_corpus() -> list[Case]:
    """All cases of the specification, and those that earlier runs found."""
    return [*load_cases("link"), *load_cases("fuzz")] if (FIXTURES / "fuzz").is_dir() else load_cases("link")


def make_mutant(seed: int, known: Sequence[Case]) -> tuple[str, str]:
    """The dialect and the text of a seed."""
    chance = random.Random(seed)
    case = chance.choice(known)
    own = case.setting("dialect")
    dialect = own if chance.random() < 0.7 else chance.choice(DIALECTS)
    text = case.sql
    for _ in range(chance.choice((1, 1, 2, 3, 5, 8))):
        text = chance.choice(MUTATIONS)(text, chance, known)[:MAX_LENGTH]
    return dialect, text


def _cut(text: str, chance: random.Random, _: Sequence[Case]) -> str:
    first, last = sorted(chance.randrange(len(text) + 1) for _ in range(2))
    return text[:first] + text[last:] if chance.random() < 0.5 else text[:first]


def _split_words(text: str) -> list[str]:
    return text.split(" ")


def _drop_words(text: str, chance: random.Random, _: Sequence[Case]) -> str:
    words = _split_words(text)
    first = chance.randrange(len(words))
    return " ".join(words[:first] + words[first + chance.choice((1, 1, 2, 5)) :])


def _repeat_words(text: str, chance: random.Random, _: Sequence[Case]) -> str:
    words = _split_words(text)
    first = chance.randrange(len(words))
    some = words[first : first + chance.choice((1, 2, 4, 9))]
    return " ".join(words[:first] + some * chance.choice((2, 3, 20)) + words[first:])


def _swap_words(text: str, chance: random.Random, _: Sequence[Case]) -> str:
    words = _split_words(text)
    one, other = (chance.randrange(len(words)) for _ in range(2))
    words[one], words[other] = words[other], words[one]
    return " ".join(words)


def _insert_hostile_token(text: str, chance: random.Random, _: Sequence[Case]) -> str:
    at = chance.randrange(len(text) + 1)
    between = chance.choice(("", " "))
    return text[:at] + between + chance.choice(HOSTILE_TOKENS) * chance.choice((1, 1, 1, 2, 30)) + between + text[at:]


def _replace_word(text: str, chance: random.Random, known: Sequence[Case]) -> str:
    words, others = _split_words(text), _split_words(chance.choice(known).sql)
    words[chance.randrange(len(words))] = chance.choice((chance.choice(HOSTILE_TOKENS), chance.choice(others)))
    return " ".join(words)


def _splice(text: str, chance: random.Random, known: Sequence[Case]) -> str:
    other = chance.choice(known).sql
    at, from_ = chance.randrange(len(text) + 1), chance.randrange(len(other))
    return text[:at] + other[from_ : from_ + chance.choice((10, 60, 400))] + text[at:]


NESTING_TEMPLATES = (
    "({})",
    "select * from ({}) x",
    "create view v as {}",
    "with c as ({}) select * from c",
    "begin {} end",
    "create procedure p as begin {} end",
    "exec('{}')",
    "if 1=1 {}",
    "{0} union all {0}",
)


def _nest(text: str, chance: random.Random, _: Sequence[Case]) -> str:
    inner = text.strip().rstrip(";")
    shape = chance.choice(NESTING_TEMPLATES)
    return shape.format(inner)


def _flip_char(text: str, chance: random.Random, _: Sequence[Case]) -> str:
    if not text:
        return text
    at = chance.randrange(len(text))
    return (
        text[:at]
        + chr(chance.choice((ord(text[at]) ^ (1 << chance.randrange(7)), chance.randrange(0x3000))))
        + text[at + 1 :]
    )


Mutation = Callable[[str, random.Random, Sequence[Case]], str]
MUTATIONS: tuple[Mutation, ...] = (
    _cut, _drop_words, _repeat_words, _swap_words, _insert_hostile_token, _replace_word, _splice, _nest, _flip_char,
)  # fmt: skip


def assert_survives(dialect: str, text: str) -> None:
    """A text ends in sound rows, without an internal error."""
    lineage = build_lineage([InputFile("-", text, Options(dialect))])
    assert_sound(lineage, {"-": text}, whole=False)


def find_failures(seeds: Sequence[int]) -> Iterator[tuple[int, str]]:
    """The seeds whose texts fail, each with the reason."""
    known = load_corpus()

    def work(seed: int, step: ReportStep) -> bytes:
        step(seed)
        try:
            assert_survives(*make_mutant(seed, known))
        except Exception as fault:  # noqa: BLE001 - whatever it is, it is what we look for
            where = fault.__traceback__
            while where is not None and where.tb_next is not None:
                where = where.tb_next
            place = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}" if where is not None else "?"
            return f"{type(fault).__name__} at {place}: {str(fault)[:300]}".encode("utf-8", "backslashreplace")
        return b""

    done = 0
    while done < len(seeds):
        batch = seeds[done : done + BATCH]
        made, stopped = run_in_child(batch, work, StepLimits(SECONDS, MEMORY))
        yield from ((seed, told.decode()) for seed, told in zip(batch, made, strict=False) if told)
        done += len(made)
        if stopped is not None:
            yield batch[len(made)], f"stopped: {stopped.reason}"
            done += 1


def main() -> int:
    """Try many seeds, and print the failures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--show", type=int, help="print the text of one seed")
    given = parser.parse_args()
    if given.show is not None:
        print(*make_mutant(given.show, load_corpus()), sep="\n")
        return 0
    started, found = time.monotonic(), 0
    for first in range(given.first, given.first + given.count, BATCH):
        for seed, told in find_failures(range(first, min(first + BATCH, given.first + given.count))):
            found += 1
            print(f"{seed}: {told}", flush=True)
        if first % (BATCH * 20) == 0:
            print(
                f"{first + BATCH - given.first} inputs, {found} failures, {time.monotonic() - started:.0f} s",
                flush=True,
            )
    print(f"{given.count} inputs from seed {given.first}, {found} failures, {time.monotonic() - started:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
