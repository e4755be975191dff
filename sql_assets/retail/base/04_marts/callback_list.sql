-- Daily call list of the service desk: orders more than a week under way, customer reachable by phone.
CREATE VIEW mart.callback_list
AS
SELECT
    k.customer_id,
    k.full_name,
    k.phone,
    f.order_number,
    f.shipped_at
FROM core.customer_contact AS k
INNER JOIN core.order_fulfilment AS f
    ON f.customer_id = k.customer_id
WHERE k.contact_channel = 'phone'
    AND f.delivered_at IS NULL
    AND f.shipped_at < DATEADD(day, -7, SYSUTCDATETIME());
GO
