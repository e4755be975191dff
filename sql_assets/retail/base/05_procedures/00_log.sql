-- A run begins, its steps are written down, it ends.
CREATE OR ALTER PROCEDURE core.usp_log_start
    @run_id int OUTPUT
AS
BEGIN
    SET NOCOUNT ON;

    INSERT INTO core.etl_run (status) VALUES ('running');
    SET @run_id = SCOPE_IDENTITY();
END;
GO

CREATE OR ALTER PROCEDURE core.usp_log_step
    @run_id        int,
    @step_name     varchar(60),
    @rows_read     int = NULL,
    @rows_written  int = NULL,
    @watermark     datetime2(0) = NULL
AS
BEGIN
    SET NOCOUNT ON;

    INSERT INTO core.etl_step (run_id, step_name, rows_read, rows_written, watermark)
    VALUES (@run_id, @step_name, @rows_read, @rows_written, @watermark);

    RAISERROR (N'%s: %d rows', 0, 1, @step_name, @rows_written) WITH NOWAIT;
END;
GO

CREATE OR ALTER PROCEDURE core.usp_log_end
    @run_id   int,
    @status   varchar(10),
    @message  nvarchar(4000) = NULL
AS
BEGIN
    SET NOCOUNT ON;

    UPDATE r
    SET r.status = @status,
        r.message = @message,
        r.finished_at = SYSUTCDATETIME()
    FROM core.etl_run AS r
    WHERE r.run_id = @run_id;
END;
GO
