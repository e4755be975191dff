-- What we know of a contact. Updated daily, never deleted: the privacy team removes rows by hand.
create table if not exists core.contact_profile (
    contact_id       number(38, 0)  not null,
    email            varchar(254)   not null,
    country_code     varchar(2),
    has_consent      boolean        not null,
    session_count    number(18, 0)  not null default 0,
    revenue_eur      number(18, 2)  not null default 0,
    last_seen_at     timestamp_ntz,
    constraint pk_contact_profile primary key (contact_id)
);

merge into core.contact_profile as p
using (
    select
        c.contact_id,
        c.email,
        c.country_code,
        c.has_consent,
        count(s.session_id) as session_count,
        coalesce(sum(s.revenue_eur), 0) as revenue_eur,
        max(s.ended_at) as last_seen_at
    from staging.contacts as c
    left join core.sessions as s
        on s.contact_id = c.contact_id
    group by c.contact_id, c.email, c.country_code, c.has_consent
) as n
    on p.contact_id = n.contact_id
when matched then update set
    p.email = n.email,
    p.country_code = n.country_code,
    p.has_consent = n.has_consent,
    p.session_count = n.session_count,
    p.revenue_eur = n.revenue_eur,
    p.last_seen_at = n.last_seen_at
when not matched then insert (contact_id, email, country_code, has_consent, session_count, revenue_eur, last_seen_at)
    values (n.contact_id, n.email, n.country_code, n.has_consent, n.session_count, n.revenue_eur, n.last_seen_at);
