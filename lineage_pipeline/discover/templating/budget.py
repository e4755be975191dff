"""What a template may spend: steps and characters are counted, not time, so that it always ends in the same way."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from jinja2.exceptions import TemplateRuntimeError

from lineage_pipeline.discover.templating.protocol import RenderLimits

BITS = 4096
"""The size of the largest number that may be worked out."""

WIDTH = re.compile(r"\d{5,}|\*")
"""A width in a format that is no width of anything that is printed."""


class OverBudget(TemplateRuntimeError):
    """A template would cost more than it may."""

    def __init__(self, what: str, limit: int) -> None:
        """Say what there was too much of."""
        super().__init__(f"{what} of the template are over {limit}")
        self.what, self.limit = what, limit


class Budget:
    """What is left of the steps and the characters of one template."""

    def __init__(self, limits: RenderLimits) -> None:
        """Start with all of it."""
        self.limits = limits
        self.steps = limits.steps
        self.output = limits.output

    def step(self) -> None:
        """Pay for a turn of a loop or for a call."""
        self.steps -= 1
        if self.steps < 0:
            raise OverBudget("steps", self.limits.steps)

    def print(self, text: str) -> str:
        """Pay for text that is put out."""
        self.output -= len(text)
        if self.output < 0:
            raise OverBudget("characters", self.limits.output)
        return text

    def size(self, size: int) -> None:
        """Refuse a value that is larger than all that may be put out."""
        if size > self.limits.output:
            raise OverBudget("characters", self.limits.output)

    def turns(self, items: Iterable[Any]) -> Iterator[Any]:
        """Give items one by one, each for a step."""
        for item in items:
            self.step()
            yield item

    def joined(self, items: Iterable[Any], between: str = "") -> str:
        """Join texts that are not too long together."""
        texts = [str(item) for item in self.turns(items)]
        self.size(sum(map(len, texts)) + len(between) * len(texts))
        return between.join(texts)

    def operate(self, operator: str, left: Any, right: Any) -> None:
        """Refuse an operation whose result would be too large."""
        if operator == "%" and isinstance(left, str):
            self.format(left)
        elif operator == "+" and hasattr(left, "__len__") and hasattr(right, "__len__"):
            self.size(len(left) + len(right))
        elif operator == "**" and isinstance(left, int) and isinstance(right, int):
            self._number(left.bit_length() * max(right, 1))
        elif operator == "*":
            self._product(left, right)

    def format(self, text: str) -> None:
        """Refuse a format that asks for endless padding."""
        if WIDTH.search(text):
            raise OverBudget("characters", self.limits.output)

    def method(self, text: str, name: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Refuse a method of strings whose result would be too large; give its arguments, which can be read again."""
        if name == "join" and arguments:
            items = list(self.turns(arguments[0]))
            self.size(sum(len(str(item)) for item in items) + len(text) * len(items))
            return (items,)
        if name == "replace" and len(arguments) > 1:
            found = text.count(str(arguments[0])) if arguments[0] else len(text) + 1
            self.size(len(text) + found * len(str(arguments[1])))
        elif name in ("format", "format_map"):
            self.format(text)
        else:
            self.size(max((item for item in arguments if isinstance(item, int)), default=0))
        return arguments

    def _product(self, left: Any, right: Any) -> None:
        if isinstance(left, int) and isinstance(right, int):
            self._number(left.bit_length() + right.bit_length())
        for one, other in ((left, right), (right, left)):
            if hasattr(one, "__len__") and isinstance(other, int):
                self.size(len(one) * max(other, 0))

    @staticmethod
    def _number(bits: int) -> None:
        if bits > BITS:
            raise OverBudget("bits of a number", BITS)
