-- Daily exchange rates, value of one unit of the currency in EUR.
CREATE TABLE raw.fx_rates (
    currency_code  char(3)         NOT NULL,
    rate_date      date            NOT NULL,
    provider       varchar(10)     NOT NULL,
    rate_to_eur    decimal(18, 8)  NOT NULL,
    CONSTRAINT pk_fx_rates PRIMARY KEY (currency_code, rate_date, provider),
    CONSTRAINT ck_fx_rates_positive CHECK (rate_to_eur > 0)
);
GO
