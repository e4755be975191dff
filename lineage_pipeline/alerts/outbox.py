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

from lineage_pipeline.alerts.alert import Alert, AlertState, CheckEvaluation, hash_identity, judge_evaluations
from lineage_pipeline.alerts.sinks import SinkContext, SinkRefusal, select_sinks, send_alert
from lineage_pipeline.model.alerting import RetryPolicy, SinkOptions
from lineage_pipeline.model.errors import LineageError

DAY = 86_400.0

MAX_DOUBLINGS = 32
"""How often a pause is doubled at most."""

StoredT = TypeVar("StoredT", bound=msgspec.Struct)


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """One alert for one sink, how often it was tried, and when it is tried next.

    `left` lists the recipients of a mail who still have to get it, where others have.
    """

    alert: Alert
    sink: str
    queued_at: float
    attempts: int = 0
    due: float = 0.0
    reason: str = ""
    left: tuple[str, ...] = ()


class OutboxState(msgspec.Struct, frozen=True):
    """What is known between ticks: the last evaluation read, its time, and what was alerted."""

    cursor: int = 0
    state: AlertState = AlertState()
    at: float = 0.0


class DeliveryOutcome(msgspec.Struct, frozen=True):
    """The deliveries of a tick: sent, postponed with the reason, and set aside for good."""

    sent: tuple[Delivery, ...] = ()
    kept: tuple[Delivery, ...] = ()
    aside: tuple[Delivery, ...] = ()


class Outbox:
    """The folder of pending alerts; whoever works on it holds its lock."""

    def __init__(self, folder: Path) -> None:
        """Store the folder; it is created with the first file."""
        self.folder = folder

    @contextmanager
    def lock(self) -> Iterator[bool]:
        """Hold the folder exclusively; False where another process does."""
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
    def _state_file(self) -> Path:
        return self.folder / "state.json"

    def set_aside_unreadable(self) -> list[str]:
        """Move unreadable files out of the way of the others, and return their messages."""
        kinds: list[tuple[Path, type[msgspec.Struct]]] = [(file, Delivery) for file in self._files()]
        kinds += [(self._state_file, OutboxState)] if self._state_file.exists() else []
        return [problem for file, kind in kinds if (problem := self._set_aside_file(file, kind))]

    def _set_aside_file(self, file: Path, kind: type[msgspec.Struct]) -> str:
        try:
            _read_stored(file, kind)
            return ""
        except LineageError as error:
            place = self.folder / "unreadable" / file.name
            place.parent.mkdir(parents=True, exist_ok=True)
            file.replace(place)
            return f"{error}; it is kept in {place.parent}"

    def load_state(self) -> OutboxState:
        """Read the state of the last tick."""
        return _read_stored(self._state_file, OutboxState) if self._state_file.exists() else OutboxState()

    def save_state(self, memory: OutboxState) -> None:
        """Store the state."""
        _write_durably(self._state_file, memory)

    def queue(self, alert: Alert, sinks: Iterable[SinkOptions], now: float) -> None:
        """Store an alert for each sink; one that is already there is kept."""
        for sink in sinks:
            delivery = Delivery(alert=alert, sink=sink.name, queued_at=now)
            if not self._delivery_file(delivery).exists():
                _write_durably(self._delivery_file(delivery), delivery)

    def pending(self) -> list[Delivery]:
        """Return the pending deliveries, oldest first."""
        found = [_read_stored(file, Delivery) for file in self._files()]
        return sorted(found, key=lambda one: (one.alert.at, one.queued_at, one.alert.id))

    def _files(self) -> list[Path]:
        return sorted((self.folder / "outbox").glob("*.json"))

    def deliver(
        self,
        sinks: Sequence[SinkOptions],
        send: Callable[[Alert, SinkOptions], SinkRefusal | None],
        patience: RetryPolicy,
        clock: Callable[[], float],
    ) -> DeliveryOutcome:
        """Send what is due; a failing or waiting sink holds back its later alerts, so that order is kept."""
        known: Mapping[str, SinkOptions] = {sink.name: sink for sink in sinks}
        end = clock() + patience.budget
        blocked: set[str] = set()
        sent, kept, aside = [], [], []
        for one in self.pending():
            now = clock()
            if now - one.queued_at > patience.days * DAY:
                aside.append(self._give_up(one))
                continue
            sink = known.get(one.sink)
            if sink is None or one.sink in blocked or one.due > now or now >= end:
                blocked.add(one.sink)
                kept.append(one)
                continue
            refusal = send(one.alert, _limit_recipients(sink, one))
            if refusal is None:
                self._delivery_file(one).unlink()
                sent.append(one)
                continue
            tried = msgspec.structs.replace(one, reason=refusal.reason, left=refusal.left or one.left)
            if refusal.final:
                aside.append(self._give_up(tried))
            else:
                blocked.add(one.sink)
                kept.append(self._postpone(tried, refusal.wait, patience, clock()))
        return DeliveryOutcome(tuple(sent), tuple(kept), tuple(aside))

    def _postpone(self, one: Delivery, asked: float, patience: RetryPolicy, now: float) -> Delivery:
        pause = max(asked, patience.pause * 2 ** min(one.attempts, MAX_DOUBLINGS))
        later = msgspec.structs.replace(one, attempts=one.attempts + 1, due=now + min(pause, patience.longest))
        _write_durably(self._delivery_file(one), later)
        return later

    def _give_up(self, one: Delivery) -> Delivery:
        _write_durably(self.folder / "undelivered" / self._delivery_file(one).name, one)
        self._delivery_file(one).unlink()
        return one

    def _delivery_file(self, one: Delivery) -> Path:
        return self.folder / "outbox" / f"{one.alert.id}-{hash_identity(one.sink)[:12]}.json"


def _limit_recipients(sink: SinkOptions, one: Delivery) -> SinkOptions:
    """Return the sink with only the remaining recipients."""
    return msgspec.structs.replace(sink, recipients=one.left, addresses={}) if one.left else sink


def _write_durably(file: Path, content: msgspec.Struct) -> None:
    """Replace a file atomically and sync it to disk."""
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


def _read_stored(file: Path, kind: type[StoredT]) -> StoredT:
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (msgspec.DecodeError, OSError) as error:
        raise LineageError(f"{file} cannot be read: {error}") from error


def queue_alerts(
    outbox: Outbox,
    memory: OutboxState,
    evaluations: Sequence[CheckEvaluation],
    sinks: Sequence[SinkOptions],
    now: float,
) -> tuple[list[Alert], list[Alert]]:
    """Queue the alerts for evaluations; return all of them, and those that no sink takes."""
    state, alerts = judge_evaluations(memory.state, evaluations)
    unrouted = []
    for alert in alerts:
        taking = select_sinks(alert, sinks)
        outbox.queue(alert, taking, now)
        if not taking:
            unrouted.append(alert)
    # Messages first: after a crash in between, the same evaluations give the same files.
    newest = max(evaluations, key=lambda one: one.storage_id, default=None)
    cursor, at = (newest.storage_id, newest.at) if newest else (memory.cursor, memory.at)
    outbox.save_state(OutboxState(cursor, state, at))
    return alerts, unrouted


def deliver_due(
    outbox: Outbox,
    sinks: Sequence[SinkOptions],
    around: SinkContext,
    patience: RetryPolicy,
    clock: Callable[[], float],
) -> DeliveryOutcome:
    """Send what is due."""
    return outbox.deliver(sinks, lambda alert, sink: send_alert(alert, sink, around), patience, clock)
