"""The data plane: rows of discovery go in as Parquet, the tables of a snapshot come out, each stage over DataFrames.

`session` starts Spark; `compile`, `schemas`, `edges` and `reach` run the engine inside tasks; `plan` is all that the
driver holds, names without columns; `work` is what stages hand on. Nobody else imports pyspark.
"""
