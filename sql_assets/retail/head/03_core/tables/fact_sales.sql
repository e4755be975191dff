-- Sales of both channels, one row per order line, everything in EUR.
CREATE TABLE core.fact_sales (
    order_number         varchar(30)     NOT NULL,
    line_number          int             NOT NULL,
    channel              varchar(5)      NOT NULL,
    date_key             int             NOT NULL,
    customer_key         int             NULL,
    product_id           int             NOT NULL,
    store_code           char(4)         NULL,
    quantity             decimal(12, 3)  NOT NULL,
    gross_amount_eur     decimal(18, 2)  NOT NULL,
    discount_amount_eur  decimal(18, 2)  NOT NULL CONSTRAINT df_fact_sales_discount DEFAULT 0,
    net_amount_eur       decimal(18, 2)  NOT NULL,
    CONSTRAINT pk_fact_sales PRIMARY KEY (order_number, line_number),
    CONSTRAINT fk_fact_sales_date FOREIGN KEY (date_key) REFERENCES core.dim_date (date_key),
    CONSTRAINT fk_fact_sales_customer FOREIGN KEY (customer_key) REFERENCES core.dim_customer (customer_key),
    CONSTRAINT ck_fact_sales_channel CHECK (channel IN ('web', 'store'))
);
GO

-- Amounts are converted with the last rate known on the day of the sale.
INSERT INTO core.fact_sales (
    order_number, line_number, channel, date_key, customer_key, product_id, store_code,
    quantity, gross_amount_eur, discount_amount_eur, net_amount_eur
)
SELECT
    s.order_number,
    s.line_number,
    s.channel,
    CONVERT(int, CONVERT(char(8), s.sold_at, 112)) AS date_key,
    c.customer_key,
    s.product_id,
    s.store_code,
    s.quantity,
    CAST(s.quantity * s.unit_price * x.rate_to_eur AS decimal(18, 2)) AS gross_amount_eur,
    CAST(s.discount_amount * x.rate_to_eur AS decimal(18, 2)) AS discount_amount_eur,
    CAST((s.quantity * s.unit_price - s.discount_amount) * x.rate_to_eur AS decimal(18, 2)) AS net_amount_eur
FROM staging.sales_lines AS s
LEFT JOIN core.dim_customer AS c
    ON c.customer_id = s.customer_id
CROSS APPLY (
    SELECT TOP (1) r.rate_to_eur
    FROM staging.exchange_rates AS r
    WHERE r.currency_code = s.currency_code
        AND r.rate_date <= CAST(s.sold_at AS date)
    ORDER BY r.rate_date DESC
) AS x
WHERE NOT EXISTS (
    SELECT 1
    FROM core.fact_sales AS f
    WHERE f.order_number = s.order_number
        AND f.line_number = s.line_number
);
GO
