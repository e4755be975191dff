-- Sales lines of the two channels in one shape.
CREATE VIEW staging.web_sales
AS
SELECT
    o.order_number,
    CAST(l.line_number AS int) AS line_number,
    o.ordered_at AS sold_at,
    CAST(NULL AS char(4)) AS store_code,
    o.customer_id,
    l.product_id,
    CAST(l.quantity AS decimal(12, 3)) AS quantity,
    l.unit_price,
    ISNULL(l.discount_amount, 0) AS discount_amount,
    o.currency_code
FROM staging.web_orders AS o
INNER JOIN raw.web_order_lines AS l
    ON l.order_id = o.order_id;
GO

-- Tills know the loyalty card, not the customer, and the SKU, not the product.
CREATE VIEW staging.pos_sales
AS
SELECT
    CONCAT(t.[Store Code], '-', t.[Ticket No]) AS order_number,
    CAST(t.[Line No] AS int) AS line_number,
    t.[Sold At] AS sold_at,
    t.[Store Code] AS store_code,
    c.customer_id,
    p.product_id,
    CAST(t.[Qty] AS decimal(12, 3)) AS quantity,
    t.[Unit Price] AS unit_price,
    ISNULL(t.[Line Discount], 0) AS discount_amount,
    CAST('EUR' AS char(3)) AS currency_code
FROM [raw].[pos_sales] AS t
INNER JOIN staging.products AS p
    ON p.sku = UPPER(t.[Sku])
LEFT JOIN staging.customers AS c
    ON c.loyalty_card = t.[Loyalty Card]
WHERE t.[Voided] = 0;
GO

CREATE VIEW staging.sales_lines
AS
SELECT
    'web' AS channel,
    w.order_number, w.line_number, w.sold_at, w.store_code, w.customer_id,
    w.product_id, w.quantity, w.unit_price, w.discount_amount, w.currency_code
FROM staging.web_sales AS w
UNION ALL
SELECT
    'store',
    p.order_number, p.line_number, p.sold_at, p.store_code, p.customer_id,
    p.product_id, p.quantity, p.unit_price, p.discount_amount, p.currency_code
FROM staging.pos_sales AS p;
GO
