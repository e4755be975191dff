-- Stores are overwritten: what closed stays and is marked.
CREATE OR ALTER PROCEDURE core.usp_load_dim_store
    @run_id int
AS
BEGIN
    SET NOCOUNT ON;

    DECLARE @actions TABLE (action nvarchar(10) NOT NULL, store_code char(4) NOT NULL);

    MERGE core.dim_store WITH (HOLDLOCK) AS target
    USING (
        SELECT
            s.store_code,
            s.store_name,
            s.city,
            s.country_code,
            s.store_format,
            m.full_name AS manager_name,
            CAST(CASE WHEN s.closed_on IS NULL THEN 1 ELSE 0 END AS bit) AS is_open
        FROM staging.stores AS s
        LEFT JOIN staging.reporting_lines AS m
            ON m.store_code = s.store_code
            AND m.depth = 1
    ) AS source
        ON source.store_code = target.store_code
    WHEN MATCHED AND EXISTS (
        SELECT source.store_name, source.city, source.store_format, source.manager_name, source.is_open
        EXCEPT
        SELECT target.store_name, target.city, target.store_format, target.manager_name, target.is_open
    ) THEN
        UPDATE SET
            target.store_name = source.store_name,
            target.city = source.city,
            target.store_format = source.store_format,
            target.manager_name = source.manager_name,
            target.is_open = source.is_open,
            target.updated_at = SYSUTCDATETIME()
    WHEN NOT MATCHED BY TARGET THEN
        INSERT (store_code, store_name, city, country_code, store_format, manager_name, is_open, updated_at)
        VALUES (
            source.store_code, source.store_name, source.city, source.country_code,
            source.store_format, source.manager_name, source.is_open, SYSUTCDATETIME()
        )
    WHEN NOT MATCHED BY SOURCE THEN
        UPDATE SET target.is_open = 0
    OUTPUT $action, inserted.store_code INTO @actions (action, store_code);

    DECLARE @written int = (SELECT COUNT(*) FROM @actions);
    EXEC core.usp_log_step @run_id = @run_id, @step_name = 'dim_store', @rows_written = @written;
END;
GO

-- Suppliers keep their history: a change closes the row that was current and opens another one.
CREATE OR ALTER PROCEDURE core.usp_load_dim_supplier
    @run_id int
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @now datetime2(0) = SYSUTCDATETIME();
    DECLARE @written int = 0;

    CREATE TABLE #changed (
        action       nvarchar(10)   NOT NULL,
        supplier_id  int            NOT NULL,
        old_name     nvarchar(120)  NULL,
        new_name     nvarchar(120)  NULL
    );

    SELECT s.supplier_id, s.supplier_name, s.country_code, s.payment_days, s.rating
    INTO #source
    FROM staging.suppliers AS s
    WHERE s.is_blocked = 0;

    CREATE CLUSTERED INDEX ix_source ON #source (supplier_id);

    BEGIN TRANSACTION;

    UPDATE d
    SET d.valid_to = @now,
        d.is_current = 0
    OUTPUT N'CLOSE', deleted.supplier_id, deleted.supplier_name, NULL INTO #changed (action, supplier_id, old_name, new_name)
    FROM core.dim_supplier AS d
    INNER JOIN #source AS s
        ON s.supplier_id = d.supplier_id
    WHERE d.is_current = 1
        AND CHECKSUM(d.supplier_name, d.payment_days, d.rating) <> CHECKSUM(s.supplier_name, s.payment_days, s.rating);

    INSERT INTO core.dim_supplier WITH (TABLOCK) (supplier_id, supplier_name, country_code, payment_days, rating, valid_from)
    OUTPUT N'OPEN', inserted.supplier_id, NULL, inserted.supplier_name INTO #changed (action, supplier_id, old_name, new_name)
    SELECT s.supplier_id, s.supplier_name, s.country_code, s.payment_days, s.rating, @now
    FROM #source AS s
    WHERE NOT EXISTS (
        SELECT 1
        FROM core.dim_supplier AS d
        WHERE d.supplier_id = s.supplier_id
            AND d.is_current = 1
    );

    SET @written += @@ROWCOUNT;

    INSERT INTO core.audit_supplier (supplier_id, action, old_name, new_name, run_id)
    SELECT c.supplier_id, c.action, c.old_name, c.new_name, @run_id
    FROM #changed AS c;

    COMMIT TRANSACTION;

    EXEC core.usp_log_step @run_id, 'dim_supplier', NULL, @written;
END;
GO

CREATE OR ALTER PROCEDURE core.usp_load_dim_promotion
    @run_id int
AS
BEGIN
    SET NOCOUNT ON;

    WITH counted AS (
        SELECT x.promo_code, COUNT(DISTINCT x.sku) AS product_count
        FROM staging.promotion_products AS x
        GROUP BY x.promo_code
    )
    MERGE core.dim_promotion AS d
    USING (
        SELECT p.promo_code, p.title, p.starts_on, p.ends_on, p.discount_pct, p.channel, ISNULL(c.product_count, 0) AS product_count
        FROM staging.promotions AS p
        LEFT JOIN counted AS c
            ON c.promo_code = p.promo_code
    ) AS s
        ON s.promo_code = d.promo_code
    WHEN MATCHED THEN
        UPDATE SET d.title = s.title, d.ends_on = s.ends_on, d.discount_pct = s.discount_pct, d.product_count = s.product_count
    WHEN NOT MATCHED THEN
        INSERT (promo_code, title, starts_on, ends_on, discount_pct, channel, product_count)
        VALUES (s.promo_code, s.title, s.starts_on, s.ends_on, s.discount_pct, s.channel, s.product_count);

    EXEC core.usp_log_step @run_id = @run_id, @step_name = 'dim_promotion', @rows_written = @@ROWCOUNT;
END;
GO

-- New list prices, handed over by the pricing tool.
CREATE OR ALTER PROCEDURE core.usp_import_prices
    @prices core.price_list READONLY
AS
BEGIN
    SET NOCOUNT ON;

    UPDATE p
    SET p.list_price = n.list_price
    FROM core.dim_product AS p
    INNER JOIN @prices AS n
        ON n.sku = p.sku
    WHERE n.valid_on <= CAST(SYSUTCDATETIME() AS date);
END;
GO
