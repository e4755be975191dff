"""Files of host languages: their text goes in, the SQL embedded in them comes out, each piece with its location.

`python_program` follows strings to the calls that run them, `notebooks` splits cells; see `extractor`.
"""
