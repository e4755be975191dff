"""Reports of changes for reviewers and CI: a `Comparison` and a `ReportStyle` go in, a text comes out.

A format is a module here and a row of `REPORTERS`; `causes` has what all of them show.
"""
