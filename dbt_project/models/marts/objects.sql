with objects as (
    select * from {{ ref('stg_lineage__objects') }}
),

snapshots as (
    select * from {{ ref('snapshots') }}
),

degrees as (
    select * from {{ ref('int_object_degrees') }}
),

columns as (
    select
        snapshot,
        object,
        count(*) as columns
    from {{ ref('stg_lineage__columns') }}
    group by snapshot, object
),

findings as (
    select
        snapshot,
        object,
        count(*) as findings
    from {{ ref('stg_lineage__diagnostics') }}
    where object is not null
    group by snapshot, object
)

select
    objects.snapshot,
    snapshots.repo,
    snapshots.commit,
    snapshots.is_latest,
    objects.object,
    objects.system as system_name,
    objects.catalog as catalog_name,
    objects.schema as schema_name,
    objects.name as object_name,
    objects.kind,
    objects.origin,
    objects.level,
    objects.temporary as is_temporary,
    objects.open as is_open,
    objects.path,
    objects.line,
    {{ joined('objects.tags') }} as tags,
    {{ joined('objects.owners') }} as owners,
    objects.description,
    coalesce(columns.columns, 0) as columns,
    degrees.producers,
    degrees.readers,
    degrees.readers = 0 as is_leaf,
    coalesce(findings.findings, 0) as findings
from objects
inner join snapshots
    on objects.snapshot = snapshots.snapshot
inner join degrees
    on objects.snapshot = degrees.snapshot and objects.object = degrees.object
left join columns
    on objects.snapshot = columns.snapshot and objects.object = columns.object
left join findings
    on objects.snapshot = findings.snapshot and objects.object = findings.object
