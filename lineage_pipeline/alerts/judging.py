"""Which evaluations are worth a message: the first failure of its kind, and the return to order."""

from collections.abc import Iterable, Mapping

import msgspec

from lineage_pipeline.alerts.model import Alert, Evaluation, Gravity, Kind, identify

MOST_TOLD = 20_000
"""How many messages are remembered; the oldest are forgotten first."""


class Open(msgspec.Struct, frozen=True):
    """What was last told to be wrong in a thread."""

    partition: str
    fingerprint: str
    gravity: Gravity
    owners: tuple[str, ...]


class State(msgspec.Struct, frozen=True):
    """What has been told: what is still open by its key, and every message by its identity, with the time of it."""

    open: Mapping[str, Open] = {}
    told: Mapping[str, float] = {}


def judge(state: State, evaluations: Iterable[Evaluation]) -> tuple[State, list[Alert]]:
    """Give the messages that evaluations ask for, in their order, and what is known after them."""
    standing, told = dict(state.open), dict(state.told)
    alerts: list[Alert] = []
    for one in sorted(evaluations, key=lambda one: one.storage_id):
        last = standing.get(one.key)
        if one.passed:
            if last is not None:
                alerts.append(_recovery(one, last))
                del standing[one.key]
                _forget(told, one)
            continue
        standing[one.key] = Open(one.partition, one.fingerprint, one.gravity, one.owners)
        if one.identity not in told and not _is_known(one, last):
            alerts.append(_failure(one))
        told.setdefault(one.identity, one.at)
    kept = dict(sorted(told.items(), key=lambda item: (item[1], item[0]))[-MOST_TOLD:])
    return State(standing, kept), alerts


def _is_known(one: Evaluation, last: Open | None) -> bool:
    """Say whether a later snapshot of the same thread only has what was told already, and nothing graver."""
    return last is not None and (last.fingerprint, last.gravity) == (one.fingerprint, one.gravity)


def _forget(told: dict[str, float], one: Evaluation) -> None:
    """Let a failure of what has recovered here be told again: it is a new one."""
    prefix = f"{one.asset}:{one.check}:{one.partition}:"
    for identity in [identity for identity in told if identity.startswith(prefix)]:
        del told[identity]


def _failure(one: Evaluation) -> Alert:
    return _alert(one, Kind.FAILED, one.gravity, one.owners, since="")


def _recovery(one: Evaluation, last: Open) -> Alert:
    return _alert(one, Kind.RECOVERED, last.gravity, last.owners, since=last.partition)


def _alert(one: Evaluation, kind: Kind, gravity: Gravity, owners: tuple[str, ...], since: str) -> Alert:
    # The storage id tells a failure after a recovery from the one before it.
    return Alert(
        id=identify(kind.value, one.identity, str(one.storage_id)),
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
    )
