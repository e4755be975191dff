-- Returns since the last run, set against the sale.
CREATE OR ALTER PROCEDURE core.usp_load_fact_returns
    @run_id int
AS
BEGIN
    SET NOCOUNT ON;

    DECLARE @since date, @read int, @written int;

    SELECT @since = CAST(MAX(s.watermark) AS date)
    FROM core.etl_step AS s
    WHERE s.step_name = 'fact_returns';

    IF @since IS NULL
        SET @since = '2022-01-01';

    SELECT r.return_id, r.order_number, r.product_id, r.returned_on, r.quantity, r.refund_amount_eur, r.reason_code
    INTO #returns
    FROM staging.returns AS r
    WHERE r.returned_on >= @since;

    SET @read = @@ROWCOUNT;

    ALTER TABLE #returns ADD store_code char(4) NULL, sold_on date NULL;

    UPDATE t
    SET t.store_code = x.store_code,
        t.sold_on = x.sold_on
    FROM #returns AS t
    CROSS APPLY (
        SELECT TOP (1) f.store_code, d.calendar_date AS sold_on
        FROM core.fact_sales AS f
        INNER JOIN core.dim_date AS d
            ON d.date_key = f.date_key
        WHERE f.order_number = t.order_number
            AND f.product_id = t.product_id
        ORDER BY d.calendar_date DESC
    ) AS x;

    DELETE f
    FROM core.fact_returns AS f
    INNER JOIN #returns AS t
        ON t.return_id = f.return_id
    OPTION (RECOMPILE);

    INSERT INTO core.fact_returns (
        return_id, order_number, date_key, product_id, store_code, quantity, refund_amount_eur, days_to_return, reason_code
    )
    SELECT
        t.return_id,
        t.order_number,
        core.ufn_date_key(t.returned_on),
        t.product_id,
        t.store_code,
        t.quantity,
        t.refund_amount_eur,
        DATEDIFF(day, t.sold_on, t.returned_on),
        t.reason_code
    FROM #returns AS t
    WHERE t.reason_code <> 'TEST';

    SET @written = @@ROWCOUNT;

    DECLARE @watermark datetime2(0) = (SELECT MAX(t.returned_on) FROM #returns AS t);
    EXEC core.usp_log_step @run_id, 'fact_returns', @read, @written, @watermark;
END;
GO

CREATE OR ALTER PROCEDURE core.usp_load_fact_purchases
    @run_id     int,
    @full_load  bit = 0
AS
BEGIN
    SET NOCOUNT ON;

    IF @full_load = 1
        TRUNCATE TABLE core.fact_purchases;
    ELSE
        DELETE p
        FROM core.fact_purchases AS p
        WHERE p.received_key IS NULL;

    INSERT INTO core.fact_purchases (
        purchase_id, line_number, supplier_key, product_id, store_code, received_key, quantity, cost_amount_eur, days_late
    )
    SELECT
        l.purchase_id,
        l.line_number,
        s.supplier_key,
        l.product_id,
        l.store_code,
        core.ufn_date_key(l.received_on),
        l.quantity,
        CAST(l.quantity * l.unit_cost * core.ufn_rate_to_eur(l.currency_code, l.ordered_on) AS decimal(18, 2)),
        l.days_late
    FROM staging.purchase_lines AS l
    INNER JOIN core.dim_supplier AS s
        ON s.supplier_id = l.supplier_id
        AND l.ordered_on >= s.valid_from
        AND (s.valid_to IS NULL OR l.ordered_on < s.valid_to)
    WHERE NOT EXISTS (
        SELECT 1
        FROM core.fact_purchases AS f
        WHERE f.purchase_id = l.purchase_id
            AND f.line_number = l.line_number
    );

    EXEC core.usp_log_step @run_id = @run_id, @step_name = 'fact_purchases', @rows_written = @@ROWCOUNT;
END;
GO

-- One snapshot of the stock a day, store by store, because stores close at different hours.
CREATE OR ALTER PROCEDURE core.usp_load_fact_inventory
    @run_id       int,
    @snapshot_on  date,
    @stores       nvarchar(max) = NULL
AS
BEGIN
    SET NOCOUNT ON;

    DECLARE @store_code char(4), @sold decimal(12, 3), @loaded int = 0;

    DECLARE store_cursor CURSOR LOCAL FAST_FORWARD FOR
        SELECT s.store_code
        FROM core.ufn_stores_of(@stores) AS s
        ORDER BY s.store_code;

    OPEN store_cursor;
    FETCH NEXT FROM store_cursor INTO @store_code;

    WHILE @@FETCH_STATUS = 0
    BEGIN
        BEGIN TRY
            DELETE FROM core.fact_inventory
            WHERE snapshot_on = @snapshot_on
                AND store_code = @store_code;

            WITH sold AS (
                SELECT f.product_id, SUM(f.quantity) AS quantity
                FROM core.fact_sales AS f
                INNER JOIN core.dim_date AS d
                    ON d.date_key = f.date_key
                WHERE f.store_code = @store_code
                    AND d.calendar_date > DATEADD(day, -28, @snapshot_on)
                GROUP BY f.product_id
            )
            INSERT INTO core.fact_inventory (snapshot_on, store_code, product_id, quantity, sold_since, value_eur, days_of_stock)
            SELECT
                @snapshot_on,
                i.store_code,
                i.product_id,
                i.quantity,
                ISNULL(s.quantity, 0),
                CAST(i.quantity * p.list_price AS decimal(18, 2)),
                CAST(i.quantity / NULLIF(s.quantity / 28.0, 0) AS decimal(9, 1))
            FROM staging.inventory AS i
            INNER JOIN core.dim_product AS p
                ON p.product_id = i.product_id
            LEFT JOIN sold AS s
                ON s.product_id = i.product_id
            WHERE i.store_code = @store_code;

            SET @loaded += @@ROWCOUNT;
        END TRY
        BEGIN CATCH
            DECLARE @message nvarchar(4000) = CONCAT(N'store ', @store_code, N': ', ERROR_MESSAGE());
            PRINT @message;
            GOTO next_store;
        END CATCH;

        next_store:
        FETCH NEXT FROM store_cursor INTO @store_code;
    END;

    CLOSE store_cursor;
    DEALLOCATE store_cursor;

    EXEC core.usp_log_step @run_id = @run_id, @step_name = 'fact_inventory', @rows_written = @loaded;
END;
GO
