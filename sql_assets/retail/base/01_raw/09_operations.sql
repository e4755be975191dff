-- What the stores report about themselves: stock counts, promotions, staff.
CREATE TABLE raw.inventory_counts (
    store_code   char(4)         NOT NULL,
    product_id   int             NOT NULL,
    counted_at   datetime2(0)    NOT NULL,
    quantity     decimal(12, 3)  NOT NULL,
    counted_by   int             NULL,
    CONSTRAINT pk_inventory_counts PRIMARY KEY (store_code, product_id, counted_at)
);
GO

CREATE TABLE raw.promotions (
    promo_code    varchar(30)     NOT NULL PRIMARY KEY,
    title         nvarchar(120)   NOT NULL,
    starts_on     date            NOT NULL,
    ends_on       date            NULL,
    discount_pct  decimal(5, 2)   NOT NULL,
    rules         xml             NULL,
    settings      nvarchar(max)   NULL
);
GO

CREATE TABLE raw.employees (
    employee_id  int            NOT NULL PRIMARY KEY,
    full_name    nvarchar(120)  NOT NULL,
    store_code   char(4)        NULL,
    manager_id   int            NULL,
    hired_on     date           NOT NULL,
    left_on      date           NULL
);
GO
