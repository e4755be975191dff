"""Our own dbt project: the marts show what is published, on DuckDB and on Spark, and the Superset bundle fits them."""
