-- Prices and costs are audited whoever changes them.
CREATE OR ALTER TRIGGER core.trg_dim_product_audit
ON core.dim_product
AFTER INSERT, UPDATE, DELETE
AS
BEGIN
    SET NOCOUNT ON;

    IF NOT (UPDATE(unit_cost) OR UPDATE(list_price)) AND EXISTS (SELECT 1 FROM inserted)
        RETURN;

    INSERT INTO core.audit_product (product_id, operation, old_cost, new_cost, old_price, new_price)
    SELECT
        COALESCE(i.product_id, d.product_id),
        CASE WHEN d.product_id IS NULL THEN 'I' WHEN i.product_id IS NULL THEN 'D' ELSE 'U' END,
        d.unit_cost,
        i.unit_cost,
        d.list_price,
        i.list_price
    FROM inserted AS i
    FULL OUTER JOIN deleted AS d
        ON d.product_id = i.product_id
    WHERE ISNULL(i.unit_cost, -1) <> ISNULL(d.unit_cost, -1)
        OR ISNULL(i.list_price, -1) <> ISNULL(d.list_price, -1);
END;
GO

CREATE OR ALTER TRIGGER raw.trg_web_orders_status
ON raw.web_orders
AFTER INSERT, UPDATE
AS
BEGIN
    SET NOCOUNT ON;

    IF UPDATE(status)
        INSERT INTO core.audit_order_status (order_id, order_number, old_status, new_status)
        SELECT i.order_id, i.order_number, d.status, i.status
        FROM inserted AS i
        LEFT JOIN deleted AS d
            ON d.order_id = i.order_id
        WHERE d.status IS NULL
            OR d.status <> i.status;
END;
GO

-- Stores are closed, never deleted.
CREATE OR ALTER TRIGGER core.trg_dim_store_keep
ON core.dim_store
INSTEAD OF DELETE
AS
BEGIN
    SET NOCOUNT ON;

    UPDATE s
    SET s.is_open = 0,
        s.updated_at = SYSUTCDATETIME()
    FROM core.dim_store AS s
    INNER JOIN deleted AS d
        ON d.store_code = s.store_code;
END;
GO
