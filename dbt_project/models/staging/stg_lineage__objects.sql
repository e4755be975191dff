select
    objects.snapshot,
    objects.object,
    objects.system,
    objects.catalog,
    objects.schema,
    objects.name,
    objects.written,
    objects.kind,
    objects.origin,
    objects.level,
    objects.temporary,
    objects.open,
    objects.path,
    objects.line,
    objects.tags,
    objects.owners
from {{ source('lineage', 'objects') }} as objects
