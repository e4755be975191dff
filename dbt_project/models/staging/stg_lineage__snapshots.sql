select
    snapshots.snapshot,
    snapshots.repo,
    snapshots.refs,
    snapshots.commit,
    snapshots.parents,
    snapshots.base,
    snapshots.base_rule,
    snapshots.committed_at,
    snapshots.author,
    snapshots.files,
    snapshots.analysis_key
from {{ source('lineage', 'snapshots') }} as snapshots
