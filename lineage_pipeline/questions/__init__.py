"""Questions to a lineage: rows, a lineage file or a snapshot go in; columns, ways, formulas and hits come out.

`loading` opens what is stored, `lineage` is the class that answers, `merging` makes one lineage of several.
"""
