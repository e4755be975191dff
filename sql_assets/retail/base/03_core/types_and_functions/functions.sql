-- The last rate known on a day.
CREATE FUNCTION core.ufn_rate_to_eur (@currency_code char(3), @on date)
RETURNS decimal(18, 8)
WITH SCHEMABINDING
AS
BEGIN
    DECLARE @rate decimal(18, 8);

    SELECT TOP (1) @rate = r.rate_to_eur
    FROM staging.exchange_rates AS r
    WHERE r.currency_code = @currency_code
        AND r.rate_date <= @on
    ORDER BY r.rate_date DESC;

    RETURN ISNULL(@rate, 1);
END;
GO

CREATE FUNCTION core.ufn_date_key (@on date)
RETURNS int
AS
BEGIN
    RETURN CONVERT(int, CONVERT(char(8), @on, 112));
END;
GO

-- What a customer bought since a day.
CREATE FUNCTION core.ufn_customer_history (@customer_id int, @since date)
RETURNS TABLE
AS
RETURN (
    SELECT f.order_number, d.calendar_date, p.product_name, f.quantity, f.net_amount_eur
    FROM core.fact_sales AS f
    INNER JOIN core.dim_customer AS c
        ON c.customer_key = f.customer_key
    INNER JOIN core.dim_date AS d
        ON d.date_key = f.date_key
    INNER JOIN core.dim_product AS p
        ON p.product_id = f.product_id
    WHERE c.customer_id = @customer_id
        AND d.calendar_date >= @since
);
GO

-- Stores of a list of codes, and all stores where the list is empty.
CREATE FUNCTION core.ufn_stores_of (@codes nvarchar(max))
RETURNS @stores TABLE (store_code char(4) NOT NULL PRIMARY KEY, store_name nvarchar(100) NOT NULL)
AS
BEGIN
    IF NULLIF(@codes, N'') IS NULL
        INSERT INTO @stores (store_code, store_name)
        SELECT s.store_code, s.store_name FROM raw.stores AS s;
    ELSE
        INSERT INTO @stores (store_code, store_name)
        SELECT s.store_code, s.store_name
        FROM raw.stores AS s
        INNER JOIN STRING_SPLIT(@codes, N',') AS x
            ON LTRIM(x.value) = s.store_code;

    RETURN;
END;
GO

-- Prices as a caller hands them over.
CREATE TYPE core.price_list AS TABLE (
    sku         varchar(40)     NOT NULL PRIMARY KEY,
    list_price  decimal(18, 2)  NOT NULL,
    valid_on    date            NOT NULL
);
GO

CREATE SYNONYM mart.rates FOR staging.exchange_rates;
GO
