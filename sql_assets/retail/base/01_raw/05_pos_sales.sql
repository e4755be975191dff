/* Till receipts, one row per receipt line. The cash register vendor delivers
   the column names with blanks; they end in staging.pos_sales. */
CREATE TABLE [raw].[pos_sales] (
    [Ticket No]      [varchar](20)     NOT NULL,
    [Line No]        [smallint]        NOT NULL,
    [Store Code]     [char](4)         NOT NULL,
    [Sold At]        [datetime2](0)    NOT NULL,
    [Loyalty Card]   [varchar](20)     NULL,
    [Sku]            [varchar](40)     NOT NULL,
    [Qty]            [decimal](9, 3)   NOT NULL,
    [Unit Price]     [decimal](18, 2)  NOT NULL,
    [Line Discount]  [decimal](18, 2)  NULL,
    [Voided]         [bit]             NOT NULL CONSTRAINT [df_pos_sales_voided] DEFAULT ((0)),
    CONSTRAINT [pk_pos_sales] PRIMARY KEY ([Store Code], [Ticket No], [Line No]),
    CONSTRAINT [fk_pos_sales_store] FOREIGN KEY ([Store Code]) REFERENCES [raw].[stores] ([store_code])
);
GO
