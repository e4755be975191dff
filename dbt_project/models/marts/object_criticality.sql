with radius as (
    select * from {{ ref('blast_radius') }}
    where is_latest
),

stale as (
    select * from {{ ref('stale_objects') }}
),

scored as (
    select
        radius.snapshot,
        radius.repo,
        radius.commit,
        radius.object,
        radius.kind,
        radius.owners,
        radius.readers,
        radius.downstream_objects,
        radius.leaves,
        coalesce(stale.changes, 0) as changes,
        radius.downstream_objects * greatest(radius.leaves, 1) * (1 + coalesce(stale.changes, 0)) as score
    from radius
    left join stale
        on radius.snapshot = stale.snapshot and radius.object = stale.object
)

select
    snapshot,
    repo,
    commit,
    object,
    kind,
    owners,
    readers,
    downstream_objects,
    leaves,
    changes,
    cast(score as bigint) as score,
    cast(rank() over (partition by snapshot order by score desc, readers desc) as bigint) as position
from scored
