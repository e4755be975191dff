"""Materialize: the rules of PostgreSQL, with signs of its own."""

from lineage_pipeline.dialects.dialect import derive_dialect
from lineage_pipeline.dialects.postgres import PLPGSQL, POSTGRES
from lineage_pipeline.dialects.signs import build_sign

MATERIALIZE = derive_dialect(
    POSTGRES,
    "materialize",
    procedural=PLPGSQL,
    signs=(
        build_sign(
            "a source from Kafka or another system",
            r"\bCREATE\s+(?:MATERIALIZED\s+)?SOURCE\b[^;]{0,400}?\bFROM\s+"
            r"(?:KAFKA|POSTGRES|MYSQL|SQL\s+SERVER|LOAD\s+GENERATOR|WEBHOOK|PUBNUB|S3)\b",
            4,
            "source&kafka source&postgres source&mysql source&server source&generator source&webhook source&pubnub "
            "source&s3",
        ),
        build_sign(
            "SUBSCRIBE or TAIL",
            r"\b(?:CURSOR\s+FOR\s+|COPY\s*\(\s*)(?:SUBSCRIBE|TAIL)\b",
            3,
            "subscribe tail",
        ),
        build_sign("the catalog mz_…", r"\bmz_(?:\w+\.)?\w+", 3, "mz_*"),
        build_sign("IN CLUSTER", r"\bIN\s+CLUSTER\s+\w+", 3, "in&cluster"),
    ),
    path_words=frozenset({"materialize"}),
)
