-- Daily reports of the advertising platforms, one JSON document per platform and day.
create or replace table raw.ad_reports (
    report_id    number(38, 0)  not null autoincrement,
    platform     varchar(20)    not null,
    report_date  date           not null,
    payload      variant        not null,
    loaded_at    timestamp_ntz  not null default sysdate(),
    constraint pk_ad_reports primary key (report_id)
);
