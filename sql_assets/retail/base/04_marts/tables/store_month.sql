-- Closed months per store, as reported to finance. Written by mart.usp_close_month.
CREATE TABLE mart.store_month (
    month_start    date            NOT NULL,
    store_code     char(4)         NOT NULL,
    store_format   varchar(10)     NOT NULL,
    order_count    int             NOT NULL,
    net_sales_eur  decimal(18, 2)  NOT NULL,
    refunds_eur    decimal(18, 2)  NOT NULL CONSTRAINT df_store_month_refunds DEFAULT 0,
    CONSTRAINT pk_store_month PRIMARY KEY (month_start, store_code)
);
GO
