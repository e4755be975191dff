with reach as (
    select * from {{ ref('column_reach') }}
),

objects as (
    select * from {{ ref('objects') }}
),

ranked as (
    select
        *,
        row_number() over (
            partition by snapshot, object
            order by all_downstream_columns desc, ordinal asc
        ) as place
    from reach
),

widest as (
    select
        snapshot,
        object,
        max(all_downstream_columns) as downstream_columns,
        max(all_downstream_objects) as downstream_objects,
        max(direct_downstream_columns) as downstream_value_columns,
        max(direct_downstream_depth) as downstream_depth,
        max(direct_leaves) as leaves,
        min_by(column_name, place) as widest_column,
        bool_and(is_exact) as is_exact
    from ranked
    group by snapshot, object
)

select
    widest.snapshot,
    objects.repo,
    objects.commit,
    objects.is_latest,
    widest.object,
    objects.kind,
    objects.owners,
    objects.readers,
    widest.widest_column,
    widest.downstream_columns,
    widest.downstream_objects,
    widest.downstream_value_columns,
    widest.downstream_depth,
    widest.leaves,
    widest.is_exact
from widest
inner join objects
    on widest.snapshot = objects.snapshot and widest.object = objects.object
