"""RisingWave: the rules of PostgreSQL, with time windows over a table, and signs of its own."""

from lineage_pipeline.dialects.dialect import derive_dialect
from lineage_pipeline.dialects.functions import WINDOW_COLUMNS
from lineage_pipeline.dialects.postgres import PLPGSQL, POSTGRES
from lineage_pipeline.dialects.signs import build_sign

RISINGWAVE = derive_dialect(
    POSTGRES,
    "risingwave",
    window_columns=WINDOW_COLUMNS[:2],
    procedural=PLPGSQL,
    signs=(
        build_sign(
            "a source or sink with a connector",
            r"\bCREATE\s+(?:SOURCE|SINK|TABLE)\b[^;]{0,4000}?\bWITH\s*\(\s*connector\s*=",
            4,
            "connector&create",
        ),
        build_sign(
            "FORMAT … ENCODE …",
            r"\bFORMAT\s+(?:PLAIN|UPSERT|DEBEZIUM\w*|NATIVE|MAXWELL|CANAL)\s+ENCODE\s+\w+",
            4,
            "format&encode",
        ),
        build_sign(
            "windows TUMBLE and HOP", r"\bFROM\s+(?:TUMBLE|HOP)\s*\(\s*[a-z_]\w*\s*,", 3, "from&tumble from&hop"
        ),
    ),
    path_words=frozenset({"risingwave"}),
)
