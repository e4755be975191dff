-- Margin by category and month for the buyers. Categories without turnover are left out.
CREATE VIEW mart.category_margin
AS
WITH margin_lines AS (
    SELECT m.*, d.year_month
    FROM core.sales_margin AS m
    INNER JOIN core.dim_date AS d
        ON d.date_key = m.date_key
)
SELECT
    l.category_name,
    l.year_month,
    COUNT(DISTINCT l.product_id) AS products_sold,
    SUM(l.net_amount_eur) AS net_sales_eur,
    SUM(l.cost_amount_eur) AS cost_eur,
    SUM(l.margin_eur) AS margin_eur,
    SUM(l.margin_eur) / NULLIF(SUM(l.net_amount_eur), 0) AS margin_ratio
FROM margin_lines AS l
GROUP BY l.category_name, l.year_month
HAVING SUM(l.net_amount_eur) > 0;
GO
