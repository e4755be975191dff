"""Names without a value: they stand for themselves in the text, say no where a condition asks, and are reported."""

import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any, Protocol

from jinja2 import Undefined

from lineage_pipeline.discover.templating.protocol import Problem

PREFIX = "undefined_"
"""What a placeholder begins with: no real object may look like one."""


ASKED = frozenset({"unsafe_callable", "alters_data", "jinja_pass_arg"})
"""What Jinja asks of whatever is called."""


def placeholder(name: str) -> str:
    """Give an identifier that stands for a name without a value."""
    return PREFIX + re.sub(r"\W+", "_", name).strip("_")


class Report:
    """What is to be told of a file: names without a value, questions to the database, each once a place."""

    def __init__(self, file: str) -> None:
        """Start with none."""
        self.file = file
        self.found: dict[tuple[int, str, str, str], None] = {}

    def undefined(self, name: str) -> None:
        """Remember a name, at the place in the file that the rendering has come to."""
        self.add("UNDEFINED_VARIABLE", "name", name)

    def add(self, code: str, key: str, value: str) -> None:
        """Remember a finding with one value, at the place in the file that the rendering has come to."""
        self.found[self.here(), code, key, value] = None

    def add_at(self, offset: int, code: str, reason: str) -> None:
        """Remember a finding with a reason, at a place that is known."""
        self.found[offset, code, "reason", reason] = None

    def here(self) -> int:
        """Give the offset of the tag that is rendered now, or -1 where it is not known."""
        frame: FrameType | None = sys._getframe(1)
        offset = -1
        while frame is not None:
            offset = offset_in(frame, frame.f_lineno, self.file, offset)
            frame = frame.f_back
        return offset

    def problems(self) -> Iterator[Problem]:
        """Give the findings in the order of their places."""
        for offset, code, key, value in sorted(self.found):
            yield Problem(code, {key: value}, offset)


def offset_in(frame: FrameType, line: int, file: str, otherwise: int) -> int:
    """Give the offset of a line of a compiled template, if it is the template of that file."""
    template = frame.f_globals.get("__jinja_template__")
    if template is None or template.name != file:
        return otherwise
    return int(template.get_corresponding_lineno(line))


class Reporting(Protocol):
    """Whoever has a report."""

    report: Report


class Missing(Undefined):
    """A name without a value; whatever is done with it gives another one."""

    __slots__ = ("_lineage", "_quiet", "path")

    def __init__(self, owner: Reporting, path: str, *, quiet: bool = False) -> None:
        """Remember the name as it was written, and who has the report; a quiet one is reported only when it prints."""
        super().__init__(name=path)
        self._lineage, self._quiet = owner, quiet
        self.path = path

    def __str__(self) -> str:
        """Stand in the text."""
        self._lineage.report.undefined(self.path)
        return placeholder(self.path)

    def __bool__(self) -> bool:
        """Say no."""
        self._asked()
        return False

    def __iter__(self) -> Iterator[Any]:
        """Have nothing inside."""
        self._asked()
        return iter(())

    def __len__(self) -> int:
        """Have nothing inside."""
        return 0

    def __getattr__(self, name: str) -> "Missing":
        """Give a part of what is not there."""
        if name[:2] == "__" or name in ASKED:
            raise AttributeError(name)
        return Missing(self._lineage, f"{self.path}.{name}")

    def __getitem__(self, key: Any) -> "Missing":  # type: ignore[override]
        """Give a part of what is not there."""
        return Missing(self._lineage, f"{self.path}.{key}")

    def __call__(self, *_arguments: Any, **_named: Any) -> "Missing":  # type: ignore[override]
        """Give what it would have given."""
        return Missing(self._lineage, self.path) if self._quiet else self

    def parts(self, count: int) -> list["Missing"]:
        """Give as many parts as a template takes it apart into."""
        self._asked()
        return [self] * count

    def _asked(self) -> None:
        if not self._quiet:
            self._lineage.report.undefined(self.path)

    def _itself(self, _other: Any = None) -> "Missing":
        return self

    def _unlike(self, _other: Any) -> bool:
        self._asked()
        return False

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _itself  # type: ignore[assignment]
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __pos__ = _itself  # type: ignore[assignment]
    __lt__ = __le__ = __gt__ = __ge__ = _unlike  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        """Be like another one alone."""
        return isinstance(other, Undefined)

    def __ne__(self, other: object) -> bool:
        """Be unlike all that is there."""
        return not isinstance(other, Undefined)

    def __hash__(self) -> int:
        """Be one thing."""
        return hash(type(self))

    def __int__(self) -> int:  # type: ignore[override]
        """Be nothing."""
        self._asked()
        return 0

    __index__ = __int__

    def __float__(self) -> float:  # type: ignore[override]
        """Be nothing."""
        return 0.0


class Absent(Missing):
    """What a value that is known has not got, such as a key of a mapping: it prints nothing, as for dbt."""

    __slots__ = ()

    def __init__(self, owner: Reporting, path: str) -> None:
        """Remember the name; nobody is told of it."""
        super().__init__(owner, path, quiet=True)

    def __str__(self) -> str:
        """Stand for nothing."""
        return ""

    def __getattr__(self, name: str) -> "Absent":
        """Give a part of what is not there."""
        if name[:2] == "__" or name in ASKED:
            raise AttributeError(name)
        return self

    def __getitem__(self, key: Any) -> "Absent":  # type: ignore[override]
        """Give a part of what is not there."""
        return self
