"""Evaluations of checks, alerts about them, and the options of the sinks they go to."""

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import Literal

import msgspec


class AlertSeverity(StrEnum):
    """Severity of an alert; a recovery has the severity of the failure that it ends."""

    WARN = "warn"
    ERROR = "error"


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


class SinkOptions(msgspec.Struct, frozen=True, kw_only=True):
    """One place that alerts go to, and which of them; secrets are in the environment variables named here.

    The patterns of `owners`, `checks` and `repositories` filter alerts; an empty list takes all.
    """

    name: str
    kind: Literal["log", "webhook", "slack", "smtp"]
    severity: AlertSeverity = AlertSeverity.WARN
    owners: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    recoveries: bool = True
    path: str = ""
    url_env: str = ""
    token_env: str = ""
    host: str = "localhost"
    port: int = 25
    security: Literal["none", "starttls", "tls"] = "none"
    username: str = ""
    password_env: str = ""
    sender: str = ""
    recipients: tuple[str, ...] = ()
    addresses: Mapping[str, str] = {}


class RetryPolicy(msgspec.Struct, frozen=True):
    """Timeout of a sink and its retries: pauses double from `pause` to `longest`, in seconds.

    A tick starts no further delivery after `budget`; undelivered alerts are set aside after `days`.
    """

    timeout: float = 10.0
    pause: float = 30.0
    longest: float = 3600.0
    budget: float = 20.0
    days: float = 7.0


def hash_identity(*parts: str) -> str:
    """Hash the parts that identify an alert."""
    return sha256("\0".join(parts).encode()).hexdigest()[:24]
