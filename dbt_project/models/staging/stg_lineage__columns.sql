select
    columns.snapshot,
    columns.object,
    columns.ordinal,
    columns.name,
    columns.written,
    columns.type,
    columns.nullable,
    columns.origin,
    columns.approximate,
    columns.path,
    columns.statement,
    columns.tags,
    columns.description
from {{ source('lineage', 'columns') }} as columns
