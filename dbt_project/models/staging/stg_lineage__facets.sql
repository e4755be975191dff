select
    facets.snapshot,
    facets.object,
    facets.column as column_name,
    facets.name,
    facets.path,
    facets.statement,
    facets.fingerprint,
    facets.text,
    facets.expression,
    facets.span
from {{ source('lineage', 'facets') }} as facets
