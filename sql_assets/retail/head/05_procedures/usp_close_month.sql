/*
    Closes one month: store results for finance, customer segments for the loyalty programme.
    Run by the scheduler on the second working day; safe to run again for the same month.
*/
CREATE OR ALTER PROCEDURE mart.usp_close_month
    @month_start    date,
    @vip_threshold  decimal(18, 2) = 500.00
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @month_end date = EOMONTH(@month_start);
    DECLARE @stores_closed int = 0;

    IF DAY(@month_start) <> 1
    BEGIN
        RAISERROR (N'@month_start must be the first day of a month.', 16, 1);
        RETURN 1;
    END;

    -- The month's lines, read once.
    SELECT f.order_number, f.store_code, f.customer_key, f.net_amount_eur
    INTO #month_sales
    FROM core.fact_sales AS f
    INNER JOIN core.dim_date AS d
        ON d.date_key = f.date_key
    WHERE d.calendar_date BETWEEN @month_start AND @month_end;

    CREATE TABLE #store_totals (
        store_code     char(4)         NOT NULL PRIMARY KEY,
        order_count    int             NOT NULL,
        net_sales_eur  decimal(18, 2)  NOT NULL,
        refunds_eur    decimal(18, 2)  NOT NULL DEFAULT 0
    );

    INSERT INTO #store_totals (store_code, order_count, net_sales_eur)
    SELECT m.store_code, COUNT(DISTINCT m.order_number), SUM(m.net_amount_eur)
    FROM #month_sales AS m
    WHERE m.store_code IS NOT NULL
    GROUP BY m.store_code;

    -- Refunds count against the store that sold the goods, in the month of the sale.
    UPDATE t
    SET t.refunds_eur = b.refunds_eur
    FROM #store_totals AS t
    INNER JOIN (
        SELECT o.store_code, SUM(r.refund_amount_eur) AS refunds_eur
        FROM (SELECT DISTINCT m.order_number, m.store_code FROM #month_sales AS m) AS o
        INNER JOIN staging.returns AS r
            ON r.order_number = o.order_number
        GROUP BY o.store_code
    ) AS b
        ON b.store_code = t.store_code;

    SELECT
        c.customer_id,
        COUNT(DISTINCT m.order_number) AS order_count,
        SUM(m.net_amount_eur) AS net_sales_eur
    INTO #customer_totals
    FROM #month_sales AS m
    INNER JOIN core.dim_customer AS c
        ON c.customer_key = m.customer_key
    GROUP BY c.customer_id;

    BEGIN TRY
        BEGIN TRANSACTION;

        DELETE FROM mart.store_month
        WHERE month_start = @month_start;

        INSERT INTO mart.store_month (month_start, store_code, store_format, order_count, net_sales_eur, refunds_eur)
        SELECT
            @month_start,
            t.store_code,
            s.store_format,
            t.order_count,
            t.net_sales_eur,
            t.refunds_eur
        FROM #store_totals AS t
        INNER JOIN staging.stores AS s
            ON s.store_code = t.store_code;

        SET @stores_closed = @@ROWCOUNT;

        MERGE mart.customer_segment AS target
        USING (
            SELECT
                c.customer_id,
                CASE
                    WHEN c.net_sales_eur >= @vip_threshold THEN 'vip'
                    WHEN c.order_count > 1 THEN 'regular'
                    ELSE 'occasional'
                END AS segment,
                c.net_sales_eur,
                c.order_count
            FROM #customer_totals AS c
        ) AS source
            ON target.customer_id = source.customer_id
        WHEN MATCHED THEN
            UPDATE SET
                target.segment = source.segment,
                target.net_sales_eur = source.net_sales_eur,
                target.order_count = source.order_count,
                target.month_start = @month_start,
                target.updated_at = SYSUTCDATETIME()
        WHEN NOT MATCHED BY TARGET THEN
            INSERT (customer_id, segment, net_sales_eur, order_count, month_start)
            VALUES (source.customer_id, source.segment, source.net_sales_eur, source.order_count, @month_start);

        COMMIT TRANSACTION;
        PRINT CONCAT('Stores closed: ', @stores_closed);
    END TRY
    BEGIN CATCH
        IF @@TRANCOUNT > 0
            ROLLBACK TRANSACTION;
        THROW;
    END CATCH;
END;
GO
