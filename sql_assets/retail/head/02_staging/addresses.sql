-- The address a customer lives at today: the newest home address.
CREATE VIEW staging.customer_addresses
AS
SELECT
    ranked.customer_id,
    ranked.street,
    ranked.city,
    ranked.postcode,
    ranked.country_code
FROM (
    SELECT
        a.customer_id,
        LTRIM(RTRIM(a.street)) AS street,
        LTRIM(RTRIM(a.city)) AS city,
        NULLIF(REPLACE(a.postcode, ' ', ''), '') AS postcode,
        UPPER(a.country_code) AS country_code,
        ROW_NUMBER() OVER (
            PARTITION BY a.customer_id
            ORDER BY a.valid_from DESC, a.address_id DESC
        ) AS recency
    FROM raw.customer_addresses AS a
    WHERE a.address_type = 'H'
) AS ranked
WHERE ranked.recency = 1;
GO
