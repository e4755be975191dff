-- Purchasing: suppliers, their orders and what arrived, from the ERP.
CREATE TABLE raw.suppliers (
    supplier_id     int            NOT NULL,
    supplier_name   nvarchar(120)  NOT NULL,
    country_code    char(2)        NOT NULL,
    payment_days    smallint       NOT NULL CONSTRAINT df_suppliers_payment DEFAULT 30,
    rating          char(1)        NULL,
    is_blocked      bit            NOT NULL CONSTRAINT df_suppliers_blocked DEFAULT 0,
    modified_at     datetime2(0)   NOT NULL,
    CONSTRAINT pk_suppliers PRIMARY KEY (supplier_id)
);
GO

CREATE TABLE raw.purchase_orders (
    purchase_id    bigint        NOT NULL,
    supplier_id    int           NOT NULL,
    store_code     char(4)       NULL,
    ordered_on     date          NOT NULL,
    promised_on    date          NULL,
    received_on    date          NULL,
    currency_code  char(3)       NOT NULL CONSTRAINT df_purchase_currency DEFAULT 'EUR',
    CONSTRAINT pk_purchase_orders PRIMARY KEY (purchase_id),
    CONSTRAINT fk_purchase_supplier FOREIGN KEY (supplier_id) REFERENCES raw.suppliers (supplier_id),
    INDEX ix_purchase_received (received_on)
) WITH (DATA_COMPRESSION = PAGE);

CREATE TABLE raw.purchase_order_lines (
    purchase_id  bigint          NOT NULL,
    line_number  smallint        NOT NULL,
    product_id   int             NOT NULL,
    quantity     decimal(12, 3)  NOT NULL,
    unit_cost    decimal(18, 4)  NOT NULL,
    CONSTRAINT pk_purchase_lines PRIMARY KEY CLUSTERED (purchase_id ASC, line_number ASC) ON [PRIMARY],
    CONSTRAINT fk_purchase_lines FOREIGN KEY (purchase_id) REFERENCES raw.purchase_orders (purchase_id)
);
GO
