"""The Spark pipeline: rows of discovery go in as Parquet, the tables of a snapshot come out, stage by stage.

`session` starts Spark; `compilation`, `schema_resolution`, `column_linking` and `column_reach` run the engine in
tasks; `object_plan` is all that the driver holds, names without columns; `workspace` is what stages hand on.
Nobody else imports pyspark.
"""
