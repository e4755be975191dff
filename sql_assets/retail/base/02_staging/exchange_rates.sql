-- Rates we account with: the central bank's, and the euro against itself.
CREATE VIEW staging.exchange_rates
AS
SELECT
    fx.currency_code,
    fx.rate_date,
    fx.rate_to_eur
FROM raw.fx_rates AS fx
WHERE fx.provider = 'ECB'
    AND fx.currency_code <> 'EUR'

UNION ALL

SELECT
    CAST('EUR' AS char(3)),
    CAST('2000-01-01' AS date),
    CAST(1 AS decimal(18, 8));
GO
