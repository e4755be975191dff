-- What triggers write: who changed what, before and after.
CREATE TABLE core.audit_product (
    audit_id      bigint          IDENTITY(1, 1) NOT NULL PRIMARY KEY,
    product_id    int             NOT NULL,
    operation     char(1)         NOT NULL,
    old_cost      decimal(18, 4)  NULL,
    new_cost      decimal(18, 4)  NULL,
    old_price     decimal(18, 2)  NULL,
    new_price     decimal(18, 2)  NULL,
    old_lifecycle varchar(12)     NULL,
    new_lifecycle varchar(12)     NULL,
    changed_at    datetime2(3)    NOT NULL CONSTRAINT df_audit_product_at DEFAULT SYSUTCDATETIME(),
    changed_by    sysname         NOT NULL CONSTRAINT df_audit_product_by DEFAULT SUSER_SNAME()
);
GO

CREATE TABLE core.audit_order_status (
    order_id      bigint        NOT NULL,
    order_number  varchar(20)   NOT NULL,
    old_status    varchar(20)   NULL,
    new_status    varchar(20)   NOT NULL,
    changed_at    datetime2(3)  NOT NULL CONSTRAINT df_audit_order_at DEFAULT SYSUTCDATETIME()
);
GO

CREATE TABLE core.audit_supplier (
    supplier_id  int             NOT NULL,
    action       nvarchar(10)    NOT NULL,
    old_name     nvarchar(120)   NULL,
    new_name     nvarchar(120)   NULL,
    run_id       int             NULL
);
GO
