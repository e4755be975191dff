"""A child process that works through items, watched by the kernel: no thread, no polling, nothing to pay meanwhile.

Before each step the child says where it is and winds up two alarms: one counts the time it computes, the other, far
longer, the clock. An alarm ends it by a signal that nothing in it can hold up, not even a compiled parser or a lock
that a thread of the parent's held; its parent reads what it sent, and sees where it was.
"""

import faulthandler
import gc
import mmap
import os
import resource
import signal
import struct
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, TypeVar

import msgspec

ItemT = TypeVar("ItemT")
Step = Callable[[int], None]
"""Says that a step begins, by a number of the caller's."""

WHOLE = -1
"""The step of an item before the first that it names itself."""

NO_MEMORY, FAILED = 77, 78
PATIENCE = 20
"""Seconds of the clock for each second of computing before a step counts as stuck: what waits for ever has no alarm."""

SIZE = struct.Struct("<q")
MARK = struct.Struct("<qq")


class Bounds(msgspec.Struct, frozen=True):
    """What one step may take: seconds of computing, and bytes of memory beyond what the process has."""

    seconds: float
    memory: int


class Stopped(msgspec.Struct, frozen=True):
    """Work that was cut short: at which item, at which step of it, and by what."""

    item: int
    step: int
    reason: str


def can_guard() -> bool:
    """Say whether this system has what it takes."""
    return hasattr(os, "fork") and hasattr(signal, "setitimer")


def run(
    items: Sequence[ItemT], work: Callable[[ItemT, Step], bytes], bounds: Bounds
) -> tuple[list[bytes], Stopped | None]:
    """Give what the work makes of the items, in order, as far as it came, and what stopped it before the end."""
    place = mmap.mmap(-1, MARK.size)
    place[:] = MARK.pack(0, WHOLE)
    reading, writing = os.pipe()
    child = _fork()
    if child == 0:
        os.close(reading)
        _work_through(items, work, bounds, place, writing)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as stream:
            made = _received(stream.read, len(items))
    finally:  # also where whoever waits for it is interrupted
        status = _ended(child, kill=sys.exc_info()[0] is not None)
    if len(made) == len(items):
        return made, None
    item, step = MARK.unpack(place[:])
    return made, Stopped(item, step, _reason(status, bounds))


def _fork() -> int:
    with warnings.catch_warnings():  # a child that only computes needs none of the threads that it does not have
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _work_through(
    items: Sequence[ItemT], work: Callable[[ItemT, Step], bytes], bounds: Bounds, place: mmap.mmap, pipe: int
) -> NoReturn:
    """Be the child: nothing of the parent's is cleaned up here, and nothing goes on after it."""
    code = FAILED
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        _wind_up(bounds)
        _settle(bounds)
        for index, item in enumerate(items):

            def step(number: int, index: int = index) -> None:
                MARK.pack_into(place, 0, index, number)
                _wind_up(bounds)

            step(WHOLE)
            content = work(item, step)
            _send(pipe, SIZE.pack(len(content)) + content)
        code = 0
    except MemoryError:
        code = NO_MEMORY
    except BrokenPipeError:  # nobody waits for it any more
        code = FAILED
    finally:
        os._exit(code)


def _wind_up(bounds: Bounds) -> None:
    signal.setitimer(signal.ITIMER_PROF, bounds.seconds)
    signal.setitimer(signal.ITIMER_REAL, bounds.seconds * PATIENCE)


def _settle(bounds: Bounds) -> None:
    """Die by an alarm, with the parent, and before anybody else where memory runs out."""
    gc.freeze()  # what the parent holds is not looked through, nor copied by that
    faulthandler.disable()  # what ends it is told by its parent
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is asked as well, and ends it
    _end_with_parent()
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    with suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * mmap.PAGESIZE + bounds.memory
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))


def _end_with_parent() -> None:
    """Ask the kernel to end this process when its parent ends; where it cannot, the alarm is the last resort."""
    with suppress(OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _send(pipe: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(pipe, rest[: 1 << 20]) :]


def _received(read: Callable[[int], bytes], count: int) -> list[bytes]:
    made: list[bytes] = []
    while len(made) < count:
        head = read(SIZE.size)
        if len(head) < SIZE.size:
            break
        (size,) = SIZE.unpack(head)
        content = read(size)
        if len(content) < size:
            break
        made.append(content)
    return made


def _ended(child: int, *, kill: bool) -> int:
    if kill:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _reason(status: int, bounds: Bounds) -> str:
    """Say what ended a child."""
    match -status:
        case signal.SIGPROF:
            return f"{bounds.seconds:g} seconds"
        case signal.SIGALRM:
            return f"{bounds.seconds * PATIENCE:g} seconds of waiting"
        case signal.SIGKILL:
            return "the memory of the machine"
        case signal.SIGSEGV | signal.SIGBUS | signal.SIGABRT:
            return "what can be followed"
    return f"{bounds.memory // 1_000_000} MB of memory" if status == NO_MEMORY else "what can be followed"
