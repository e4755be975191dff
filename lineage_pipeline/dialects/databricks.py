"""Databricks: the rules of Spark, with columns of Delta Lake and of Auto Loader."""

from lineage_pipeline.dialects.dialect import derive_dialect
from lineage_pipeline.dialects.signs import build_driver_sign, build_sign
from lineage_pipeline.dialects.spark import SPARK, SPARK_SCRIPTING
from lineage_pipeline.dialects.system_catalogs import SystemCatalog

DATABRICKS = derive_dialect(
    SPARK,
    "databricks",
    reserved_values=frozenset({"GROUPING__ID"}),
    table_pseudo_columns=SPARK.table_pseudo_columns | {"_RESCUED_DATA"},
    pseudo_column_types={**SPARK.pseudo_column_types, "_RESCUED_DATA": "STRING"},
    system_catalog=SystemCatalog(databases=frozenset({"system"})),
    procedural=SPARK_SCRIPTING,
    signs=(
        build_sign(
            "OPTIMIZE, ZORDER or LIVE tables",
            r"\b(ZORDER\s+BY|(STREAMING|LIVE)\s+(LIVE\s+)?TABLE)\b",
            3,
            "zorder live streaming",
        ),
    ),
    host_signs=(
        build_sign("a Databricks notebook", r"\A\ufeff?(#|--|//) Databricks notebook source", 9),
        build_driver_sign(
            "Databricks",
            modules=r"databricks\s+import\s+sql|databricks\.sql",
            operators="DatabricksSql",
            scheme="databricks",
            worth=5,
        ),
    ),
)
