-- Returns, keyed like staging.sales_lines so that they can be set against the sale.
CREATE VIEW staging.returns
AS
SELECT
    r.return_id,
    CASE r.channel WHEN 'web' THEN CONCAT('W-', r.order_ref) ELSE CONCAT(r.store_code, '-', r.order_ref) END AS order_number,
    r.product_id,
    r.returned_on,
    r.quantity,
    r.refund_amount AS refund_amount_eur,
    COALESCE(r.reason_code, 'UNKNOWN') AS reason_code
FROM raw.returns AS r
WHERE r.quantity > 0;
GO
