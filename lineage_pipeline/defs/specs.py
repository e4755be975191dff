"""Which tables there are, what each is made from, and how Dagster shows them: rows, from which the assets follow."""

from collections.abc import Sequence

import dagster as dg
import msgspec
import pyarrow as pa

from lineage_pipeline import __version__
from lineage_pipeline.defs.partitions import snapshots
from lineage_pipeline.store.schemas import arrow_schema
from lineage_pipeline.vocabulary.ir import IR_VERSION
from lineage_pipeline.vocabulary.sets import Stage
from lineage_pipeline.vocabulary.tables import TABLES

PREFIX = "lineage"
OWNERS = ["team:lineage"]
CODE_VERSION = f"{__version__}-{IR_VERSION}"

DEPS: dict[str, tuple[str, ...]] = {
    "snapshots": (),
    "sources": (),
    "sql_files": (),
    "statements": ("sources", "sql_files"),
    "objects": ("statements",),
    "object_statements": ("statements",),
    "object_edges": ("statements",),
    "columns": ("objects", "statements"),
    "constraints": ("objects", "statements"),
    "column_edges": ("columns", "objects"),
    "facets": ("columns", "objects"),
    "column_reach": ("columns", "column_edges"),
    "diagnostics": ("sql_files", "statements", "objects", "column_edges"),
}
"""From which tables of the same snapshot each table is made."""

LAST = tuple(name for name in DEPS if not any(name in needed for needed in DEPS.values()))
"""The tables from which no other is made: when these have passed their checks, all have."""


class Product(msgspec.Struct, frozen=True):
    """An asset that is no table of a snapshot: what one of it is, and what it is made from."""

    stage: Stage
    description: str
    deps: tuple[str, ...]
    kinds: frozenset[str]


PRODUCTS: dict[str, Product] = {
    "manifests": Product(
        Stage.COLUMN_GRAPH,
        "One manifest for each snapshot: the files of all its tables, swapped in when every blocking check held.",
        LAST,
        frozenset({"json"}),
    ),
    "changes": Product(Stage.DIFF, "One change between base and head.", ("manifests",), frozenset({"parquet"})),
    "waivers": Product(
        Stage.DIFF,
        "One waiver that a head brings to its comparison: what it covers, why, who answers for it, and until when.",
        ("manifests",),
        frozenset({"parquet"}),
    ),
    "openlineage_events": Product(
        Stage.EXPORT,
        "One JobEvent for each statement that writes, as newline-delimited JSON.",
        ("manifests",),
        frozenset({"json"}),
    ),
    "change_report": Product(
        Stage.EXPORT,
        "One report for each head: what changed and whom it breaks.",
        ("changes",),
        frozenset({"markdown"}),
    ),
}

ON_SPARK = frozenset({Stage.PARSING, Stage.SCHEMA_REGISTRY, Stage.COLUMN_GRAPH})
"""The stages whose rows Spark writes."""


def asset_key(name: str) -> dg.AssetKey:
    """Give the key of a table or product."""
    return dg.AssetKey([PREFIX, name])


def stage_of(table: str) -> Stage:
    """Say which stage writes a table."""
    return PRODUCTS[table].stage if table in PRODUCTS else TABLES[table].stage


def tables_of(stage: Stage) -> list[str]:
    """List the tables that a stage writes; findings come from all stages and are an asset of their own."""
    return [name for name in DEPS if TABLES[name].stage is stage and name != "diagnostics"]


def specs(names: Sequence[str]) -> list[dg.AssetSpec]:
    """Describe assets to Dagster."""
    return [_product_spec(name) if name in PRODUCTS else _table_spec(name) for name in names]


def _table_spec(name: str) -> dg.AssetSpec:
    table = TABLES[name]
    kinds = {"parquet", *(["pyspark"] if table.stage in ON_SPARK else [])}
    return _spec(name, (table.row.__doc__ or "").strip(), DEPS[name], kinds)


def _product_spec(name: str) -> dg.AssetSpec:
    product = PRODUCTS[name]
    return _spec(name, product.description, product.deps, set(product.kinds))


def _spec(name: str, description: str, deps: Sequence[str], kinds: set[str]) -> dg.AssetSpec:
    return dg.AssetSpec(
        asset_key(name),
        deps=[asset_key(dep) for dep in deps],
        description=description,
        group_name=stage_of(name).value,
        kinds=kinds,
        owners=OWNERS,
        code_version=CODE_VERSION,
        partitions_def=snapshots,
        metadata={"dagster/column_schema": column_schema(name)} if name in TABLES else {},
    )


def column_schema(table: str) -> dg.TableSchema:
    """Give the columns of a table as Dagster shows them."""
    key = TABLES[table].key
    return dg.TableSchema(columns=[_column(field, field.name in key) for field in arrow_schema(table)])


def _column(field: pa.Field, in_key: bool) -> dg.TableColumn:
    constraints = dg.TableColumnConstraints(nullable=field.nullable, other=["part of the key"] if in_key else [])
    return dg.TableColumn(field.name, type=str(field.type), constraints=constraints)
