-- Who feeds an object and who reads it, counted once each; an object that reads itself is no reader.
with edges as (
    select distinct
        snapshot,
        from_object,
        to_object
    from {{ ref('stg_lineage__object_edges') }}
    where from_object <> to_object
),

readers as (
    select
        snapshot,
        from_object as object,
        count(*) as readers
    from edges
    group by snapshot, from_object
),

producers as (
    select
        snapshot,
        to_object as object,
        count(*) as producers
    from edges
    group by snapshot, to_object
)

select
    objects.snapshot,
    objects.object,
    coalesce(readers.readers, 0) as readers,
    coalesce(producers.producers, 0) as producers
from {{ ref('stg_lineage__objects') }} as objects
left join readers
    on objects.snapshot = readers.snapshot and objects.object = readers.object
left join producers
    on objects.snapshot = producers.snapshot and objects.object = producers.object
