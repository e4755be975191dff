select
    sql_files.snapshot,
    sql_files.path,
    sql_files.system,
    sql_files.dialect,
    sql_files.source_hash,
    sql_files.bytes,
    sql_files.encoding,
    sql_files.templater,
    sql_files.status,
    sql_files.owners,
    sql_files.default_catalog,
    sql_files.default_schema,
    sql_files.evidence,
    sql_files.position
from {{ source('lineage', 'sql_files') }} as sql_files
