-- Visits to the web shop. The campaign of a visit is the one that opened it.
create or replace table core.sessions as
select
    session_id,
    max(contact_id) as contact_id,
    min_by(campaign_id, occurred_at) as campaign_id,
    min(occurred_at) as started_at,
    max(occurred_at) as ended_at,
    started_at::date as session_date,
    datediff('second', started_at, ended_at) as duration_seconds,
    count_if(event_name = 'page_view') as page_views,
    sum(iff(event_name = 'purchase', order_total_eur, 0)) as revenue_eur,
    page_views <= 1 and duration_seconds < 10 as is_bounce
from staging.web_events
group by session_id;
