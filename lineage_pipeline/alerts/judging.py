"""Which evaluations are worth a message: the first failure of its kind, and the return to order."""

from collections.abc import Iterable, Mapping

import msgspec

from lineage_pipeline.alerts.model import Alert, Evaluation, Gravity, Kind, identify

MOST_TOLD = 20_000
"""How many messages are remembered; the oldest are forgotten first."""


class Open(msgspec.Struct, frozen=True):
    """What is wrong in a thread: as it was last, and since it was right, the gravest, whom it concerned, what was told.

    What an older version kept has neither `gravest` nor `told`.
    """

    partition: str
    fingerprint: str
    gravity: Gravity
    owners: tuple[str, ...]
    gravest: Gravity | None = None
    told: tuple[str, ...] = ()


class State(msgspec.Struct, frozen=True):
    """What has been told: what is still open by its key, and every message by its identity, with the time of it."""

    open: Mapping[str, Open] = {}
    told: Mapping[str, float] = {}


def judge(state: State, evaluations: Iterable[Evaluation]) -> tuple[State, list[Alert]]:
    """Give the messages that evaluations ask for, in their order, and what is known after them."""
    standing, told = dict(state.open), dict(state.told)
    alerts: list[Alert] = []
    for one in sorted(evaluations, key=lambda one: one.storage_id):
        key = _key(one, standing)
        last = standing.get(key)
        if one.passed:
            if last is not None:
                alerts.append(_recovery(one, last))
                del standing[key]
                _forget(told, one, last)
        elif not one.past:
            standing[key] = _opened(one, last)
            if one.identity not in told and not _is_known(one, last):
                alerts.append(_failure(one))
            told.setdefault(one.identity, one.at)
    return State(standing, dict(sorted(told.items(), key=lambda item: (item[1], item[0]))[-MOST_TOLD:])), alerts


def _key(one: Evaluation, standing: Mapping[str, Open]) -> str:
    """Find the thread that an evaluation goes on with: a snapshot made again by hand is in that in which it failed."""
    if one.thread not in ("", one.partition):
        return one.key
    failed = (key for key, last in standing.items() if last.partition == one.partition and key.startswith(one.about))
    return one.key if one.key in standing else next(failed, one.key)


def _opened(one: Evaluation, last: Open | None) -> Open:
    """Add a failure to what is wrong already: all who were told of it are told when it is right again."""
    if last is None:
        return Open(one.partition, one.fingerprint, one.gravity, one.owners, one.gravity, (one.identity,))
    owners = tuple(dict.fromkeys([*last.owners, *one.owners]))
    told = tuple(dict.fromkeys([*last.told, one.identity]))[-MOST_TOLD:]
    grave = Gravity.ERROR in (one.gravity, last.gravity, last.gravest)
    return Open(one.partition, one.fingerprint, one.gravity, owners, Gravity.ERROR if grave else Gravity.WARN, told)


def _is_known(one: Evaluation, last: Open | None) -> bool:
    """Say whether a later snapshot of the same thread only has what was told already, as grave as it was."""
    return last is not None and (last.fingerprint, last.gravity) == (one.fingerprint, one.gravity)


def _forget(told: dict[str, float], one: Evaluation, last: Open) -> None:
    """Let a failure of what has recovered be told again: it is a new one."""
    prefix = f"{one.about}{one.partition}:"
    for identity in [identity for identity in told if identity.startswith(prefix)]:
        del told[identity]
    for identity in last.told:
        told.pop(identity, None)


def _failure(one: Evaluation) -> Alert:
    return _alert(one, Kind.FAILED, one.gravity, one.owners, since="")


def _recovery(one: Evaluation, last: Open) -> Alert:
    return _alert(one, Kind.RECOVERED, last.gravest or last.gravity, last.owners, since=last.partition)


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
        repository=one.repository,
    )
