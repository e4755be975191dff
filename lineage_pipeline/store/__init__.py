"""Rows go in as structs or Arrow tables and lie in immutable Parquet files; what a manifest names comes out again.

`warehouse` keeps the tables of snapshots and diffs, `cache` keeps blobs by the hash of their content.
"""
