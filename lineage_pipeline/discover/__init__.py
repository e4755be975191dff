"""The world → sources: a folder or a git revision goes in; files, decoded texts and findings come out.

`folder` and `git` read bytes, `gather` turns bytes into rows; `example` builds the repository of the example.
"""
