-- Stock as of the last snapshot.
CREATE VIEW mart.inventory_position
AS
SELECT
    s.store_name,
    s.store_format,
    p.product_name,
    p.category_name,
    i.quantity,
    i.value_eur,
    i.days_of_stock,
    CASE WHEN i.days_of_stock < 7 THEN 'reorder' WHEN i.days_of_stock > 90 THEN 'overstock' ELSE 'fine' END AS signal
FROM core.fact_inventory AS i
INNER JOIN core.dim_store AS s
    ON s.store_code = i.store_code
INNER JOIN core.dim_product AS p
    ON p.product_id = i.product_id
WHERE i.snapshot_on = (SELECT MAX(x.snapshot_on) FROM core.fact_inventory AS x);
GO

-- Suppliers by how late they deliver.
CREATE VIEW mart.supplier_scorecard
AS
SELECT
    s.supplier_name,
    s.country_code,
    s.rating,
    COUNT(*) AS line_count,
    SUM(f.cost_amount_eur) AS cost_eur,
    AVG(CAST(f.days_late AS decimal(9, 2))) AS average_days_late,
    SUM(CASE WHEN f.days_late > 0 THEN 1 ELSE 0 END) AS late_lines
FROM core.fact_purchases AS f
INNER JOIN core.dim_supplier AS s
    ON s.supplier_key = f.supplier_key
WHERE s.is_current = 1
GROUP BY s.supplier_name, s.country_code, s.rating;
GO

-- Returns by reason and the days they took.
CREATE VIEW mart.return_reasons
AS
SELECT
    d.year_month,
    r.reason_code,
    p.category_name,
    COUNT(*) AS return_count,
    SUM(r.refund_amount_eur) AS refund_eur,
    AVG(r.days_to_return) AS average_days
FROM core.fact_returns AS r
INNER JOIN core.dim_date AS d
    ON d.date_key = r.date_key
INNER JOIN core.dim_product AS p
    ON p.product_id = r.product_id
GROUP BY d.year_month, r.reason_code, p.category_name;
GO

-- Every change of a price, newest first.
CREATE VIEW mart.price_history
AS
SELECT
    p.product_name,
    a.old_price,
    a.new_price,
    a.new_price - a.old_price AS difference,
    a.changed_at,
    a.changed_by
FROM core.audit_product AS a
INNER JOIN core.dim_product AS p
    ON p.product_id = a.product_id
WHERE a.operation = 'U';
GO

-- What foreign suppliers cost at today's rates.
CREATE VIEW mart.foreign_purchases
AS
SELECT
    l.purchase_id,
    s.supplier_name,
    l.currency_code,
    l.quantity * l.unit_cost AS cost_amount,
    l.quantity * l.unit_cost * r.rate_to_eur AS cost_amount_eur
FROM staging.purchase_lines AS l
INNER JOIN staging.suppliers AS s
    ON s.supplier_id = l.supplier_id
INNER JOIN mart.rates AS r
    ON r.currency_code = l.currency_code
WHERE r.rate_date = (SELECT MAX(x.rate_date) FROM mart.rates AS x WHERE x.currency_code = l.currency_code);
GO
