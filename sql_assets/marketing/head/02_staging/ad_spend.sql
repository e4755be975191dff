-- One row per platform, day and ad. Platforms restate their figures, so the latest report wins.
create or replace view staging.ad_spend as
select
    r.platform,
    r.report_date,
    ad.value:campaign_id::varchar(36) as campaign_id,
    ad.value:ad_id::varchar(40) as ad_id,
    ad.value:metrics.impressions::number(18, 0) as impressions,
    ad.value:metrics.clicks::number(18, 0) as clicks,
    ad.value:cost_micros::number(18, 0) / 1000000 as spend_eur
from raw.ad_reports as r,
    lateral flatten(input => r.payload:ads) as ad
where ad.value:campaign_id is not null
qualify row_number() over (
    partition by r.platform, r.report_date, ad.value:ad_id::varchar(40)
    order by r.loaded_at desc
) = 1;
