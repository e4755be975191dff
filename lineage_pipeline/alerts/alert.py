"""Alerts about evaluations of checks: the first failure of its kind, and the recovery."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from hashlib import sha256

import msgspec

from lineage_pipeline.model.alerting import AlertSeverity


class AlertKind(StrEnum):
    """Whether an alert is about a failure or a recovery."""

    FAILED = "failed"
    RECOVERED = "recovered"


class CheckEvaluation(msgspec.Struct, frozen=True, kw_only=True):
    """One evaluation of one check; the next snapshot of a `thread` replaces the last one.

    Equal fingerprints mean the same failure. Evaluations of the `past` alert nobody, unless they end an alert.
    """

    storage_id: int
    asset: str
    check: str
    partition: str = ""
    thread: str = ""
    repository: str = ""
    past: bool = False
    passed: bool
    gravity: AlertSeverity = AlertSeverity.ERROR
    fingerprint: str = ""
    description: str = ""
    findings: str = ""
    owners: tuple[str, ...] = ()
    run: str = ""
    at: float = 0.0
    link: str = ""

    @property
    def key(self) -> str:
        """Return the check and its thread of snapshots."""
        return f"{self.key_prefix}{self.thread or self.partition}"

    @property
    def key_prefix(self) -> str:
        """Return the check, the common prefix of the keys of its threads."""
        return f"{self.asset}:{self.check}:"

    @property
    def identity(self) -> str:
        """Return what failed and where: a second alert with this identity would say nothing new."""
        return f"{self.key_prefix}{self.partition}:{self.fingerprint}:{self.gravity.value}"


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """One alert before it is formatted for a sink; `id` is the same however often it is built."""

    id: str
    kind: AlertKind
    gravity: AlertSeverity
    asset: str
    check: str
    partition: str
    since: str
    description: str
    findings: str
    owners: tuple[str, ...]
    run: str
    at: float
    link: str = ""
    repository: str = ""


def hash_identity(*parts: str) -> str:
    """Hash the parts that identify an alert."""
    return sha256("\0".join(parts).encode()).hexdigest()[:24]


MAX_REMEMBERED = 20_000
"""How many alerts are remembered; the oldest are dropped first."""


class OpenFailure(msgspec.Struct, frozen=True):
    """An open failure of a thread: its last evaluation, and since it opened the worst severity, owners and alerts.

    States of older versions have neither `gravest` nor `told`.
    """

    partition: str
    fingerprint: str
    gravity: AlertSeverity
    owners: tuple[str, ...]
    gravest: AlertSeverity | None = None
    told: tuple[str, ...] = ()


class AlertState(msgspec.Struct, frozen=True):
    """What has been alerted: open failures by key, and every alert by its identity, with its time."""

    open: Mapping[str, OpenFailure] = {}
    told: Mapping[str, float] = {}


def judge_evaluations(state: AlertState, evaluations: Iterable[CheckEvaluation]) -> tuple[AlertState, list[Alert]]:
    """Return the alerts for evaluations in their order, and the state after them."""
    standing, told = dict(state.open), dict(state.told)
    alerts: list[Alert] = []
    for one in sorted(evaluations, key=lambda one: one.storage_id):
        key = _find_thread(one, standing)
        last = standing.get(key)
        if one.passed:
            if last is not None:
                alerts.append(_recovery_alert(one, last))
                del standing[key]
                _forget_alerts(told, one, last)
        elif not one.past:
            standing[key] = _extend_failure(one, last)
            if one.identity not in told and not _is_repeated(one, last):
                alerts.append(_failure_alert(one))
            told.setdefault(one.identity, one.at)
    return AlertState(
        standing, dict(sorted(told.items(), key=lambda item: (item[1], item[0]))[-MAX_REMEMBERED:])
    ), alerts


def _find_thread(one: CheckEvaluation, standing: Mapping[str, OpenFailure]) -> str:
    """Return the key of the thread that an evaluation continues: a repeated snapshot stays in the one it failed in."""
    if one.thread not in ("", one.partition):
        return one.key
    failed = (
        key for key, last in standing.items() if last.partition == one.partition and key.startswith(one.key_prefix)
    )
    return one.key if one.key in standing else next(failed, one.key)


def _extend_failure(one: CheckEvaluation, last: OpenFailure | None) -> OpenFailure:
    """Add a failure to an open one: everybody alerted about it is alerted of the recovery."""
    if last is None:
        return OpenFailure(
            partition=one.partition,
            fingerprint=one.fingerprint,
            gravity=one.gravity,
            owners=one.owners,
            gravest=one.gravity,
            told=(one.identity,),
        )
    owners = tuple(dict.fromkeys([*last.owners, *one.owners]))
    told = tuple(dict.fromkeys([*last.told, one.identity]))[-MAX_REMEMBERED:]
    grave = AlertSeverity.ERROR in (one.gravity, last.gravity, last.gravest)
    return OpenFailure(
        partition=one.partition,
        fingerprint=one.fingerprint,
        gravity=one.gravity,
        owners=owners,
        gravest=AlertSeverity.ERROR if grave else AlertSeverity.WARN,
        told=told,
    )


def _is_repeated(one: CheckEvaluation, last: OpenFailure | None) -> bool:
    """Return whether a later snapshot of the thread has the same failure with the same severity."""
    return last is not None and (last.fingerprint, last.gravity) == (one.fingerprint, one.gravity)


def _forget_alerts(told: dict[str, float], one: CheckEvaluation, last: OpenFailure) -> None:
    """Forget the alerts of a recovered failure, so that the next failure is alerted again."""
    prefix = f"{one.key_prefix}{one.partition}:"
    for identity in [identity for identity in told if identity.startswith(prefix)]:
        del told[identity]
    for identity in last.told:
        told.pop(identity, None)


def _failure_alert(one: CheckEvaluation) -> Alert:
    return _build_alert(one, AlertKind.FAILED, one.gravity, one.owners, since="")


def _recovery_alert(one: CheckEvaluation, last: OpenFailure) -> Alert:
    return _build_alert(one, AlertKind.RECOVERED, last.gravest or last.gravity, last.owners, since=last.partition)


def _build_alert(
    one: CheckEvaluation, kind: AlertKind, gravity: AlertSeverity, owners: tuple[str, ...], since: str
) -> Alert:
    # The storage id tells a failure after a recovery from the one before it.
    return Alert(
        id=hash_identity(kind.value, one.identity, str(one.storage_id)),
        kind=kind,
        gravity=gravity,
        asset=one.asset,
        check=one.check,
        partition=one.partition,
        since=since,
        description=one.description,
        findings=one.findings,
        owners=owners,
        run=one.run,
        at=one.at,
        link=one.link,
        repository=one.repository,
    )
