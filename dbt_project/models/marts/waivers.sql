with changes as (
    select * from {{ ref('changes') }}
    where is_waived
)

select
    base,
    head,
    repo,
    commit,
    change_id,
    rule,
    object,
    column_name,
    effective_severity,
    owners,
    waiver
from changes
