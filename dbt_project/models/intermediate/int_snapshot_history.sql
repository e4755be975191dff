-- The way back from the newest snapshot of each repository along first parents, or along the pushes of
-- several commits of which only the last was made; another analysis ends it.
with recursive chain as (
    select
        snapshot as tip,
        snapshot,
        repo,
        case when base_rule = 'last-look' then base_commit else parent_commit end as earlier_commit,
        analysis_key,
        cast(0 as bigint) as age
    from {{ ref('snapshots') }}
    where is_latest
    union all
    select
        chain.tip,
        snapshots.snapshot,
        snapshots.repo,
        case
            when snapshots.base_rule = 'last-look' then snapshots.base_commit
            else snapshots.parent_commit
        end as earlier_commit,
        snapshots.analysis_key,
        chain.age + 1 as age
    from chain
    inner join {{ ref('snapshots') }} as snapshots
        on
            chain.repo = snapshots.repo
            and chain.earlier_commit = snapshots.commit
            and chain.analysis_key = snapshots.analysis_key
)

select
    chain.tip,
    chain.snapshot,
    chain.age,
    snapshots.repo,
    snapshots.commit,
    snapshots.author,
    snapshots.committed_at
from chain
inner join {{ ref('snapshots') }} as snapshots
    on chain.snapshot = snapshots.snapshot
