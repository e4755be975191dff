"""`modules` as templates see it: no module of Python, whose inside would lead out of the sandbox, and no clock."""

import datetime
import itertools
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from jinja2 import Undefined

if TYPE_CHECKING:
    from lineage_pipeline.discover.templating.sandbox import Bounded

STARTED = datetime.datetime(2000, 6, 15, tzinfo=datetime.UTC)
"""When everything happens: a template that asks for the time must always render to the same.

It is no edge of a month or a year: templates that count a month or some days up and down by themselves go through.
"""


class _DateTime(datetime.datetime):
    """Moments, of which now is always the same."""

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        """Give the start."""
        return STARTED if tz is not None else STARTED.replace(tzinfo=None)

    @classmethod
    def utcnow(cls) -> Any:
        """Give the start."""
        return STARTED.replace(tzinfo=None)

    @classmethod
    def today(cls) -> Any:
        """Give the start."""
        return STARTED.replace(tzinfo=None)


class _Date(datetime.date):
    """Days, of which today is always the same."""

    @classmethod
    def today(cls) -> Any:
        """Give the start."""
        return STARTED.date()


def safe_modules(environment: "Bounded") -> dict[str, Any]:
    """Give what templates may use of the modules that dbt gives them."""

    def counted(plain: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments, **named: environment.budget.turns(plain(*arguments, **named))

    endless = ("chain", "product", "permutations", "combinations", "combinations_with_replacement", "zip_longest")
    dates = {"datetime": _DateTime, "date": _Date, "timedelta": datetime.timedelta, "time": datetime.time}
    zones = {"utc": datetime.UTC, "UTC": datetime.UTC, "timezone": lambda _name: datetime.UTC}
    return {
        "datetime": SimpleNamespace(**dates, timezone=datetime.timezone),
        "pytz": SimpleNamespace(**zones),
        "re": SimpleNamespace(
            **{name: _matching(name) for name in ("match", "search", "fullmatch", "findall", "sub", "split")},
            IGNORECASE=re.IGNORECASE,
            MULTILINE=re.MULTILINE,
            DOTALL=re.DOTALL,
            compile=lambda pattern, flags=0: SimpleNamespace(
                **{
                    name: lambda *rest, name=name: _matching(name)(pattern, *rest, flags=flags)
                    for name in ("match", "search", "fullmatch", "findall", "sub", "split")
                }
            ),
        ),
        "itertools": SimpleNamespace(**{name: counted(getattr(itertools, name)) for name in endless}),
    }


NESTED = re.compile(r"\([^()]*[+*}][^()]*\)\s*[+*{]")
REPEATED = re.compile(r"(?<!\\)[+*{]")


def _matching(name: str) -> Callable[..., Any]:
    """Give a function of patterns, for patterns and texts with which it does not take for ever."""
    plain: Callable[..., Any] = getattr(re, name)

    def matching(pattern: str, *given: Any, **named: Any) -> Any:
        arguments = [str(item) if isinstance(item, Undefined) else item for item in given]
        repeated = len(REPEATED.findall(str(pattern)))
        longest = max((len(item) for item in arguments if isinstance(item, str)), default=0)
        if NESTED.search(str(pattern)) or longest > (10_000, 10_000, 2_000, 500, 100)[min(repeated, 4)]:
            raise ValueError("a pattern like this is not searched for in a text of this size")
        return plain(pattern, *arguments, **named)

    return matching
