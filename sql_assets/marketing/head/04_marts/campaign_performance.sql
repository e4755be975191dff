-- Spend and attributed revenue per campaign and day, behind the planners' dashboard.
create or replace dynamic table mart.campaign_performance
    target_lag = '1 hour'
    warehouse = transform_wh
as
with spend as (
    select campaign_id, report_date, sum(spend_eur) as spend_eur, sum(clicks) as clicks
    from staging.ad_spend
    group by campaign_id, report_date
),
traffic as (
    select campaign_id, session_date, count(*) as sessions, sum(revenue_eur) as revenue_eur
    from core.sessions
    where not is_bounce
    group by all
)
select
    c.campaign_id,
    c.campaign_name,
    c.channel,
    s.report_date,
    s.spend_eur,
    s.clicks,
    coalesce(t.sessions, 0) as visits,
    coalesce(t.revenue_eur, 0) as attributed_eur,
    attributed_eur - s.spend_eur as contribution_eur,
    div0(attributed_eur, s.spend_eur) as return_on_spend
from raw.campaigns as c
inner join spend as s
    on s.campaign_id = c.campaign_id
left join traffic as t
    on t.campaign_id = s.campaign_id
    and t.session_date = s.report_date;
