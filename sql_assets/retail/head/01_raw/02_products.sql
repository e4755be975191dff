-- Product master from the ERP.
CREATE TABLE raw.product_categories (
    category_id         int           NOT NULL PRIMARY KEY,
    category_name       nvarchar(80)  NOT NULL,
    parent_category_id  int           NULL,
    CONSTRAINT fk_categories_parent
        FOREIGN KEY (parent_category_id) REFERENCES raw.product_categories (category_id)
);
GO

CREATE TABLE raw.products (
    product_id       int             NOT NULL,
    sku              varchar(40)     NOT NULL,
    product_name     nvarchar(200)   NOT NULL,
    category_id      int             NULL,
    -- Landed cost in EUR; the new ERP rounds to the cent.
    unit_cost        decimal(10, 2)  NOT NULL,
    list_price       decimal(18, 2)  NOT NULL,
    weight_text      varchar(20)     NULL,
    discontinued_on  date            NULL,
    CONSTRAINT pk_products PRIMARY KEY (product_id),
    CONSTRAINT uq_products_sku UNIQUE (sku),
    CONSTRAINT fk_products_category
        FOREIGN KEY (category_id) REFERENCES raw.product_categories (category_id),
    CONSTRAINT ck_products_list_price CHECK (list_price >= 0)
);
GO
