"""Queries over the column graph: the rows of one lineage in; neighbors, paths and reach counts out.

`column_graph` builds the compact graph once and walks it from a few columns, `reach` measures it for all.
"""
