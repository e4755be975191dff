-- Dimensions that loading procedures keep: stores are overwritten, suppliers keep their history.
CREATE TABLE core.dim_store (
    store_code     char(4)        NOT NULL,
    store_name     nvarchar(100)  NOT NULL,
    city           nvarchar(80)   NOT NULL,
    country_code   char(2)        NOT NULL,
    store_format   varchar(10)    NOT NULL,
    manager_name   nvarchar(120)  NULL,
    is_open        bit            NOT NULL,
    updated_at     datetime2(0)   NOT NULL,
    CONSTRAINT pk_dim_store PRIMARY KEY (store_code)
);
GO

CREATE TABLE core.dim_supplier (
    supplier_key   int            IDENTITY(1, 1) NOT NULL,
    supplier_id    int            NOT NULL,
    supplier_name  nvarchar(120)  NOT NULL,
    country_code   char(2)        NOT NULL,
    payment_days   smallint       NOT NULL,
    rating         char(1)        NOT NULL,
    valid_from     datetime2(0)   NOT NULL,
    valid_to       datetime2(0)   NULL,
    is_current     bit            NOT NULL CONSTRAINT df_dim_supplier_current DEFAULT 1,
    CONSTRAINT pk_dim_supplier PRIMARY KEY (supplier_key)
);
GO

CREATE TABLE core.dim_promotion (
    promo_code    varchar(30)    NOT NULL PRIMARY KEY,
    title         nvarchar(120)  NOT NULL,
    starts_on     date           NOT NULL,
    ends_on       date           NULL,
    discount_pct  decimal(5, 2)  NOT NULL,
    channel       varchar(5)     NULL,
    product_count int            NOT NULL
);
GO
