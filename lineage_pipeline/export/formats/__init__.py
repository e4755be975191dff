"""Formats of `lineage export`, one module a format; `lineage_formats` has the table of them."""
