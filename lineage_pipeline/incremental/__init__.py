"""Incremental analysis: the state of an earlier analysis and the current files in, updated tables out.

`state` is what is kept, `invalidation` finds the files to link again, `analyze` links them, and `refresh` puts new rows
between unchanged ones, which are never decoded.
"""
