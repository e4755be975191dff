-- Margin per sales line at today's landed cost.
CREATE OR ALTER VIEW core.sales_margin
AS
SELECT
    f.order_number,
    f.line_number,
    f.channel,
    f.date_key,
    p.product_id,
    p.category_name,
    f.quantity,
    f.net_amount_eur,
    p.unit_cost,
    f.quantity * p.unit_cost AS cost_amount_eur,
    f.net_amount_eur - f.quantity * p.unit_cost AS margin_eur
FROM core.fact_sales AS f
INNER JOIN staging.products AS p
    ON p.product_id = f.product_id;
GO
