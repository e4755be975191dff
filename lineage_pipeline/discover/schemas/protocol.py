"""What a catalog of tables can do; those of others plug in by entry point, see docs/catalogs.md."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, Self, runtime_checkable

ENTRY_POINTS = "lineage_pipeline.catalogs"
"""The group of entry points that catalogs are found in; the name of each is the scheme of its addresses."""


@runtime_checkable
class Catalog(Protocol):
    """Whoever knows tables: configured by an address, it lists their names and gives the DDL of each.

    The DDL is that of `dialect`; bare names in it live in `default_schema`.
    """

    dialect: str
    default_schema: str

    @classmethod
    def configure(cls, url: str, environ: Mapping[str, str], root: Path) -> Self:
        """Take an address; secrets come from the environment, never from the address, and files start at `root`."""

    def list(self) -> Sequence[str]:
        """Name all tables and views, `schema.name`, sorted."""

    def get_ddl(self, name: str) -> str:
        """Give the statement that makes one of the tables that `list` names."""

    def get_ddl_batch(self, names: Sequence[str]) -> Mapping[str, str]:
        """Give the statements of several at once, by name."""
