-- Filled by procedures, read by the weekly mail and the call centre.
CREATE TABLE mart.stock_by_format (
    snapshot_on   date            NOT NULL PRIMARY KEY,
    flagship_eur  decimal(18, 2)  NULL,
    standard_eur  decimal(18, 2)  NULL,
    city_eur      decimal(18, 2)  NULL
);
GO

CREATE TABLE mart.birthday_orders (
    order_number    varchar(30)     NOT NULL,
    calendar_date   date            NOT NULL,
    product_name    nvarchar(200)   NOT NULL,
    net_amount_eur  decimal(18, 2)  NOT NULL
);
GO
