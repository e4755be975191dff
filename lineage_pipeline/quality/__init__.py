"""A table of a snapshot goes in as a frame, one result for each property it must have comes out.

`suites` says what must hold, `preparations` what must be joined to see it, `checks` asks Great Expectations.
"""
