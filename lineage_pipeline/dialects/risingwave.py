"""RisingWave: the rules of PostgreSQL, with time windows over a table."""

from lineage_pipeline.dialects.dialect import derive_dialect
from lineage_pipeline.dialects.functions import WINDOW_COLUMNS
from lineage_pipeline.dialects.postgres import PLPGSQL, POSTGRES

RISINGWAVE = derive_dialect(
    POSTGRES,
    "risingwave",
    window_columns=WINDOW_COLUMNS[:2],
    procedural=PLPGSQL,
)
