"""One partition is one snapshot, and one run at a time works on them."""

import dagster as dg

SNAPSHOTS = "snapshots"

snapshots = dg.DynamicPartitionsDefinition(name=SNAPSHOTS)
"""Keys are `<repo>@<commit>`."""

SPARK = "spark"
"""The pool of whatever reads or writes snapshots: one run has the Spark session, and none sees files vanish.

How many runs it lets work at a time is said in dagster.yaml.
"""
