-- Purchasing in one shape; blocked suppliers stay, so that their history does.
CREATE VIEW staging.suppliers
AS
SELECT
    s.supplier_id,
    LTRIM(RTRIM(s.supplier_name)) AS supplier_name,
    s.country_code,
    s.payment_days,
    ISNULL(s.rating, 'C') AS rating,
    s.is_blocked,
    s.modified_at
FROM raw.suppliers AS s;
GO

CREATE VIEW staging.purchase_lines
AS
SELECT
    o.purchase_id,
    l.line_number,
    o.supplier_id,
    o.store_code,
    l.product_id,
    o.ordered_on,
    o.promised_on,
    o.received_on,
    l.quantity,
    l.unit_cost,
    o.currency_code,
    DATEDIFF(day, o.promised_on, o.received_on) AS days_late
FROM raw.purchase_orders AS o
INNER JOIN raw.purchase_order_lines AS l
    ON l.purchase_id = o.purchase_id;
GO
