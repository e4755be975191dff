"""Data quality: a table of a snapshot goes in as a frame, one result per property it must have comes out.

`suites` lists what must hold and prepares columns for it, `checks` runs Great Expectations, `shares` counts.
"""
