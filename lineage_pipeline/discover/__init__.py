"""Discovery: a folder or a git revision goes in; files, decoded texts and findings come out.

`folder` and `git` read bytes, `discovery` turns bytes into rows; `example` builds the example repository.
"""
