-- Calendar from the first trading day to the end of the planning horizon.
CREATE TABLE core.dim_date (
    date_key        int          NOT NULL,
    calendar_date   date         NOT NULL,
    calendar_year   smallint     NOT NULL,
    calendar_month  tinyint      NOT NULL,
    iso_week        tinyint      NOT NULL,
    year_month      AS (calendar_year * 100 + calendar_month) PERSISTED,
    CONSTRAINT pk_dim_date PRIMARY KEY (date_key),
    CONSTRAINT uq_dim_date_date UNIQUE (calendar_date)
);
GO

WITH days AS (
    SELECT CAST('2022-01-01' AS date) AS calendar_date
    UNION ALL
    SELECT DATEADD(day, 1, d.calendar_date)
    FROM days AS d
    WHERE d.calendar_date < '2027-12-31'
)
INSERT INTO core.dim_date (date_key, calendar_date, calendar_year, calendar_month, iso_week)
SELECT
    CONVERT(int, CONVERT(char(8), days.calendar_date, 112)),
    days.calendar_date,
    YEAR(days.calendar_date),
    MONTH(days.calendar_date),
    DATEPART(iso_week, days.calendar_date)
FROM days
OPTION (MAXRECURSION 0);
GO
