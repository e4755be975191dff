-- Click stream, typed and without repeated deliveries.
create or replace view staging.web_events as
select
    e.event_id,
    e.payload:session_id::varchar(36) as session_id,
    e.payload:contact_id::number(38, 0) as contact_id,
    e.payload:event.name::varchar(40) as event_name,
    e.payload:utm.campaign::varchar(36) as campaign_id,
    e.payload:page.url::varchar as page_url,
    e.payload:order.total::number(12, 2) as order_total_eur,
    to_timestamp_ntz(e.payload:sent_at::varchar) as occurred_at
from raw.web_events as e
where e.payload:session_id is not null
qualify row_number() over (partition by e.event_id order by e.received_at) = 1;
