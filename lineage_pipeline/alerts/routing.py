"""Which sinks take a message, and whom a mail goes to."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from lineage_pipeline.alerts.model import Alert, Gravity, Kind, SinkOptions


def route(alert: Alert, sinks: Iterable[SinkOptions]) -> list[SinkOptions]:
    """Give the sinks that take a message."""
    return [sink for sink in sinks if _takes(sink, alert)]


def _takes(sink: SinkOptions, alert: Alert) -> bool:
    if sink.severity is Gravity.ERROR and alert.gravity is Gravity.WARN:
        return False
    if alert.kind is Kind.RECOVERED and not sink.recoveries:
        return False
    if sink.kind == "smtp" and not recipients(alert, sink):
        return False
    return (
        _fits(sink.owners, alert.owners)
        and _fits(sink.checks, [alert.check])
        and _fits(sink.repositories, [alert.repository])
    )


def _fits(patterns: Sequence[str], words: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(word, pattern) for word in words for pattern in patterns)


def recipients(alert: Alert, sink: SinkOptions) -> list[str]:
    """Give the addresses of a mail: those of the sink, and those of the owners that it knows an address for."""
    owned = [sink.addresses[owner] for owner in alert.owners if owner in sink.addresses]
    return list(dict.fromkeys([*sink.recipients, *owned]))
