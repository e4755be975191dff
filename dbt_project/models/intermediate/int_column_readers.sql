-- How often the columns of a snapshot are read; a star that nobody could expand may read every column of its object.
with edges as (
    select
        snapshot,
        from_object as object,
        from_column as name,
        to_object,
        to_column,
        type
    from {{ ref('stg_lineage__column_edges') }}
    where from_object <> '?' and not (from_object = to_object and from_column = to_column)
)

select
    snapshot,
    object,
    name,
    count(*) filter (where type = 'DIRECT') as direct_reads,
    count(*) filter (where type = 'INDIRECT') as indirect_reads,
    count(distinct to_object) as reading_objects
from edges
group by snapshot, object, name
