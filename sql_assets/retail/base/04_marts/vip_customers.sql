-- Customers invited to the preview evenings.
CREATE VIEW mart.vip_customers
AS
SELECT
    v.*,
    RANK() OVER (ORDER BY v.basket_value_eur DESC) AS value_rank
FROM mart.customer_value AS v
WHERE v.basket_value_eur >= 1000
    AND v.loyalty_tier IN ('gold', 'silver');
GO
