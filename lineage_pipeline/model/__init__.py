"""The data model: frozen structs and enums, without behavior.

`ir` is a compiled statement, `tables` are the rows of the lineage tables, `findings` are the finding codes.
"""
