"""Schemas that are known from elsewhere: a mapping of tables to columns → what the engine takes as imported."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from lineage_pipeline.dialects.folding import fold
from lineage_pipeline.dialects.traits import GENERIC, traits_of
from lineage_pipeline.dialects.typing.families import own
from lineage_pipeline.engine.graph.names import namespace
from lineage_pipeline.vocabulary.analysis import Options, SchemaColumn, TableSchema
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.sets import ObjectKind, Origin

PARTS = re.compile(r'"(?:[^"]|"")*"|\[[^\]]*\]|`[^`]*`|[^.]+')
QUOTES = '"[`'

SchemaMapping = Mapping[str, Mapping[str, str | None] | list[str]]
"""`{"schema.table": {"column": "type"} | ["column", …]}`."""


def read_schema(file: Path) -> SchemaMapping:
    """Read a schema from a JSON file."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, dict[str, str | None] | list[str]])
    except OSError as error:
        raise LineageError(f"{file}: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise LineageError(f"{file}: {error}") from None


def imported_schemas(mapping: SchemaMapping, options: Options) -> dict[str, TableSchema]:
    """Give the schemas by object id, names folded and completed as in a statement of the same dialect."""
    traits, space = traits_of(options.dialect, options.case_sensitivity) or GENERIC, namespace(options)
    found: dict[str, TableSchema] = {}
    for name, columns in mapping.items():
        written = PARTS.findall(name)
        if not written:
            raise LineageError(f"{name!r} is not the name of a table")
        parts = tuple(fold(_bare(part), part[0] in QUOTES, traits.tables) for part in written)
        identity = space.id(space.complete(parts))
        rows = tuple(
            SchemaColumn(fold(_bare(column), column[:1] in QUOTES, traits.columns), _bare(column), kind)
            for column, kind in _typed(columns, traits.family)
        )
        found[identity] = TableSchema(identity, ObjectKind.TABLE, Origin.IMPORTED, rows)
    return found


def _typed(columns: Mapping[str, str | None] | list[str], family: str) -> Iterable[tuple[str, str | None]]:
    """Give columns with their types, written as the engine writes them."""
    if isinstance(columns, list):
        return [(column, None) for column in columns]
    return [(column, _spelled(kind, family)) for column, kind in columns.items()]


def _spelled(kind: str | None, family: str) -> str | None:
    """Write a type as the engine writes it."""
    text = " ".join((kind or "").upper().split()).replace(", ", ",")
    return own(text.replace(": ", ":"), family) if text else None


def _bare(part: str) -> str:
    """Take the quotes off."""
    return part[1:-1].replace('""', '"') if part[:1] and part[0] in QUOTES else part
