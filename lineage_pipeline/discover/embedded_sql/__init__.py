"""Files of host languages: their text goes in, the SQL embedded in them comes out, each piece with its location.

`python_program` follows strings to the calls that run them, `jupyter` and `databricks` split cells; see `extractor`.
"""
