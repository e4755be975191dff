-- Sales by month, the channels or the quarters side by side: the list of columns is chosen by the caller.
CREATE OR ALTER PROCEDURE mart.usp_sales_pivot
    @by     varchar(10) = 'channel',
    @since  date = '2022-01-01'
AS
BEGIN
    SET NOCOUNT ON;

    DECLARE @columns nvarchar(200), @spread nvarchar(60), @sql nvarchar(max);

    IF @by = 'quarter'
    BEGIN
        SET @columns = N'[1], [2], [3], [4]';
        SET @spread = N'DATEPART(quarter, d.calendar_date)';
    END
    ELSE
    BEGIN
        SET @columns = N'[web], [store]';
        SET @spread = N'f.channel';
    END;

    SET @sql = N'SELECT p.year_month, ' + @columns + N'
        FROM (
            SELECT d.year_month, ' + @spread + N' AS spread, f.net_amount_eur
            FROM core.fact_sales AS f
            INNER JOIN core.dim_date AS d ON d.date_key = f.date_key
            WHERE d.calendar_date >= @since
        ) AS s
        PIVOT (SUM(net_amount_eur) FOR spread IN (' + @columns + N')) AS p
        ORDER BY p.year_month;';

    EXEC sys.sp_executesql @sql, N'@since date', @since = @since;
END;
GO

-- Stock by store format, one column each; kept for the weekly mail.
CREATE OR ALTER PROCEDURE mart.usp_refresh_stock_by_format
AS
BEGIN
    SET NOCOUNT ON;

    DECLARE @formats nvarchar(200) = N'[flagship], [standard], [city]';
    DECLARE @sql nvarchar(max);

    TRUNCATE TABLE mart.stock_by_format;

    SET @sql = N'INSERT INTO mart.stock_by_format (snapshot_on, flagship_eur, standard_eur, city_eur)
        SELECT p.snapshot_on, ' + @formats + N'
        FROM (
            SELECT i.snapshot_on, s.store_format, i.value_eur
            FROM core.fact_inventory AS i
            INNER JOIN core.dim_store AS s ON s.store_code = i.store_code
        ) AS x
        PIVOT (SUM(value_eur) FOR store_format IN (' + @formats + N')) AS p;';

    EXEC (@sql);
END;
GO

-- What the service desk sees of a customer.
CREATE OR ALTER PROCEDURE mart.usp_customer_card
    @customer_id int
AS
BEGIN
    SET NOCOUNT ON;

    SELECT h.order_number, h.calendar_date, h.product_name, h.quantity, h.net_amount_eur, r.refund_amount_eur, r.reason_code
    FROM core.ufn_customer_history(@customer_id, DATEADD(year, -2, GETDATE())) AS h
    LEFT JOIN core.fact_returns AS r
        ON r.order_number = h.order_number
    ORDER BY h.calendar_date DESC;
END;
GO

-- The cards of all customers whose birthday is today, for the call centre.
CREATE OR ALTER PROCEDURE mart.usp_birthday_cards
AS
BEGIN
    SET NOCOUNT ON;

    DECLARE @customer_id int;

    CREATE TABLE #cards (
        order_number       varchar(30),
        calendar_date      date,
        product_name       nvarchar(200),
        quantity           decimal(12, 3),
        net_amount_eur     decimal(18, 2),
        refund_amount_eur  decimal(18, 2),
        reason_code        varchar(10)
    );

    SELECT TOP (1) @customer_id = c.customer_id
    FROM staging.customers AS c
    WHERE MONTH(c.birth_date) = MONTH(GETDATE())
        AND DAY(c.birth_date) = DAY(GETDATE())
    ORDER BY c.customer_id;

    WHILE @customer_id IS NOT NULL
    BEGIN
        INSERT INTO #cards
        EXEC mart.usp_customer_card @customer_id = @customer_id;

        SET @customer_id = (
            SELECT MIN(c.customer_id)
            FROM staging.customers AS c
            WHERE c.customer_id > @customer_id
                AND MONTH(c.birth_date) = MONTH(GETDATE())
                AND DAY(c.birth_date) = DAY(GETDATE())
        );
    END;

    INSERT INTO mart.birthday_orders (order_number, calendar_date, product_name, net_amount_eur)
    SELECT k.order_number, k.calendar_date, k.product_name, k.net_amount_eur
    FROM #cards AS k
    WHERE k.refund_amount_eur IS NULL;
END;
GO
