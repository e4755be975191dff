"""The nouns: what a check said, what is told about it, and where it goes."""

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import Literal

import msgspec


class Gravity(StrEnum):
    """How grave a message is; a recovery has the gravity of what it takes back."""

    WARN = "warn"
    ERROR = "error"


class Kind(StrEnum):
    """What a message tells."""

    FAILED = "failed"
    RECOVERED = "recovered"


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """One evaluation of one check; `thread` is where it goes on: the next snapshot of a thread takes the last one back.

    Equal fingerprints mean that the same is wrong. What is said of the `past` is told to nobody, unless it takes back
    what was told.
    """

    storage_id: int
    asset: str
    check: str
    partition: str = ""
    thread: str = ""
    repository: str = ""
    past: bool = False
    passed: bool
    gravity: Gravity = Gravity.ERROR
    fingerprint: str = ""
    description: str = ""
    findings: str = ""
    owners: tuple[str, ...] = ()
    run: str = ""
    at: float = 0.0
    link: str = ""

    @property
    def key(self) -> str:
        """Name the check and the thread of snapshots that it is held against."""
        return f"{self.about}{self.thread or self.partition}"

    @property
    def about(self) -> str:
        """Name the check, as every key of its threads begins."""
        return f"{self.asset}:{self.check}:"

    @property
    def identity(self) -> str:
        """Name what is wrong, where: a second message with this name would say nothing new."""
        return f"{self.about}{self.partition}:{self.fingerprint}:{self.gravity.value}"


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """One message, before it is worded for a sink; `id` is the same however often it is made."""

    id: str
    kind: Kind
    gravity: Gravity
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
    """One place that messages go to, and which of them; secrets stand in the environment, under the names given here.

    The patterns of `owners`, `checks` and `repositories` are held against a message; an empty list takes all.
    """

    name: str
    kind: Literal["log", "webhook", "slack", "smtp"]
    severity: Gravity = Gravity.WARN
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


class Patience(msgspec.Struct, frozen=True):
    """How long we wait for a sink, and when we try again: pauses double from `pause` to `longest`, in seconds.

    A tick begins no further delivery after `budget`; what a sink has not taken after `days` is put aside.
    """

    timeout: float = 10.0
    pause: float = 30.0
    longest: float = 3600.0
    budget: float = 20.0
    days: float = 7.0


def identify(*parts: str) -> str:
    """Hash what a message is about."""
    return sha256("\0".join(parts).encode()).hexdigest()[:24]
