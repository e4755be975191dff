with reach as (
    select * from {{ ref('stg_lineage__column_reach') }}
),

snapshots as (
    select * from {{ ref('snapshots') }}
)

select
    reach.snapshot,
    snapshots.repo,
    snapshots.commit,
    snapshots.is_latest,
    reach.object,
    reach.ordinal,
    reach.name as column_name,
    reach.direct_upstream_columns,
    reach.direct_upstream_objects,
    reach.direct_upstream_depth,
    reach.direct_downstream_columns,
    reach.direct_downstream_objects,
    reach.direct_downstream_depth,
    reach.direct_leaves,
    reach.all_upstream_columns,
    reach.all_upstream_objects,
    reach.all_downstream_columns,
    reach.all_downstream_objects,
    reach.exact as is_exact
from reach
inner join snapshots
    on reach.snapshot = snapshots.snapshot
