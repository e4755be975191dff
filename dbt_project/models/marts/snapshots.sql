with snapshots as (
    select * from {{ ref('stg_lineage__snapshots') }}
),

statements as (
    select
        snapshot,
        count(*) as statements
    from {{ ref('stg_lineage__statements') }}
    group by snapshot
),

objects as (
    select
        snapshot,
        count(*) as objects
    from {{ ref('stg_lineage__objects') }}
    group by snapshot
),

columns as (
    select
        snapshot,
        count(*) as columns
    from {{ ref('stg_lineage__columns') }}
    group by snapshot
),

edges as (
    select
        snapshot,
        count(*) as column_edges
    from {{ ref('stg_lineage__column_edges') }}
    group by snapshot
),

numbered as (
    select
        snapshot,
        -- A snapshot that is compared with its merge base is a branch that has not been merged.
        row_number() over (
            partition by repo
            order by
                case when base_rule like 'merge-base:%' then 1 else 0 end,
                committed_at desc nulls last,
                commit asc
        ) as age
    from snapshots
)

select
    snapshots.snapshot,
    snapshots.repo,
    snapshots.commit,
    {{ joined('snapshots.refs') }} as refs,
    snapshots.author,
    cast(snapshots.committed_at as timestamp) as committed_at,
    snapshots.base as base_commit,
    {{ first_of('snapshots.parents') }} as parent_commit,
    snapshots.base_rule,
    snapshots.analysis_key,
    numbered.age = 1 as is_latest,
    snapshots.files,
    coalesce(statements.statements, 0) as statements,
    coalesce(objects.objects, 0) as objects,
    coalesce(columns.columns, 0) as columns,
    coalesce(edges.column_edges, 0) as column_edges
from snapshots
inner join numbered
    on snapshots.snapshot = numbered.snapshot
left join statements
    on snapshots.snapshot = statements.snapshot
left join objects
    on snapshots.snapshot = objects.snapshot
left join columns
    on snapshots.snapshot = columns.snapshot
left join edges
    on snapshots.snapshot = edges.snapshot
