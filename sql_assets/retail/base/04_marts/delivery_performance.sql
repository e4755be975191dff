-- Carrier league table for the quarterly talks.
CREATE VIEW mart.delivery_performance
AS
SELECT
    f.carrier,
    COUNT(*) AS order_count,
    SUM(CASE WHEN f.delivered_at IS NULL THEN 1 ELSE 0 END) AS under_way,
    AVG(CAST(f.hours_to_ship AS decimal(9, 2))) AS average_hours_to_ship,
    AVG(CAST(f.hours_in_transit AS decimal(9, 2))) AS average_hours_in_transit,
    MAX(f.shipped_at) AS last_shipped_at
FROM core.order_fulfilment AS f
GROUP BY f.carrier;
GO
