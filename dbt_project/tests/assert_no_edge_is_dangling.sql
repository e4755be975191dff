-- Every edge ends in columns that the registry knows. `?` stands for an input that was not resolved, `*` for the whole
-- object, and an open object has more columns than are listed.
with edges as (
    select * from {{ ref('stg_lineage__column_edges') }}
),

ends as (
    select
        snapshot,
        path,
        statement,
        from_object as object,
        from_column as name
    from edges
    where from_object <> '?'
    union all
    select
        snapshot,
        path,
        statement,
        to_object as object,
        to_column as name
    from edges
),

objects as (
    select * from {{ ref('stg_lineage__objects') }}
),

columns as (
    select distinct
        snapshot,
        object,
        name
    from {{ ref('stg_lineage__columns') }}
)

select
    ends.snapshot,
    ends.path,
    ends.statement,
    ends.object,
    ends.name
from ends
left join objects
    on ends.snapshot = objects.snapshot and ends.object = objects.object
left join columns
    on ends.snapshot = columns.snapshot and ends.object = columns.object and ends.name = columns.name
where
    objects.object is null
    or (ends.name <> '*' and not objects.open and columns.name is null)
