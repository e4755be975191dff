select
    statements.snapshot,
    statements.path,
    statements.ordinal,
    statements.parent,
    statements.kind,
    statements.target,
    statements.targets,
    statements.reads,
    statements.preview,
    statements.fingerprint,
    statements.span,
    statements.bytes,
    statements.status,
    statements.complexity,
    statements.features,
    statements.dropped
from {{ source('lineage', 'statements') }} as statements
