-- Click stream of the web shop as the tag manager sends it. Delivery is at least once.
create or replace table raw.web_events (
    event_id     varchar(36)    not null,
    payload      variant        not null,
    received_at  timestamp_ntz  not null default sysdate()
);
