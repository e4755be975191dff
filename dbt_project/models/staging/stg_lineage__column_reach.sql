select
    column_reach.snapshot,
    column_reach.object,
    column_reach.ordinal,
    column_reach.name,
    column_reach.direct_upstream_columns,
    column_reach.direct_upstream_objects,
    column_reach.direct_upstream_depth,
    column_reach.direct_downstream_columns,
    column_reach.direct_downstream_objects,
    column_reach.direct_downstream_depth,
    column_reach.direct_leaves,
    column_reach.all_upstream_columns,
    column_reach.all_upstream_objects,
    column_reach.all_downstream_columns,
    column_reach.all_downstream_objects,
    column_reach.exact
from {{ source('lineage', 'column_reach') }} as column_reach
