with files as (
    select * from {{ ref('stg_lineage__sql_files') }}
),

snapshots as (
    select * from {{ ref('snapshots') }}
),

statements as (
    select
        snapshot,
        path,
        count(*) as statements,
        count(*) filter (where status = 'analysed') as analysed,
        count(*) filter (where status = 'partial') as partial,
        count(*) filter (where status = 'failed') as failed,
        cast(sum(bytes) as bigint) as bytes,
        cast(coalesce(sum(bytes) filter (where status = 'analysed'), 0) as bigint) as analysed_bytes
    from {{ ref('stg_lineage__statements') }}
    where parent is null
    group by snapshot, path
),

edges as (
    select
        snapshot,
        path,
        count(*) as edges,
        count(*) filter (where approximate) as approximate_edges,
        count(*) filter (where from_object = '?') as unresolved_edges
    from {{ ref('stg_lineage__column_edges') }}
    group by snapshot, path
),

totals as (
    select
        files.snapshot,
        files.system as system_name,
        files.dialect,
        count(*) as files,
        cast(coalesce(sum(statements.statements), 0) as bigint) as statements,
        cast(coalesce(sum(statements.analysed), 0) as bigint) as analysed_statements,
        cast(coalesce(sum(statements.partial), 0) as bigint) as partial_statements,
        cast(coalesce(sum(statements.failed), 0) as bigint) as failed_statements,
        cast(coalesce(sum(statements.bytes), 0) as bigint) as bytes,
        cast(coalesce(sum(statements.analysed_bytes), 0) as bigint) as analysed_bytes,
        cast(coalesce(sum(edges.edges), 0) as bigint) as column_edges,
        cast(coalesce(sum(edges.approximate_edges), 0) as bigint) as approximate_edges,
        cast(coalesce(sum(edges.unresolved_edges), 0) as bigint) as unresolved_edges
    from files
    left join statements
        on files.snapshot = statements.snapshot and files.path = statements.path
    left join edges
        on files.snapshot = edges.snapshot and files.path = edges.path
    group by files.snapshot, files.system, files.dialect
)

select
    totals.snapshot,
    snapshots.repo,
    snapshots.commit,
    snapshots.committed_at,
    snapshots.is_latest,
    totals.system_name,
    totals.dialect,
    totals.files,
    totals.statements,
    totals.analysed_statements,
    totals.partial_statements,
    totals.failed_statements,
    {{ share('totals.analysed_statements', 'totals.statements') }} as analysed_share,
    {{ share('totals.analysed_bytes', 'totals.bytes') }} as analysed_bytes_share,
    totals.column_edges,
    totals.approximate_edges,
    totals.unresolved_edges,
    {{ share('totals.approximate_edges', 'totals.column_edges') }} as approximate_share
from totals
inner join snapshots
    on totals.snapshot = snapshots.snapshot
