with columns as (
    select * from {{ ref('stg_lineage__columns') }}
),

objects as (
    select * from {{ ref('objects') }}
),

readers as (
    select * from {{ ref('int_column_readers') }}
)

select
    columns.snapshot,
    objects.repo,
    objects.commit,
    objects.is_latest,
    columns.object,
    objects.kind as object_kind,
    columns.ordinal,
    columns.name as column_name,
    columns.type as data_type,
    columns.nullable as is_nullable,
    columns.origin,
    columns.approximate as is_approximate,
    {{ joined('columns.tags') }} as tags,
    columns.description,
    objects.owners,
    coalesce(readers.direct_reads, 0) as direct_reads,
    coalesce(readers.indirect_reads, 0) as indirect_reads,
    coalesce(readers.reading_objects, 0) as reading_objects,
    columns.path,
    columns.statement
from columns
inner join objects
    on columns.snapshot = objects.snapshot and columns.object = objects.object
left join readers
    on
        columns.snapshot = readers.snapshot
        and columns.object = readers.object
        and columns.name = readers.name
