"""One round: what checks said becomes messages on disk, then as many as possible are sent."""

from collections.abc import Callable, Sequence

from lineage_pipeline.alerts.judging import judge
from lineage_pipeline.alerts.model import Alert, Evaluation, Patience, SinkOptions
from lineage_pipeline.alerts.outbox import Memory, Outbox, Outcome
from lineage_pipeline.alerts.routing import route
from lineage_pipeline.alerts.sinks import Surroundings, send


def take_in(
    outbox: Outbox, memory: Memory, evaluations: Sequence[Evaluation], sinks: Sequence[SinkOptions], now: float
) -> tuple[list[Alert], list[Alert]]:
    """Keep the messages that evaluations ask for; those for which there is no sink come second."""
    state, alerts = judge(memory.state, evaluations)
    unrouted = []
    for alert in alerts:
        taking = route(alert, sinks)
        outbox.queue(alert, taking, now)
        if not taking:
            unrouted.append(alert)
    # Messages first: after a crash in between, the same evaluations give the same files.
    newest = max(evaluations, key=lambda one: one.storage_id, default=None)
    cursor, at = (newest.storage_id, newest.at) if newest else (memory.cursor, memory.at)
    outbox.remember(Memory(cursor, state, at))
    return alerts, unrouted


def give_out(
    outbox: Outbox,
    sinks: Sequence[SinkOptions],
    around: Surroundings,
    patience: Patience,
    clock: Callable[[], float],
) -> Outcome:
    """Send what is due."""
    return outbox.deliver(sinks, lambda alert, sink: send(alert, sink, around), patience, clock)
