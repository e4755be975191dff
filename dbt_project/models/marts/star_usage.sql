with statements as (
    select * from {{ ref('stg_lineage__statements') }}
),

snapshots as (
    select * from {{ ref('snapshots') }}
),

files as (
    select * from {{ ref('stg_lineage__sql_files') }}
),

features as (
    select
        snapshot,
        path,
        ordinal,
        {{ exploded('features') }} as feature
    from statements
)

select
    features.snapshot,
    snapshots.repo,
    snapshots.commit,
    snapshots.is_latest,
    features.path,
    features.ordinal as statement,
    features.feature,
    statements.kind as statement_kind,
    statements.target as object,
    statements.span.line,
    files.dialect,
    {{ joined('files.owners') }} as owners
from features
inner join statements
    on
        features.snapshot = statements.snapshot
        and features.path = statements.path
        and features.ordinal = statements.ordinal
inner join snapshots
    on features.snapshot = snapshots.snapshot
left join files
    on features.snapshot = files.snapshot and features.path = files.path
where features.feature in ('star', 'positional insert', 'natural join')
