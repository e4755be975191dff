with changes as (
    select * from {{ ref('changes') }}
    where is_root
)

select
    base,
    head,
    repo,
    commit,
    author,
    committed_at,
    rule,
    count(*) as changes,
    count(*) filter (where effective_severity = 'BREAKING' and not is_waived) as breaking,
    count(*) filter (where effective_severity = 'POTENTIALLY_BREAKING' and not is_waived) as potentially_breaking,
    count(*) filter (where is_waived) as waived,
    cast(sum(consumers) as bigint) as consumers
from changes
group by base, head, repo, commit, author, committed_at, rule
