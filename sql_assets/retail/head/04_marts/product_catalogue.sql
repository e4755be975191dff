-- Price list for the buyers, with what each article leaves after cost.
CREATE VIEW mart.product_catalogue
AS
SELECT
    p.sku,
    p.product_name,
    p.category_name,
    p.unit_cost,
    p.list_price,
    unit_margin = p.list_price - p.unit_cost,
    p.weight_kg
FROM staging.products AS p
WHERE p.lifecycle <> 'discontinued';
GO
