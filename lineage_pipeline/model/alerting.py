"""The severity of alerts, the options of the sinks they go to, and the retry policy."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

import msgspec


class AlertSeverity(StrEnum):
    """Severity of an alert; a recovery has the severity of the failure that it ends."""

    WARN = "warn"
    ERROR = "error"


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
