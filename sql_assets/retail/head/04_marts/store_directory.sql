-- Open stores, as shown in the store finder.
CREATE VIEW mart.store_directory
AS
SELECT *
FROM staging.stores
WHERE closed_on IS NULL;
GO
