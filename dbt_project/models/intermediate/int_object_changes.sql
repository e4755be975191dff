-- Each time that an object became another along the history of its repository, or was seen first.
with history as (
    select * from {{ ref('int_snapshot_history') }}
),

versions as (
    select * from {{ ref('int_object_versions') }}
),

placed as (
    select
        history.tip,
        history.snapshot,
        history.age,
        history.commit,
        history.author,
        history.committed_at,
        versions.object,
        versions.version,
        lag(versions.version) over (
            partition by history.tip, versions.object
            order by history.age desc
        ) as earlier
    from history
    inner join versions
        on history.snapshot = versions.snapshot
)

select
    tip,
    snapshot,
    age,
    commit,
    author,
    committed_at,
    object,
    earlier is null as is_first
from placed
where earlier is null or version <> earlier
