"""StarRocks: the rules of MySQL, with system schemas of its own."""

from lineage_pipeline.dialects.dialect import derive_dialect
from lineage_pipeline.dialects.mysql import MYSQL, MYSQL_PROGRAMS
from lineage_pipeline.dialects.system_catalogs import STANDARD_SCHEMAS, SystemCatalog

STARROCKS = derive_dialect(
    MYSQL,
    "starrocks",
    system_catalog=SystemCatalog(schemas=STANDARD_SCHEMAS | {"sys", "_statistics_"}),
    procedural=MYSQL_PROGRAMS,
    hash_comments=True,
)
