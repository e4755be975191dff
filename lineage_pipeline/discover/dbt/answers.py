"""What a database would answer while a template renders: a row of placeholders, so that SQL can be read around it."""

from collections.abc import Iterator
from typing import Any

from lineage_pipeline.discover.templating.undefined import ASKED, placeholder


class Answer(str):
    """A value that nobody read: a placeholder in a text, and one where a number is wanted."""

    __slots__ = ()

    def __int__(self) -> int:
        """Be one: loops and checks of templates go through."""
        return 1

    __index__ = __int__

    def __float__(self) -> float:
        """Be one."""
        return 1.0

    def __getattr__(self, name: str) -> "Answer":
        """Give a part of what nobody knows, such as the year of a date."""
        if name[:2] == "__" or name in ASKED:
            raise AttributeError(name)
        return self

    def __call__(self, *_arguments: Any, **_named: Any) -> "Answer":
        """Give what a method would have given."""
        return self

    def _itself(self, _other: Any = None) -> "Answer":
        return self

    __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _itself
    __floordiv__ = __rfloordiv__ = __pow__ = __neg__ = _itself

    def __add__(self, other: Any) -> str:
        """Go on as a text, or stay what nobody knows."""
        return f"{self}{other}" if isinstance(other, str) else self

    def __radd__(self, other: Any) -> str:
        """Stay what nobody knows, behind a number."""
        return self

    def __lt__(self, other: Any) -> bool:
        """Compare as a text with texts, and as one with numbers."""
        return str(self) < other if isinstance(other, str) else bool(other > 1)

    def __gt__(self, other: Any) -> bool:
        """Compare as a text with texts, and as one with numbers."""
        return str(self) > other if isinstance(other, str) else bool(other < 1)

    def __le__(self, other: Any) -> bool:
        """Compare as a text with texts, and as one with numbers."""
        return not self > other

    def __ge__(self, other: Any) -> bool:
        """Compare as a text with texts, and as one with numbers."""
        return not self < other


class Row:
    """A row that nobody read: every value is a placeholder, named after its column."""

    def __getitem__(self, key: Any) -> str:
        """Give a value by its number or name."""
        return Answer(placeholder(f"value_{key}"))

    def parts(self, count: int) -> list[str]:
        """Give as many values as a template takes the row apart into."""
        return [self[number] for number in range(count)]

    def __iter__(self) -> Iterator[str]:
        """Give the values; templates that take rows apart want more than one."""
        return iter([self[number] for number in range(WIDTH)])

    def __len__(self) -> int:
        """Count the values."""
        return WIDTH

    def __getattr__(self, name: str) -> str:
        """Give a value by its name."""
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def dict(self) -> "Row":
        """Be the values by name."""
        return self

    def values(self) -> list[str]:
        """Give the values."""
        return list(self)

    def get(self, key: Any, default: Any = None) -> str:
        """Give a value by its name."""
        return self[key]


WIDTH = 4


class Values(list[Any]):
    """The values of a column."""

    def values(self) -> list[Any]:
        """Give the values."""
        return list(self)

    values_distinct = values_without_nulls = values


class Columns:
    """The columns of a table, whichever is asked for."""

    def __getitem__(self, key: Any) -> Values:
        """Give a column."""
        return Values([Answer(placeholder(f"value_{key}"))])

    def __iter__(self) -> Iterator[Values]:
        """Give the columns."""
        return iter([self[number] for number in range(WIDTH)])

    def __len__(self) -> int:
        """Count them."""
        return WIDTH

    def keys(self) -> list[str]:
        """Give their names."""
        return [placeholder(f"column_{number}") for number in range(WIDTH)]

    def values(self) -> list[Values]:
        """Give the columns."""
        return list(self)


class Table:
    """The rows of a query that nobody ran."""

    @property
    def columns(self) -> Columns:
        """Give the columns."""
        return Columns()

    @property
    def column_names(self) -> list[str]:
        """Give the names of the columns."""
        return Columns().keys()

    @property
    def rows(self) -> list[Row]:
        """Give the rows."""
        return [Row()]

    data = rows

    def __iter__(self) -> Iterator[Row]:
        """Give the rows."""
        return iter(self.rows)

    def __len__(self) -> int:
        """Count the rows."""
        return 1

    def __getitem__(self, key: Any) -> Any:
        """Give a row, or by the names that results have: the table, its rows."""
        return {"table": self, "data": self.rows, "rows": self.rows, "columns": self.columns}.get(key) or Row()

    def _same(self, *_arguments: Any, **_named: Any) -> "Table":
        return self

    select = where = order_by = rename = exclude = limit = distinct = _same

    @property
    def table(self) -> "Table":
        """Be the table of a result."""
        return self

    def print_table(self, *_arguments: Any, **_named: Any) -> str:
        """Print nothing."""
        return ""
