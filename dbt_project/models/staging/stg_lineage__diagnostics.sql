select
    diagnostics.snapshot,
    diagnostics.id,
    diagnostics.code,
    diagnostics.severity,
    diagnostics.message,
    diagnostics.path,
    diagnostics.line,
    diagnostics.column as column_number,
    diagnostics.object,
    diagnostics.stage
from {{ source('lineage', 'diagnostics') }} as diagnostics
