"""Files that hold SQL among other things: their text goes in, the SQL in them comes out, each piece with its place.

`python` follows strings to where they are run, `notebooks` and `databricks` take cells apart, `reading` chooses.
"""
