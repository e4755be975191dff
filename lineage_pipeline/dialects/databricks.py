"""Databricks: the rules of Spark, with columns of Delta Lake and of Auto Loader."""

from lineage_pipeline.dialects.dialect import derive_dialect
from lineage_pipeline.dialects.signs import (
    ANGLE_TYPES,
    BACKTICKS,
    CASTS,
    COLLECT_FUNCTIONS,
    INSERT_OVERWRITE,
    LATERAL_VIEW,
    NVL,
    PARTITIONED_BY,
    QUALIFY,
    STAR_EXCEPT,
    USING_FORMAT,
    build_driver_sign,
    build_sign,
)
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
            "ZORDER or LIVE tables",
            r"\b(ZORDER\s+BY|(STREAMING|LIVE)\s+(LIVE\s+)?TABLE|CREATE\s+OR\s+REFRESH|LIVE\.\w)",
            3,
            "zorder live&table streaming&table create&refresh live&live.",
        ),
        build_sign(
            "files and widgets of Databricks",
            r"\b(?:cloud_files|read_files)\s*\(|\bCREATE\s+WIDGET\b|\bFILEFORMAT\s*=\s*\w+|\bdbfs:/",
            3,
            "cloud_files read_files widget fileformat dbfs",
        ),
        build_sign("USE CATALOG", r"^\s*USE\s+CATALOG\b|\bUNITY\s+CATALOG\b", 2, "use&catalog unity&catalog"),
        build_sign(
            "CLUSTER BY AUTO", r"\bCLUSTER\s+BY\s+AUTO\b|\bliquid_clustered_by\b", 3, "cluster&auto liquid_clustered_by"
        ),
        USING_FORMAT,
        LATERAL_VIEW,
        COLLECT_FUNCTIONS,
        INSERT_OVERWRITE.with_worth(1),
        PARTITIONED_BY,
        ANGLE_TYPES,
        STAR_EXCEPT,
        QUALIFY,
        CASTS,
        BACKTICKS,
        NVL,
    ),
    path_words=frozenset({"databricks", "dbx"}),
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
