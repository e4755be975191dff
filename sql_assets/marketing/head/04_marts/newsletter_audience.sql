-- Audience for the newsletter tool: contacts with consent, address only as a hash.
create or replace view mart.newsletter_audience as
select
    p.* exclude (email, has_consent),
    sha2(p.email, 256) as email_hash,
    case
        when p.revenue_eur >= 500 then 'high'
        when p.session_count > 0 then 'engaged'
        else 'quiet'
    end as value_band
from core.contact_profile as p
where p.has_consent;
