"""A child process that works through items under limits enforced by the kernel, without threads or polling.

Before each step the child records its position and sets two timers: one for CPU time and a much longer one for the
clock. A timer ends it with a signal that neither a compiled parser nor an inherited lock can hold up; the parent reads
what it sent, and sees where it was.
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
ReportStep = Callable[[int], None]
"""Reports that a step begins, by a number of the caller's."""

ITEM_START = -1
"""The step number of an item before the first step that it reports."""

NO_MEMORY_EXIT, FAILED_EXIT = 77, 78
CLOCK_FACTOR = 20
"""Seconds of clock time for each second of CPU time before a step counts as stuck."""

SIZE_HEADER = struct.Struct("<q")
STEP_RECORD = struct.Struct("<qq")


class StepLimits(msgspec.Struct, frozen=True):
    """What one step may take: seconds of CPU time, and bytes of memory beyond what the process has."""

    seconds: float
    memory: int


class StoppedWork(msgspec.Struct, frozen=True):
    """Work that was cut short: at which item and step, and why."""

    item: int
    step: int
    reason: str


def can_sandbox() -> bool:
    """Say whether this system supports the sandbox."""
    return hasattr(os, "fork") and hasattr(signal, "setitimer")


def run_in_child(
    items: Sequence[ItemT], work: Callable[[ItemT, ReportStep], bytes], bounds: StepLimits
) -> tuple[list[bytes], StoppedWork | None]:
    """The results of the items in order, as far as they were computed, and what stopped the work early."""
    place = mmap.mmap(-1, STEP_RECORD.size)
    place[:] = STEP_RECORD.pack(0, ITEM_START)
    reading, writing = os.pipe()
    child = _fork()
    if child == 0:
        os.close(reading)
        _run_items(items, work, bounds, place, writing)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as stream:
            made = _receive_results(stream.read, len(items))
    finally:  # also where whoever waits for it is interrupted
        status = _wait_for_exit(child, kill=sys.exc_info()[0] is not None)
    if len(made) == len(items):
        return made, None
    item, step = STEP_RECORD.unpack(place[:])
    return made, StoppedWork(item, step, _describe_exit(status, bounds))


def _fork() -> int:
    with warnings.catch_warnings():  # a child that only computes needs none of the threads that it does not have
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _run_items(
    items: Sequence[ItemT], work: Callable[[ItemT, ReportStep], bytes], bounds: StepLimits, place: mmap.mmap, pipe: int
) -> NoReturn:
    """Run in the child: nothing of the parent is cleaned up, and the process exits at the end."""
    code = FAILED_EXIT
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        _set_timers(bounds)
        _prepare_child(bounds)
        for index, item in enumerate(items):

            def step(number: int, index: int = index) -> None:
                STEP_RECORD.pack_into(place, 0, index, number)
                _set_timers(bounds)

            step(ITEM_START)
            content = work(item, step)
            _send(pipe, SIZE_HEADER.pack(len(content)) + content)
        code = 0
    except MemoryError:
        code = NO_MEMORY_EXIT
    except BrokenPipeError:  # nobody waits for it any more
        code = FAILED_EXIT
    finally:
        os._exit(code)


def _set_timers(bounds: StepLimits) -> None:
    signal.setitimer(signal.ITIMER_PROF, bounds.seconds)
    signal.setitimer(signal.ITIMER_REAL, bounds.seconds * CLOCK_FACTOR)


def _prepare_child(bounds: StepLimits) -> None:
    """Make the child end by a timer, with its parent, and first when memory runs out."""
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
    """Ask the kernel to end this process with its parent; where it cannot, the timer remains."""
    with suppress(OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _send(pipe: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(pipe, rest[: 1 << 20]) :]


def _receive_results(read: Callable[[int], bytes], count: int) -> list[bytes]:
    made: list[bytes] = []
    while len(made) < count:
        head = read(SIZE_HEADER.size)
        if len(head) < SIZE_HEADER.size:
            break
        (size,) = SIZE_HEADER.unpack(head)
        content = read(size)
        if len(content) < size:
            break
        made.append(content)
    return made


def _wait_for_exit(child: int, *, kill: bool) -> int:
    if kill:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _describe_exit(status: int, bounds: StepLimits) -> str:
    """Why a child ended."""
    match -status:
        case signal.SIGPROF:
            return f"{bounds.seconds:g} seconds"
        case signal.SIGALRM:
            return f"{bounds.seconds * CLOCK_FACTOR:g} seconds of waiting"
        case signal.SIGKILL:
            return "the memory of the machine"
        case signal.SIGSEGV | signal.SIGBUS | signal.SIGABRT:
            return "what can be followed"
    return f"{bounds.memory // 1_000_000} MB of memory" if status == NO_MEMORY_EXIT else "what can be followed"
