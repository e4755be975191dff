-- The nightly run: dimensions before facts, one transaction per step, the first fault ends it.
CREATE OR ALTER PROCEDURE core.usp_load_all
    @full_load bit = 0
AS
BEGIN
    SET NOCOUNT ON;

    DECLARE @run_id int, @today date = CAST(SYSUTCDATETIME() AS date), @message nvarchar(4000);

    EXEC core.usp_log_start @run_id = @run_id OUTPUT;

    BEGIN TRY
        EXEC core.usp_load_dim_store @run_id;
        EXEC core.usp_load_dim_supplier @run_id;
        EXEC core.usp_load_dim_promotion @run_id;
        EXEC core.usp_load_fact_returns @run_id = @run_id;
        EXEC core.usp_load_fact_purchases @run_id = @run_id, @full_load = @full_load;
        EXEC core.usp_load_fact_inventory @run_id = @run_id, @snapshot_on = @today;
        EXEC core.usp_log_end @run_id, 'done';
    END TRY
    BEGIN CATCH
        SET @message = ERROR_MESSAGE();
        EXEC core.usp_log_end @run_id, 'failed', @message;
        THROW;
    END CATCH;
END;
GO
