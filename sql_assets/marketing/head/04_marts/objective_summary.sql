-- Return by campaign objective and month, for the budget round.
create or replace view mart.objective_summary as
select
    coalesce(c.objective, 'conversion') as objective,
    date_trunc('month', f.report_date) as report_month,
    count(distinct f.campaign_id) as campaigns,
    sum(f.spend_eur) as spend_eur,
    sum(f.attributed_eur) as attributed_eur
from mart.campaign_performance as f
inner join raw.campaigns as c
    on c.campaign_id = f.campaign_id
group by 1, 2
having sum(f.spend_eur) > 0;
