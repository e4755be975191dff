"""Asset specs: which tables and products there are, what each depends on, and how Dagster shows them."""

from collections.abc import Sequence

import dagster as dg
import msgspec
import pyarrow as pa

from lineage_pipeline import __version__
from lineage_pipeline.model.enums import Stage
from lineage_pipeline.model.ir import IR_VERSION
from lineage_pipeline.model.tables import TABLES
from lineage_pipeline.store.table_schemas import arrow_schema

SNAPSHOT_PARTITIONS = "snapshots"

snapshot_partitions = dg.DynamicPartitionsDefinition(name=SNAPSHOT_PARTITIONS)
"""Keys are `<repo>@<commit>`."""

SPARK_POOL = "spark"
"""The pool of all that reads or writes snapshots: one run at a time has Spark, and no file vanishes under it.

Its limit is in dagster.yaml.
"""


ASSET_PREFIX = "lineage"
ASSET_OWNERS = ["team:lineage"]
CODE_VERSION = f"{__version__}-{IR_VERSION}"

TABLE_DEPS: dict[str, tuple[str, ...]] = {
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
"""The tables of the same snapshot that each table is made from."""

FINAL_TABLES = tuple(name for name in TABLE_DEPS if not any(name in needed for needed in TABLE_DEPS.values()))
"""The tables that no other is made from: when these have passed their checks, all have."""


class ProductSpec(msgspec.Struct, frozen=True):
    """An asset that is not a table of a snapshot: its grain and what it depends on."""

    stage: Stage
    description: str
    deps: tuple[str, ...]
    kinds: frozenset[str]


PRODUCTS: dict[str, ProductSpec] = {
    "manifests": ProductSpec(
        Stage.COLUMN_GRAPH,
        "One manifest for each snapshot: the files of all its tables, swapped in when every blocking check held.",
        FINAL_TABLES,
        frozenset({"json"}),
    ),
    "changes": ProductSpec(Stage.DIFF, "One change between base and head.", ("manifests",), frozenset({"parquet"})),
    "waivers": ProductSpec(
        Stage.DIFF,
        "One waiver that a head brings to its comparison: what it covers, why, who answers for it, and until when.",
        ("manifests",),
        frozenset({"parquet"}),
    ),
    "openlineage_events": ProductSpec(
        Stage.EXPORT,
        "One JobEvent for each statement that writes, as newline-delimited JSON.",
        ("manifests",),
        frozenset({"json"}),
    ),
    "change_report": ProductSpec(
        Stage.EXPORT,
        "One report for each head: what changed and whom it breaks.",
        ("changes",),
        frozenset({"markdown"}),
    ),
}

SPARK_STAGES = frozenset({Stage.PARSING, Stage.SCHEMA_REGISTRY, Stage.COLUMN_GRAPH})
"""The stages whose rows Spark writes."""


def make_asset_key(name: str) -> dg.AssetKey:
    """Return the asset key of a table or product."""
    return dg.AssetKey([ASSET_PREFIX, name])


def find_stage(table: str) -> Stage:
    """Return the stage that writes a table."""
    return PRODUCTS[table].stage if table in PRODUCTS else TABLES[table].stage


def list_stage_tables(stage: Stage) -> list[str]:
    """List the tables that a stage writes; diagnostics come from all stages and are an asset of their own."""
    return [name for name in TABLE_DEPS if TABLES[name].stage is stage and name != "diagnostics"]


def build_specs(names: Sequence[str]) -> list[dg.AssetSpec]:
    """Return the asset specs of tables and products."""
    return [_build_product_spec(name) if name in PRODUCTS else _build_table_spec(name) for name in names]


def _build_table_spec(name: str) -> dg.AssetSpec:
    table = TABLES[name]
    kinds = {"parquet", *(["pyspark"] if table.stage in SPARK_STAGES else [])}
    return _build_spec(name, (table.row.__doc__ or "").strip(), TABLE_DEPS[name], kinds)


def _build_product_spec(name: str) -> dg.AssetSpec:
    product = PRODUCTS[name]
    return _build_spec(name, product.description, product.deps, set(product.kinds))


def _build_spec(name: str, description: str, deps: Sequence[str], kinds: set[str]) -> dg.AssetSpec:
    return dg.AssetSpec(
        make_asset_key(name),
        deps=[make_asset_key(dep) for dep in deps],
        description=description,
        group_name=find_stage(name).value,
        kinds=kinds,
        owners=ASSET_OWNERS,
        code_version=CODE_VERSION,
        partitions_def=snapshot_partitions,
        metadata={"dagster/column_schema": build_column_schema(name)} if name in TABLES else {},
    )


def build_column_schema(table: str) -> dg.TableSchema:
    """Return the column schema of a table for Dagster."""
    key = TABLES[table].key
    return dg.TableSchema(columns=[_build_column(field, field.name in key) for field in arrow_schema(table)])


def _build_column(field: pa.Field, in_key: bool) -> dg.TableColumn:
    constraints = dg.TableColumnConstraints(nullable=field.nullable, other=["part of the key"] if in_key else [])
    return dg.TableColumn(field.name, type=str(field.type), constraints=constraints)
