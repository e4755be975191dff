with snapshots as (
    select * from {{ ref('snapshots') }}
),

files as (
    select
        snapshot,
        count(*) filter (where status = 'failed') as failed_files,
        count(*) filter (where status = 'partial') as partial_files
    from {{ ref('stg_lineage__sql_files') }}
    group by snapshot
),

statements as (
    select
        snapshot,
        count(*) filter (where status = 'failed') as failed_statements,
        count(*) filter (where status = 'partial') as partial_statements
    from {{ ref('stg_lineage__statements') }}
    group by snapshot
),

findings as (
    select
        snapshot,
        count(*) filter (where severity = 'error') as errors,
        count(*) filter (where severity = 'warning') as warnings
    from {{ ref('stg_lineage__diagnostics') }}
    group by snapshot
),

edges as (
    select
        snapshot,
        count(*) as edges,
        count(*) filter (where approximate) as approximate_edges
    from {{ ref('stg_lineage__column_edges') }}
    group by snapshot
),

health as (
    select
        snapshots.snapshot,
        snapshots.repo,
        snapshots.commit,
        snapshots.committed_at,
        snapshots.is_latest,
        snapshots.base_commit,
        snapshots.files,
        coalesce(files.failed_files, 0) as failed_files,
        coalesce(files.partial_files, 0) as partial_files,
        snapshots.statements,
        coalesce(statements.failed_statements, 0) as failed_statements,
        coalesce(statements.partial_statements, 0) as partial_statements,
        coalesce(findings.errors, 0) as errors,
        coalesce(findings.warnings, 0) as warnings,
        {{ share('edges.approximate_edges', 'edges.edges') }} as approximate_share
    from snapshots
    left join files
        on snapshots.snapshot = files.snapshot
    left join statements
        on snapshots.snapshot = statements.snapshot
    left join findings
        on snapshots.snapshot = findings.snapshot
    left join edges
        on snapshots.snapshot = edges.snapshot
)

select
    health.snapshot,
    health.repo,
    health.commit,
    health.committed_at,
    health.is_latest,
    health.files,
    health.failed_files,
    health.partial_files,
    health.statements,
    health.failed_statements,
    health.partial_statements,
    health.errors,
    health.warnings,
    health.approximate_share,
    health.failed_statements - bases.failed_statements as more_failed_statements,
    health.errors - bases.errors as more_errors
from health
left join health as bases
    on health.repo = bases.repo and health.base_commit = bases.commit
