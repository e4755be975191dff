"""Stand-ins for the database while dbt templates render: `adapter`, `api`, `exceptions` and query results.

Query results are one row of placeholders, so that the SQL around them can be read.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lineage_pipeline.discover.dbt.relation import DbtColumn, DbtRelation
from lineage_pipeline.discover.templating.undefined import JINJA_CALL_ATTRIBUTES, placeholder_identifier

if TYPE_CHECKING:
    from lineage_pipeline.discover.dbt.session import DbtSession


class UnknownValue(str):
    """A value of a query result: a placeholder in a text, and 1 where a number is needed."""

    __slots__ = ()

    def __int__(self) -> int:
        """Return 1, so that loops and checks of templates pass."""
        return 1

    __index__ = __int__

    def __float__(self) -> float:
        """Return 1."""
        return 1.0

    def __getattr__(self, name: str) -> "UnknownValue":
        """Return an unknown part, such as the year of a date."""
        if name[:2] == "__" or name in JINJA_CALL_ATTRIBUTES:
            raise AttributeError(name)
        return self

    def __call__(self, *_arguments: Any, **_named: Any) -> "UnknownValue":
        """Return an unknown result of a method."""
        return self

    def _itself(self, _other: Any = None) -> "UnknownValue":
        return self

    __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _itself
    __floordiv__ = __rfloordiv__ = __pow__ = __neg__ = _itself

    def __add__(self, other: Any) -> str:
        """Concatenate with a text, or stay unknown."""
        return f"{self}{other}" if isinstance(other, str) else self

    def __radd__(self, other: Any) -> str:
        """Stay unknown behind a number."""
        return self

    def __lt__(self, other: Any) -> bool:
        """Compare as a text with texts, and as 1 with numbers."""
        return str(self) < other if isinstance(other, str) else bool(other > 1)

    def __gt__(self, other: Any) -> bool:
        """Compare as a text with texts, and as 1 with numbers."""
        return str(self) > other if isinstance(other, str) else bool(other < 1)

    def __le__(self, other: Any) -> bool:
        """Compare as a text with texts, and as 1 with numbers."""
        return not self > other

    def __ge__(self, other: Any) -> bool:
        """Compare as a text with texts, and as 1 with numbers."""
        return not self < other


class UnknownRow:
    """A row of a query result: every value is a placeholder, named after its column."""

    def __getitem__(self, key: Any) -> str:
        """Return a value by its number or name."""
        return UnknownValue(placeholder_identifier(f"value_{key}"))

    def parts(self, count: int) -> list[str]:
        """Return as many values as a template unpacks the row into."""
        return [self[number] for number in range(count)]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the values; templates that unpack rows expect more than one."""
        return iter([self[number] for number in range(UNKNOWN_ROW_WIDTH)])

    def __len__(self) -> int:
        """Return the number of values."""
        return UNKNOWN_ROW_WIDTH

    def __getattr__(self, name: str) -> str:
        """Return a value by its name."""
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def dict(self) -> "UnknownRow":
        """Return the values by name."""
        return self

    def values(self) -> list[str]:
        """Return the values."""
        return list(self)

    def get(self, key: Any, default: Any = None) -> str:
        """Return a value by its name."""
        return self[key]


UNKNOWN_ROW_WIDTH = 4


class UnknownColumn(list[Any]):
    """The values of a column of a query result."""

    def values(self) -> list[Any]:
        """Return the values."""
        return list(self)

    values_distinct = values_without_nulls = values


class UnknownColumns:
    """The columns of a query result, under whichever name."""

    def __getitem__(self, key: Any) -> UnknownColumn:
        """Return a column."""
        return UnknownColumn([UnknownValue(placeholder_identifier(f"value_{key}"))])

    def __iter__(self) -> Iterator[UnknownColumn]:
        """Iterate over the columns."""
        return iter([self[number] for number in range(UNKNOWN_ROW_WIDTH)])

    def __len__(self) -> int:
        """Return the number of columns."""
        return UNKNOWN_ROW_WIDTH

    def keys(self) -> list[str]:
        """Return the names of the columns."""
        return [placeholder_identifier(f"column_{number}") for number in range(UNKNOWN_ROW_WIDTH)]

    def values(self) -> list[UnknownColumn]:
        """Return the columns."""
        return list(self)


class UnknownTable:
    """The result of a query that was not run."""

    @property
    def columns(self) -> UnknownColumns:
        """Return the columns."""
        return UnknownColumns()

    @property
    def column_names(self) -> list[str]:
        """Return the names of the columns."""
        return UnknownColumns().keys()

    @property
    def rows(self) -> list[UnknownRow]:
        """Return the rows."""
        return [UnknownRow()]

    data = rows

    def __iter__(self) -> Iterator[UnknownRow]:
        """Iterate over the rows."""
        return iter(self.rows)

    def __len__(self) -> int:
        """Return the number of rows."""
        return 1

    def __getitem__(self, key: Any) -> Any:
        """Return a row, or the table or its rows under the names of a `load_result`."""
        return {"table": self, "data": self.rows, "rows": self.rows, "columns": self.columns}.get(key) or UnknownRow()

    def _same(self, *_arguments: Any, **_named: Any) -> "UnknownTable":
        return self

    select = where = order_by = rename = exclude = limit = distinct = _same

    @property
    def table(self) -> "UnknownTable":
        """Return the table itself, as the table of a result."""
        return self

    def print_table(self, *_arguments: Any, **_named: Any) -> str:
        """Print nothing."""
        return ""


class RelationFactory:
    """`api.Relation`: creates relations."""

    def __init__(self, session: "DbtSession") -> None:
        """Store the session."""
        self._session = session

    def create(self, database: Any = "", schema: Any = "", identifier: Any = "", **named: Any) -> DbtRelation:
        """Create a relation from its parts."""
        first, second, third = (str(part or "") for part in (database, schema, identifier))
        quoting = self._session.quoting(named.get("quote_policy"))
        return DbtRelation(
            adapter=self._session.target.adapter,
            database=first,
            schema=second,
            identifier=third,
            kind=str(named.get("type") or "table"),
            quoting=quoting,
        )


class ColumnFactory:
    """`api.Column`: creates columns."""

    def __call__(self, *arguments: Any, **named: Any) -> DbtColumn:
        """Create a column."""
        return DbtColumn(*arguments, **named)

    create = __call__

    def translate_type(self, kind: str) -> str:
        """Return a type unchanged."""
        return kind


class AdapterStub:
    """`adapter`: dispatches macros, quotes names, and answers about the database from the project itself."""

    def __init__(self, session: "DbtSession", package: str) -> None:
        """Store the session."""
        self._session, self._package = session, package

    def dispatch(self, name: str, macro_namespace: Any = "", packages: Any = None) -> Any:
        """Find the implementation of a macro for the adapter, or else the default one.

        Before dbt 1.0 a list of packages stood in the place of the namespace.
        """
        spaces = [macro_namespace] if isinstance(macro_namespace, str) and macro_namespace else macro_namespace
        return self._session.dispatch_macro(name, [str(one) for one in spaces or packages or ()], self._package)

    def quote(self, name: str) -> str:
        """Return a name in quotes."""
        mark = self._session.target.adapter.mark
        return f"{mark}{name}{mark}"

    def quote_as_configured(self, name: str, _kind: str = "") -> str:
        """Return a name unchanged."""
        return name

    def type(self) -> str:
        """Return the name of the adapter."""
        return self._session.target.adapter.name

    def get_columns_in_relation(self, relation: Any) -> list[DbtColumn]:
        """Return the columns of a relation, or one placeholder column where they are unknown."""
        found = self.lineage_columns(relation)
        if not found:
            self._session.note_database_query("adapter.get_columns_in_relation")
        return found or [DbtColumn(placeholder_identifier("column"))]

    def lineage_columns(self, relation: Any) -> list[DbtColumn]:
        """Return the columns of a relation as far as the project defines them."""
        mark = self._session.target.adapter.mark
        return [DbtColumn(name, kind, mark=mark) for name, kind in self._session.relation_columns(relation)]

    def get_relation(self, database: Any = "", schema: Any = "", identifier: Any = "", **_named: Any) -> DbtRelation:
        """Return a relation as if it existed."""
        return RelationFactory(self._session).create(database, schema, identifier)

    def _none(self, *_arguments: Any, **_named: Any) -> list[Any]:
        self._session.note_database_query("adapter")
        return []

    def _silent(self, *_arguments: Any, **_named: Any) -> str:
        return ""

    list_relations = list_relations_without_caching = list_schemas = get_missing_columns = _none
    drop_relation = create_schema = drop_schema = rename_relation = expand_target_column_types = _silent
    truncate_relation = cache_added = cache_dropped = commit = add_query = execute = submit_python_job = _silent

    def check_schema_exists(self, *_arguments: Any) -> bool:
        """Return true."""
        return True


class ExceptionsStub:
    """`exceptions`: an error stops the rendering of the template; warnings are ignored."""

    def raise_compiler_error(self, message: Any = "", *_arguments: Any) -> str:
        """Stop the rendering of the template."""
        raise ValueError(str(message))

    raise_database_error = raise_not_implemented = raise_parsing_error = raise_compiler_error

    def warn(self, *_arguments: Any, **_named: Any) -> str:
        """Print nothing."""
        return ""
