"""Storage: rows go in as structs or Arrow tables into immutable Parquet files; manifests name what is published.

`warehouse` holds the tables of snapshots and diffs, `compiled_scripts` is the compile cache.
"""
