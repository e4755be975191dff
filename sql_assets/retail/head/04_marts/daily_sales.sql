-- Daily trading report by channel, from the first full year on, without free gifts.
CREATE VIEW mart.daily_sales
AS
SELECT
    d.calendar_date,
    d.calendar_year,
    d.iso_week,
    f.channel,
    COUNT(DISTINCT f.order_number) AS order_count,
    SUM(f.quantity) AS units,
    SUM(f.net_amount_eur) AS net_sales_eur,
    AVG(f.net_amount_eur) AS average_line_eur
FROM core.fact_sales AS f
INNER JOIN core.dim_date AS d
    ON d.date_key = f.date_key
WHERE d.calendar_date >= '2023-01-01'
    AND f.net_amount_eur > 0
GROUP BY d.calendar_date, d.calendar_year, d.iso_week, f.channel;
GO
