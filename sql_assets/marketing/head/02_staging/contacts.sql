-- Current state of each contact.
create or replace view staging.contacts as
select
    * exclude (email, source_file),
    lower(trim(email)) as email
from raw.contacts
qualify row_number() over (partition by contact_id order by updated_at desc) = 1;
