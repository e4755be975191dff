"""System catalogs: schemas and views of the engine that exist although no file creates them."""

from collections.abc import Sequence

import msgspec

STANDARD_SCHEMAS = frozenset({"information_schema"})
"""The system schemas of the standard."""


class SystemCatalog(msgspec.Struct, frozen=True):
    """The names of one engine's system objects, in lower case."""

    schemas: frozenset[str] = STANDARD_SCHEMAS
    """System schemas: all objects in them are system objects."""
    databases: frozenset[str] = frozenset()
    """System databases, which precede a schema."""
    prefixes: tuple[str, ...] = ()
    """Prefixes of system names that need no schema: `pg_`."""
    names: frozenset[str] = frozenset()
    """System names that need no schema."""


def is_system_object(catalog: SystemCatalog, parts: Sequence[str]) -> bool:
    """Return whether a name is that of a system object."""
    words = [word for part in parts for word in part.lower().split(".")]
    *around, name = words or [""]
    if any(word in catalog.schemas for word in around) or (len(around) == 2 and around[0] in catalog.databases):
        return True
    return name.startswith(catalog.prefixes) or (not around and name in catalog.names)
