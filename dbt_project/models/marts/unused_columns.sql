with columns as (
    select * from {{ ref('columns') }}
),

objects as (
    select * from {{ ref('objects') }}
),

-- A star that could not be expanded may read any column of its object.
open_readers as (
    select distinct
        snapshot,
        from_object as object
    from {{ ref('stg_lineage__column_edges') }}
    where from_column = '*'
)

select
    columns.snapshot,
    columns.repo,
    columns.commit,
    columns.is_latest,
    columns.object,
    columns.object_kind,
    columns.ordinal,
    columns.column_name,
    columns.data_type,
    columns.owners,
    objects.is_leaf as is_in_leaf,
    open_readers.object is not null as may_be_read,
    columns.path
from columns
inner join objects
    on columns.snapshot = objects.snapshot and columns.object = objects.object
left join open_readers
    on columns.snapshot = open_readers.snapshot and columns.object = open_readers.object
where
    columns.direct_reads = 0
    and columns.indirect_reads = 0
    and columns.object_kind in ('table', 'view', 'materialized view', 'external')
