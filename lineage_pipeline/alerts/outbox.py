"""What has to be sent, on disk until it is: a file for each message and sink, in the order in which they came.

<folder>/state.json          what has been told, and up to where evaluations have been read
<folder>/outbox/…json        what is still to be sent
<folder>/undelivered/…json   what no sink would take in all that time
<folder>/unreadable/…json    what a machine that died left of a file
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from lineage_pipeline.alerts.judging import State
from lineage_pipeline.alerts.model import Alert, Patience, SinkOptions, identify
from lineage_pipeline.alerts.sinks import Refusal
from lineage_pipeline.vocabulary.errors import LineageError

DAY = 86_400.0

MOST_DOUBLED = 32
"""How often a pause is doubled at most; by then it is longer than anybody waits."""

KeptT = TypeVar("KeptT", bound=msgspec.Struct)


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """One message for one sink, how often it was tried, and when it is tried again.

    `left` names the recipients of a mail who are to get it still, where others have it.
    """

    alert: Alert
    sink: str
    queued_at: float
    attempts: int = 0
    due: float = 0.0
    reason: str = ""
    left: tuple[str, ...] = ()


class Memory(msgspec.Struct, frozen=True):
    """What is known between ticks: up to which evaluation we have read, of which time it is, and what was told."""

    cursor: int = 0
    state: State = State()
    at: float = 0.0


class Outcome(msgspec.Struct, frozen=True):
    """What became of the messages of a tick: sent, kept for later with the reason, put aside for good."""

    sent: tuple[Delivery, ...] = ()
    kept: tuple[Delivery, ...] = ()
    aside: tuple[Delivery, ...] = ()


class Outbox:
    """The folder; whoever works on it holds its lock."""

    def __init__(self, folder: Path) -> None:
        """Take the folder; it is made when the first thing is kept."""
        self.folder = folder

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Hold the folder alone; False where somebody else does."""
        import fcntl

        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True

    @property
    def _state(self) -> Path:
        return self.folder / "state.json"

    def set_aside(self) -> list[str]:
        """Move files that cannot be read out of the way of the others, and say which."""
        kinds: list[tuple[Path, type[msgspec.Struct]]] = [(file, Delivery) for file in self._files()]
        kinds += [(self._state, Memory)] if self._state.exists() else []
        return [told for file, kind in kinds if (told := self._set_aside(file, kind))]

    def _set_aside(self, file: Path, kind: type[msgspec.Struct]) -> str:
        try:
            _read(file, kind)
            return ""
        except LineageError as error:
            place = self.folder / "unreadable" / file.name
            place.parent.mkdir(parents=True, exist_ok=True)
            file.replace(place)
            return f"{error}; it is kept in {place.parent}"

    def recall(self) -> Memory:
        """Read what is known from before."""
        return _read(self._state, Memory) if self._state.exists() else Memory()

    def remember(self, memory: Memory) -> None:
        """Keep what is known now."""
        _write(self._state, memory)

    def queue(self, alert: Alert, sinks: Iterable[SinkOptions], now: float) -> None:
        """Keep a message for each sink; one that is there already is left as it is."""
        for sink in sinks:
            delivery = Delivery(alert=alert, sink=sink.name, queued_at=now)
            if not self._file(delivery).exists():
                _write(self._file(delivery), delivery)

    def waiting(self) -> list[Delivery]:
        """Read what is still to be sent, the oldest first."""
        found = [_read(file, Delivery) for file in self._files()]
        return sorted(found, key=lambda one: (one.alert.at, one.queued_at, one.alert.id))

    def _files(self) -> list[Path]:
        return sorted((self.folder / "outbox").glob("*.json"))

    def deliver(
        self,
        sinks: Sequence[SinkOptions],
        send: Callable[[Alert, SinkOptions], Refusal | None],
        patience: Patience,
        clock: Callable[[], float],
    ) -> Outcome:
        """Try what is due; a sink that fails or still waits holds its later messages back, so that order is kept."""
        known: Mapping[str, SinkOptions] = {sink.name: sink for sink in sinks}
        end = clock() + patience.budget
        blocked: set[str] = set()
        sent, kept, aside = [], [], []
        for one in self.waiting():
            now = clock()
            if now - one.queued_at > patience.days * DAY:
                aside.append(self._put_aside(one))
                continue
            sink = known.get(one.sink)
            if sink is None or one.sink in blocked or one.due > now or now >= end:
                blocked.add(one.sink)
                kept.append(one)
                continue
            refusal = send(one.alert, _narrowed(sink, one))
            if refusal is None:
                self._file(one).unlink()
                sent.append(one)
                continue
            tried = msgspec.structs.replace(one, reason=refusal.reason, left=refusal.left or one.left)
            if refusal.final:
                aside.append(self._put_aside(tried))
            else:
                blocked.add(one.sink)
                kept.append(self._postpone(tried, refusal.wait, patience, clock()))
        return Outcome(tuple(sent), tuple(kept), tuple(aside))

    def _postpone(self, one: Delivery, asked: float, patience: Patience, now: float) -> Delivery:
        pause = max(asked, patience.pause * 2 ** min(one.attempts, MOST_DOUBLED))
        later = msgspec.structs.replace(one, attempts=one.attempts + 1, due=now + min(pause, patience.longest))
        _write(self._file(one), later)
        return later

    def _put_aside(self, one: Delivery) -> Delivery:
        _write(self.folder / "undelivered" / self._file(one).name, one)
        self._file(one).unlink()
        return one

    def _file(self, one: Delivery) -> Path:
        return self.folder / "outbox" / f"{one.alert.id}-{identify(one.sink)[:12]}.json"


def _narrowed(sink: SinkOptions, one: Delivery) -> SinkOptions:
    """Give the sink with the recipients alone who are left."""
    return msgspec.structs.replace(sink, recipients=one.left, addresses={}) if one.left else sink


def _write(file: Path, content: msgspec.Struct) -> None:
    """Put a whole file in place at once; when this returns, it outlives the machine."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".draft")
    with draft.open("wb") as stream:
        stream.write(msgspec.json.encode(content) + b"\n")
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the name of the file, too
    finally:
        os.close(folder)


def _read(file: Path, kind: type[KeptT]) -> KeptT:
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (msgspec.DecodeError, OSError) as error:
        raise LineageError(f"{file} cannot be read: {error}") from error
