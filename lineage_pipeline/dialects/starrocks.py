"""StarRocks: the rules of MySQL, with system schemas and signs of its own."""

from lineage_pipeline.dialects.dialect import derive_dialect
from lineage_pipeline.dialects.mysql import MYSQL, MYSQL_PROGRAMS
from lineage_pipeline.dialects.signs import build_sign
from lineage_pipeline.dialects.system_catalogs import STANDARD_SCHEMAS, SystemCatalog

STARROCKS = derive_dialect(
    MYSQL,
    "starrocks",
    system_catalog=SystemCatalog(schemas=STANDARD_SCHEMAS | {"sys", "_statistics_"}),
    procedural=MYSQL_PROGRAMS,
    hash_comments=True,
    signs=(
        build_sign(
            "DISTRIBUTED BY HASH",
            r"\bDISTRIBUTED\s+BY\s+(?:HASH\s*\(|RANDOM\b)",
            4,
            "distributed&hash distributed&random",
        ),
        build_sign(
            "keys of StarRocks' tables", r"\b(?:DUPLICATE|AGGREGATE)\s+KEY\s*\(", 4, "duplicate&key aggregate&key"
        ),
        build_sign(
            "ENGINE=OLAP or replication_num",
            r"\bENGINE\s*=\s*OLAP\b|['\"]replication_num['\"]",
            4,
            "engine&olap replication_num",
        ),
        build_sign(
            "ROUTINE LOAD or WITH BROKER",
            r"\bROUTINE\s+LOAD\b|\bWITH\s+BROKER\b|\bCREATE\s+STORAGE\s+VOLUME\b",
            3,
            "routine~load with~broker storage~volume",
        ),
    ),
    path_words=frozenset({"starrocks"}),
)
