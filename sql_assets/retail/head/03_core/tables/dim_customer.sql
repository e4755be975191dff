-- Customer dimension. The surrogate key is given once and never reused.
CREATE TABLE core.dim_customer (
    customer_key   int            IDENTITY(1, 1) NOT NULL,
    customer_id    int            NOT NULL,
    full_name      nvarchar(160)  NOT NULL,
    email          varchar(254)   NULL,
    country_code   char(2)        NULL,
    loyalty_tier   varchar(10)    NOT NULL CONSTRAINT df_dim_customer_tier DEFAULT 'none',
    registered_on  date           NOT NULL,
    CONSTRAINT pk_dim_customer PRIMARY KEY (customer_key),
    CONSTRAINT uq_dim_customer_id UNIQUE (customer_id)
);
GO

-- New customers only; attribute changes come with the weekly CRM reconciliation.
INSERT INTO core.dim_customer (registered_on, loyalty_tier, country_code, customer_id, email, full_name)
SELECT
    c.registered_on,
    c.loyalty_tier,
    a.country_code,
    c.customer_id,
    c.email,
    c.full_name
FROM staging.customers AS c
LEFT JOIN staging.customer_addresses AS a
    ON a.customer_id = c.customer_id
WHERE NOT EXISTS (
    SELECT 1
    FROM core.dim_customer AS d
    WHERE d.customer_id = c.customer_id
);
GO
