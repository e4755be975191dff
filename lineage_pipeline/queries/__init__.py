"""Queries over a lineage: rows, a lineage file or a snapshot in; columns, paths, formulas and search hits out.

`loading` opens stored lineages, `lineage` is the query class, and makes one lineage of several.
"""
