-- Which platform delivered what, for the on-call dashboard.
create or replace materialized view mart.feed_monitor as
select
    platform,
    report_date,
    count(*) as reports,
    max(loaded_at) as last_loaded_at
from raw.ad_reports
group by platform, report_date;
