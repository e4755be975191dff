-- Share of units that come back, by category.
CREATE VIEW mart.return_rate
AS
WITH sold AS (
    SELECT p.category_name, SUM(f.quantity) AS units_sold
    FROM core.fact_sales AS f
    INNER JOIN core.dim_product AS p
        ON p.product_id = f.product_id
    GROUP BY p.category_name
),
returned AS (
    SELECT p.category_name, SUM(r.quantity) AS units_returned, MAX(r.returned_on) AS last_return_on
    FROM staging.returns AS r
    INNER JOIN core.dim_product AS p
        ON p.product_id = r.product_id
    GROUP BY p.category_name
)
SELECT
    sold.*,
    COALESCE(returned.units_returned, 0) AS units_returned,
    CAST(COALESCE(returned.units_returned, 0) / NULLIF(sold.units_sold, 0) AS decimal(9, 4)) AS return_rate,
    returned.last_return_on
FROM sold
LEFT JOIN returned
    ON returned.category_name = sold.category_name;
GO
