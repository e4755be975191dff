"""Relations as templates hold them: they print as the name of a table, and tell their parts."""

import re
from typing import Any

from lineage_pipeline.discover.dbt.adapters import Adapter

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*\Z")
QUOTES = frozenset('"`[')


class Relation:
    """The name of a table, view or common table expression, as an adapter writes it."""

    def __init__(
        self, adapter: Adapter, database: str, schema: str, identifier: str, kind: str = "table", cte: bool = False
    ) -> None:
        """Take the parts; one that is empty is left out."""
        self.adapter = adapter
        self.database, self.schema, self.identifier = database, schema, identifier
        self.type, self.is_cte = kind, cte

    @property
    def name(self) -> str:
        """Give the last part."""
        return self.identifier

    table = name

    @property
    def is_table(self) -> bool:
        """Say whether it is a table."""
        return self.type == "table"

    @property
    def is_view(self) -> bool:
        """Say whether it is a view."""
        return self.type == "view"

    def render(self) -> str:
        """Print it."""
        return str(self)

    def __str__(self) -> str:
        """Print the parts, quoted as the adapter quotes them."""
        return ".".join(self._quoted(part) for part in (self.database, self.schema, self.identifier) if part)

    @property
    def parts(self) -> tuple[tuple[str, bool], ...]:
        """Give the parts, each with whether it is printed in quotes."""
        shown = [self._quoted(part) for part in (self.database, self.schema, self.identifier) if part]
        return tuple((part[1:-1], True) if part[0] in QUOTES else (part, False) for part in shown)

    def _quoted(self, part: str) -> str:
        if self.is_cte or part[0] in QUOTES or (not self.adapter.quotes and PLAIN.match(part)):
            return part
        mark = self.adapter.mark
        return f"{mark}{part}{mark}"

    def __eq__(self, other: object) -> bool:
        """Be the same where the same is printed."""
        return str(self) == str(other)

    def __hash__(self) -> int:
        """Be the same where the same is printed."""
        return hash(str(self))

    def include(self, database: bool = True, schema: bool = True, identifier: bool = True) -> "Relation":
        """Give the same with some parts left out."""
        parts = zip((self.database, self.schema, self.identifier), (database, schema, identifier), strict=True)
        first, second, third = (part if kept else "" for part, kept in parts)
        return Relation(self.adapter, first, second, third, self.type, self.is_cte)

    def quote(self, *_arguments: Any, **_named: Any) -> "Relation":
        """Give the same: how it is quoted bears on nothing here."""
        return self

    def incorporate(self, **changes: Any) -> "Relation":
        """Give the same with other parts."""
        path = changes.get("path") or {}
        parts = {
            part: path.get(part, changes.get(part, getattr(self, part))) or ""
            for part in ("database", "schema", "identifier")
        }
        return Relation(self.adapter, parts["database"], parts["schema"], parts["identifier"], self.type)

    replace_path = incorporate

    def without_identifier(self) -> "Relation":
        """Give the schema."""
        return self.include(identifier=False)

    def information_schema(self, view: str = "") -> "Relation":
        """Give a view of the catalog of its database."""
        return Relation(self.adapter, self.database, "information_schema", view)


class Column:
    """A column as templates hold it."""

    def __init__(self, column: str, dtype: str = "text", *_sizes: Any, mark: str = '"', **_named: Any) -> None:
        """Take name and type, and what the adapter quotes with."""
        self._mark = mark
        self.column = self.name = column
        self.dtype = self.data_type = dtype or "text"

    @property
    def quoted(self) -> str:
        """Give the name in quotes."""
        return f"{self._mark}{self.column}{self._mark}"

    def string_size(self) -> int:
        """Give a size that holds all."""
        return 65535

    def is_string(self) -> bool:
        """Say whether it is text."""
        return self.dtype.lower().split("(")[0] in (
            "text",
            "string",
            "varchar",
            "character varying",
            "char",
            "nvarchar",
        )

    def is_number(self) -> bool:
        """Say whether it is a number."""
        return self.is_numeric() or self.is_integer() or self.is_float()

    def is_numeric(self) -> bool:
        """Say whether it is an exact number."""
        return self.dtype.lower().split("(")[0] in ("numeric", "decimal", "number", "bignumeric")

    def is_integer(self) -> bool:
        """Say whether it is a whole number."""
        return self.dtype.lower() in ("int", "integer", "bigint", "smallint", "tinyint", "int64")

    def is_float(self) -> bool:
        """Say whether it is a floating number."""
        return self.dtype.lower() in ("float", "double", "real", "float64", "double precision")

    def __str__(self) -> str:
        """Print the name."""
        return self.column
