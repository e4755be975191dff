with changes as (
    select * from {{ ref('int_object_changes') }}
),

objects as (
    select * from {{ ref('objects') }}
),

lengths as (
    select
        tip,
        max(age) + 1 as snapshots
    from {{ ref('int_snapshot_history') }}
    group by tip
),

last_changes as (
    select
        tip,
        object,
        min(age) as age,
        min_by(commit, age) as last_commit,
        min_by(author, age) as last_author,
        min_by(committed_at, age) as last_changed_at,
        count(*) filter (where not is_first) as changes
    from changes
    group by tip, object
)

select
    objects.snapshot,
    objects.repo,
    objects.commit,
    objects.object,
    objects.kind,
    objects.owners,
    objects.readers,
    objects.is_leaf,
    last_changes.last_commit,
    last_changes.last_author,
    last_changes.last_changed_at,
    last_changes.age as snapshots_since_change,
    lengths.snapshots as snapshots_seen,
    last_changes.changes,
    last_changes.age = lengths.snapshots - 1 as is_unchanged
from last_changes
inner join objects
    on last_changes.tip = objects.snapshot and last_changes.object = objects.object
inner join lengths
    on last_changes.tip = lengths.tip
