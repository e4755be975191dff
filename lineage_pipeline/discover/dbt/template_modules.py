"""dbt's `modules` namespace: safe replacements of Python modules, with a fixed clock."""

import datetime
import itertools
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from jinja2 import Undefined

if TYPE_CHECKING:
    from lineage_pipeline.discover.templating.jinja_sandbox import BoundedEnvironment

FIXED_NOW = datetime.datetime(2000, 6, 15, tzinfo=datetime.UTC)
"""The fixed current time, so that a template always renders the same.

It is in the middle of a month and a year, so that templates that count days or months from it work.
"""


class _FixedDateTime(datetime.datetime):
    """`datetime` whose current time is fixed."""

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        """Return the fixed time."""
        return FIXED_NOW if tz is not None else FIXED_NOW.replace(tzinfo=None)

    @classmethod
    def utcnow(cls) -> Any:
        """Return the fixed time."""
        return FIXED_NOW.replace(tzinfo=None)

    @classmethod
    def today(cls) -> Any:
        """Return the fixed time."""
        return FIXED_NOW.replace(tzinfo=None)


class _FixedDate(datetime.date):
    """`date` whose current day is fixed."""

    @classmethod
    def today(cls) -> Any:
        """Return the fixed day."""
        return FIXED_NOW.date()


def build_template_modules(environment: "BoundedEnvironment") -> dict[str, Any]:
    """Return what templates may use of the modules that dbt provides."""

    def counted(plain: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments, **named: environment.budget.count_iterations(plain(*arguments, **named))

    endless = ("chain", "product", "permutations", "combinations", "combinations_with_replacement", "zip_longest")
    dates = {"datetime": _FixedDateTime, "date": _FixedDate, "timedelta": datetime.timedelta, "time": datetime.time}
    zones = {"utc": datetime.UTC, "UTC": datetime.UTC, "timezone": lambda _name: datetime.UTC}
    return {
        "datetime": SimpleNamespace(**dates, timezone=datetime.timezone),
        "pytz": SimpleNamespace(**zones),
        "re": SimpleNamespace(
            **{
                name: _bounded_regex_function(name)
                for name in ("match", "search", "fullmatch", "findall", "sub", "split")
            },
            IGNORECASE=re.IGNORECASE,
            MULTILINE=re.MULTILINE,
            DOTALL=re.DOTALL,
            compile=lambda pattern, flags=0: SimpleNamespace(
                **{
                    name: lambda *rest, name=name: _bounded_regex_function(name)(pattern, *rest, flags=flags)
                    for name in ("match", "search", "fullmatch", "findall", "sub", "split")
                }
            ),
        ),
        "itertools": SimpleNamespace(**{name: counted(getattr(itertools, name)) for name in endless}),
    }


NESTED_QUANTIFIER = re.compile(r"\([^()]*[+*}][^()]*\)\s*[+*{]")
QUANTIFIER = re.compile(r"(?<!\\)[+*{]")


def _bounded_regex_function(name: str) -> Callable[..., Any]:
    """Return a function of `re` that refuses patterns and texts with exponential run time."""
    plain: Callable[..., Any] = getattr(re, name)

    def matching(pattern: str, *given: Any, **named: Any) -> Any:
        arguments = [str(item) if isinstance(item, Undefined) else item for item in given]
        repeated = len(QUANTIFIER.findall(str(pattern)))
        longest = max((len(item) for item in arguments if isinstance(item, str)), default=0)
        if NESTED_QUANTIFIER.search(str(pattern)) or longest > (10_000, 10_000, 2_000, 500, 100)[min(repeated, 4)]:
            raise ValueError("a pattern like this is not searched for in a text of this size")
        return plain(pattern, *arguments, **named)

    return matching
