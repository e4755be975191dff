-- Store register, kept by the property team in a form on the intranet.
CREATE TABLE raw.stores (
    store_code     char(4)        NOT NULL,
    store_name     nvarchar(100)  NOT NULL,
    city           nvarchar(80)   NOT NULL,
    country_code   char(2)        NOT NULL,
    opened_on      date           NOT NULL,
    closed_on      date           NULL,
    floor_area_m2  int            NULL,
    CONSTRAINT pk_stores PRIMARY KEY (store_code),
    CONSTRAINT ck_stores_floor_area CHECK (floor_area_m2 > 0),
    CONSTRAINT ck_stores_closed CHECK (closed_on IS NULL OR closed_on >= opened_on)
);
GO
