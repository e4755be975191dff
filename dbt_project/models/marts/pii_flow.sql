-- An edge that masks, or whose target does not carry the tag, is where the tag's way ends.
with lineage as (
    select * from {{ ref('column_lineage') }}
    where type = 'DIRECT'
),

tags as (
    select distinct
        snapshot,
        object,
        name,
        {{ exploded('tags') }} as tag
    from {{ ref('stg_lineage__columns') }}
),

objects as (
    select * from {{ ref('objects') }}
)

select
    tags.tag,
    lineage.edge_id,
    lineage.snapshot,
    lineage.repo,
    lineage.commit,
    objects.is_latest,
    lineage.from_object,
    lineage.from_column,
    lineage.to_object,
    lineage.to_column,
    objects.kind as to_object_kind,
    objects.owners as to_owners,
    objects.is_leaf as reaches_leaf,
    lineage.masking as is_masked,
    received.tag is null as is_stopped,
    lineage.approximate as is_approximate,
    lineage.expression,
    lineage.path,
    lineage.line
from lineage
inner join tags
    on
        lineage.snapshot = tags.snapshot
        and lineage.from_object = tags.object
        and lineage.from_column = tags.name
inner join objects
    on lineage.snapshot = objects.snapshot and lineage.to_object = objects.object
left join tags as received
    on
        lineage.snapshot = received.snapshot
        and lineage.to_object = received.object
        and lineage.to_column = received.name
        and tags.tag = received.tag
