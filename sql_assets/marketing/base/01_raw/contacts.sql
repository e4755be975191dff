-- Contacts from the newsletter tool, appended at every sync.
create or replace table raw.contacts (
    contact_id    number(38, 0)  not null,
    email         varchar(254)   not null,
    country_code  varchar(2),
    has_consent   boolean        not null default false,
    updated_at    timestamp_ntz  not null,
    source_file   varchar(200)
);
