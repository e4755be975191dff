"""Changes → what reviewers and their machines read: a `Comparison` and a `Style` go in, a text comes out.

A format is a file here and a row of `REPORTERS`; `reading` says what all of them tell, `escapes` keeps names harmless.
"""
