-- One row per run and per step; every loading procedure writes here.
CREATE TABLE core.etl_run (
    run_id       int            IDENTITY(1, 1) NOT NULL PRIMARY KEY,
    started_at   datetime2(3)   NOT NULL CONSTRAINT df_etl_run_started DEFAULT SYSUTCDATETIME(),
    finished_at  datetime2(3)   NULL,
    status       varchar(10)    NOT NULL CONSTRAINT df_etl_run_status DEFAULT 'running',
    message      nvarchar(4000) NULL
);
GO

CREATE TABLE core.etl_step (
    run_id       int            NOT NULL,
    step_name    varchar(60)    NOT NULL,
    rows_read    int            NULL,
    rows_written int            NULL,
    watermark    datetime2(0)   NULL,
    finished_at  datetime2(3)   NOT NULL CONSTRAINT df_etl_step_finished DEFAULT SYSUTCDATETIME(),
    CONSTRAINT fk_etl_step_run FOREIGN KEY (run_id) REFERENCES core.etl_run (run_id)
);
GO
