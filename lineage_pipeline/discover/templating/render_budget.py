"""The budget of a template: steps and characters are counted, not time, so that the result is deterministic."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from jinja2.exceptions import TemplateRuntimeError

from lineage_pipeline.model.templating import RenderLimits

MAX_NUMBER_BITS = 4096
"""Size in bits of the largest number that may be computed."""

EXCESSIVE_WIDTH = re.compile(r"\d{5,}|\*")
"""A width in a format that no printed text has."""


class RenderBudgetExceeded(TemplateRuntimeError):
    """A template exceeds its budget."""

    def __init__(self, what: str, limit: int) -> None:
        """Store what was exceeded."""
        super().__init__(f"{what} of the template are over {limit}")
        self.what, self.limit = what, limit


class RenderBudget:
    """The remaining steps and characters of one template."""

    def __init__(self, limits: RenderLimits) -> None:
        """Start with the full budget."""
        self.limits = limits
        self.steps = limits.steps
        self.output = limits.output

    def step(self) -> None:
        """Charge a loop iteration or a call."""
        self.steps -= 1
        if self.steps < 0:
            raise RenderBudgetExceeded("steps", self.limits.steps)

    def print(self, text: str) -> str:
        """Charge printed text."""
        self.output -= len(text)
        if self.output < 0:
            raise RenderBudgetExceeded("characters", self.limits.output)
        return text

    def check_size(self, size: int) -> None:
        """Refuse a value that is larger than the whole output may be."""
        if size > self.limits.output:
            raise RenderBudgetExceeded("characters", self.limits.output)

    def count_iterations(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield items one by one, charging a step for each."""
        for item in items:
            self.step()
            yield item

    def join_texts(self, items: Iterable[Any], between: str = "") -> str:
        """Join texts whose total length is within the budget."""
        texts = [str(item) for item in self.count_iterations(items)]
        self.check_size(sum(map(len, texts)) + len(between) * len(texts))
        return between.join(texts)

    def check_operation(self, operator: str, left: Any, right: Any) -> None:
        """Refuse an operation whose result would be too large."""
        if operator == "%" and isinstance(left, str):
            self.check_format(left)
        elif operator == "+" and hasattr(left, "__len__") and hasattr(right, "__len__"):
            self.check_size(len(left) + len(right))
        elif operator == "**" and isinstance(left, int) and isinstance(right, int):
            self._check_number(left.bit_length() * max(right, 1))
        elif operator == "*":
            self._check_product(left, right)

    def check_format(self, text: str) -> None:
        """Refuse a format with excessive padding."""
        if EXCESSIVE_WIDTH.search(text):
            raise RenderBudgetExceeded("characters", self.limits.output)

    def check_method(self, text: str, name: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Refuse a string method whose result would be too large; return its arguments, materialized."""
        if name == "join" and arguments:
            items = list(self.count_iterations(arguments[0]))
            self.check_size(sum(len(str(item)) for item in items) + len(text) * len(items))
            return (items,)
        if name == "replace" and len(arguments) > 1:
            found = text.count(str(arguments[0])) if arguments[0] else len(text) + 1
            self.check_size(len(text) + found * len(str(arguments[1])))
        elif name in ("format", "format_map"):
            self.check_format(text)
        else:
            self.check_size(max((item for item in arguments if isinstance(item, int)), default=0))
        return arguments

    def _check_product(self, left: Any, right: Any) -> None:
        if isinstance(left, int) and isinstance(right, int):
            self._check_number(left.bit_length() + right.bit_length())
        for one, other in ((left, right), (right, left)):
            if hasattr(one, "__len__") and isinstance(other, int):
                self.check_size(len(one) * max(other, 0))

    @staticmethod
    def _check_number(bits: int) -> None:
        if bits > MAX_NUMBER_BITS:
            raise RenderBudgetExceeded("bits of a number", MAX_NUMBER_BITS)
