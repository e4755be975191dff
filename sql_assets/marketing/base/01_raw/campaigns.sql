-- Campaign register, kept by the media planners.
create or replace table raw.campaigns (
    campaign_id    varchar(36)    not null,
    campaign_name  varchar(120)   not null,
    channel        varchar(30)    not null,
    budget_eur     number(12, 2)  not null default 0,
    starts_on      date           not null,
    ends_on        date,
    constraint pk_campaigns primary key (campaign_id)
);
