"""Questions about a lineage get the same answer from a folder, a file, a warehouse and a graph."""
