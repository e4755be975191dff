"""dbt's Relation and Column objects as templates use them: they print as names, and expose their parts."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from lineage_pipeline.discover.dbt.target import DbtAdapter

PLAIN_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*\Z")
QUOTE_CHARACTERS = frozenset('"`[')
RELATION_PARTS = ("database", "schema", "identifier")


DEFAULT_QUOTING: Mapping[str, bool] = MappingProxyType({})


def merge_quoting(*said: Any) -> dict[str, bool]:
    """Return which parts of a name are quoted; later mappings override earlier ones part by part."""
    known = [each for each in said if isinstance(each, Mapping)]
    return {key: each[key] for each in known for key in RELATION_PARTS if isinstance(each.get(key), bool)}


class DbtRelation(Mapping[str, Any]):
    """The name of a table, view or CTE as the adapter writes it; templates use it as a mapping."""

    metadata = MappingProxyType({"type": "LineageRelation"})

    def __init__(
        self,
        adapter: DbtAdapter,
        database: str,
        schema: str,
        identifier: str,
        kind: str = "table",
        quoting: Mapping[str, bool] = DEFAULT_QUOTING,
    ) -> None:
        """Store the parts, of which empty ones are left out, and which of them are quoted against the default."""
        self.adapter = adapter
        self.database, self.schema, self.identifier = database, schema, identifier
        self.type, self.quoting = kind, quoting

    def __getitem__(self, key: str) -> Any:
        """Return a part or property by the name that templates use."""
        if key.startswith("_") or not hasattr(self, key):
            raise KeyError(key)
        return getattr(self, key)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the parts."""
        return iter(RELATION_PARTS)

    def __len__(self) -> int:
        """Return the number of parts."""
        return len(RELATION_PARTS)

    @property
    def name(self) -> str:
        """Return the last part."""
        return self.identifier

    table = name

    @property
    def is_cte(self) -> bool:
        """Return whether it is a common table expression, which has no schema."""
        return self.type == "cte"

    @property
    def is_table(self) -> bool:
        """Return whether it is a table."""
        return self.type == "table"

    @property
    def is_view(self) -> bool:
        """Return whether it is a view."""
        return self.type == "view"

    def render(self) -> str:
        """Return the printed name."""
        return str(self)

    def __str__(self) -> str:
        """Return the parts joined with dots, quoted as the adapter quotes them."""
        return ".".join(self._printed_parts())

    @property
    def parts(self) -> tuple[tuple[str, bool], ...]:
        """Return the parts, each with whether it is printed in quotes."""
        return tuple(
            (part[1:-1], True) if part[0] in QUOTE_CHARACTERS else (part, False) for part in self._printed_parts()
        )

    def _printed_parts(self) -> list[str]:
        said = zip(RELATION_PARTS, (self.database, self.schema, self.identifier), strict=True)
        return [self._quote_part(part, self.quoting.get(key, self.adapter.quotes)) for key, part in said if part]

    def _quote_part(self, part: str, quoted: bool) -> str:
        if self.is_cte or part[0] in QUOTE_CHARACTERS or (not quoted and PLAIN_IDENTIFIER.match(part)):
            return part
        mark = self.adapter.mark
        return f"{mark}{part}{mark}"

    def __eq__(self, other: object) -> bool:
        """Compare by the printed name."""
        return str(self) == str(other)

    def __hash__(self) -> int:
        """Hash the printed name."""
        return hash(str(self))

    def include(self, database: bool = True, schema: bool = True, identifier: bool = True) -> "DbtRelation":
        """Return the relation with some parts left out."""
        parts = zip((self.database, self.schema, self.identifier), (database, schema, identifier), strict=True)
        first, second, third = (part if kept else "" for part, kept in parts)
        return DbtRelation(
            adapter=self.adapter, database=first, schema=second, identifier=third, kind=self.type, quoting=self.quoting
        )

    def quote(self, **parts: bool) -> "DbtRelation":
        """Return the relation with other parts quoted."""
        quoting = {**self.quoting, **merge_quoting(parts)}
        return DbtRelation(
            adapter=self.adapter,
            database=self.database,
            schema=self.schema,
            identifier=self.identifier,
            kind=self.type,
            quoting=quoting,
        )

    def incorporate(self, **changes: Any) -> "DbtRelation":
        """Return the relation with some parts replaced."""
        path = changes.get("path") or {}
        parts = {
            part: path.get(part, changes.get(part, getattr(self, part))) or ""
            for part in ("database", "schema", "identifier")
        }
        quoting = {**self.quoting, **merge_quoting(changes.get("quote_policy"))}
        return DbtRelation(
            adapter=self.adapter,
            database=parts["database"],
            schema=parts["schema"],
            identifier=parts["identifier"],
            kind=self.type,
            quoting=quoting,
        )

    replace_path = incorporate

    def without_identifier(self) -> "DbtRelation":
        """Return the schema of the relation."""
        return self.include(identifier=False)

    def information_schema(self, view: str = "") -> "DbtRelation":
        """Return a view of the information schema of its database."""
        return DbtRelation(self.adapter, self.database, "information_schema", view)


class DbtColumn:
    """A column as templates use it."""

    def __init__(self, column: str, dtype: str = "text", *_sizes: Any, mark: str = '"', **_named: Any) -> None:
        """Store name and type, and the quote character of the adapter."""
        self._mark = mark
        self.column = self.name = column
        self.dtype = self.data_type = dtype or "text"

    @property
    def quoted(self) -> str:
        """Return the name in quotes."""
        return f"{self._mark}{self.column}{self._mark}"

    def string_size(self) -> int:
        """Return a size that holds every text."""
        return 65535

    def is_string(self) -> bool:
        """Return whether it is text."""
        return self.dtype.lower().split("(")[0] in (
            "text",
            "string",
            "varchar",
            "character varying",
            "char",
            "nvarchar",
        )

    def is_number(self) -> bool:
        """Return whether it is a number."""
        return self.is_numeric() or self.is_integer() or self.is_float()

    def is_numeric(self) -> bool:
        """Return whether it is an exact number."""
        return self.dtype.lower().split("(")[0] in ("numeric", "decimal", "number", "bignumeric")

    def is_integer(self) -> bool:
        """Return whether it is an integer."""
        return self.dtype.lower() in ("int", "integer", "bigint", "smallint", "tinyint", "int64")

    def is_float(self) -> bool:
        """Return whether it is a floating-point number."""
        return self.dtype.lower() in ("float", "double", "real", "float64", "double precision")

    def __str__(self) -> str:
        """Return the name."""
        return self.column
