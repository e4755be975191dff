-- The last count of each product in each store.
CREATE VIEW staging.inventory
AS
SELECT c.store_code, c.product_id, c.counted_at, c.quantity
FROM (
    SELECT
        i.store_code, i.product_id, i.counted_at, i.quantity,
        ROW_NUMBER() OVER (PARTITION BY i.store_code, i.product_id ORDER BY i.counted_at DESC) AS recency
    FROM raw.inventory_counts AS i
) AS c
WHERE c.recency = 1;
GO

-- Promotions keep their rules as XML and their settings as JSON.
CREATE VIEW staging.promotions
AS
SELECT
    UPPER(p.promo_code) AS promo_code,
    p.title,
    p.starts_on,
    p.ends_on,
    p.discount_pct,
    p.rules.value('(/rules/@channel)[1]', 'varchar(5)') AS channel,
    JSON_VALUE(p.settings, '$.budget.eur') AS budget_eur
FROM raw.promotions AS p;
GO

CREATE VIEW staging.promotion_products
AS
SELECT
    UPPER(p.promo_code) AS promo_code,
    r.item.value('@sku', 'varchar(40)') AS sku,
    r.item.value('@limit', 'int') AS quantity_limit
FROM raw.promotions AS p
CROSS APPLY p.rules.nodes('/rules/product') AS r (item);
GO

-- Everybody with the line of managers above, the shop floor last.
CREATE VIEW staging.reporting_lines
AS
WITH line AS (
    SELECT e.employee_id, e.full_name, e.store_code, e.manager_id, 0 AS depth, CAST(e.full_name AS nvarchar(max)) AS chain
    FROM raw.employees AS e
    WHERE e.manager_id IS NULL
    UNION ALL
    SELECT e.employee_id, e.full_name, e.store_code, e.manager_id, l.depth + 1, CONCAT(l.chain, N' / ', e.full_name)
    FROM raw.employees AS e
    INNER JOIN line AS l
        ON l.employee_id = e.manager_id
)
SELECT l.employee_id, l.full_name, l.store_code, l.manager_id, l.depth, l.chain
FROM line AS l;
GO
