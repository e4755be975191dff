-- How the service desk reaches a customer. Restricted: personal data.
CREATE OR ALTER VIEW core.customer_contact
AS
SELECT
    c.customer_id,
    c.full_name,
    c.email,
    c.phone,
    CASE
        WHEN c.phone IS NOT NULL THEN 'phone'
        WHEN c.email IS NOT NULL THEN 'email'
        ELSE 'letter'
    END AS contact_channel,
    a.street,
    a.postcode,
    a.city,
    a.country_code
FROM staging.customers AS c
LEFT JOIN staging.customer_addresses AS a
    ON a.customer_id = c.customer_id;
GO
