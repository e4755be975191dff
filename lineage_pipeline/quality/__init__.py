"""Data quality: a table of a snapshot goes in as a frame, one result per property it must have comes out.

`suites` lists what must hold, `preparations` joins what is needed to see it, `checks` runs Great Expectations.
"""
