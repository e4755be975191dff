select
    object_edges.snapshot,
    object_edges.from_object,
    object_edges.to_object,
    object_edges.kind,
    object_edges.statements
from {{ source('lineage', 'object_edges') }} as object_edges
