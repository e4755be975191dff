-- Value of each customer, feeds the loyalty programme.
CREATE VIEW mart.customer_value
AS
SELECT
    c.customer_id,
    c.full_name,
    c.loyalty_tier,
    MIN(o.order_date) AS first_order_on,
    MAX(o.order_date) AS last_order_on,
    COUNT(*) AS order_count,
    CAST(AVG(o.order_value_eur) AS decimal(18, 2)) AS basket_value_eur,
    CAST(SUM(COALESCE(o.refunded_eur, 0)) AS decimal(18, 2)) AS refunded_eur,
    AVG(o.days_since_previous) AS days_between_orders
FROM core.dim_customer AS c
INNER JOIN core.customer_orders AS o
    ON o.customer_key = c.customer_key
GROUP BY c.customer_id, c.full_name, c.loyalty_tier;
GO
