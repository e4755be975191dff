with changes as (
    select * from {{ ref('stg_lineage__changes') }}
),

snapshots as (
    select * from {{ ref('snapshots') }}
),

objects as (
    select * from {{ ref('stg_lineage__objects') }}
)

select
    changes.base,
    changes.head,
    heads.repo,
    heads.commit,
    heads.author,
    heads.committed_at,
    changes.id as change_id,
    changes.rule,
    changes.object,
    changes.column_name,
    changes.intrinsic as intrinsic_severity,
    changes.effective as effective_severity,
    changes.confidence,
    changes.scope,
    changes.root as is_root,
    changes.root_id,
    {{ length_of('changes.consumers') }} as consumers,
    {{ joined('objects.owners') }} as owners,
    changes.before as before_text,
    changes.after as after_text,
    changes.sql_before,
    changes.sql_after,
    changes.suggestion,
    changes.path,
    changes.line,
    changes.fingerprint,
    changes.waiver,
    changes.waiver is not null as is_waived
from changes
inner join snapshots as heads
    on changes.head = heads.snapshot
left join objects
    on changes.head = objects.snapshot and changes.object = objects.object
