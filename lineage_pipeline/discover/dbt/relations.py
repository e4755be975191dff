"""Relations as templates hold them: they print as the name of a table, and tell their parts."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from lineage_pipeline.discover.dbt.adapters import Adapter

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*\Z")
QUOTES = frozenset('"`[')
PARTS = ("database", "schema", "identifier")


UNSAID: Mapping[str, bool] = MappingProxyType({})


def quoting_of(*said: Any) -> dict[str, bool]:
    """Give which parts of a name are quoted: what is said later counts, part by part."""
    known = [each for each in said if isinstance(each, Mapping)]
    return {key: each[key] for each in known for key in PARTS if isinstance(each.get(key), bool)}


class Relation(Mapping[str, Any]):
    """The name of a table, view or common table expression, as an adapter writes it; templates ask it as a mapping."""

    metadata = MappingProxyType({"type": "LineageRelation"})

    def __init__(
        self,
        adapter: Adapter,
        database: str,
        schema: str,
        identifier: str,
        kind: str = "table",
        quoting: Mapping[str, bool] = UNSAID,
    ) -> None:
        """Take the parts, of which an empty one is left out, and which of them are quoted other than by default."""
        self.adapter = adapter
        self.database, self.schema, self.identifier = database, schema, identifier
        self.type, self.quoting = kind, quoting

    def __getitem__(self, key: str) -> Any:
        """Give what templates may ask for."""
        if key.startswith("_") or not hasattr(self, key):
            raise KeyError(key)
        return getattr(self, key)

    def __iter__(self) -> Iterator[str]:
        """Name the parts."""
        return iter(PARTS)

    def __len__(self) -> int:
        """Count the parts."""
        return len(PARTS)

    @property
    def name(self) -> str:
        """Give the last part."""
        return self.identifier

    table = name

    @property
    def is_cte(self) -> bool:
        """Say whether it is a common table expression, which has no home."""
        return self.type == "cte"

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
        return ".".join(self._shown())

    @property
    def parts(self) -> tuple[tuple[str, bool], ...]:
        """Give the parts, each with whether it is printed in quotes."""
        return tuple((part[1:-1], True) if part[0] in QUOTES else (part, False) for part in self._shown())

    def _shown(self) -> list[str]:
        said = zip(PARTS, (self.database, self.schema, self.identifier), strict=True)
        return [self._quoted(part, self.quoting.get(key, self.adapter.quotes)) for key, part in said if part]

    def _quoted(self, part: str, quoted: bool) -> str:
        if self.is_cte or part[0] in QUOTES or (not quoted and PLAIN.match(part)):
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
        return Relation(self.adapter, first, second, third, self.type, self.quoting)

    def quote(self, **parts: bool) -> "Relation":
        """Give the same with some parts quoted, or not."""
        quoting = {**self.quoting, **quoting_of(parts)}
        return Relation(self.adapter, self.database, self.schema, self.identifier, self.type, quoting)

    def incorporate(self, **changes: Any) -> "Relation":
        """Give the same with other parts."""
        path = changes.get("path") or {}
        parts = {
            part: path.get(part, changes.get(part, getattr(self, part))) or ""
            for part in ("database", "schema", "identifier")
        }
        quoting = {**self.quoting, **quoting_of(changes.get("quote_policy"))}
        return Relation(self.adapter, parts["database"], parts["schema"], parts["identifier"], self.type, quoting)

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
