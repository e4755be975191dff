-- Web shop: order headers, order lines and shipments, replicated every 15 minutes.
CREATE TABLE raw.web_orders (
    order_id       bigint          NOT NULL,
    order_number   varchar(20)     NOT NULL,
    customer_id    int             NOT NULL,
    ordered_at     datetime2(0)    NOT NULL,
    status         varchar(20)     NOT NULL CONSTRAINT df_web_orders_status DEFAULT 'placed',
    currency_code  char(3)         NOT NULL CONSTRAINT df_web_orders_currency DEFAULT 'EUR',
    shipping_fee   decimal(10, 2)  NOT NULL CONSTRAINT df_web_orders_fee DEFAULT 0,
    promo_code     varchar(30)     NULL,
    CONSTRAINT pk_web_orders PRIMARY KEY (order_id),
    CONSTRAINT uq_web_orders_number UNIQUE (order_number),
    CONSTRAINT ck_web_orders_status CHECK (status IN ('placed', 'paid', 'shipped', 'cancelled'))
);

CREATE TABLE raw.web_order_lines (
    order_id         bigint          NOT NULL,
    line_number      smallint        NOT NULL,
    product_id       int             NOT NULL,
    quantity         int             NOT NULL,
    unit_price       decimal(18, 2)  NOT NULL,
    discount_amount  decimal(18, 2)  NULL,
    CONSTRAINT pk_web_order_lines PRIMARY KEY (order_id, line_number),
    CONSTRAINT fk_web_lines_order FOREIGN KEY (order_id) REFERENCES raw.web_orders (order_id),
    CONSTRAINT fk_web_lines_product FOREIGN KEY (product_id) REFERENCES raw.products (product_id),
    CONSTRAINT ck_web_lines_quantity CHECK (quantity > 0)
);
GO

-- The warehouse ships an order as a whole: at most one shipment per order.
CREATE TABLE raw.shipments (
    shipment_id    bigint        NOT NULL PRIMARY KEY,
    order_id       bigint        NOT NULL,
    carrier        varchar(40)   NOT NULL,
    tracking_code  varchar(60)   NULL,
    shipped_at     datetime2(0)  NOT NULL,
    delivered_at   datetime2(0)  NULL,
    CONSTRAINT uq_shipments_order UNIQUE (order_id),
    CONSTRAINT fk_shipments_order FOREIGN KEY (order_id) REFERENCES raw.web_orders (order_id)
);
GO
