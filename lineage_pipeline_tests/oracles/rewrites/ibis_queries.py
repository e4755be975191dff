"""ibis compiles queries: it merges steps into one SELECT, quotes every name, and groups by position.

It adds dialects to sqlglot and to its tables, so it runs in a process of its own.
"""

import json
import operator
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from lineage_pipeline_tests.oracles.rewrites.recipes import NUMBER, Kinds, build_queries

COMPILERS = {
    "postgres": "postgres",
    "duckdb": "duckdb",
    "bigquery": "bigquery",
    "mysql": "mysql",
    "trino": "trino",
    "databricks": "databricks",
    "spark": "pyspark",
    "sqlite": "sqlite",
}
"""The compilers of ibis by our names of dialects; those for T-SQL and ClickHouse do not run on a compiled sqlglot."""

OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<": operator.lt,
    "=": operator.eq,
    ">=": operator.ge,
}


class IbisBuilder:
    """Builds each step as the method of a table."""

    def __init__(self, dialect: str) -> None:
        """Compile for one of the dialects."""
        import ibis
        from ibis.backends.sql import compilers

        self.ibis = ibis
        self.compiler = getattr(compilers, COMPILERS[dialect]).compiler

    def table(self, name: str, columns: Kinds) -> Any:
        """A table of the schema `s`."""
        schema = {column: "int64" if kind == NUMBER else "string" for column, kind in columns.items()}
        return self.ibis.table(schema, name=name, database="s").view()

    def column(self, made: Any, name: str) -> Any:
        """A column of a relation."""
        return made[name]

    def number(self, value: int) -> Any:
        """A number that is written out."""
        return self.ibis.literal(value, "int64")

    def text(self, value: str) -> Any:
        """A text that is written out."""
        return self.ibis.literal(value)

    def arithmetic(self, operator: str, one: Any, other: Any) -> Any:
        """A sum, difference or product."""
        return OPERATORS[operator](one, other)

    def call(self, function: str, *values: Any) -> Any:
        """A call of `upper`, `lower` or `coalesce`."""
        first, *others = values
        return self.ibis.coalesce(*values) if function == "coalesce" else getattr(first, function)(*others)

    def choose(self, condition: Any, one: Any, other: Any) -> Any:
        """CASE with one branch."""
        return self.ibis.cases((condition, one), else_=other)

    def compare(self, operator: str, one: Any, other: Any) -> Any:
        """A comparison."""
        return OPERATORS[operator](one, other)

    def missing(self, value: Any) -> Any:
        """IS NULL."""
        return value.isnull()

    def both(self, one: Any, other: Any) -> Any:
        """Two conditions."""
        return one & other

    def either(self, one: Any, other: Any) -> Any:
        """One of two conditions."""
        return one | other

    def project(self, made: Any, columns: Sequence[tuple[str, Any]]) -> Any:
        """Columns by name."""
        return made.select(**dict(columns))

    def filter(self, made: Any, condition: Any) -> Any:
        """The rows of a condition."""
        return made.filter(condition)

    def filter_within(self, made: Any, column: str, other: Any, key: str) -> Any:
        """The rows whose value another relation has."""
        return made.filter(made[column].isin(other[key]))

    def group(self, made: Any, keys: Sequence[str], results: Sequence[tuple[str, str, str]]) -> Any:
        """Groups by keys; each result is a name, a function and a column."""
        values = {name: getattr(made[column], function)() for name, function, column in results}
        return made.group_by(list(keys)).aggregate(**values)

    def rank(self, made: Any, columns: Sequence[str], name: str, partition: str, order: str) -> Any:
        """All columns and ROW_NUMBER."""
        window = self.ibis.window(group_by=made[partition], order_by=made[order])
        return made.select(
            **{column: made[column] for column in columns}, **{name: self.ibis.row_number().over(window)}
        )

    def join(
        self, left: Any, right: Any, outer: bool, keys: tuple[str, str], columns: Sequence[tuple[str, int, str]]
    ) -> Any:
        """A join; each column has its name, its side and its name there."""
        sides = left.view(), right.view()
        join = sides[0].join(sides[1], sides[0][keys[0]] == sides[1][keys[1]], how="left" if outer else "inner")
        return join.select(**{name: sides[side][column] for name, side, column in columns})

    def union(self, one: Any, other: Any) -> Any:
        """UNION ALL."""
        return one.union(other)

    def distinct(self, made: Any) -> Any:
        """SELECT DISTINCT."""
        return made.distinct()

    def finish(self, made: Any, columns: Sequence[str]) -> str:
        """The text of the query."""
        query = made.select(*columns)
        return str(self.compiler.to_sqlglot(query).sql(dialect=self.compiler.dialect))


def compile_queries(count: int) -> dict[str, list[str]]:
    """The queries of every dialect, made in another process."""
    command = [sys.executable, "-W", "ignore", "-m", __spec__.name, str(count)]
    found: dict[str, list[str]] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


if __name__ == "__main__":
    print(json.dumps({dialect: build_queries(IbisBuilder(dialect), int(sys.argv[1])) for dialect in COMPILERS}))
