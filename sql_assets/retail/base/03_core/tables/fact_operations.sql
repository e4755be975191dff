-- Facts that loading procedures keep.
CREATE TABLE core.fact_returns (
    return_id          int             NOT NULL PRIMARY KEY,
    order_number       varchar(30)     NOT NULL,
    date_key           int             NOT NULL,
    product_id         int             NOT NULL,
    store_code         char(4)         NULL,
    quantity           decimal(12, 3)  NOT NULL,
    refund_amount_eur  decimal(18, 2)  NOT NULL,
    days_to_return     int             NULL,
    reason_code        varchar(10)     NOT NULL
);
GO

CREATE TABLE core.fact_purchases (
    purchase_id      bigint          NOT NULL,
    line_number      smallint        NOT NULL,
    supplier_key     int             NOT NULL,
    product_id       int             NOT NULL,
    store_code       char(4)         NULL,
    received_key     int             NULL,
    quantity         decimal(12, 3)  NOT NULL,
    cost_amount_eur  decimal(18, 2)  NOT NULL,
    days_late        int             NULL,
    CONSTRAINT pk_fact_purchases PRIMARY KEY (purchase_id, line_number)
);
GO

CREATE TABLE core.fact_inventory (
    snapshot_on    date            NOT NULL,
    store_code     char(4)         NOT NULL,
    product_id     int             NOT NULL,
    quantity       decimal(12, 3)  NOT NULL,
    sold_since     decimal(12, 3)  NOT NULL,
    value_eur      decimal(18, 2)  NOT NULL,
    days_of_stock  decimal(9, 1)   NULL,
    CONSTRAINT pk_fact_inventory PRIMARY KEY (snapshot_on, store_code, product_id)
);
GO
