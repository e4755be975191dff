select
    object_statements.snapshot,
    object_statements.object,
    object_statements.path,
    object_statements.ordinal,
    object_statements.role
from {{ source('lineage', 'object_statements') }} as object_statements
