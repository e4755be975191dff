"""Sandboxed compilation: a statement that takes too long or too much memory is stopped; the others are compiled."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import msgspec

from lineage_pipeline.engine.compile.compiler import build_unread_script, compile_source
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import Options
from lineage_pipeline.sandbox.child_process import ITEM_START, ReportStep, StepLimits, can_sandbox, run_in_child

LARGE = 50_000
"""Characters from which a file gets its own process; below, limits on tokens and depth are enough."""

DOUBLING_WORDS, MAX_DOUBLED = ("values", "join"), 12
"""Words that the parser reads twice where an alias is missing, and how many of each a file may have.

Time doubles with each of them: a file with more gets its own process, however short it is.
"""

_BRACKET = re.compile(r"[()]")

MAX_STOPPED = 20
"""Stopped statements after which a file is given up: each uses up its whole time limit."""

TextWithOptions = tuple[str, Options]
FinishScript = Callable[[int, ir.Script], bytes]
"""Encodes the script of the text with a number."""


def compile_texts(texts: Sequence[TextWithOptions], finish: FinishScript) -> Iterator[bytes]:
    """The encoded script of each text, in order."""
    refused: dict[int, dict[int, str]] = {}
    done = 0

    def work(number: int, step: ReportStep) -> bytes:
        text, options = texts[number]
        known = refused.get(number, {})

        def watch(start: int) -> str:
            step(start)
            return known.get(start, "")

        return finish(number, compile_source(text, options, watch))

    for dialect in {options.dialect for _, options in texts}:
        _preload_dialect(dialect)
    while done < len(texts) and not can_sandbox():
        yield finish(done, compile_source(*texts[done]))
        done += 1
    while done < len(texts):
        limits = texts[done][1].limits
        made, stopped = run_in_child(range(done, len(texts)), work, StepLimits(limits.seconds, limits.memory))
        yield from made
        done += len(made)
        if stopped is None:
            continue
        known = refused.setdefault(done, {})
        if stopped.step == ITEM_START or stopped.step in known or len(known) == MAX_STOPPED:
            yield finish(done, build_unread_script(*texts[done], stopped.reason))
            done += 1
        else:
            known[stopped.step] = stopped.reason


@cache
def _preload_dialect(dialect: str) -> None:
    """Load a dialect before forking, so that no child has to."""
    compile_source("select a from t", Options(dialect))


def compile_text(text: str, options: Options) -> ir.Script:
    """The script of one text, compiled in its own process where it is large."""
    if len(text) > options.limits.bytes or not (len(text) > LARGE or _may_explode(text)) or not can_sandbox():
        return compile_source(text, options)
    (made,) = compile_texts([(text, options)], lambda _, script: msgspec.msgpack.encode(script))
    return msgspec.msgpack.decode(made, type=ir.Script)


def _may_explode(text: str) -> bool:
    """Say whether a short text may still take exponential time."""
    lowered = text.lower()
    if all(lowered.count(word) > MAX_DOUBLED for word in DOUBLING_WORDS):
        return True
    return lowered.count("select") > MAX_DOUBLED and _bracket_depth(text) > MAX_DOUBLED


def _bracket_depth(text: str) -> int:
    """The nesting depth of brackets: the parser reads a broken query in brackets twice."""
    depth = deepest = 0
    for sign in _BRACKET.findall(text):
        depth = depth + 1 if sign == "(" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest
