-- Product master with readable category and life cycle.
CREATE OR ALTER VIEW staging.products
AS
SELECT
    p.product_id,
    UPPER(LTRIM(RTRIM(p.sku))) AS sku,
    LTRIM(RTRIM(p.product_name)) AS product_name,
    COALESCE(c.category_name, N'Unclassified') AS category_name,
    p.unit_cost,
    p.list_price,
    TRY_CAST(REPLACE(p.weight_text, ',', '.') AS decimal(9, 3)) AS weight_kg,
    CASE
        WHEN p.discontinued_on IS NULL THEN 'active'
        WHEN p.discontinued_on > CAST(GETDATE() AS date) THEN 'phasing out'
        ELSE 'discontinued'
    END AS lifecycle
FROM raw.products AS p
LEFT JOIN raw.product_categories AS c
    ON c.category_id = p.category_id;
GO
