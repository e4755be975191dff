-- From order to doorstep. Orders waiting for the carrier are included.
CREATE OR ALTER VIEW core.order_fulfilment
AS
SELECT
    o.order_id,
    o.order_number,
    o.customer_id,
    o.ordered_at,
    s.carrier,
    s.shipped_at,
    s.delivered_at,
    DATEDIFF(hour, o.ordered_at, s.shipped_at) AS hours_to_ship,
    DATEDIFF(hour, s.shipped_at, s.delivered_at) AS hours_in_transit
FROM staging.web_orders AS o
LEFT JOIN staging.shipments AS s
    ON s.order_id = o.order_id;
GO
