"""Presto: the rules of Trino, with signs of its own."""

from lineage_pipeline.dialects.dialect import derive_dialect
from lineage_pipeline.dialects.signs import build_driver_sign
from lineage_pipeline.dialects.trino import TRINO

PRESTO = derive_dialect(
    TRINO,
    "presto",
    table_pseudo_columns=TRINO.table_pseudo_columns,
    pseudo_column_types=TRINO.pseudo_column_types,
    procedural=TRINO.procedural,
    host_signs=(build_driver_sign("Presto", modules="prestodb", operators="Presto", scheme="presto"),),
)
