"""The protocol of a catalog; plug-ins are found by entry point, see docs/catalogs.md."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, Self, runtime_checkable

CATALOG_ENTRY_POINTS = "lineage_pipeline.catalogs"
"""The entry point group of catalog plug-ins; the name of each is the scheme of its addresses."""


@runtime_checkable
class Catalog(Protocol):
    """A source of tables: configured by an address, it lists their names and returns the DDL of each.

    The DDL is in `dialect`; unqualified names in it are in `default_schema`.
    """

    dialect: str
    default_schema: str

    @classmethod
    def configure(cls, url: str, environ: Mapping[str, str], root: Path) -> Self:
        """Create the catalog of an address; secrets come from the environment, and files start at `root`."""

    def list(self) -> Sequence[str]:
        """Return the names of all tables and views, `schema.name`, sorted."""

    def get_ddl(self, name: str) -> str:
        """Return the CREATE statement of one of the tables that `list` names."""

    def get_ddl_batch(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return the statements of several tables, by name."""
