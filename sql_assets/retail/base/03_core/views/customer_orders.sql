-- Orders of known customers with their place in the customer's history.
CREATE OR ALTER VIEW core.customer_orders
AS
WITH order_lines AS (
    SELECT
        f.order_number,
        f.customer_key,
        f.channel,
        d.calendar_date AS order_date,
        f.net_amount_eur
    FROM core.fact_sales AS f
    INNER JOIN core.dim_date AS d
        ON d.date_key = f.date_key
    WHERE f.customer_key IS NOT NULL
),
orders AS (
    SELECT
        l.order_number,
        l.customer_key,
        l.channel,
        MIN(l.order_date) AS order_date,
        COUNT(*) AS line_count,
        SUM(l.net_amount_eur) AS order_value_eur
    FROM order_lines AS l
    GROUP BY l.order_number, l.customer_key, l.channel
)
SELECT
    o.*,
    ROW_NUMBER() OVER (PARTITION BY o.customer_key ORDER BY o.order_date, o.order_number) AS order_sequence,
    DATEDIFF(
        day,
        LAG(o.order_date) OVER (PARTITION BY o.customer_key ORDER BY o.order_date, o.order_number),
        o.order_date
    ) AS days_since_previous,
    (
        SELECT SUM(r.refund_amount_eur)
        FROM staging.returns AS r
        WHERE r.order_number = o.order_number
    ) AS refunded_eur
FROM orders AS o;
GO
