-- One row per customer: the latest CRM load, without test accounts.
-- Phone numbers stay in the CRM (data minimisation).
CREATE OR ALTER VIEW staging.customers
AS
WITH ranked AS (
    SELECT
        c.customer_id,
        c.first_name,
        c.last_name,
        c.email,
        c.birth_date,
        c.loyalty_card,
        c.loyalty_tier,
        c.registered_at,
        ROW_NUMBER() OVER (PARTITION BY c.customer_id ORDER BY c.loaded_at DESC) AS load_rank
    FROM raw.customers AS c
    WHERE c.is_test_account = 0
)
SELECT
    r.customer_id,
    LTRIM(RTRIM(CONCAT(r.first_name, N' ', r.last_name))) AS full_name,
    LOWER(NULLIF(LTRIM(RTRIM(r.email)), '')) AS email,
    r.birth_date,
    NULLIF(r.loyalty_card, '') AS loyalty_card,
    CASE r.loyalty_tier
        WHEN 'G' THEN 'gold'
        WHEN 'S' THEN 'silver'
        WHEN 'B' THEN 'bronze'
        ELSE 'none'
    END AS loyalty_tier,
    CAST(r.registered_at AS date) AS registered_on
FROM ranked AS r
WHERE r.load_rank = 1;
GO
