"""Compiling under guard: a statement that takes too long or too much is stopped, and its neighbours are compiled."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import msgspec

from lineage_pipeline.engine.compile.source import compile_source, unread_source
from lineage_pipeline.guard.child import WHOLE, Bounds, Step, can_guard, run
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import Options

LARGE = 50_000
"""Characters of a file from which it is worth a process of its own: below, limits on tokens and depth are enough."""

DOUBLING, MOST_DOUBLED = ("values", "join"), 12
"""Words that the parser reads twice where an alias is missing, each time with all that follows: time is two to the
power of their number. A file that has more of each is worth a process, however short it is."""

_BRACKET = re.compile(r"[()]")

MOST_STOPPED = 20
"""Statements of one file that are stopped before the file is given up: each costs all of its time."""

Text = tuple[str, Options]
Finish = Callable[[int, ir.Script], bytes]
"""What becomes of the script of the text with a number."""


def compile_texts(texts: Sequence[Text], finish: Finish) -> Iterator[bytes]:
    """Give the script of each text as `finish` writes it, in order."""
    refused: dict[int, dict[int, str]] = {}
    done = 0

    def work(number: int, step: Step) -> bytes:
        text, options = texts[number]
        known = refused.get(number, {})

        def watch(start: int) -> str:
            step(start)
            return known.get(start, "")

        return finish(number, compile_source(text, options, watch))

    for dialect in {options.dialect for _, options in texts}:
        _prepare(dialect)
    while done < len(texts) and not can_guard():
        yield finish(done, compile_source(*texts[done]))
        done += 1
    while done < len(texts):
        limits = texts[done][1].limits
        made, stopped = run(range(done, len(texts)), work, Bounds(limits.seconds, limits.memory))
        yield from made
        done += len(made)
        if stopped is None:
            continue
        known = refused.setdefault(done, {})
        if stopped.step == WHOLE or stopped.step in known or len(known) == MOST_STOPPED:
            yield finish(done, unread_source(*texts[done], stopped.reason))
            done += 1
        else:
            known[stopped.step] = stopped.reason


@cache
def _prepare(dialect: str) -> None:
    """Load what a dialect needs while there is no child yet: each of them would load it anew."""
    compile_source("select a from t", Options(dialect))


def compile_text(text: str, options: Options) -> ir.Script:
    """Give the script of one text, in a process of its own where it is large."""
    if len(text) > options.limits.bytes or not (len(text) > LARGE or _may_double(text)) or not can_guard():
        return compile_source(text, options)
    (made,) = compile_texts([(text, options)], lambda _, script: msgspec.msgpack.encode(script))
    return msgspec.msgpack.decode(made, type=ir.Script)


def _may_double(text: str) -> bool:
    """Say whether a text is short and may still take for ever."""
    lowered = text.lower()
    if all(lowered.count(word) > MOST_DOUBLED for word in DOUBLING):
        return True
    return lowered.count("select") > MOST_DOUBLED and _depth(text) > MOST_DOUBLED


def _depth(text: str) -> int:
    """How deep brackets are nested: the parser reads a query in brackets twice where it is broken further in."""
    depth = deepest = 0
    for sign in _BRACKET.findall(text):
        depth = depth + 1 if sign == "(" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest
