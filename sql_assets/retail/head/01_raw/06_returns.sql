-- Returned goods of both channels, entered at the service desk.
CREATE TABLE raw.returns (
    return_id      int             IDENTITY(1, 1) NOT NULL,
    channel        varchar(5)      NOT NULL,
    order_ref      varchar(20)     NOT NULL,
    store_code     char(4)         NULL,
    product_id     int             NOT NULL,
    returned_on    date            NOT NULL,
    quantity       decimal(9, 3)   NOT NULL,
    refund_amount  decimal(18, 2)  NOT NULL,
    reason_code    varchar(10)     NULL,
    CONSTRAINT pk_returns PRIMARY KEY (return_id),
    CONSTRAINT fk_returns_product FOREIGN KEY (product_id) REFERENCES raw.products (product_id),
    CONSTRAINT ck_returns_channel CHECK (channel IN ('web', 'store'))
);
GO
