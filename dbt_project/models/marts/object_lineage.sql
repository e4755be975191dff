with edges as (
    select * from {{ ref('stg_lineage__object_edges') }}
),

snapshots as (
    select * from {{ ref('snapshots') }}
),

objects as (
    select * from {{ ref('stg_lineage__objects') }}
),

column_edges as (
    select
        snapshot,
        from_object,
        to_object,
        count(*) filter (where type = 'DIRECT') as direct_edges,
        count(*) filter (where type = 'INDIRECT') as indirect_edges,
        bool_or(approximate) as is_approximate
    from {{ ref('stg_lineage__column_edges') }}
    group by snapshot, from_object, to_object
)

select
    edges.snapshot,
    snapshots.repo,
    snapshots.commit,
    snapshots.is_latest,
    edges.from_object,
    producers.kind as from_object_kind,
    edges.to_object,
    consumers.kind as to_object_kind,
    {{ joined('consumers.owners') }} as to_owners,
    edges.kind,
    {{ length_of('edges.statements') }} as statements,
    {{ first_of('edges.statements') }}.path as path,
    coalesce(column_edges.direct_edges, 0) as direct_edges,
    coalesce(column_edges.indirect_edges, 0) as indirect_edges,
    coalesce(column_edges.is_approximate, false) as is_approximate
from edges
inner join snapshots
    on edges.snapshot = snapshots.snapshot
left join objects as producers
    on edges.snapshot = producers.snapshot and edges.from_object = producers.object
left join objects as consumers
    on edges.snapshot = consumers.snapshot and edges.to_object = consumers.object
left join column_edges
    on
        edges.snapshot = column_edges.snapshot
        and edges.from_object = column_edges.from_object
        and edges.to_object = column_edges.to_object
