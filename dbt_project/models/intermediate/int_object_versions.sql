-- What an object was made of in a snapshot: the fingerprints of all statements that define, change or fill it.
with parts as (
    select
        object_statements.snapshot,
        object_statements.object,
        statements.fingerprint
    from {{ ref('stg_lineage__object_statements') }} as object_statements
    inner join {{ ref('stg_lineage__statements') }} as statements
        on
            object_statements.snapshot = statements.snapshot
            and object_statements.path = statements.path
            and object_statements.ordinal = statements.ordinal
    where object_statements.role in ('define', 'alter', 'write', 'drop')
)

select
    snapshot,
    object,
    md5({{ joined('array_sort(array_agg(fingerprint))') }}) as version
from parts
group by snapshot, object
