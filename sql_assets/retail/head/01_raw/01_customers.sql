-- Nightly full extract from the CRM. Every load is kept, so customer_id repeats:
-- staging.customers picks the latest row.
CREATE TABLE raw.customers (
    customer_id      int           NOT NULL,
    first_name       nvarchar(60)  NULL,
    last_name        nvarchar(80)  NOT NULL,
    email            varchar(254)  NULL,
    phone            varchar(30)   NULL,
    birth_date       date          NULL,
    loyalty_card     varchar(20)   NULL,
    loyalty_tier     char(1)       NULL,
    is_test_account  bit           NOT NULL CONSTRAINT df_customers_test DEFAULT 0,
    registered_at    datetime2(0)  NOT NULL,
    loaded_at        datetime2(3)  NOT NULL CONSTRAINT df_customers_loaded DEFAULT SYSUTCDATETIME(),
    CONSTRAINT pk_customers PRIMARY KEY CLUSTERED (customer_id, loaded_at),
    CONSTRAINT ck_customers_tier CHECK (loyalty_tier IN ('B', 'S', 'G'))
);
GO

-- Address book of the web shop: 'H' home, 'D' delivery.
CREATE TABLE raw.customer_addresses (
    address_id    int            IDENTITY(1, 1) NOT NULL,
    customer_id   int            NOT NULL,
    address_type  char(1)        NOT NULL CONSTRAINT df_addresses_type DEFAULT 'H',
    street        nvarchar(120)  NOT NULL,
    city          nvarchar(80)   NOT NULL,
    postcode      varchar(12)    NULL,
    country_code  char(2)        NOT NULL,
    valid_from    date           NOT NULL,
    CONSTRAINT pk_customer_addresses PRIMARY KEY (address_id),
    CONSTRAINT ck_addresses_type CHECK (address_type IN ('H', 'D'))
);
GO
