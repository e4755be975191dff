select
    constraints.snapshot,
    constraints.object,
    constraints.id,
    constraints.kind,
    constraints.name,
    constraints.columns,
    constraints.expression
from {{ source('lineage', 'constraints') }} as constraints
