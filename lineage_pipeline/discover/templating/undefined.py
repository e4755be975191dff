"""Undefined names in templates: they print as placeholders, are false in conditions, and are reported."""

import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any, Protocol

from jinja2 import Undefined

from lineage_pipeline.discover.templating.protocol import Problem
from lineage_pipeline.model.templating import PLACEHOLDER_PREFIX

JINJA_CALL_ATTRIBUTES = frozenset({"unsafe_callable", "alters_data", "jinja_pass_arg"})
"""Attributes that Jinja looks up on whatever is called."""


def placeholder_identifier(name: str) -> str:
    """Return an identifier for a name without a value."""
    return PLACEHOLDER_PREFIX + re.sub(r"\W+", "_", name).strip("_")


class TemplateReport:
    """Findings of one template: undefined names and database queries, each once per location."""

    def __init__(self, file: str) -> None:
        """Start without findings."""
        self.file = file
        self.found: dict[tuple[int, str, str, str], None] = {}

    def undefined(self, name: str) -> None:
        """Record an undefined name at the current location."""
        self.add("UNDEFINED_VARIABLE", "name", name)

    def add(self, code: str, key: str, value: str) -> None:
        """Record a finding with one value at the current location."""
        self.found[self.current_offset(), code, key, value] = None

    def add_at(self, offset: int, code: str, reason: str) -> None:
        """Record a finding with a reason at a known offset."""
        self.found[offset, code, "reason", reason] = None

    def current_offset(self) -> int:
        """Return the offset of the tag being rendered, or -1 where it is unknown."""
        frame: FrameType | None = sys._getframe(1)
        offset = -1
        while frame is not None:
            offset = frame_offset(frame, frame.f_lineno, self.file, offset)
            frame = frame.f_back
        return offset

    def problems(self) -> Iterator[Problem]:
        """Return the findings in order of their offsets."""
        for offset, code, key, value in sorted(self.found):
            yield Problem(code, {key: value}, offset)


def frame_offset(frame: FrameType, line: int, file: str, otherwise: int) -> int:
    """Return the template offset of a line of compiled code, if it is from that template file."""
    template = frame.f_globals.get("__jinja_template__")
    if template is None or template.name != file:
        return otherwise
    return int(template.get_corresponding_lineno(line))


class HasReport(Protocol):
    """An object with a report."""

    report: TemplateReport


class UndefinedName(Undefined):
    """A name without a value; every operation on it returns another one."""

    __slots__ = ("_lineage", "_quiet", "path")

    def __init__(self, owner: HasReport, path: str, *, quiet: bool = False) -> None:
        """Store the name as written, and the owner of the report; a quiet one is reported only when printed."""
        super().__init__(name=path)
        self._lineage, self._quiet = owner, quiet
        self.path = path

    def __str__(self) -> str:
        """Print the placeholder."""
        self._lineage.report.undefined(self.path)
        return placeholder_identifier(self.path)

    def __bool__(self) -> bool:
        """Return false."""
        self._report_use()
        return False

    def __iter__(self) -> Iterator[Any]:
        """Iterate over nothing."""
        self._report_use()
        return iter(())

    def __len__(self) -> int:
        """Return zero."""
        return 0

    def __getattr__(self, name: str) -> "UndefinedName":
        """Return an undefined part."""
        if name[:2] == "__" or name in JINJA_CALL_ATTRIBUTES:
            raise AttributeError(name)
        return UndefinedName(self._lineage, f"{self.path}.{name}")

    def __getitem__(self, key: Any) -> "UndefinedName":  # type: ignore[override]
        """Return an undefined part."""
        return UndefinedName(self._lineage, f"{self.path}.{key}")

    def __call__(self, *_arguments: Any, **_named: Any) -> "UndefinedName":  # type: ignore[override]
        """Return an undefined result."""
        return UndefinedName(self._lineage, self.path) if self._quiet else self

    def parts(self, count: int) -> list["UndefinedName"]:
        """Return as many undefined parts as a template unpacks it into."""
        self._report_use()
        return [self] * count

    def _report_use(self) -> None:
        if not self._quiet:
            self._lineage.report.undefined(self.path)

    def _itself(self, _other: Any = None) -> "UndefinedName":
        return self

    def _unlike(self, _other: Any) -> bool:
        self._report_use()
        return False

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _itself  # type: ignore[assignment]
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __pos__ = _itself  # type: ignore[assignment]
    __lt__ = __le__ = __gt__ = __ge__ = _unlike  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        """Return whether the other one is undefined under the same name."""
        return isinstance(other, Undefined)

    def __ne__(self, other: object) -> bool:
        """Return whether the other value differs."""
        return not isinstance(other, Undefined)

    def __hash__(self) -> int:
        """Hash the name."""
        return hash(type(self))

    def __int__(self) -> int:  # type: ignore[override]
        """Return zero."""
        self._report_use()
        return 0

    __index__ = __int__

    def __float__(self) -> float:  # type: ignore[override]
        """Return zero."""
        return 0.0


class AbsentKey(UndefinedName):
    """A key that a known mapping does not have: it prints nothing, as in dbt."""

    __slots__ = ()

    def __init__(self, owner: HasReport, path: str) -> None:
        """Store the name; it is not reported."""
        super().__init__(owner, path, quiet=True)

    def __str__(self) -> str:
        """Print nothing."""
        return ""

    def __getattr__(self, name: str) -> "AbsentKey":
        """Return an absent part."""
        if name[:2] == "__" or name in JINJA_CALL_ATTRIBUTES:
            raise AttributeError(name)
        return self

    def __getitem__(self, key: Any) -> "AbsentKey":  # type: ignore[override]
        """Return an absent part."""
        return self
