select
    waivers.base,
    waivers.head,
    waivers.id,
    waivers.rule,
    waivers.object,
    waivers.reason,
    waivers.owner,
    waivers.expires,
    waivers.path,
    waivers.column as column_name,
    waivers.fingerprint,
    waivers.ticket,
    waivers.line,
    waivers.first_line,
    waivers.last_line,
    waivers.used,
    waivers.expired
from {{ source('lineage', 'waivers') }} as waivers
