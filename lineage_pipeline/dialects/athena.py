"""Athena: the rules of Trino, with the CREATE and ALTER of Hive."""

from lineage_pipeline.dialects.dialect import derive_dialect
from lineage_pipeline.dialects.signs import build_driver_sign
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
    host_signs=(build_driver_sign("Athena", modules="pyathena", operators="Athena", scheme="awsathena"),),
)
