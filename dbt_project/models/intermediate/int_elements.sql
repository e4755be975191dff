-- Everything that can appear and vanish: objects, columns and edges, under one name each.
select
    snapshot,
    'object' as element_kind,
    object as element,
    object,
    cast(null as string) as column_name
from {{ ref('stg_lineage__objects') }}
union all
select distinct
    snapshot,
    'column' as element_kind,
    concat(object, '.', name) as element,
    object,
    name as column_name
from {{ ref('stg_lineage__columns') }}
union all
select distinct
    snapshot,
    'edge' as element_kind,
    concat(from_object, '.', from_column, ' -> ', to_object, '.', to_column, ' ', type) as element,
    to_object as object,
    to_column as column_name
from {{ ref('stg_lineage__column_edges') }}
