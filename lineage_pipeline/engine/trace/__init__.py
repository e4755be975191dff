"""Questions to the column graph: the rows of one lineage go in, neighbours, paths and reach come out.

`graph` builds the compact graph once, `walk` follows it from a few columns, `reach` measures it for all of them.
"""
