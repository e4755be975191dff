-- Product dimension, rebuilt every night.
CREATE TABLE core.dim_product (
    product_id     int             NOT NULL,
    sku            varchar(40)     NOT NULL,
    product_name   nvarchar(200)   NOT NULL,
    category_name  nvarchar(80)    NOT NULL,
    unit_cost      decimal(18, 4)  NOT NULL,
    list_price     decimal(18, 2)  NOT NULL,
    lifecycle      varchar(12)     NOT NULL,
    CONSTRAINT pk_dim_product PRIMARY KEY (product_id),
    CONSTRAINT uq_dim_product_sku UNIQUE (sku)
);
GO

TRUNCATE TABLE core.dim_product;

INSERT INTO core.dim_product
SELECT
    p.product_id,
    p.sku,
    p.product_name,
    p.category_name,
    p.unit_cost,
    p.list_price,
    p.lifecycle
FROM staging.products AS p;
GO
