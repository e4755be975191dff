"""Evaluations of checks, and alerts about them."""

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
