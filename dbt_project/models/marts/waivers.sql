with waivers as (
    select * from {{ ref('stg_lineage__waivers') }}
),

snapshots as (
    select * from {{ ref('snapshots') }}
),

covered as (
    select
        base,
        head,
        waiver,
        count(*) as changes,
        count(*) filter (where root) as root_changes,
        count(*) filter (where root and effective = 'BREAKING') as breaking
    from {{ ref('stg_lineage__changes') }}
    where waiver is not null
    group by base, head, waiver
)

select
    waivers.base,
    waivers.head,
    heads.repo,
    heads.commit,
    heads.committed_at,
    heads.is_latest,
    waivers.id as waiver,
    waivers.rule,
    waivers.object,
    waivers.column_name,
    waivers.fingerprint,
    waivers.reason,
    waivers.owner,
    cast(waivers.expires as date) as expires_on,
    waivers.ticket,
    waivers.path,
    waivers.line,
    waivers.used as is_used,
    waivers.expired as is_expired,
    coalesce(covered.changes, 0) as changes,
    coalesce(covered.root_changes, 0) as root_changes,
    coalesce(covered.breaking, 0) as breaking
from waivers
inner join snapshots as heads
    on waivers.head = heads.snapshot
left join covered
    on waivers.base = covered.base and waivers.head = covered.head and waivers.id = covered.waiver
