-- Web orders that count: cancelled ones never left the shop.
CREATE VIEW staging.web_orders
AS
SELECT
    o.order_id,
    CONCAT('W-', o.order_number) AS order_number,
    o.customer_id,
    o.ordered_at,
    o.status,
    UPPER(o.currency_code) AS currency_code,
    o.shipping_fee,
    COALESCE(UPPER(o.promo_code), 'NONE') AS promo_code
FROM raw.web_orders AS o
WHERE o.status <> 'cancelled';
GO

CREATE VIEW staging.shipments
AS
SELECT
    s.order_id,
    UPPER(LTRIM(RTRIM(s.carrier))) AS carrier,
    s.shipped_at,
    s.delivered_at
FROM raw.shipments AS s;
GO
