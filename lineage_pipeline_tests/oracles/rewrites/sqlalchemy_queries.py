"""SQLAlchemy compiles queries: aliases of its own, every name qualified, names quoted where the dialect asks for it."""

import operator
from collections.abc import Sequence
from typing import Any

import sqlalchemy
from sqlalchemy.dialects import mssql, mysql, oracle, postgresql, sqlite

from lineage_pipeline_tests.oracles.rewrites.recipes import NUMBER, Kinds

DIALECTS: dict[str, Any] = {
    "postgres": postgresql.dialect,
    "mysql": mysql.dialect,
    "tsql": mssql.dialect,
    "oracle": oracle.dialect,
    "sqlite": sqlite.dialect,
}
"""The dialects of SQLAlchemy by our names."""

OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<": operator.lt,
    "=": operator.eq,
    ">=": operator.ge,
}


class SqlalchemyBuilder:
    """Builds each step as a subquery or a common table expression over the one before it."""

    def __init__(self, dialect: str) -> None:
        """Compile for one of the dialects."""
        self.dialect = DIALECTS[dialect]()
        self.steps = 0

    def _close(self, query: Any) -> Any:
        """The next relation: subqueries and common table expressions take turns."""
        self.steps += 1
        return query.cte() if self.steps % 2 else query.subquery()

    def table(self, name: str, columns: Kinds) -> Any:
        """A table of the schema `s`."""
        kinds = {NUMBER: sqlalchemy.Integer()}
        found = [sqlalchemy.column(column, kinds.get(kind, sqlalchemy.String())) for column, kind in columns.items()]
        return sqlalchemy.table(name, *found, schema="s").alias()

    def column(self, made: Any, name: str) -> Any:
        """A column of a relation."""
        return made.c[name]

    def number(self, value: int) -> Any:
        """A number that is written out."""
        return sqlalchemy.literal(value)

    def text(self, value: str) -> Any:
        """A text that is written out."""
        return sqlalchemy.literal(value)

    def arithmetic(self, operator: str, one: Any, other: Any) -> Any:
        """A sum, difference or product."""
        return OPERATORS[operator](one, other)

    def call(self, function: str, *values: Any) -> Any:
        """A call of `upper`, `lower` or `coalesce`."""
        return getattr(sqlalchemy.func, function)(*values)

    def choose(self, condition: Any, one: Any, other: Any) -> Any:
        """CASE with one branch."""
        return sqlalchemy.case((condition, one), else_=other)

    def compare(self, operator: str, one: Any, other: Any) -> Any:
        """A comparison."""
        return OPERATORS[operator](one, other)

    def missing(self, value: Any) -> Any:
        """IS NULL."""
        return value.is_(None)

    def both(self, one: Any, other: Any) -> Any:
        """Two conditions."""
        return sqlalchemy.and_(one, other)

    def either(self, one: Any, other: Any) -> Any:
        """One of two conditions."""
        return sqlalchemy.or_(one, other)

    def project(self, made: Any, columns: Sequence[tuple[str, Any]]) -> Any:
        """Columns by name."""
        values = [value.label(name) for name, value in columns]
        return self._close(sqlalchemy.select(*values).select_from(made))

    def filter(self, made: Any, condition: Any) -> Any:
        """The rows of a condition."""
        return self._close(sqlalchemy.select(*made.c).where(condition))

    def filter_within(self, made: Any, column: str, other: Any, key: str) -> Any:
        """The rows whose value another relation has."""
        return self._close(sqlalchemy.select(*made.c).where(made.c[column].in_(sqlalchemy.select(other.c[key]))))

    def group(self, made: Any, keys: Sequence[str], results: Sequence[tuple[str, str, str]]) -> Any:
        """Groups by keys; each result is a name, a function and a column."""
        groups = [made.c[key] for key in keys]
        values = [getattr(sqlalchemy.func, function)(made.c[column]).label(name) for name, function, column in results]
        return self._close(sqlalchemy.select(*groups, *values).group_by(*groups))

    def rank(self, made: Any, columns: Sequence[str], name: str, partition: str, order: str) -> Any:
        """All columns and ROW_NUMBER."""
        window = sqlalchemy.func.row_number().over(partition_by=made.c[partition], order_by=made.c[order])
        return self._close(sqlalchemy.select(*(made.c[column] for column in columns), window.label(name)))

    def join(
        self, left: Any, right: Any, outer: bool, keys: tuple[str, str], columns: Sequence[tuple[str, int, str]]
    ) -> Any:
        """A join; each column has its name, its side and its name there."""
        sides = left, right
        source = left.join(right, left.c[keys[0]] == right.c[keys[1]], isouter=outer)
        values = [sides[side].c[column].label(name) for name, side, column in columns]
        return self._close(sqlalchemy.select(*values).select_from(source))

    def union(self, one: Any, other: Any) -> Any:
        """UNION ALL."""
        return self._close(sqlalchemy.union_all(sqlalchemy.select(*one.c), sqlalchemy.select(*other.c)))

    def distinct(self, made: Any) -> Any:
        """SELECT DISTINCT."""
        return self._close(sqlalchemy.select(*made.c).distinct())

    def finish(self, made: Any, columns: Sequence[str]) -> str:
        """The text of the query."""
        query = sqlalchemy.select(*(made.c[column] for column in columns))
        return str(query.compile(dialect=self.dialect, compile_kwargs={"literal_binds": True}))
