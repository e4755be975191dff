-- Monday morning report: the week against the week before.
CREATE VIEW mart.weekly_sales
AS
WITH weeks AS (
    SELECT
        s.channel,
        s.calendar_year,
        s.iso_week,
        MIN(s.calendar_date) AS first_day,
        SUM(s.order_count) AS order_count,
        SUM(s.net_sales_eur) AS net_sales_eur
    FROM mart.daily_sales AS s
    GROUP BY s.channel, s.calendar_year, s.iso_week
)
SELECT
    w.*,
    w.net_sales_eur - LAG(w.net_sales_eur) OVER (PARTITION BY w.channel ORDER BY w.first_day) AS change_eur
FROM weeks AS w;
GO
