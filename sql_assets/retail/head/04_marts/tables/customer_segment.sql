-- Segment of each customer as of the last month closed. Written by mart.usp_close_month.
CREATE TABLE mart.customer_segment (
    customer_id    int             NOT NULL,
    segment        varchar(10)     NOT NULL,
    net_sales_eur  decimal(18, 2)  NOT NULL,
    order_count    int             NOT NULL,
    month_start    date            NOT NULL,
    updated_at     datetime2(0)    NOT NULL CONSTRAINT df_customer_segment_updated DEFAULT SYSUTCDATETIME(),
    CONSTRAINT pk_customer_segment PRIMARY KEY (customer_id),
    CONSTRAINT ck_customer_segment CHECK (segment IN ('vip', 'regular', 'occasional'))
);
GO
