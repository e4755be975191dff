with findings as (
    select * from {{ ref('stg_lineage__diagnostics') }}
),

snapshots as (
    select * from {{ ref('snapshots') }}
),

files as (
    select * from {{ ref('stg_lineage__sql_files') }}
)

select
    findings.snapshot,
    snapshots.repo,
    snapshots.commit,
    snapshots.is_latest,
    findings.id as diagnostic_id,
    findings.code,
    findings.severity,
    findings.message,
    findings.stage,
    findings.object,
    findings.path,
    findings.line,
    findings.column_number,
    files.dialect,
    {{ joined('files.owners') }} as owners
from findings
inner join snapshots
    on findings.snapshot = snapshots.snapshot
left join files
    on findings.snapshot = files.snapshot and findings.path = files.path
