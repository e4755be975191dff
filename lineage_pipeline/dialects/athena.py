"""Athena: the rules of Trino, with the CREATE and ALTER of Hive, and signs of its own."""

from lineage_pipeline.dialects.dialect import derive_dialect
from lineage_pipeline.dialects.signs import build_driver_sign, build_sign
from lineage_pipeline.dialects.trino import TRINO

ATHENA = derive_dialect(
    TRINO,
    "athena",
    quotes="`",
    grammar="trino",
    definitions="hive",
    table_pseudo_columns=TRINO.table_pseudo_columns,
    pseudo_column_types=TRINO.pseudo_column_types,
    procedural=TRINO.procedural,
    signs=(
        build_sign(
            "Athena's catalog or properties",
            r"\bAwsDataCatalog\b|['\"](?:parquet\.compression|projection\.enabled|storage\.location\.template)['\"]|"
            r"\bWITH\s*\(\s*(?:external_location|write_compression)\b",
            4,
            "awsdatacatalog parquet&compression projection&enabled storage&location with&external_location "
            "with&write_compression",
        ),
    ),
    path_words=frozenset({"athena"}),
    host_signs=(build_driver_sign("Athena", modules="pyathena", operators="Athena", scheme="awsathena"),),
)
