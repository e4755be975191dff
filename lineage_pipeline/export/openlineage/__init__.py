"""OpenLineage: the jobs and datasets of a snapshot as events, their facets, and delivery over HTTP."""
