"""Where alerts go: `[alerts]` and `[[alerts.sinks]]`; secrets stand in the environment, never in a file."""

import re
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from lineage_pipeline.alerts.model import Gravity, Patience, SinkOptions
from lineage_pipeline.settings.sections import Section

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
WAITING = Patience()


class SinkSettings(Section):
    """One place that alerts go to, and which of them; the same fields as `SinkOptions`."""

    name: str = Field(min_length=1)
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
    port: int = Field(25, ge=1, le=65_535)
    security: Literal["none", "starttls", "tls"] = "none"
    username: str = ""
    password_env: str = ""
    sender: str = ""
    recipients: tuple[str, ...] = ()
    addresses: dict[str, str] = {}

    @field_validator("url_env", "token_env", "password_env")
    @classmethod
    def _is_a_name(cls, value: str) -> str:
        if value and not VARIABLE.fullmatch(value):
            raise ValueError("it names a variable of the environment, and never holds the secret itself")
        return value

    @field_validator("sender", "recipients", "addresses")
    @classmethod
    def _is_one_line(cls, value: object) -> object:
        texts = [value] if isinstance(value, str) else value.values() if isinstance(value, dict) else value
        if any("\n" in str(text) or "\r" in str(text) for text in texts or ()):  # type: ignore[attr-defined]
            raise ValueError("an address has one line")
        return value

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        needed = {"webhook": ("url_env",), "slack": ("url_env",), "smtp": ("sender",)}.get(self.kind, ())
        for key in needed:
            if not getattr(self, key):
                raise ValueError(f"a sink of kind {self.kind} needs {key}")
        if self.kind == "smtp" and not self.recipients and not self.addresses:
            raise ValueError("a sink of kind smtp needs recipients, or addresses of owners")
        return self


class AlertSettings(Section):
    """How patient we are with sinks, how far back we look at first, and the sinks; without any, a file takes all."""

    dagster_url: str = ""
    lookback_hours: float = Field(24.0, ge=0)
    timeout: float = Field(WAITING.timeout, gt=0, le=20)
    pause: float = Field(WAITING.pause, ge=0)
    longest: float = Field(WAITING.longest, ge=0)
    budget: float = Field(WAITING.budget, gt=0, le=30)
    days: float = Field(WAITING.days, gt=0)
    sinks: tuple[SinkSettings, ...] = (SinkSettings(name="log", kind="log"),)

    @model_validator(mode="after")
    def _has_distinct_names(self) -> Self:
        names = [sink.name for sink in self.sinks]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two sinks have the name {twice[0]}")
        return self

    def options(self) -> list[SinkOptions]:
        """Give the sinks as whoever sends takes them."""
        return [SinkOptions(**sink.model_dump()) for sink in self.sinks]

    def patience(self) -> Patience:
        """Give how patient we are."""
        return Patience(self.timeout, self.pause, self.longest, self.budget, self.days)
