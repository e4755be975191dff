select distinct
    sources.source_hash,
    sources.content_hash,
    sources.text,
    sources.rendered,
    sources.source_map
from {{ source('lineage', 'sources') }} as sources
