"""An analysis that goes on from an earlier one: what is kept of that and the files as they are go in, tables come out.

`before` says what is kept, `dirt` which files have to be linked again, `going_on` does so, and `weaving` puts new rows
between those that stay, which are never made.
"""
